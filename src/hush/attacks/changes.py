"""Did this person's value change? Detectors for collections over time, with a false-positive rate that holds.

`answer_differs` looks at protocols without fresh noise: two different answers prove a change, and nobody else is ever
accused (dBitFlipPM, `Memoized`). `likelihood_ratio` works for every protocol: it compares a value that never changed
with one that changed once, at any time, to any other value, all equally likely. Whoever scores higher than all but a
few simulated people who did not change is accused, so that the false-positive rate is exact on average over the
simulation, whatever its size (conformal prediction); where scores tie, a coin decides.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.attacks._change_ratio import log_ratio
from hush.attacks.outcome import Outcome, flags, scored
from hush.attacks.ties import SAME, batches
from hush.errors import ParameterError, message
from hush.estimation.intervals import proportion
from hush.longitudinal import Longitudinal, Repeated
from hush.longitudinal.likelihoods import SortedReports, constant
from hush.mechanisms.inference import shares
from hush.randomness import source
from hush.types import Bools, Floats, Reports

_LEAST_RATE = 1e-3
_ABOVE, _MOST = 500, 100_000
"""How many simulated people score higher than whoever is just accused, and how many there are at most."""

Rate = tuple[float, float, float]
"""A share of people, and its Clopper-Pearson interval at 95 %."""


@dataclass(frozen=True, eq=False)
class Detection(Outcome):
    """Whom a detector accused of a change, and how often it was right.

    Args:
        promised: The false-positive rate by construction, on average over what is simulated for it.
        false_positives: The share accused among people who did not change, with its interval; None if there are none.
        detected: The share found among people who did, with its interval; None if there are none.
    """

    promised: float = 1.0
    false_positives: Rate | None = None
    detected: Rate | None = None

    def __str__(self) -> str:
        def shown(rate: Rate | None) -> str:
            return "nobody" if rate is None else f"{rate[0]:.4g} (95 %: {rate[1]:.4g} to {rate[2]:.4g})"

        found, accused = shown(self.detected), shown(self.false_positives)
        return f"found {found}; falsely accused {accused}, promised {self.promised:g}"


def answer_differs(m: Longitudinal, reports: Reports, changed: npt.ArrayLike) -> Detection:
    """Accuse whoever shows two different answers: for protocols without fresh noise. Nobody is accused falsely.

    Args:
        m: `Memoized` or dBitFlipPM.
        reports: Shape (n, tau), one row a person.
        changed: The truth: whether each person's value changed.
    """
    if not isinstance(m, Longitudinal) or not m.repeats_one_answer:
        rule, remedy = "must be without fresh noise", "pass Memoized or dBitFlipPM, or use likelihood_ratio"
        raise ParameterError(message("m", rule, type(m), remedy))
    array = _checked(m, reports)
    known = flags("changed", changed, len(array))
    return _judged(~constant(array, SortedReports.of(np.zeros(array.shape, np.int64))), known, 0.0)


def likelihood_ratio(
    m: Repeated | Longitudinal,
    reports: Reports,
    changed: npt.ArrayLike,
    prior: npt.ArrayLike | None = None,
    *,
    rate: float = 0.05,
    rng: np.random.Generator | None = None,
) -> Detection:
    """Accuse whoever's reports a change makes likelier, beyond what `rate` of unchanged people reach by chance.

    Args:
        m: Fresh reports (`Repeated`), or a protocol with kept answers.
        reports: Shape (n, tau), one row a person.
        changed: The truth: whether each person's value changed.
        prior: How likely each value is before and after a change; uniform when left out.
        rate: False-positive rate among people whose values follow the prior, 0.001 to below 1.
        rng: Draws the people to compare with, and breaks ties.
    """
    array = _checked(m, reports)
    known = flags("changed", changed, len(array))
    alpha = rules.number("rate", rate, math.nextafter(_LEAST_RATE, 0), 1.0, "accept some false positives, e.g. 0.05")
    drawing = source(rng)
    belief = shares(prior, m.k)
    simulated = min(math.ceil(_ABOVE / alpha), _MOST)
    still = np.repeat(drawing.choice(m.k, (simulated, 1), p=belief), array.shape[1], axis=1)
    null = np.sort(_rounded(change_score(m, m.collect(still, rng=drawing), prior)))
    seen = _rounded(change_score(m, array, prior))
    above, upto = simulated - np.searchsorted(null, seen, side="right"), simulated - np.searchsorted(null, seen)
    rank = above + drawing.random(seen.size) * (upto - above + 1)  # among simulated people and the one in question
    return _judged(rank <= alpha * (simulated + 1), known, alpha)


def change_score(m: Repeated | Longitudinal, reports: Reports, prior: npt.ArrayLike | None = None) -> Floats:
    """How much likelier one change makes each row of reports, in nats: the exact logarithm of the ratio.

    The change comes after any round but the last, to any value but the old one, in proportion to the prior. It is
    infinite where no unchanging value can have sent the reports.
    """
    array = _checked(m, reports)
    belief = shares(prior, m.k)

    def work(rows: slice, _: np.random.Generator) -> Floats:
        return log_ratio(m, array[rows], belief)

    wide = m.k * array.shape[1]
    return np.concatenate(batches(len(array), wide, work, None) or [np.zeros(0)])


def _judged(accused: Bools, changed: Bools, promised: float) -> Detection:
    """What came of accusing these people."""
    commoner = max(changed.mean(), 1 - changed.mean())
    plain = scored(accused.astype(np.int64), accused == changed, commoner)
    rates = [_rate(accused[changed == group]) for group in (False, True)]
    return Detection(
        plain.guesses, plain.success, plain.interval, plain.n, plain.chance_level, None, promised, rates[0], rates[1]
    )


def _rounded(scores: Floats) -> Floats:
    """Scores that differ by rounding alone are the same."""
    return np.round(scores / SAME) * SAME


def _rate(accused: Bools) -> Rate | None:
    if accused.size == 0:
        return None
    hits = int(accused.sum())
    return (hits / accused.size, *proportion(hits, accused.size))


def _checked(m: Repeated | Longitudinal, reports: Reports) -> Reports:
    if not isinstance(m, (Repeated, Longitudinal)):
        rule, remedy = "must report over time", "pass e.g. Repeated(hush.OUE(k=10, epsilon=1.0), 5)"
        raise ParameterError(message("m", rule, type(m), remedy))
    array = m._reports(reports)
    if array.shape[1] < 2:
        raise ParameterError(message("reports", "must hold two rounds or more", array.shape[1], "collect another one"))
    m.first_report.validate(array.ravel())
    return array
