"""What forms say of estimated totals, against the enumeration: what a report adds, the law of a total, and its draws.

The totals of a few people are enumerated, too, person by person: that needs no characteristic function.
"""

from __future__ import annotations

import math

import numpy as np

from hush import statistics
from hush.analysis.adds import Adds
from hush.analysis.totals import Draw, Law
from hush.mechanisms.forms import Forms
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.numeric.forms import NumericForms
from hush.randomness import seeded
from hush.testing.forms import COMPARISONS, Comparison
from hush.testing.problem import ConformanceError
from hush.types import Floats, Ints

_POINTS = np.array([0.003, 0.05, 0.4, 1.3])
_OUTPUTS = 1 << 11  # that are looked at one by one
_SUMS = 1 << 18  # totals that are enumerated
_PEOPLE, _RUNS = 40, 600
_NEAR = 1e-8


def _amounts(k: int, seed: int) -> Floats:
    """Different ones, that are not in order, with a zero."""
    return seeded([seed, 21]).permutation(np.cumsum(np.arange(k) % 3 + 1.0) - 1)


def _few(k: int, outputs: int, seed: int) -> Ints:
    """So many people, up to five, that all of their totals can be enumerated."""
    many = max(1, min(5, int(math.log(_SUMS) / math.log(max(outputs, 2)))))
    return np.bincount(seeded([seed, 22]).integers(0, k, many), minlength=k)


def _small(general: Forms) -> bool:
    """Whether outputs are few enough to be looked at."""
    found = general.listed
    return found is not None and len(found.reports) <= _OUTPUTS


def _outputs(general: Forms, amounts: Floats) -> tuple[Floats, Floats] | None:
    """What each output adds, and its probability for each value; None where they are too many."""
    found = general.listed
    return (found.decoded @ amounts, found.chances) if found is not None and _small(general) else None


def _what_a_report_adds(forms: Forms, general: Forms, seed: int) -> str:
    amounts = _amounts(forms.m.k, seed)
    stated, known = forms.report_adds(amounts), _outputs(general, amounts)
    return "" if stated is None or known is None else _of_one(stated, *known)


def _of_one(stated: Adds, says: Floats, chances: Floats) -> str:
    mean = says @ chances
    variance = ((says[:, None] - mean) ** 2 * chances).sum(axis=0)
    points = _POINTS / max(1.0, math.sqrt(float(variance.max())))
    phi = np.exp(1j * points[:, None] * says) @ chances
    off = float(np.abs(1 + stated.phi_less_one(points) - phi).max())
    if not off < _NEAR:
        return f"its characteristic function is off by {off:.2g}"
    if not np.allclose(stated.mean, mean, rtol=_NEAR, atol=_NEAR * np.abs(says).max()):
        return f"its mean is {stated.mean}, where {mean} is due"
    if not np.allclose(stated.variance, variance, rtol=1e-7, atol=_NEAR):
        return f"its variance is {stated.variance}, where {variance} is due"
    return ""


def _the_law_of_a_total(forms: Forms, general: Forms, seed: int) -> str:
    amounts = _amounts(forms.m.k, seed)
    known = _outputs(general, amounts)
    if known is None:
        return ""
    counts = _few(forms.m.k, known[0].size, seed)
    return _of_few(forms.total_law(amounts, counts), counts, *known)


def _of_few(stated: Law, counts: Ints, says: Floats, chances: Floats) -> str:
    """Mean, variance and probabilities; what is not claimed to be exact is held to its variance alone."""
    totals, likely = _enumerated(counts, says, chances)
    mean = float(totals @ likely)
    variance = float((totals - mean) ** 2 @ likely)
    size = float(np.abs(totals).max()) + 1
    if abs(stated.mean - mean) > _NEAR * size:
        return f"its mean is {stated.mean}, where {mean} is due"
    if not math.isclose(stated.variance, variance, rel_tol=1e-7, abs_tol=_NEAR * size):
        return f"its variance is {stated.variance}, where {variance} is due"
    if variance <= _NEAR * size:
        return ""
    for z in (-1.1, 0.2, 0.9):
        cap = _between(totals, mean + z * math.sqrt(variance))
        error, due = stated.error(cap), float(likely[totals <= cap].sum())
        if error is not None and abs(stated.at_most(cap) - due) > error + _NEAR:
            return f"it is at most {cap:.6g} with probability {stated.at_most(cap):.9f}, where {due:.9f} is due"
    return ""


def _enumerated(counts: Ints, says: Floats, chances: Floats) -> tuple[Floats, Floats]:
    """All totals of few people, and their probabilities, person by person."""
    totals: Floats = np.zeros(1)
    likely: Floats = np.ones(1)
    for value in np.repeat(np.arange(counts.size), counts):
        sums = np.round(np.add.outer(totals, says).ravel(), 7)
        totals, where = np.unique(sums, return_inverse=True)
        likely = np.bincount(where.ravel(), np.outer(likely, chances[:, value]).ravel()).astype(np.float64)
    return totals, likely


def _between(totals: Floats, cap: float) -> float:
    """The middle between the two totals next to a cap, which no rounding takes to the other side."""
    at = min(max(int(np.searchsorted(totals, cap)), 1), totals.size - 1)
    return float(totals[at - 1] + totals[at]) / 2 if totals.size > 1 else cap


def _its_draws(forms: Forms, general: Forms, seed: int) -> str:
    """By the enumerated law, or by the companion's own where there is none."""
    k = forms.m.k
    amounts, counts = _amounts(k, seed), np.bincount(np.arange(_PEOPLE) % k, minlength=k)
    law = (general if _small(general) else forms).total_law(amounts, counts)
    return _drawn(law, forms.total_draw(amounts, counts), seed)


def _drawn(law: Law, draw: Draw, seed: int) -> str:
    """How often draws stay below three caps."""
    if law.log is None:
        return ""
    drawn = draw(_RUNS, seeded([seed, 23]))
    for z in (-1.0, 0.02, 1.0):
        cap = law.mean + z * math.sqrt(law.variance)
        at = law.offset + (math.floor((cap - law.offset) / law.step) + 0.5) * law.step if law.step else cap
        chance = min(max(law.at_most(at), 0.0), 1.0)
        off = statistics.count_alarm(int((drawn <= at).sum()), _RUNS, chance, comparisons=3)
        if off:
            return f"draws up to {at:.6g}: {off}"
    return ""


def _wrong_guesses(forms: Forms, general: Forms, seed: int) -> str:
    told = _small(general) and forms.wrong_guesses_alike()
    return "wrong guesses differ" if told and not general.wrong_guesses_alike() else ""


COMPARISONS += [
    Comparison("report_adds", _what_a_report_adds),
    Comparison("total_law", _the_law_of_a_total),
    Comparison("total_draw", _its_draws),
    Comparison("wrong_guesses_alike", _wrong_guesses),
]


def check_numeric_forms(m: Numeric, seed: int = 20_261) -> None:
    """What the forms of a mechanism for means say of totals agrees with the enumeration of its weights."""
    amounts = m.low + m.width * np.array([0.0, 0.3, 0.5, 1.0])  # on the grid, and between its points
    problem = ""
    if m.size <= _OUTPUTS:
        below = np.minimum(np.floor(m._places(amounts)), m.steps - 1).astype(np.int64)
        part = m._places(amounts) - below
        chances = (1 - part) * Numeric.chances(m, below) + part * Numeric.chances(m, below + 1)
        says = m.low + m.width / m.steps * m.decode(m.outputs())
        counts = _few(amounts.size, m.size, seed)
        problem = _of_few(m.forms.total_law(amounts, counts), counts, says, chances)
    if not problem and type(m.forms).total_draw is not NumericForms.total_draw:
        counts = np.full(amounts.size, _PEOPLE // amounts.size)
        problem = _drawn(NumericForms(m).total_law(amounts, counts), m.forms.total_draw(amounts, counts), seed)
    if problem:
        raise ConformanceError(f"{m}: its forms differ from the enumeration: {problem}")
