"""A game, played: some times to find out when it pays to guess, the others to prove."""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np

from hush.audit import guessing
from hush.audit.asked import AskedAudit
from hush.audit.checkpoint import Checkpoint
from hush.audit.games.base import GameTarget
from hush.audit.power import Power
from hush.audit.result import AuditResult, Counted, Witness
from hush.audit.stream import Event, Stream
from hush.audit.target import Claim

_SHARE, _MOST = 0.1, 200_000  # of the games, those that choose when to guess
_CHOOSING, _PROVING = 0, 2  # streams
_COMPLETE = "All counts come from the checkpoint: no new game was played."


def played(what: GameTarget, asked: AskedAudit, kept: Checkpoint, root: int | None) -> AuditResult:
    """What the attacker's success proves.

    Args:
        what: The game.
        asked: What is asked of it.
        kept: Where the audit stands.
        root: The seed of its streams.
    """
    promised, terms = asked.promised, asked.terms
    size = min(int(asked.about["trials"] * _SHARE), _MOST)
    proving = asked.about["trials"] - size
    rule = {**terms, "delta": what.slack(terms["delta"])}
    complete = kept.path is not None and kept.streams.get(str(_PROVING), [0])[0] == proving
    seen = np.concatenate(Stream(what, 0, root, _CHOOSING).sample(size))
    level = guessing.best_level(seen["right"], seen["odds"], proving, what.secrets, **rule)
    dares = Event("the attacker guesses", lambda outcomes, coin: outcomes["odds"] >= level)
    hits = Event("it is right", lambda outcomes, coin: (outcomes["odds"] >= level) & outcomes["right"])
    guesses, right = Stream(what, 0, root, _PROVING).count([dares, hits], proving, kept, asked.progress, asked.engine)

    def loss(right: int) -> float:
        between = guessing.epsilon_lower(right, guesses - right, proving, what.secrets, **rule)
        return what.implied(between, rule["delta"])

    witness = _witness(what, level, right, guesses)
    return AuditResult(
        what.name,
        asked.about["method"],
        promised,
        loss(right),
        terms["alpha"],
        proving,
        witness,
        (right, guesses - right),
        time.perf_counter() - asked.start,
        (_COMPLETE,) if complete else (),
        {**asked.about, "guesses": guesses, "right": right},
        what.unit,
        asked.require,
        None if promised is None else Power(_smallest(what, promised, guesses, loss, rule["delta"]), one="secret"),
        None,
        (Counted(witness, (right, guesses - right), loss(right)),),
    )


def _witness(what: GameTarget, level: float, right: int, guesses: int) -> Witness:
    sure = "certain" if level > 700 else f"{math.exp(level):.4g} times those of a blind guess, or more"
    event = f"where its odds are {sure}, the attacker is right {right:,} times in {guesses:,}"
    return Witness("right", "wrong", event, many=f"{what.secrets} {what.many},", names=("the right one", "the others"))


def _smallest(what: GameTarget, claim: Claim, guesses: int, loss: Any, delta: float) -> float | None:
    """The smallest true loss beyond the claim that so many guesses would have shown."""
    if delta:
        return None
    share = guessing.smallest_share(guesses, lambda right: loss(right) > claim.epsilon)
    if share is None:
        return None
    between = math.log((what.secrets - 1) * share / (1 - share))
    return what.implied(between, delta) if between < what.largest else None
