"""The target that something is, or makes: of a mechanism, the one of its kind."""

from __future__ import annotations

from hush.audit.collections import SequenceTarget, TupleTarget
from hush.audit.numbers import NumberTarget
from hush.audit.target import MechanismTarget, Target
from hush.errors import ParameterError, message
from hush.longitudinal import Longitudinal, Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.multidim import Multidim


def as_target(what: object, *, rounds: int | None = None) -> Target:
    """The target that something is, or makes.

    Args:
        what: A target, or a mechanism of any kind.
        rounds: How many reports one person sends, where that is more than one.
    """
    if isinstance(what, (Longitudinal, Repeated)):
        return SequenceTarget(what, rounds)
    if isinstance(what, FrequencyOracle):
        return MechanismTarget(what) if rounds is None else SequenceTarget(Repeated(what, rounds))
    if rounds is not None:
        rule = "must be left out but for values that are reported again and again"
        raise ParameterError(message("rounds", rule, rounds, "leave it out"))
    if isinstance(what, Target):
        return what
    if isinstance(what, Numeric):
        return NumberTarget(what)
    if isinstance(what, Multidim):
        return TupleTarget(what)
    rule, remedy = "must be a mechanism or a Target", "wrap it: CallableTarget, PipeTarget, SequenceTarget"
    raise ParameterError(message("target", rule, type(what), remedy))
