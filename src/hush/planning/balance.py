"""How much each objective counts when choices are ranked: bounded scales, floors and weights.

A product of raw numbers rewards the number nearest to zero: an error of 10^-6 outweighs any attack. So each objective
has a scale on which equal steps matter about equally, and a floor below which a smaller number is no better:

- Errors count by their logarithm, squared ones by half of it, so that the metric does not change their weight. An error
  below the *sampling error* counts as that: n people who report the truth are a sample, too.
- Attack success counts by its log-odds against a blind guess, which is at most ε for one report. Odds that are a
  quarter better than blind ones count as blind, and 0.999 as certain.
- Lost information counts as the noise it adds to the sample: half the logarithm of its odds.
- ε, the gain of fakes, bits and work count by their logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from hush.planning.objectives import OBJECTIVES, Z95
from hush.types import Floats

if TYPE_CHECKING:
    from hush.planning.wishes import Wishes

COST_WEIGHT = 0.25
"""What bits and a server's work count, where they are named."""
BLIND_ODDS = 1.25
"""Odds of a right guess that are this many times those of a blind one are no better for an attacker."""
SAFE_REIDENTIFICATION = 0.01
"""A smaller chance to find a person counts as this."""
NEAR = 1.05
"""Numbers that differ by no more than this factor are as good."""
MUCH_BETTER = 0.5
"""A number of at most this share of another one is much better."""

ERRORS = ("error", *(name for name, each in OBJECTIVES.items() if each.kind == "U"))
"""What gets worse with a smaller budget, the gain of fakes aside."""
ATTACKS = tuple(name for name, each in OBJECTIVES.items() if each.kind == "P" and name != "epsilon")
"""What is the success of an attack."""
_SQUARED = ("mse", "variance")
_CERTAIN = 0.999
_ALL_LOST = 1 - 1e-12
_NONE = 1e-300  # in place of zero, where logarithms are taken


def objective_weights(names: Iterable[str]) -> dict[str, float]:
    """Return the weight of each objective: 1, shared by all attacks and by all errors, and 1/4 for bits and work.

    >>> objective_weights(["error", "asr", "pools", "bits"])
    {'error': 1.0, 'asr': 0.5, 'pools': 0.5, 'bits': 0.25}
    """
    known = tuple(names)
    attacks, errors = (sum(name in kind for name in known) for kind in (ATTACKS, ERRORS))
    weights = dict.fromkeys(known, 1.0)
    weights |= {name: 1 / attacks for name in known if name in ATTACKS}
    weights |= {name: 1 / errors for name in known if name in ERRORS}
    return weights | {name: COST_WEIGHT for name in known if name in {"bits", "work"}}


def sampling_errors(k: int, n: int, *, worst: bool) -> dict[str, float]:
    """Return the error of a sample of n people who report the truth, in each metric.

    The variance of a sampled frequency f is f(1 - f)/n. On average over the values it is at most (1 - 1/k)/(k n),
    reached where all are equally frequent; for the worst value it is 1/(4n). The law is taken as normal.

    >>> round(sampling_errors(100, 100_000, worst=False)["margin"], 6)
    0.000617
    """
    squared = (0.25 if worst else (1 - 1 / k) / k) / n
    return {
        "mse": squared,
        "variance": (1 - 1 / k) / k / n,
        "margin": Z95 * math.sqrt(squared),
        "mae": math.sqrt(2 / math.pi * squared),
    }


def floors(wishes: Wishes) -> dict[str, float]:
    """Return the number of each objective below which a smaller one is no better.

    What matters most has none but the sampling error: a request for the least gets the least.
    """
    w = wishes
    errors = sampling_errors(w.k, w.judged, worst=w.worst)
    errors["error"] = errors[w.metric]
    if w.error is not None and w.first != "error":
        errors["error"] = max(errors["error"], w.error)
    guesses = {
        "asr": _near_blind(w.k),
        "reidentification": max(_near_blind(w.n), SAFE_REIDENTIFICATION) if w.n > 1 else 1.0,
        "attribute": _near_blind_advantage(w.parts),
        "pools": _near_blind_advantage(w.parts),
        "changes": _near_blind_advantage(2),
        "gain": w.fakes * (1 - w.targets / w.k),  # what fakes add to reports without any noise
    }
    return errors | {name: floor for name, floor in guesses.items() if name != w.first}


def _near_blind(options: int) -> float:
    """The chance of a right guess, of so many options, whose odds are as good as blind."""
    odds = BLIND_ODDS / (options - 1)
    return odds / (1 + odds)


def _near_blind_advantage(options: int) -> float:
    return (_near_blind(options) - 1 / options) / (1 - 1 / options)


def comparable(wishes: Wishes, columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return numbers whose ratios say how much better one is: none below its floor, lost information as its odds."""
    found: dict[str, Floats] = {}
    for name, column in columns.items():
        if name == "information":
            found[name] = np.maximum(_odds(column, _ALL_LOST), 1.0)
        else:
            found[name] = np.maximum(column, wishes.floors.get(name, _NONE))
    return found


def costs(wishes: Wishes, columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return what each number counts in the balance, on the scale of its objective."""
    squared = {*_SQUARED, *(["error"] if wishes.metric == "mse" else [])}
    found: dict[str, Floats] = {}
    for name, column in comparable(wishes, columns).items():
        match name:
            case "asr" | "reidentification":
                found[name] = np.log(_odds(column, _CERTAIN))
            case "attribute" | "pools" | "changes":
                blind = 1 / (2 if name == "changes" else wishes.parts)
                found[name] = np.log(_odds(blind + (1 - blind) * column, _CERTAIN))
            case _:
                found[name] = np.log(column) * (0.5 if name in squared or name == "information" else 1.0)
    return found


def _odds(share: Floats, most: float) -> Floats:
    """The odds of a share, which counts as `most` at most."""
    inside = np.clip(share, _NONE, most)
    return np.asarray(inside / (1 - inside))


def kept_near(wishes: Wishes) -> tuple[str, ...]:
    """Return the numbers that no exchange makes worse by over 5 %: ε, what matters most, and what is compared."""
    most = () if wishes.first is None else (wishes.first,)
    return tuple(dict.fromkeys(("epsilon", *most, *wishes.compared)))


def beats(wishes: Wishes, one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    """Return whether one choice is within 5 % of another in everything compared, and better by half in something.

    Its ε is never larger by more than that, nor what matters most, even where they are not compared.
    """
    names = kept_near(wishes)
    own, its = ({name: np.array(numbers[name]) for name in names} for numbers in (one, other))
    mine, theirs = comparable(wishes, own), comparable(wishes, its)
    ratios = {name: float(mine[name] / theirs[name]) for name in names}
    return max(ratios.values()) <= NEAR and min(ratios[name] for name in wishes.compared) <= MUCH_BETTER
