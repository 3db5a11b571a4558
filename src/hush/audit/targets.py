"""The target that something is, or makes: of a mechanism, the one of its kind."""

from __future__ import annotations

from hush.audit.collections import SequenceTarget, TupleTarget
from hush.audit.numbers import NumberTarget
from hush.audit.target import MechanismTarget, Target
from hush.errors import ParameterError, Unsaid, message
from hush.longitudinal import Longitudinal, Repeated
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.multidim import Multidim


def as_target(
    what: object,
    *,
    rounds: int | None = None,
    histories: tuple[tuple[int, ...], ...] | None = None,
    changed: int | None = None,
) -> Target:
    """The target that something is, or makes.

    Args:
        what: A target, or a mechanism of any kind.
        rounds: How many reports one person sends, where that is more than one.
        histories: Two histories to tell apart, round by round.
        changed: In how many attributes two tuples differ, at most.
    """
    if changed is not None and not isinstance(what, Multidim):
        raise ParameterError(message("changed", "must be left out but for tuples", changed, "leave it out"))
    if isinstance(what, (Longitudinal, Repeated)):
        return SequenceTarget(what, rounds, histories)
    if isinstance(what, FrequencyOracle):
        many = len(histories[0]) if histories else rounds
        return MechanismTarget(what) if many is None else SequenceTarget(Repeated(what, many), rounds, histories)
    if getattr(what, "kind", None) == "longitudinal":
        rule = "must be of one attribute where it is over time"
        remedy = "audit the protocols of its attributes one by one, e.g. --mechanism LGRR --k … --rounds …"
        raise ParameterError(message("target", rule, Unsaid(type(what).__name__), remedy))
    for name, given in (("rounds", rounds), ("histories", histories)):
        if given is not None:
            rule = "must be left out but for values that are reported again and again"
            raise ParameterError(message(name, rule, given, "leave it out"))
    if isinstance(what, Target):
        return what
    if isinstance(what, Numeric):
        return NumberTarget(what)
    if isinstance(what, Multidim):
        return TupleTarget(what, changed)
    rule, remedy = "must be a mechanism or a Target", "wrap it: CallableTarget, PipeTarget, SequenceTarget"
    raise ParameterError(message("target", rule, type(what), remedy))
