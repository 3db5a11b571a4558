"""`hush.audit.run`: one audit of one target."""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hush import rules
from hush.audit import bounds, exact
from hush.audit.checkpoint import Checkpoint
from hush.audit.choosing import ChosenEvents, chosen
from hush.audit.foreign import ForeignTarget, claimed
from hush.audit.independence import remembers
from hush.audit.inputs import HistoryInputs, NumberInputs
from hush.audit.power import SHARE, Power, rarest_event, smallest_loss
from hush.audit.result import AuditResult, Counted, Witness
from hush.audit.screening import Screening, screened
from hush.audit.stream import Mixture, Progress, Stream
from hush.audit.target import Claim, MechanismTarget, Target
from hush.audit.targets import as_target
from hush.errors import ParameterError, Unsaid, message
from hush.kernels.workers import THREADS, Workers

METHODS = ("likelihood", "attack", "classifier", "exact")

_MARKED = 1000  # reports by which a checkpoint knows the code that made them

INDEPENDENT = (
    "Proved if the reports are independent of each other: a client that remembers must be made anew for every report."
)


LASTING = "Proved if people are independent of each other: a client must be made anew for every history."


def run(
    target: object,
    method: str = "likelihood",
    *,
    trials: int = 10**6,
    alpha: float = 0.01,
    claim: float | Claim | None = None,
    pair: tuple[Any, Any] | Screening | None = None,
    bound: str = "paper",
    require: float = SHARE,
    rng: np.random.Generator | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    engine: Workers = THREADS,
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
        pair: The two values (or numbers, tuples), or what `hush.audit.screen` found. Left out, code from outside Hush
            is screened at every value; of a mechanism of Hush, the first two are taken, or what differs most.
        bound: "paper" or "one-sided": how alpha is divided (see `hush.audit.bounds`).
        require: The share of the claim that must be proved, for the verdict to be consistent and not inconclusive.
        rng: `hush.seeded(7)` to repeat an audit; left out, reports are made as real clients make them.
        checkpoint: A file that keeps where the audit stands, so that the same call goes on after an interrupt.
        progress: Called with the number of reports made since it was last called.
        engine: Who makes and counts reports: the threads of this machine, or `hush.engine.ray.connect()`. Under a seed
            every engine gives the same.
    """
    start = time.perf_counter()
    if rng is not None and not isinstance(rng, np.random.Generator):
        raise ParameterError(message("rng", "must be a numpy Generator", rng, "use e.g. hush.seeded(7)"))
    what = as_target(target)
    if engine is not THREADS and (what.mixed or not what.threaded):
        rule = "must be this machine for code from outside Hush, which may remember what it was asked"
        raise ParameterError(message("engine", rule, Unsaid("another"), "leave it out"))
    promised = _promised(claim, what)
    if isinstance(what, MechanismTarget) and promised is not None:
        what = replace(what, exempting=promised.kind == "ULDP")
    if method not in METHODS:
        raise ParameterError(message("method", f"must be one of {', '.join(METHODS)}", method, "use e.g. 'likelihood'"))
    if method == "exact":
        return _exactly(what, promised, start)
    rules.integer("trials", trials, 1000, 10**12, "use e.g. 10**6")
    rules.number("alpha", alpha, 0.0, 1.0, "use e.g. 0.01")
    terms: dict[str, Any] = {
        "alpha": alpha,
        "delta": 0.0 if promised is None else promised.delta,
        "bound": bounds.named(bound),
    }
    share = rules.number("require", require, 0.0, 1.0, "use e.g. 0.5", closed=True)
    wanted = None
    if isinstance(pair, Screening):
        wanted = what.inputs.pair("pair", [what.inputs.at(each) for each in pair.pair])
    elif pair is not None:
        what = what.including(pair)
        wanted = what.inputs.pair("pair", pair)
    about = {**what.identity, "method": method, "trials": trials, **terms}
    kept, root = _standing(what, checkpoint, rng)
    found = pair if isinstance(pair, Screening) else _screened(what, wanted, trials, root, progress)
    about |= {"pair": [_plain(what.inputs.at(each)) for each in found.pair]}
    kept = _same(what, kept, checkpoint, root, about, found.pair[0])
    events = chosen(what, method, found.pair, trials, root, terms)
    return _proved(what, promised, found, events, kept, root, progress, terms, about, start, share, engine)


def _screened(
    what: Target, pair: tuple[int, int] | None, trials: int, root: int | None, progress: Progress | None
) -> Screening:
    """The pair that was named; else the most telling one of code from outside, and the first of ours."""
    if pair is None and what.screened:
        return screened(what, trials, root, progress)
    return Screening(what.first_pair if pair is None else pair, what.k, (), inputs=what.inputs)


def _proved(
    what: Target,
    promised: Claim | None,
    screening: Screening,
    choice: ChosenEvents,
    kept: Checkpoint,
    root: int | None,
    progress: Progress | None,
    terms: dict[str, Any],
    about: dict[str, Any],
    start: float,
    require: float,
    engine: Workers,
) -> AuditResult:
    """Count the events in fresh reports; each has its part of alpha."""
    first, second = screening.pair[::-1] if choice.swapped[0] else screening.pair
    complete = kept.complete(choice.proving)
    hits: dict[int, list[int]] = {}
    dependence = None
    if what.mixed:
        runs = Mixture(what, (first, second), root, 2).count(choice.events, choice.proving, progress)
        hits = {value: [each.hits for each in runs[value]] for value in runs}
        dependence = remembers(runs)
    else:
        for i, value in enumerate((first, second)):
            stream = Stream(what, value, root, 2 + i)
            hits[value] = stream.count(choice.events, choice.proving, kept, progress, engine)
    each = {**terms, "alpha": terms["alpha"] / len(choice.events)}
    tried = []
    for i, event in enumerate(choice.events):
        high, low = (first, second) if choice.swapped[i] == choice.swapped[0] else (second, first)
        counts = hits[high][i], hits[low][i]
        proved = bounds.epsilon_lower(counts[0], choice.proving, counts[1], choice.proving, **each)
        tried.append(Counted(Witness.of(what.inputs, high, low, event.words), counts, proved))
    best = max(tried, key=lambda one: one.epsilon_lower)
    return AuditResult(
        what.name,
        about["method"],
        promised,
        best.epsilon_lower,
        terms["alpha"],
        choice.proving,
        best.witness,
        best.counts,
        time.perf_counter() - start,
        _notes(what, screening, best.counts, choice.proving, complete),
        about,
        what.unit,
        require,
        None if promised is None else _power(promised, tried, choice, screening, each),
        screening,
        tuple(tried),
        dependence,
        _memory(what, choice.alike),
    )


def _power(
    claim: Claim, tried: list[Counted], choice: ChosenEvents, screening: Screening, terms: dict[str, Any]
) -> Power:
    """What would have been found."""
    losses = [smallest_loss(each.counts[1], choice.proving, claim.epsilon, **terms) for each in tried]
    smallest, one = min((loss for loss in losses if loss is not None), default=None), screening.asked.one
    if choice.learned is None:
        return Power(smallest, one=one)
    rarest = rarest_event(choice.learned, choice.proving, claim.epsilon, **terms)
    if not screening.rounds or screening.rounds[0][0] < screening.k:
        return Power(smallest, rarest, one=one)
    *rounds, last = (each for _, each in screening.rounds)
    samples = [*rounds, last // 2, last - last // 2, *choice.learned]
    return Power(smallest, rarest, rarest_event(samples, choice.proving, claim.epsilon, **terms), one)


def _memory(what: Target, alike: tuple[int, ...]) -> str | None:
    """What reports that are all the same suggest."""
    if not alike:
        return None
    told = [what.inputs.said(each) for each in alike]
    whose = f"{what.inputs.many} {told[0]} and {told[1]}" if len(alike) > 1 else f"{what.inputs.one} {told[0]}"
    same = "All reports of each" if len(alike) > 1 else "All reports"
    return (
        f"{same} of {whose} were alike: the target does not randomize there, or it remembers its answers. If it "
        "remembers, this is about its answers together, not about one report of a new client: make it anew for every "
        "report."
    )


def _notes(what: Target, screening: Screening, counts: tuple[int, int], trials: int, complete: bool) -> tuple[str, ...]:
    """What else a reader should know."""
    kind = LASTING if isinstance(what.inputs, HistoryInputs) else INDEPENDENT
    found = [kind] if isinstance(what, ForeignTarget) else []
    if isinstance(what, ForeignTarget) and counts == (0, 0):
        found.append("The event that was chosen never came again: does every report carry a mark of its own?")
    if isinstance(what, ForeignTarget) and counts == (trials, trials):
        found.append("Nothing tells the two values' reports apart: are they all alike?")
    if screening.rounds and isinstance(what, ForeignTarget) and isinstance(what.inputs, NumberInputs):
        found.append(
            f"Numbers between those that were tried may behave otherwise: up to {what.inputs.gap:.3g} lie between two."
        )
    if complete:
        found.append("All counts come from the checkpoint: no new report was made.")
    return tuple(found)


def _exactly(what: Target, promised: Claim | None, start: float) -> AuditResult:
    if isinstance(what, MechanismTarget):
        found, witness = exact.loss(what, promised)
        delta = None if promised is None else exact.slack(what, promised.epsilon)
    else:
        (found, witness), delta = exact.of_kind(what, promised), None
    about = {**what.identity, "method": "exact"} | ({} if delta is None else {"delta_at_claimed_epsilon": delta})
    taken = time.perf_counter() - start
    return AuditResult(what.name, "exact", promised, found, 0.0, 0, witness, seconds=taken, about=about, unit=what.unit)


def _standing(
    what: Target, path: str | Path | None, rng: np.random.Generator | None
) -> tuple[Checkpoint | None, int | None]:
    """Where the audit stands, if a file tells, and the seed of its streams: from there, from the generator, or none."""
    root = None if rng is None else int(rng.integers(1 << 62))
    if path is None:
        return None, root
    if not what.seedable:
        rule = "must be left out for foreign code, which cannot be made to repeat the reports that chose the event"
        raise ParameterError(message("checkpoint", rule, str(path), "leave it out"))
    if Path(path).is_dir() or not Path(path).absolute().parent.is_dir():
        rule = "must be a file in a folder that exists"
        raise ParameterError(message("checkpoint", rule, str(path), "make the folder, or name another place"))
    found = Checkpoint.read(path)
    if found is None:
        return None, secrets.randbits(62) if root is None else root
    return found, found.identity.get("root") if root is None else root


def _same(
    what: Target, kept: Checkpoint | None, path: str | Path | None, root: int | None, about: dict[str, Any], first: int
) -> Checkpoint:
    """The checkpoint of this very audit, or a new one."""
    if path is None:
        return Checkpoint(None, about)
    identity = {**about, "root": root, "mark": _mark(what, first, root)}
    if kept is None:
        return Checkpoint(Path(path), identity)
    kept.must_be(identity)
    return kept


def _mark(what: Target, first: int, root: int | None) -> str:
    """Some reports, hashed: another seed or other code makes others."""
    reports = Stream(what, first, root, 0).sample(_MARKED)
    return hashlib.blake2b(b"".join(part.tobytes() for part in reports), digest_size=16).hexdigest()


def _plain(given: Any) -> Any:
    """Tuples as lists, for JSON."""
    return list(given) if isinstance(given, tuple) else given


def _promised(claim: float | Claim | None, target: Target) -> Claim | None:
    if claim is None or isinstance(claim, Claim):
        return target.claim if claim is None else claim
    promised = claimed(claim)
    return promised if target.claim is None or promised is None else replace(target.claim, epsilon=promised.epsilon)
