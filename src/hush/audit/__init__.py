"""How private is it really? Lower bounds of the true privacy loss, with a stated confidence, or the exact loss."""

from __future__ import annotations

from hush.audit.collections import SequenceTarget, TupleTarget
from hush.audit.foreign import CallableTarget, from_name
from hush.audit.inputs import HistoryInputs, Inputs, NumberInputs, TupleInputs
from hush.audit.numbers import NumberTarget
from hush.audit.pipe import PipeTarget
from hush.audit.power import Power
from hush.audit.result import AuditResult, Counted, Witness
from hush.audit.run import run
from hush.audit.screening import Screening, screen
from hush.audit.target import Claim, MechanismTarget, Target

__all__ = [
    "AuditResult",
    "CallableTarget",
    "Claim",
    "Counted",
    "HistoryInputs",
    "Inputs",
    "MechanismTarget",
    "NumberInputs",
    "NumberTarget",
    "PipeTarget",
    "Power",
    "Screening",
    "SequenceTarget",
    "Target",
    "TupleInputs",
    "TupleTarget",
    "Witness",
    "from_name",
    "run",
    "screen",
]
