"""The errata of chapter 4's algorithms: what they do when run as printed."""

from __future__ import annotations

from typing import Any

from hush_studies import rule
from hush_studies.budget.printed import PHI
from hush_studies.check import Check, ours, paper
from hush_studies.study import Table


def algorithms(table: Table) -> list[Check]:
    """One check or more for each erratum: a case in which the printed algorithm does not do what it is for."""
    rows = {name: _row(table, name) for name in table.column("algorithm")}
    usual, literal, unsure = rows["BS"], rows["BS, τ as the loss"], rows["BS, a small π"]
    hopeless, relaxed, dynamic = rows["BS, no answer"], rows["RBS, g = 2"], rows["DBS"]
    empty, anything, bayes = rows["MPass, no answer"], rows["MPass, any budget"], rows["Bayes"]
    least, answers = (
        rule.alike(1, "it is within a tenth of the least that is enough"),
        rule.at_least(1, words="it answers"),
    )
    return [
        _false(
            "Kendall's τ used as the loss: ε of BS over the least that is enough", "the smallest", least,
            literal["epsilon_printed"] / usual["epsilon_corrected"],
            f"{_number(literal['epsilon_printed'])}, the largest; {_number(usual['epsilon_corrected'])} is enough",
            "3.3, errata 23",
        ),
        _false(
            "share of collections that keep τ at the optimum of Bayes", f"≥ {bayes['pi']:g}",
            rule.at_least(bayes["pi"]),
            bayes["share_printed"], f"{bayes['share_printed']:.3f} at ε = {_number(bayes['epsilon_printed'])}",
            "algorithm 5, errata 24",
        ),
        ours(
            "... where the quantile of the loss is brought to the threshold", f"≈ {bayes['pi']:g}",
            rule.alike(bayes["pi"]), bayes["share_corrected"],
            f"{bayes['share_corrected']:.3f} at ε = {_number(bayes['epsilon_corrected'])}", "ours",
        ),
        _false(
            "DBS, C = 1: largest “probability” that it computes", "≤ 1", rule.at_most(1), dynamic["probability"],
            f"{dynamic['probability']:.0f}", "algorithm 3, errata 25",
        ),
        _false(
            "DBS, C = 1: ε over the least that is enough", "the smallest", least,
            dynamic["epsilon_printed"] / dynamic["epsilon_corrected"],
            f"{_number(dynamic['epsilon_printed'])}, the largest; {_number(dynamic['epsilon_corrected'])} is enough",
            "algorithm 3, errata 25",
        ),
        _false(
            "RBS, g = 2: width of the range after 100 steps", f"< {PHI:g}", rule.below(PHI), relaxed["width"],
            f"{relaxed['width']:.3f}", "5.1.5, errata 26",
        ),
        _false(
            "MPass where no budget satisfies: answers", "a budget", answers,
            float(empty["epsilon_printed"] is not None),
            "fails: the least of an empty list", "algorithm 4, errata 27",
        ),
        _false(
            "MPass where every budget satisfies: least ε that it tries", "> 0", rule.above(0), anything["lowest"],
            _number(anything["lowest"]), "algorithm 4, errata 27",
        ),
        _false(
            f"BS also tests the mean: ε at π = {unsure['pi']:g}, beyond the least that is enough", "≤ φ",
            rule.at_most(PHI), unsure["epsilon_printed"] - unsure["epsilon_corrected"],
            f"{_number(unsure['epsilon_printed'])}, where {unsure['share_printed']:.2f} of collections keep τ; "
            f"{_number(unsure['epsilon_corrected'])} is enough", "3.4, errata 29",
        ),
        _false(
            "BS where no budget satisfies: answers that it never tried", "none", rule.at_most(0),
            float(hopeless["epsilon_printed"] is not None), f"ε = {_number(hopeless['epsilon_printed'])}, never tried",
            "algorithm 1, errata 29",
        ),
    ]  # fmt: skip


def _row(table: Table, name: str) -> dict[str, Any]:
    return dict(zip(table.columns, table.where(algorithm=name).rows[0], strict=True))


def _number(value: float) -> str:
    return f"{value:.3g}" if value >= 10 else f"{value:.3f}".replace("-", "−")


def _false(claim: str, printed: str, wanted: rule.Rule, number: float, computed: str, source: str) -> Check:
    """A claim that is known to be wrong."""
    return paper(claim, printed, wanted, number, computed, source, known=False)
