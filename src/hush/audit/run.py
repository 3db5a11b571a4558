"""`hush.audit.run`: one audit of one target."""

from __future__ import annotations

import hashlib
import math
import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hush.audit import bounds, exact
from hush.audit.checkpoint import Checkpoint
from hush.audit.classifier import learned
from hush.audit.events import best_threshold
from hush.audit.foreign import ForeignTarget, claimed
from hush.audit.pairs import checked
from hush.audit.result import AuditResult, Witness
from hush.audit.stream import Event, Mixture, Progress, Stream
from hush.audit.target import Claim, MechanismTarget, Target, as_target
from hush.errors import ParameterError, message
from hush.mechanisms import _rules
from hush.mechanisms._base import Reports

METHODS = ("likelihood", "attack", "classifier", "exact")

_SHARE = 0.1  # of the trials, spent on choosing the event
_MOST_CHOOSING = 200_000
_MARKED = 1000  # reports by which a checkpoint knows the code that made them

INDEPENDENT = (
    "Proved if the reports are independent of each other: a client that remembers must be made anew for every report."
)


def run(
    target: object,
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
        target: A mechanism, or anything that turns a value into a report (a `Target`).
        method: "likelihood" counts the event that the likelihood ratio favours, chosen on a tenth of the trials and
            proved on the others. "attack" counts how often the best guess of the value names the first one (Algorithm
            1 of "Revealing the true cost of LDP protocols"). "classifier" learns an event from the reports alone.
            "exact" computes the loss from the law that the mechanism states.
        trials: Reports of each of the two values.
        alpha: Probability that the bound is wrong, at most.
        claim: The promise to hold it against; a number is an epsilon, at the target's own delta. The target's own
            promise if left out.
        pair: The two values; the first two if left out.
        bound: "paper" or "one-sided": how alpha is divided (see `hush.audit.bounds`).
        rng: `hush.seeded(7)` to repeat an audit; left out, reports are made as real clients make them.
        checkpoint: A file that keeps where the audit stands, so that the same call goes on after an interrupt.
        progress: Called with the number of reports made since it was last called.
    """
    start = time.perf_counter()
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise ParameterError(message("rng", "must be a numpy Generator", rng, "use e.g. hush.seeded(7)"))
    what = as_target(target)
    promised = _promised(claim, what)
    if isinstance(what, MechanismTarget) and promised is not None:
        what = replace(what, exempting=promised.kind == "ULDP")
    if method not in METHODS:
        raise ParameterError(message("method", f"must be one of {', '.join(METHODS)}", method, "use e.g. 'likelihood'"))
    if method == "exact":
        return _exactly(what, promised, start)
    _rules.integer("trials", trials, 1000, 10**12, "use e.g. 10**6")
    _rules.number("alpha", alpha, 0.0, 1.0, "use e.g. 0.01")
    rules: dict[str, Any] = {
        "alpha": alpha,
        "delta": 0.0 if promised is None else promised.delta,
        "bound": bounds.named(bound),
    }
    first, second = checked("pair", what.first_pair if pair is None else pair, what.k)
    about = {**what.identity, "method": method, "pair": [first, second], "trials": trials, **rules}
    kept, root = _standing(what, first, checkpoint, rng, about)
    event, swapped, proving = _event(what, method, (first, second), trials, root, rules)
    first, second = (second, first) if swapped else (first, second)
    complete = kept.complete(proving)
    if what.mixed:
        hits, false_hits = Mixture(what, (first, second), root, 2).count(event, proving, progress)
    else:
        hits, false_hits = (
            Stream(what, value, root, 2 + i).count(event, proving, kept, progress)
            for i, value in enumerate((first, second))
        )
    return AuditResult(
        what.name,
        method,
        promised,
        bounds.epsilon_lower(hits, proving, false_hits, proving, **rules),
        alpha,
        proving,
        Witness(first, second, event.words),
        (hits, false_hits),
        time.perf_counter() - start,
        _notes(what, (hits, false_hits), proving, complete),
        about,
        what.unit,
    )


def _notes(what: Target, counts: tuple[int, int], trials: int, complete: bool) -> tuple[str, ...]:
    """What else a reader should know."""
    found = [INDEPENDENT] if isinstance(what, ForeignTarget) else []
    if isinstance(what, ForeignTarget) and counts == (0, 0):
        found.append("The event that was chosen never came again: does every report carry a mark of its own?")
    if isinstance(what, ForeignTarget) and counts == (trials, trials):
        found.append("Nothing tells the two values' reports apart: are they all alike?")
    if complete:
        found.append("All counts come from the checkpoint: no new report was made.")
    return tuple(found)


def _exactly(what: Target, promised: Claim | None, start: float) -> AuditResult:
    if isinstance(what, MechanismTarget):
        found, witness = exact.loss(what, promised)
        delta = None if promised is None else exact.slack(what, promised.epsilon)
    else:
        found, witness, delta = what.exact_epsilon(), None, None
    about = {**what.identity, "method": "exact"} | ({} if delta is None else {"delta_at_claimed_epsilon": delta})
    taken = time.perf_counter() - start
    return AuditResult(what.name, "exact", promised, found, 0.0, 0, witness, seconds=taken, about=about, unit=what.unit)


def _standing(
    what: Target, first: int, path: str | Path | None, rng: np.random.Generator | None, about: dict[str, Any]
) -> tuple[Checkpoint, int | None]:
    """Where the audit stands, and the seed of its streams: from the file, from the generator, or none."""
    root = None if rng is None else int(rng.integers(1 << 62))
    if path is None:
        return Checkpoint(None, about), root
    if not what.seedable:
        rule = "must be left out for foreign code, which cannot be made to repeat the reports that chose the event"
        raise ParameterError(message("checkpoint", rule, str(path), "leave it out"))
    if Path(path).is_dir() or not Path(path).absolute().parent.is_dir():
        rule = "must be a file in a folder that exists"
        raise ParameterError(message("checkpoint", rule, str(path), "make the folder, or name another place"))
    found = Checkpoint.read(path)
    if found is None:
        root = secrets.randbits(62) if root is None else root
        return Checkpoint(Path(path), {**about, "root": root, "mark": _mark(what, first, root)}), root
    root = found.identity.get("root") if root is None else root
    found.must_be({**about, "root": root, "mark": _mark(what, first, root)})
    return found, root


def _mark(what: Target, first: int, root: int | None) -> str:
    """Some reports, hashed: another seed or other code makes others."""
    reports = Stream(what, first, root, 0).sample(_MARKED)
    return hashlib.blake2b(b"".join(part.tobytes() for part in reports), digest_size=16).hexdigest()


def _event(
    what: Target, method: str, pair: tuple[int, int], trials: int, root: int | None, rules: dict[str, Any]
) -> tuple[Event, bool, int]:
    """The event to count, whether it is one of the second value, and the trials that are left to prove it."""
    first, second = pair
    if method == "attack":
        words = f"the best guess is {first}"
        return Event(words, lambda reports, coin: what.guesses(reports, first, coin)), False, trials
    choosing = min(int(trials * _SHARE), _MOST_CHOOSING)
    if what.mixed:
        parts = Mixture(what, pair, root, 0).sample(choosing)
    else:
        parts = [Stream(what, value, root, i).sample(choosing) for i, value in enumerate(pair)]
    if method == "likelihood":
        ones, twos = (np.concatenate([what.log_ratio(chunk, first, second) for chunk in part]) for part in parts)
        found = best_threshold(ones, twos, trials - choosing, **rules)
        sign = -1.0 if found.swapped else 1.0
        words = (
            f"the likelihood ratio is {'infinite' if found.level > 700 else f'at least {math.exp(found.level):.4g}'}"
        )
        event = Event(words, lambda reports, coin: sign * what.log_ratio(reports, first, second) >= found.level)
        return event, found.swapped, trials - choosing
    score = learned(what, parts[0], parts[1], pair, delta=rules["delta"])

    def shows(reports: Reports, coin: np.random.Generator) -> np.ndarray:
        inside = what.spoken(reports, pair)
        return score.shows(reports) if inside is None else score.shows(reports) & inside

    return Event(score.words, shows), score.swapped, trials - choosing


def _promised(claim: float | Claim | None, target: Target) -> Claim | None:
    if claim is None or isinstance(claim, Claim):
        return target.claim if claim is None else claim
    promised = claimed(claim)
    return promised if target.claim is None or promised is None else replace(target.claim, epsilon=promised.epsilon)
