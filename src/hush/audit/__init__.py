"""How private is it really? Lower bounds of the true privacy loss, with a stated confidence, or the exact loss."""

from __future__ import annotations

from hush.audit.collections import SequenceTarget, TupleTarget
from hush.audit.foreign import CallableTarget, from_name
from hush.audit.pairs import best_pair
from hush.audit.pipe import PipeTarget
from hush.audit.result import AuditResult, Witness
from hush.audit.run import run
from hush.audit.target import Claim, MechanismTarget, Target

__all__ = [
    "AuditResult",
    "CallableTarget",
    "Claim",
    "MechanismTarget",
    "PipeTarget",
    "SequenceTarget",
    "Target",
    "TupleTarget",
    "Witness",
    "best_pair",
    "from_name",
    "run",
]
