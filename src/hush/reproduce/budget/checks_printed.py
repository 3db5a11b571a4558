"""The errata of chapter 4's algorithms: what they do when run as printed."""

from __future__ import annotations

from typing import Any

from hush.reproduce.budget.printed import HIGH, PHI
from hush.reproduce.study import Check, Table


def algorithms(table: Table) -> list[Check]:
    """One check or more for each erratum."""
    rows = {name: _row(table, name) for name in table.column("algorithm")}
    usual, literal, unsure = rows["BS"], rows["BS, τ as the loss"], rows["BS, a small π"]
    hopeless, relaxed, dynamic = rows["BS, no answer"], rows["RBS, g = 2"], rows["DBS"]
    empty, anything, bayes = rows["MPass, no answer"], rows["MPass, any budget"], rows["Bayes"]
    return [
        _false(
            "Kendall's τ used as the loss: ε of BS", "the smallest",
            f"{_number(literal['epsilon_printed'])}, the largest; {_number(usual['epsilon_corrected'])} is enough",
            literal["epsilon_printed"] < HIGH - 1, "3.3, errata 23",
        ),
        _false(
            "share of collections that keep τ at the optimum of Bayes", f"≥ {bayes['pi']:g}",
            f"{bayes['share_printed']:.3f} at ε = {_number(bayes['epsilon_printed'])}",
            bayes["share_printed"] >= bayes["pi"] - 0.05, "algorithm 5, errata 24",
        ),
        Check(
            "... where the quantile of the loss is brought to the threshold", f"≈ {bayes['pi']:g}",
            f"{bayes['share_corrected']:.3f} at ε = {_number(bayes['epsilon_corrected'])}",
            bayes["share_corrected"] >= bayes["pi"] - 0.1, source="ours",
        ),
        _false(
            "DBS, C = 1: largest “probability” that it computes", "≤ 1", f"{dynamic['probability']:.0f}",
            dynamic["probability"] <= 1, "algorithm 3, errata 25",
        ),
        _false(
            "DBS, C = 1: ε", "the smallest",
            f"{_number(dynamic['epsilon_printed'])}, the largest; {_number(dynamic['epsilon_corrected'])} is enough",
            abs(dynamic["epsilon_printed"] - dynamic["epsilon_corrected"]) < 1, "algorithm 3, errata 25",
        ),
        _false(
            "RBS, g = 2: width of the range after 100 steps", f"< {PHI:g}", f"{relaxed['width']:.3f}",
            relaxed["width"] < PHI, "5.1.5, errata 26",
        ),
        _false(
            "MPass where no budget satisfies", "a budget", "fails: the least of an empty list",
            empty["epsilon_printed"] is not None, "algorithm 4, errata 27",
        ),
        _false(
            "MPass where every budget satisfies: least ε that it tries", "> 0", _number(anything["lowest"]),
            anything["lowest"] > 0, "algorithm 4, errata 27",
        ),
        _false(
            f"BS also tests the mean: ε at π = {unsure['pi']:g}", "the smallest",
            f"{_number(unsure['epsilon_printed'])}, where {unsure['share_printed']:.2f} of collections keep τ; "
            f"{_number(unsure['epsilon_corrected'])} is enough",
            unsure["epsilon_printed"] - unsure["epsilon_corrected"] < 0.03, "3.4, errata 29",
        ),
        _false(
            "BS where no budget satisfies", "no answer", f"ε = {_number(hopeless['epsilon_printed'])}, never tried",
            hopeless["epsilon_printed"] is None, "algorithm 1, errata 29",
        ),
    ]  # fmt: skip


def _row(table: Table, name: str) -> dict[str, Any]:
    return dict(zip(table.columns, table.where(algorithm=name).rows[0], strict=True))


def _number(value: float) -> str:
    return f"{value:.3g}" if value >= 10 else f"{value:.3f}".replace("-", "−")


def _false(claim: str, printed: str, computed: str, holds: bool, source: str) -> Check:
    return Check(claim, printed, computed, bool(holds), right=False, source=source)
