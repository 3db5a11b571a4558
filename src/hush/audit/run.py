"""`hush.audit.run`: one audit of one target."""

from __future__ import annotations

import math
import secrets
import time
from pathlib import Path

import numpy as np

from hush.attacks.reconstruction import chance
from hush.audit import bounds, exact
from hush.audit.checkpoint import Checkpoint
from hush.audit.classifier import learned
from hush.audit.events import Statistic, best_threshold
from hush.audit.result import AuditResult, Witness
from hush.audit.stream import Event, Progress, Stream
from hush.audit.target import Claim, MechanismTarget, Target, log_ratio
from hush.errors import ParameterError, message
from hush.mechanisms import _rules
from hush.mechanisms._base import FrequencyOracle, Reports

METHODS = ("likelihood", "attack", "classifier", "exact")

_SHARE = 0.1  # of the trials, spent on choosing the event
_MOST_CHOOSING = 200_000


def run(
    target: FrequencyOracle | Target,
    method: str = "likelihood",
    *,
    trials: int = 10**6,
    alpha: float = 0.01,
    claim: float | Claim | None = None,
    pair: tuple[int, int] | None = None,
    bound: str = "paper",
    rng: np.random.Generator | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
) -> AuditResult:
    """A lower bound of the privacy loss of one report, proved with confidence 1 - alpha; or the exact loss.

    Args:
        target: A mechanism, or anything that turns a value into a report.
        method: "likelihood" counts the event that the likelihood ratio favours, chosen on a tenth of the trials and
            proved on the others. "attack" counts how often the best guess of the value names the first one (Algorithm
            1 of "Revealing the true cost of LDP protocols"). "classifier" learns an event from the reports alone.
            "exact" computes the loss from the law that the mechanism states.
        trials: Reports of each of the two values.
        alpha: Probability that the bound is wrong, at most.
        claim: The promise to hold it against; the target's own if left out.
        pair: The two values; the first two if left out.
        bound: "paper" or "one-sided": how alpha is divided (see `hush.audit.bounds`).
        rng: `hush.seeded(7)` to repeat an audit; left out, reports are made as real clients make them.
        checkpoint: A file that keeps where the audit stands, so that the same call goes on after an interrupt.
        progress: Called with the number of reports made since it was last called.
    """
    start = time.perf_counter()
    what = MechanismTarget(target) if isinstance(target, FrequencyOracle) else target
    promised = _claim(claim, what)
    if method not in METHODS:
        raise ParameterError(message("method", f"must be one of {', '.join(METHODS)}", method, "use e.g. 'likelihood'"))
    if method == "exact":
        loss, witness = exact.loss(_mechanism(what, method))
        return AuditResult(what.name, method, promised, loss, 0.0, 0, witness, seconds=time.perf_counter() - start)
    _rules.integer("trials", trials, 1000, 10**12, "use e.g. 10**6")
    _rules.number("alpha", alpha, 0.0, 1.0, "use e.g. 0.01")
    rules = {"alpha": alpha, "delta": 0.0 if promised is None else promised.delta, "bound": bound}
    first, second = _pair((0, 1) if pair is None else pair, what.k)
    root = None if rng is None else int(rng.integers(1 << 62))
    if checkpoint is not None and not isinstance(what, MechanismTarget):
        rule = "must be left out for foreign code, which cannot be made to repeat the reports that chose the event"
        raise ParameterError(message("checkpoint", rule, str(checkpoint), "leave it out"))
    if checkpoint is not None and root is None:
        root = secrets.randbits(62)
    identity = {"target": what.name, "k": what.k, "method": method, "pair": [first, second], "trials": trials, **rules}
    kept = Checkpoint.open(checkpoint, {**identity, "root": root})
    root = kept.identity["root"]
    if method == "attack":
        event, proving = _guess(_mechanism(what, method), first), trials
    else:
        choosing = min(int(trials * _SHARE), _MOST_CHOOSING)
        proving = trials - choosing
        parts = [Stream(what, value, root, i).sample(choosing) for i, value in enumerate((first, second))]
        if method == "likelihood":
            event, swapped = _likeliest(_ratio(_mechanism(what, method), first, second), parts, proving, rules)
        else:
            score = learned(what, *parts, delta=float(rules["delta"]))  # type: ignore[arg-type]
            event, swapped = Event(score.words, lambda reports, coin: score.shows(reports)), score.swapped
        first, second = (second, first) if swapped else (first, second)
    hits, false_hits = (
        Stream(what, value, root, 2 + i).count(event, proving, kept, progress)
        for i, value in enumerate((first, second))
    )
    proved = bounds.epsilon_lower(hits, proving, false_hits, proving, **rules)  # type: ignore[arg-type]
    witness = Witness(first, second, event.words)
    seconds = time.perf_counter() - start
    return AuditResult(what.name, method, promised, proved, alpha, proving, witness, (hits, false_hits), seconds)


def _guess(m: FrequencyOracle, first: int) -> Event:
    """The best guess of the value is the first one; ties are broken by the event's coin."""

    def test(reports: Reports, coin: np.random.Generator) -> np.ndarray:
        return coin.random(reports.size) < chance(m, reports, np.full(reports.size, first))

    return Event(f"the best guess is {first}", test)


def _ratio(m: FrequencyOracle, first: int, second: int) -> Statistic:
    return lambda reports: log_ratio(m, reports, first, second)


def _likeliest(
    statistic: Statistic, parts: list[list[Reports]], proving: int, rules: dict[str, object]
) -> tuple[Event, bool]:
    """The event that promises to prove most, and whether it is one of the second value."""
    ones, twos = (np.concatenate([statistic(chunk) for chunk in part]) for part in parts)
    found = best_threshold(ones, twos, proving, **rules)  # type: ignore[arg-type]
    sign = -1.0 if found.swapped else 1.0
    words = f"the likelihood ratio is {'infinite' if found.level > 700 else f'at least {math.exp(found.level):.4g}'}"
    return Event(words, lambda reports, coin: sign * statistic(reports) >= found.level), found.swapped


def _claim(claim: float | Claim | None, target: Target) -> Claim | None:
    if claim is None:
        return target.claim
    if isinstance(claim, Claim):
        return claim
    return Claim(_rules.number("claim", claim, -1e-300, float("inf"), "say the promised epsilon, e.g. 1.0"))


def _pair(pair: tuple[int, int], k: int) -> tuple[int, int]:
    whole = [
        isinstance(v, (int, np.integer)) and not isinstance(v, bool) and 0 <= v < k
        for v in np.atleast_1d(pair).tolist()
    ]
    if len(whole) != 2 or not all(whole) or pair[0] == pair[1]:
        raise ParameterError(message("pair", f"must be two different values in 0..{k - 1}", pair, "use e.g. (0, 1)"))
    return int(pair[0]), int(pair[1])


def _mechanism(target: Target, method: str) -> FrequencyOracle:
    if not isinstance(target, MechanismTarget):
        rule = f"must be one that needs no likelihood for {target.name}"
        raise ParameterError(message("method", rule, method, "use 'classifier'"))
    return target.mechanism
