"""What the paper says of formulas (figures 1 and 3, appendix B), held against exact errors and exact losses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from hush.reproduce.study import Check, Table
from hush.reproduce.uldp.people import Setting, people
from hush.reproduce.uldp.readings import PROPOSED, made
from hush.utility import optimal, theory, total_error, uLH

Floats = npt.NDArray[np.float64]

OLD = ("uRR", "uRAP", "uUE", "uLH")
"""Those that are held against uSS where equation 28 speaks."""


def first(table: Table) -> list[Check]:
    """Figure 1: error and bits as s grows."""
    rows = {name: table.where(mechanism=name, reading="paper") for name in ("uRR", "uRAP", "uHR", "uSS", "uLH")}
    large = rows["uRR"].numbers("s") >= 100
    power = {name: _power(each.numbers("s")[large], each.numbers("mse")[large]) for name, each in rows.items()}
    bits = {name: each.numbers("bits")[-1] for name, each in rows.items()}
    plain = float(rows["uLH"].numbers("bits_without_hash")[-1])
    s = int(rows["uRR"].numbers("s")[-1])
    shorter = np.array([bits["uRR"], bits["uHR"]])
    return [
        Check("uRR: error grows as this power of s", "2", f"{power['uRR']:.2f}", power["uRR"] > 1.8, source="table 1"),
        Check(
            "uLH: error grows as this power of s",
            "1",
            f"{power['uLH']:.2f}",
            0.9 < power["uLH"] < 1.1,
            source="table 1",
        ),
        Check(
            f"s = {s}: bits of uRAP over s", "≈ 1", f"{bits['uRAP'] / s:.2f}", bool(bits["uRAP"] > 0.9 * s), source="1"
        ),
        Check(
            f"s = {s}: uLH has the lowest communication cost",
            "lowest",
            f"uLH {bits['uLH']:.0f} bits, {plain:.0f} without its hash function; uRR and uHR {span(shorter)}",
            bool(bits["uLH"] < shorter.min()),
            right=False,
            source="table 1",
        ),
    ]


def _power(x: Floats, y: Floats) -> float:
    """The slope in a plot with logarithmic axes."""
    return float(np.log(y[-1] / y[0]) / np.log(x[-1] / x[0])) if x.size > 1 else float("nan")


def scenarios(table: Table) -> list[Check]:
    """Figure 3, and the parameters of sections 5.1 to 5.3."""
    mine = table.where(reading="paper")
    pure = Table(mine.columns, [row for row in mine.rows if row[mine.columns.index("equation_28")] is not None])
    off = np.abs(pure.numbers("mse") / pure.numbers("equation_28") - 1)
    many = Table(mine.columns, [row for row in mine.rows if row[1] == 500])
    alike = np.concatenate([ratio(many, name, "uSS", "mse") for name in ("uUE", "uLH")])
    said = f"off by at most {off.max():.1e} in {off.size} cells"
    return [
        Check("equation 28 is the exact variance", "exact", said, bool(off.max() < 1e-9), source="theorem 4"),
        best(mine, "mse", "uSS has the least theoretical MSE, but for uHR", OLD, "5.4"),
        best(mine, "mse", "uSS has less theoretical MSE than uHR", ("uHR",), "abstract"),
        Check(
            "s = 500: MSE of uUE and uLH over uSS", "very similar", span(alike), bool(alike.max() < 1.5), source="5.4"
        ),
        *_over_rap(),
        *_optima(),
        _reveal_alone(table),
    ]


def ratio(table: Table, name: str, base: str, column: str) -> Floats:
    """One mechanism's column over another's, cell by cell."""
    return table.where(mechanism=name).numbers(column) / table.where(mechanism=base).numbers(column)


def best(table: Table, column: str, claim: str, others: tuple[str, ...], source: str) -> Check:
    """Whether uSS is ahead of others everywhere; it is not ahead of Hadamard response, which sends values alone."""
    least = {name: float(ratio(table, name, "uSS", column).min()) for name in others}
    said = "least over that of uSS: " + ", ".join(f"{name} {value:.3f}" for name, value in least.items())
    holds = min(least.values()) > 1 - 1e-9
    return Check(claim, "consistently", said, holds, right="uHR" not in others, source=source)


def span(values: Floats) -> str:
    """From the least to the largest."""
    low, high = (f"{each:.2f}".removesuffix(".00") for each in (np.nanmin(values), np.nanmax(values)))
    return low if low == high else f"{low} to {high}"


def _over_rap() -> list[Check]:
    """By the paper's own equation 28, at a small budget."""
    checks = []
    for name, own, other in (("Normal", "3878", "3664"), ("Foursquare", "428", "401")):
        at = _stated(name)
        ue, rap = (total_error(made(each, "paper", at, 0.5), at.theta) for each in ("uUE", "uRAP"))
        exact = round(ue) == int(own) and round(rap) == int(other)
        claim = f"{name}, ε = 0.5, equation 28: uUE has less error than uRAP"
        said = f"{ue:.0f} against {rap:.0f}" + ("" if exact else f", not {own} and {other}")
        checks.append(Check(claim, "consistently", said, ue < rap, right=False, source="5.4, 6.2"))
    return checks


def _stated(name: str) -> Setting:
    """With theta as the paper prints it."""
    at = people(name).setting
    return Setting(at.k, at.sensitive, round(at.theta, 2))


def _optima() -> list[Check]:
    """Closed forms of parameters beside direct search."""
    s, theta, epsilon = 25, 0.95, 5.0
    printed, direct = optimal.hash_range_paper(s, epsilon, theta), optimal.hash_range(s, epsilon, theta, "paper")
    ahead, least = (_hashing(s, epsilon, theta, g) for g in (round(printed), direct))
    sizes, probabilities = [], []
    for held in (25, 230, 424):
        for budget in (0.5, 2.0, 5.0):
            closed, found = optimal.subset_size_paper(held, budget, 0.77), optimal.subset_size(held, budget, 0.77)
            sizes.append(abs(closed - found))
            closed = optimal.unary_probability_paper(held, budget, 0.77)
            probabilities.append(abs(closed - optimal.unary_probability(held, budget, 0.77, "constant")))
    said = f"equation 49 says {printed:.1f} (error {ahead:.3f}), the least is at {direct} ({least:.3f})"
    return [
        Check(
            "equation 37 is the best subset size", "optimal", f"within {max(sizes):.2f}", max(sizes) < 1, source="5.1"
        ),
        Check(
            "equation 43 is the best p",
            "optimal",
            f"within {max(probabilities):.1e}",
            max(probabilities) < 1e-6,
            source="5.2",
        ),
        Check(
            "s = 25, θ = 0.95, ε = 5: equation 49 is the best g",
            "optimal",
            said,
            abs(printed - direct) < 1,
            right=False,
            source="5.3",
        ),
    ]


def _hashing(s: int, epsilon: float, theta: float, g: int) -> float:
    made_with = uLH(k=2 * s, epsilon=epsilon, sensitive=tuple(range(s)), g=g, z="paper")
    return total_error(made_with, theta)


def _reveal_alone(table: Table) -> Check:
    """What is not in the paper: a pair's base report is noise."""
    gain = {}
    for name in PROPOSED:
        ours, theirs = (table.where(mechanism=name, reading=each).numbers("mse") for each in ("ours", "paper"))
        gain[name] = 100 * (1 - float((ours / theirs).min()))
    said = "up to " + ", ".join(f"{name} {value:.0f} %" for name, value in gain.items())
    claim = "exact z and values sent alone make the error smaller by"
    return Check(claim, "> 0", said, min(gain.values()) > 0, source="ours")


def losses(table: Table) -> list[Check]:
    """What the printed z spends."""
    mine = table.where(reading="paper")
    excess = mine.numbers("true_epsilon") - mine.numbers("epsilon")
    closed = np.abs(mine.numbers("closed_form") - mine.numbers("true_epsilon"))
    ours = table.where(reading="ours")
    over = (ours.numbers("true_epsilon") - ours.numbers("epsilon")).max()
    checks = [
        Check.number("uLH, s = 10, g = 4, ε = 1: true ε", "1.2851", theory.true_loss_hashing(10, 1.0, 4), "errata 15"),
        Check.number("uLH, s = 424, g = 8, ε = 2: true ε", "2.579", theory.true_loss_hashing(424, 2.0, 8), "errata 15"),
        Check(
            "true ε, by all outputs and by formula",
            "equal",
            f"to {closed.max():.0e}",
            bool(closed.max() < 1e-6),
            source="errata 15, 16",
        ),
    ]
    for name in ("uLH", "uWheel"):
        own = excess[[row == name for row in mine.column("mechanism")]]
        said = f"ε + {own.min():.3f} to ε + {own.max():.3f}"
        source = "5.3" if name == "uLH" else "appendix B"
        checks.append(
            Check(f"{name} with the printed z is ε-ULDP", "ε", said, bool(own.max() <= 0), right=False, source=source)
        )
    said = "ε, to the last digit" if abs(over) < 1e-12 else f"at most ε + {over:.0e}"
    checks.append(Check("uLH and uWheel with the exact or balanced z", "ε", said, bool(over < 1e-9), source="ours"))
    return checks
