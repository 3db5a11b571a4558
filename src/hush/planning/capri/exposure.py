"""What the chosen budget exposes: how well somebody guesses a person's amount from the report.

The adversary guesses the likeliest value given the report, ties broken at random, and is scored by success, by squared
distance, and by telling who is at or below a limit (on holiday, say), as in section 6.1.3 of the thesis. That of the
thesis holds all values equally likely beforehand. No adversary guesses right more often than one who knows how many
people hold each value, and a report never makes that one worse.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hush import rules
from hush.analysis import success
from hush.errors import ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.inference import shares
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.numeric.forms import MOST_CHANCES
from hush.planning.capri.population import Population
from hush.randomness import source
from hush.types import Floats

_LEAST = 2


@dataclass(frozen=True)
class Exposure:
    """How well reports are guessed from, over a population.

    Args:
        asr: Share of the people whose value is guessed.
        mse: Mean squared distance of the guessed amount.
        precision: Of those guessed to be at or below the limit, the share that is; NaN where nobody is guessed.
        recall: Of those at or below the limit, the share that is guessed; NaN where nobody is.
        f_score: Harmonic mean of the two.
        stderr: Standard error of the ASR: 0 where it is exact.
        limit: The limit.
        blind: Share that the same adversary guesses without a report, by always naming the likeliest value.
        reports: Simulated reports behind what is not exact; 0 where everything is.
    """

    asr: float
    mse: float
    precision: float
    recall: float
    f_score: float
    stderr: float
    limit: float | None
    blind: float
    reports: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain data; what is not defined is None."""
        return {name: None if v is None or math.isnan(v) else v for name, v in asdict(self).items()}


def exposure(
    m: FrequencyOracle | Numeric,
    people: Population,
    *,
    limit: float | None = None,
    prior: npt.ArrayLike | None = None,
    reports: int = 200_000,
    rng: np.random.Generator | None = None,
) -> Exposure:
    """How well somebody who sees a report guesses the amount behind it.

    Exact where the outputs are few, and with a uniform prior for every mechanism that treats all values alike. Else
    from simulated reports, but for the ASR of an adversary who knows the counts, which is exact for every oracle here.

    Args:
        m: The mechanism, at the chosen budget.
        people: Who reports.
        limit: Also score the guess that an amount is at or below this.
        prior: How likely the adversary holds each value to be beforehand; uniform when left out, as in the thesis.
            `people.counts / people.n` is the best one.
        reports: How many to simulate, where it has to be.
        rng: `hush.seeded(7)` to repeat a simulation.
    """
    rules.integer("reports", reports, 2, 10**9, "use e.g. 200_000")
    if isinstance(m, FrequencyOracle) and m.k != people.k:
        raise ParameterError(message("m", f"must have k={people.k}", m.k, "match it to the counts"))
    belief, held = shares(prior, people.k), people.counts / people.n
    table = _exact(m, people, belief, uniform=prior is None)
    if table is not None:
        return _scored(table, people, belief, limit)
    table, error = _guessed(m, people, belief, reports, source(rng))
    found = replace(_scored(table, people, belief, limit), stderr=error, reports=reports)
    if isinstance(m, FrequencyOracle) and np.allclose(belief, held, rtol=0, atol=1e-12):
        try:
            return replace(found, asr=m.asr(belief), stderr=0.0)
        except (NotImplementedError, ParameterError):  # one of your own, whose outputs cannot be listed
            return replace(found, asr=max(found.asr, found.blind))
    return found


def _exact(m: FrequencyOracle | Numeric, people: Population, belief: Floats, *, uniform: bool) -> Floats | None:
    """The probability of each guess for each true value, as [value, guess]; None where it is not known."""
    if not isinstance(m, FrequencyOracle):
        law = m.forms.chances(people.amounts)
    elif uniform and m.forms.wrong_guesses_alike():
        return success.alike(people.k, m.asr())
    else:
        law = None if (found := m.forms.listed) is None else found.chances
    return None if law is None else np.asarray(law.T @ success.best_guesses(law * belief), np.float64)


def _guessed(
    m: FrequencyOracle | Numeric, people: Population, belief: Floats, reports: int, rng: np.random.Generator
) -> tuple[Floats, float]:
    """The same, as shares of simulated reports, about as many of each value as people hold it; and the standard error
    of the share that is guessed. Values that nobody holds keep a row of zeros.
    """
    if not isinstance(m, FrequencyOracle):
        rule = f"must leave at most {MOST_CHANCES} pairs of outputs and amounts"
        raise ParameterError(message("m", rule, m.size * people.k, "use fewer amounts, or a coarser grid"))
    held = people.counts / people.n
    many = np.where(held > 0, np.maximum(np.rint(reports * held), _LEAST), 0).astype(np.int64)
    values = np.repeat(np.arange(people.k), many)
    guesses = m.attack(m.privatize(values, rng=rng), belief, rng=rng)
    table = np.zeros((people.k, people.k))
    np.add.at(table, (values, guesses), 1.0)
    right = (np.diagonal(table) + 1) / (many + 2)  # never all or nothing, which few reports cannot show
    error = math.sqrt(float((held**2 * right * (1 - right) / np.maximum(many, 1)).sum()))
    return table / np.maximum(many, 1)[:, None], error


def _scored(table: Floats, people: Population, belief: Floats, limit: float | None) -> Exposure:
    share = people.counts / people.n
    joint = share[:, None] * table
    a = people.amounts
    precision = recall = score = math.nan
    if limit is not None:
        under = a <= rules.number("limit", limit, -math.inf, math.inf, "give an amount")
        hit, said, held = joint[under][:, under].sum(), joint[:, under].sum(), share[under].sum()
        precision = float(hit / said) if said else math.nan
        recall = float(hit / held) if held else math.nan
        both = precision + recall
        score = 2 * precision * recall / both if both > 0 else (0.0 if both == 0 else math.nan)
    mse = float((joint * (a[:, None] - a) ** 2).sum())
    blind = float(share @ success.best_guesses(belief))
    return Exposure(float(np.trace(joint)), mse, precision, recall, score, 0.0, limit, blind)
