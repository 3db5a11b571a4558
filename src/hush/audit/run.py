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
from hush.audit import bounds, exact, per_distance
from hush.audit.asked import AskedAudit
from hush.audit.checkpoint import Checkpoint
from hush.audit.choosing import ChosenEvents, chosen
from hush.audit.foreign import ForeignTarget, claimed
from hush.audit.games import GAMES, Game, GameTarget
from hush.audit.independence import remembers
from hush.audit.inputs import HistoryInputs, NumberInputs
from hush.audit.playing import played
from hush.audit.power import SHARE, Power, rarest_event, smallest_loss
from hush.audit.result import AuditResult, Counted, Witness
from hush.audit.screening import Screening, screened
from hush.audit.stream import Mixture, Progress, Stream
from hush.audit.target import Claim, MechanismTarget, Target
from hush.audit.targets import as_target
from hush.errors import ParameterError, Unsaid, message
from hush.kernels.workers import THREADS, Workers

METHODS = ("likelihood", "attack", "classifier", "exact", *GAMES)

_MARKED = 1000  # reports by which a checkpoint knows the code that made them

INDEPENDENT = (
    "Proved if the reports are independent of each other: a client that remembers must be made anew for every report."
)


LASTING = "Proved if people are independent of each other: a client must be made anew for every history."


def run(
    target: object,
    method: str | Game = "likelihood",
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
            "exact" computes the loss from the law that the mechanism states. "pools", "changes", "attributes" and
            "reidentification" are games (`hush.audit.games`, whose classes take settings): a secret is drawn, an
            attacker guesses it, and how often it is right is the proof.
        trials: Reports of each of the two values; of a game, how often it is played.
        alpha: Probability that the bound is wrong, at most.
        claim: The promise to hold it against; a number is an epsilon, at the target's own delta. The target's own
            promise if left out. `Claim(1.0, metric="absolute")` allows so much for each unit of distance.
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
    method, game = _method(method)
    if game is not None:
        what = game.of(what)
    if engine is not THREADS and (what.mixed or not what.threaded):
        rule = "must be this machine for code from outside Hush, which may remember what it was asked"
        raise ParameterError(message("engine", rule, Unsaid("another"), "leave it out"))
    promised = _promised(claim, what)
    if isinstance(what, MechanismTarget) and promised is not None:
        what = replace(what, exempting=promised.kind == "ULDP")
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
    about = {**what.identity, "method": method, "trials": trials, **terms}
    if promised is not None and promised.metric is not None:
        about["metric"] = str(promised.metric)
    asked = AskedAudit(promised, terms, about, share, progress, engine, start)
    if isinstance(what, GameTarget):
        if "metric" in about:
            rule = "must have no metric where a secret is guessed"
            raise ParameterError(message("claim", rule, str(promised), "use 'likelihood', 'classifier' or 'exact'"))
        if pair is not None and not isinstance(pair, Screening):
            rule = "must be left out where a secret is guessed"
            raise ParameterError(message("pair", rule, pair, "leave it out, or use another method"))
        kept, root = _standing(what, checkpoint, rng)
        kept = _same(what, kept, checkpoint, root, about, 0)
        return played(what, asked, kept, root)
    wanted = None
    if isinstance(pair, Screening):
        wanted = what.inputs.pair("pair", [what.inputs.at(each) for each in pair.pair])
    elif pair is not None:
        what = what.including(pair)
        wanted = what.inputs.pair("pair", pair)
    kept, root = _standing(what, checkpoint, rng)
    found = pair if isinstance(pair, Screening) else _screened(what, wanted, trials, root, progress, promised)
    about = {**about, "pair": [_plain(what.inputs.at(each)) for each in found.pair]}
    kept = _same(what, kept, checkpoint, root, about, found.pair[0])
    events = chosen(what, method, found.pair, trials, root, terms)
    return _proved(what, replace(asked, about=about), found, events, kept, root)


def _method(method: str | Game) -> tuple[str, Game | None]:
    """The name of a method and, if it is one, the game with its settings."""
    if isinstance(method, Game):
        return method.method, method
    name = rules.named("method", method, METHODS, "use e.g. 'likelihood'")
    return name, GAMES[name]() if name in GAMES else None


def _screened(
    what: Target,
    pair: tuple[int, int] | None,
    trials: int,
    root: int | None,
    progress: Progress | None,
    promised: Claim | None,
) -> Screening:
    """The pair that was named; else the most telling one of code from outside, and the first of ours.

    Where the claim has a metric, the most telling for each unit of distance, by the law if it can be listed.
    """
    metric = promised is not None and promised.metric is not None
    if pair is None and metric and isinstance(what, MechanismTarget) and not what.screened:
        pair = per_distance.worst_pair(what, promised)  # type: ignore[arg-type]
    if pair is None and (what.screened or metric):
        return screened(what, trials, root, progress, promised if metric else None)
    return Screening(what.first_pair if pair is None else pair, what.k, (), inputs=what.inputs)


def _proved(
    what: Target,
    asked: AskedAudit,
    screening: Screening,
    choice: ChosenEvents,
    kept: Checkpoint,
    root: int | None,
) -> AuditResult:
    """Count the events in fresh reports; each has its part of alpha."""
    promised = asked.promised
    first, second = screening.pair[::-1] if choice.swapped[0] else screening.pair
    complete = kept.complete(choice.proving)
    hits: dict[int, list[int]] = {}
    dependence = None
    if what.mixed:
        runs = Mixture(what, (first, second), root, 2).count(choice.events, choice.proving, asked.progress)
        hits = {value: [each.hits for each in runs[value]] for value in runs}
        dependence = remembers(runs)
    else:
        for i, value in enumerate((first, second)):
            stream = Stream(what, value, root, 2 + i)
            hits[value] = stream.count(choice.events, choice.proving, kept, asked.progress, asked.engine)
    each = {**asked.terms, "alpha": asked.terms["alpha"] / len(choice.events)}
    metric = promised is not None and promised.metric is not None
    apart = promised.between(what.inputs, first, second) if promised is not None else 1.0
    shown: dict[str, Any] = {"distance": apart} if metric else {}
    tried = []
    for i, event in enumerate(choice.events):
        high, low = (first, second) if choice.swapped[i] == choice.swapped[0] else (second, first)
        counts = hits[high][i], hits[low][i]
        proved = bounds.epsilon_lower(counts[0], choice.proving, counts[1], choice.proving, **each)
        tried.append(Counted(Witness.of(what.inputs, high, low, event.words, **shown), counts, proved / apart))
    best = max(tried, key=lambda one: one.epsilon_lower)
    return AuditResult(
        what.name,
        asked.about["method"],
        promised,
        best.epsilon_lower,
        asked.terms["alpha"],
        choice.proving,
        best.witness,
        best.counts,
        time.perf_counter() - asked.start,
        _notes(what, screening, best.counts, choice.proving, complete),
        asked.about,
        unit_of(what, promised),
        asked.require,
        None if promised is None else _power(promised, apart, tried, choice, screening, each),
        screening,
        tuple(tried),
        dependence,
        _memory(what, choice.alike),
    )


def unit_of(what: Target, claim: Claim | None) -> str:
    """What the loss is of, where that is claimed."""
    return what.unit if claim is None or claim.metric is None else f"{what.unit} for each unit of distance"


def _power(
    claim: Claim,
    apart: float,
    tried: list[Counted],
    choice: ChosenEvents,
    screening: Screening,
    terms: dict[str, Any],
) -> Power:
    """What would have been found, of two inputs that are so far apart."""
    most = claim.epsilon * apart
    losses = [smallest_loss(each.counts[1], choice.proving, most, **terms) for each in tried]
    smallest, one = min((loss / apart for loss in losses if loss is not None), default=None), screening.asked.one
    if choice.learned is None:
        return Power(smallest, one=one)
    rarest = rarest_event(choice.learned, choice.proving, most, **terms)
    if not screening.rounds or screening.rounds[0][0] < screening.k:
        return Power(smallest, rarest, one=one)
    *rounds, last = (each for _, each in screening.rounds)
    samples = [*rounds, last // 2, last - last // 2, *choice.learned]
    return Power(smallest, rarest, rarest_event(samples, choice.proving, most, **terms), one)


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
    witness: Witness | None
    delta: float | None = None
    if promised is not None and promised.metric is not None:
        found, witness = per_distance.loss(what, promised)
    elif isinstance(what, MechanismTarget):
        found, witness = exact.loss(what, promised)
        delta = None if promised is None else exact.slack(what, promised.epsilon)
    else:
        found, witness = exact.of_kind(what, promised)
    about = {**what.identity, "method": "exact"} | ({} if delta is None else {"delta_at_claimed_epsilon": delta})
    taken = time.perf_counter() - start
    unit = unit_of(what, promised)
    return AuditResult(what.name, "exact", promised, found, 0.0, 0, witness, seconds=taken, about=about, unit=unit)


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
