"""What one answer to a stranger's spec can lose: computed from the thresholds that the sampler uses, and rounded up.

A server may declare what it likes. So nothing that it says of the loss is believed: parsing a spec computes the
thresholds anew from its parameters and refuses others, the loss is the exact one of a sampler with these thresholds,
and it must not be more than the spec declares.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hush.errors import HushError, ParameterError, SpecError, Unsaid, message
from hush.guarantee import LDP, ULDP, ApproxLDP, Guarantee
from hush.mechanisms.spec import Spec


@dataclass(frozen=True)
class Loss:
    """The loss of one answer.

    Args:
        epsilon: The exact loss of the sampler, rounded up; with delta where there is one.
        declared: What the spec declares, at least epsilon: what an account is charged.
        lasting: The exact loss of any number of answers with a value that does not change, where answers are kept;
            else None: losses add up.
        delta: The slack of an approximate guarantee.
        unprotected: How many values are not protected, and may be revealed.
    """

    epsilon: float
    declared: float
    lasting: float | None = None
    delta: float = 0.0
    unprotected: int = 0


@dataclass(frozen=True)
class SpecBounds:
    """How large a stranger's spec may be, whatever a device could bear.

    Args:
        values: The most values that somebody may hold, and the most that any other parameter may be; a tenth of it for
            the values of several attributes together.
        record: The most bytes of one report.
        attributes: The most attributes.
    """

    values: int = 10**7
    record: int = 1 << 20
    attributes: int = 1000

    def check(self, plain: object) -> None:
        """Refuse parameters that are too large, before anything is made of them."""
        if isinstance(plain, Mapping):
            for name, item in plain.items():
                if name not in _OF_THE_DOMAIN:
                    self.check(item)
                if name == "sizes" and isinstance(item, (list, tuple)):
                    self._check_sizes([size for size in item if type(size) is int])
        elif isinstance(plain, (list, tuple)):
            for item in plain:
                self.check(item)
        elif type(plain) is int and abs(plain) > self.values:
            raise _too_large("a larger one", f"at most {self.values} in each parameter")

    def _check_sizes(self, sizes: list[int]) -> None:
        if len(sizes) > self.attributes:
            raise _too_large(f"{len(sizes)}", f"at most {self.attributes} attributes")
        if sum(sizes) > self.values // 10:
            raise _too_large(f"{sum(sizes)}", f"at most {self.values // 10} values of all attributes")


_OF_THE_DOMAIN = frozenset({"domain", "domains", "low", "high"})  # numbers that need no room


def _too_large(got: str, rule: str) -> SpecError:
    remedy = "report nothing to this server; or raise most_values, if the device can bear it"
    return SpecError(message("spec", f"must have {rule}", Unsaid(got), remedy))


def parsed(plain: object, claimed: object, bounds: SpecBounds | None = None) -> Spec:
    """A stranger's spec, whose hash must be what is claimed; other thresholds than its parameters give are refused.

    Args:
        plain: What was told.
        claimed: Its hash, as it was told.
        bounds: How large it may be; left out, as `SpecBounds()` says.
    """
    if not isinstance(plain, Mapping):
        raise SpecError(message("spec", "must be an object", type(plain), "report nothing to this server"))
    most = bounds or SpecBounds()
    try:
        most.check(plain)
        spec = Spec.from_dict(plain)
        own = spec.hash
        size = spec.mechanism.report_dtype.itemsize
    except SpecError:
        raise
    except HushError as error:
        raise SpecError(f"the server's spec cannot be used: {error}") from None
    except (TypeError, ValueError, AttributeError, KeyError, ArithmeticError, RecursionError, MemoryError):
        rule, got = "must be what Spec.to_dict gives", Unsaid("something of another shape")
        raise SpecError(message("spec", rule, got, "report nothing to this server")) from None
    if own != claimed:
        rule, got = f"must be that of the spec, {own[:12]}…", Unsaid("another one")
        raise SpecError(message("spec_hash", rule, got, "report nothing to this server"))
    if size > most.record:
        rule, got = f"must have reports of at most {most.record} bytes", Unsaid(f"{size}")
        remedy = "report nothing to this server; or raise most_record, if the device can bear it"
        raise SpecError(message("spec", rule, got, remedy))
    return spec


def loss(spec: Spec) -> Loss:
    """What one answer loses; refuses a spec without a guarantee, or whose sampler loses more than it declares.

    >>> import hush
    >>> loss(hush.Spec(hush.OUE(k=4, epsilon=1.0)))
    Loss(epsilon=1.0, declared=1.0, lasting=None, delta=0.0, unprotected=0)
    """
    m = spec.mechanism
    try:
        return _over_time(m) if m.kind == "longitudinal" else _at_once(m)
    except MemoryError:
        rule, got = "must have a loss that can be computed", Unsaid(f"{m.name()}, for which there is no memory")
        raise SpecError(message("spec", rule, got, "report nothing to it")) from None
    except ParameterError as error:  # too much to enumerate
        rule = "must have a loss that can be computed"
        raise SpecError(message("spec", rule, Unsaid(f"{m.name()}: {error}"), "report nothing to it")) from None


def _at_once(m: Any) -> Loss:
    promise = _promised(m, m.guarantee)
    stated = float(getattr(m, "epsilon", math.inf)) if m.kind == "frequency" else promise.epsilon
    found = Loss(
        _bounded(m, "epsilon", m.exact_epsilon(), stated),
        promise.epsilon,
        delta=promise.delta if isinstance(promise, (ApproxLDP, ULDP)) else 0.0,
        unprotected=_unprotected(m, promise),
    )
    if not 0.0 <= found.delta < 1.0:
        raise _worthless(m)
    return found


def _over_time(m: Any) -> Loss:
    one = m.first_report
    if not isinstance(_promised(one, one.guarantee), LDP):  # no account would have the rest
        raise _worthless(m)
    report = _bounded(m, "epsilon_report", one.exact_epsilon(), m.epsilon_report)
    lasting = _bounded(m, "epsilon_permanent", m.sequence_epsilon(math.inf), m.epsilon_permanent)
    return Loss(report, m.epsilon_report, max(report, lasting))


def _promised(m: Any, promise: Guarantee) -> Any:
    if promise is None or not 0.0 <= promise.epsilon < math.inf:
        raise _worthless(m)
    return promise


def _worthless(m: Any) -> SpecError:
    rule, got = "must protect what it asks for", Unsaid(f"{m.name()}, which guarantees nothing")
    return SpecError(message("spec", rule, got, "report nothing to it"))


def _bounded(m: Any, name: str, found: float, stated: float) -> float:
    """The loss that was found, where it is at most what is stated."""
    if not found <= stated:  # and not where it is NaN
        got = Unsaid(f"{stated:.12g}, while {m.name()} as its thresholds have it loses {found:.12g}")
        raise SpecError(message(name, "must be the most that the spec's own law loses", got, "report nothing to it"))
    return found


def _unprotected(m: Any, promise: Guarantee) -> int:
    """How many values a promise leaves out."""
    if not isinstance(promise, ULDP):
        return 0
    return int(math.prod(getattr(m, "sizes", None) or [m.k])) - len(set(promise.sensitive))
