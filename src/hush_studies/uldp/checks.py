"""What the paper says of formulas (figures 1 and 3, appendix B), held against exact errors and exact losses."""

from __future__ import annotations

import numpy as np

from hush.types import Floats
from hush.utility import optimal, theory, total_error, uLH
from hush_studies import check, rule
from hush_studies.check import Check, OfPeople, ours, paper, untold
from hush_studies.study import Table
from hush_studies.uldp.people import MechanismSetting, people
from hush_studies.uldp.readings import PROPOSED, made

OLD = ("uRR", "uRAP", "uUE", "uLH")
"""Those that are held against uSS where equation 28 speaks."""

HADAMARD = "the paper does not define uHR, and ours is a reading"
"""Why nothing that involves Hadamard response can be held against the paper."""

PEOPLE = OfPeople("it depends on how people spread over the values, which is not printed")
"""Why errors that are not squared cannot be held against it."""


def first(table: Table) -> list[Check]:
    """Figure 1: error and bits as s grows."""
    rows = {name: table.where(mechanism=name, reading="paper") for name in ("uRR", "uRAP", "uSS", "uLH")}
    large = rows["uRR"].numbers("s") >= 100
    power = {name: _power(each.numbers("s")[large], each.numbers("mse")[large]) for name, each in rows.items()}
    bits = {name: each.numbers("bits")[-1] for name, each in rows.items()}
    plain = float(rows["uLH"].numbers("bits_without_hash")[-1])
    s = int(rows["uRR"].numbers("s")[-1])
    least = bits["uRR"]
    said = f"uLH {bits['uLH']:.0f} bits, {plain:.0f} without its hash function; uRR {least:.0f}"
    return [
        paper("uRR: error grows as this power of s", "2", rule.alike(2), power["uRR"], f"{power['uRR']:.2f}",
              "table 1"),
        paper("uLH: error grows as this power of s", "1", rule.alike(1), power["uLH"], f"{power['uLH']:.2f}",
              "table 1"),
        paper(f"s = {s}: bits of uRAP over s", "O(s)", rule.alike(), bits["uRAP"] / s, f"{bits['uRAP'] / s:.2f}", "1"),
        paper(f"s = {s}: bits of uLH, its hash function not counted, over those of uRR", "the lowest", rule.below(1),
              plain / least, said, "5.4", known=False),
    ]  # fmt: skip


def _power(x: Floats, y: Floats) -> float:
    """The slope in a plot with logarithmic axes."""
    return float(np.log(y[-1] / y[0]) / np.log(x[-1] / x[0])) if x.size > 1 else float("nan")


def scenarios(table: Table) -> list[Check]:
    """Figure 3, and the parameters of sections 5.1 to 5.3."""
    mine = table.where(reading="paper")
    pure = Table(mine.columns, [row for row in mine.rows if row[mine.columns.index("equation_28")] is not None])
    off = pure.numbers("mse") / pure.numbers("equation_28")
    many = Table(mine.columns, [row for row in mine.rows if row[1] == 500])
    alike = np.concatenate([ratio(many, name, "uSS", "mse") for name in ("uUE", "uLH")])
    said = f"off by at most {np.abs(off - 1).max():.1e} in {off.size} cells"
    return [
        paper("exact variance over equation 28", "exact", rule.equal(1), off, said, "theorem 4"),
        best(mine, "mse", "theoretical MSE over that of uSS", OLD, "5.4"),
        best(mine, "mse", "theoretical MSE of uHR over that of uSS", ("uHR",), "abstract"),
        paper("s = 500: MSE of uUE and uLH over uSS", "very similar", rule.alike(), alike, span(alike), "5.4",
              known=False),
        *_over_rap(),
        *_optima(),
        _reveal_alone(table),
    ]  # fmt: skip


def ratio(table: Table, name: str, base: str, column: str) -> Floats:
    """One mechanism's column over another's, cell by cell."""
    return table.where(mechanism=name).numbers(column) / table.where(mechanism=base).numbers(column)


def best(table: Table, column: str, claim: str, others: tuple[str, ...], source: str) -> Check:
    """Whether uSS is ahead of others everywhere; it is not ahead of our Hadamard response, which sends values alone."""
    least = {name: ratio(table, name, "uSS", column) for name in others}
    said = "least: " + ", ".join(f"{name} {value.min():.3f}" for name, value in least.items())
    numbers, ahead = np.concatenate(list(least.values())), rule.at_least(1)
    if "uHR" in others:
        return untold(claim, "uSS is the best, consistently", ahead, numbers, said, source, HADAMARD, known=False)
    return paper(claim, "uSS is the best, consistently", ahead, numbers, said, source)


def span(values: Floats) -> str:
    """From the least to the largest."""
    return check.span(values, lambda each: f"{each:.2f}".removesuffix(".00"))


def _over_rap() -> list[Check]:
    """By the paper's own equation 28, at a small budget."""
    checks = []
    for name, own, other in (("Normal", "3878", "3664"), ("Foursquare", "428", "401")):
        at = _stated(name)
        ue, rap = (total_error(made(each, "paper", at, 0.5), at.theta) for each in ("uUE", "uRAP"))
        exact = round(ue) == int(own) and round(rap) == int(other)
        claim = f"{name}, ε = 0.5, equation 28: error of uUE over that of uRAP"
        said = f"{ue:.0f} against {rap:.0f}" + ("" if exact else f", not {own} and {other}")
        checks.append(paper(claim, "consistently", rule.below(1), ue / rap, said, "5.4, 6.2", known=False))
    return checks


def _stated(name: str) -> MechanismSetting:
    """With theta as the paper prints it."""
    at = people(name).setting
    return MechanismSetting(at.k, at.sensitive, round(at.theta, 2))


def _optima() -> list[Check]:
    """Closed forms of parameters beside direct search."""
    s, theta, epsilon = 25, 0.95, 5.0
    printed, direct = (
        optimal.hash_range_paper(s, epsilon, theta),
        optimal.hash_range(s, epsilon, theta, "paper", "pair"),
    )
    ahead, least = (_hashing(s, epsilon, theta, g) for g in (round(printed), direct))
    sizes, probabilities = [], []
    for held in (25, 230, 424):
        for budget in (0.5, 2.0, 5.0):
            found = optimal.subset_size(held, budget, 0.77, "paper", "pair")
            sizes.append(abs(optimal.subset_size_paper(held, budget, 0.77) - found))
            closed = optimal.unary_probability_paper(held, budget, 0.77)
            probabilities.append(abs(closed - optimal.unary_probability(held, budget, 0.77, "constant", "pair")))
    said = f"equation 49 says {printed:.1f} (error {ahead:.3f}), the least is at {direct} ({least:.3f})"
    beside = rule.below(1, "the best integer is next to it")
    return [
        paper("equation 37: distance from the best subset size", "optimal", beside, sizes, f"≤ {max(sizes):.2f}",
              "5.1"),
        paper("equation 43: distance from the best p", "optimal", rule.equal(0), probabilities,
              f"≤ {max(probabilities):.1e}", "5.2"),
        paper("s = 25, θ = 0.95, ε = 5: equation 49: distance from the best g", "optimal", beside,
              abs(printed - direct), said, "5.3", known=False),
    ]  # fmt: skip


def _hashing(s: int, epsilon: float, theta: float, g: int) -> float:
    made_with = uLH(k=2 * s, epsilon=epsilon, sensitive=tuple(range(s)), g=g, z="paper")
    return total_error(made_with, theta)


def _reveal_alone(table: Table) -> Check:
    """What is not in the paper: a pair's base report is noise."""
    gain = {}
    for name in PROPOSED:
        mine, theirs = (table.where(mechanism=name, reading=each).numbers("mse") for each in ("ours", "paper"))
        gain[name] = 100 * (1 - float((mine / theirs).min()))
    said = "up to " + ", ".join(f"{name} {value:.0f} %" for name, value in gain.items())
    claim = "exact z and values sent alone make the error smaller by"
    return ours(claim, "something", rule.above(0), gain.values(), said, "ours")


def losses(table: Table) -> list[Check]:
    """What the printed z spends."""
    mine = table.where(reading="paper")
    excess = mine.numbers("true_epsilon") - mine.numbers("epsilon")
    closed = np.abs(mine.numbers("closed_form") - mine.numbers("true_epsilon"))
    exact = table.where(reading="ours")
    over = exact.numbers("true_epsilon") - exact.numbers("epsilon")
    checks = [
        Check.number("uLH, s = 10, g = 4, ε = 1: true ε", "1.2851", theory.true_loss_hashing(10, 1.0, 4), "errata 15",
                     ours=True),
        Check.number("uLH, s = 424, g = 8, ε = 2: true ε", "2.579", theory.true_loss_hashing(424, 2.0, 8), "errata 15",
                     ours=True),
        ours("true ε, by all outputs and by formula, differ by", "equal", rule.equal(0), closed,
             f"≤ {closed.max():.0e}", "errata 15, 16"),
    ]  # fmt: skip
    for name in ("uLH", "uWheel"):
        own = excess[[row == name for row in mine.column("mechanism")]]
        said = f"ε + {own.min():.3f} to ε + {own.max():.3f}"
        source = "5.3" if name == "uLH" else "appendix B"
        claim = f"{name} with the printed z: true loss beyond ε"
        checks.append(paper(claim, "ε-ULDP", rule.at_most(0), own, said, source, known=False))
    said = "ε, to the last digit" if abs(over).max() < 1e-12 else f"at most ε + {over.max():.0e}"
    claim = "uLH and uWheel with the exact or balanced z: true loss beyond ε"
    checks.append(ours(claim, "ε", rule.at_most(0), over, said, "ours"))
    return checks
