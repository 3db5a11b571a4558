"""Which utility-optimized mechanism: section 5.4 of the ULDP paper, from computed numbers.

The paper recommends by rules of thumb (few sensitive values: uSS; many: uLH; ...). Here every mechanism is made with
its best parameter for the domain, its exact error is computed, and what matters most chooses among those whose error
is near the least.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from hush import rules
from hush.errors import ParameterError, message
from hush.guarantee import ULDP
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.renamed import deprecated
from hush.mechanisms.settings import chosen
from hush.people.domain import Domain
from hush.utility import APPROXIMATE, MECHANISMS, PLAIN, total_error, transform

MATTERS = ("accuracy", "bits", "work")
OLD_WORDS = {"utility": "accuracy", "computation": "work"}
_NOT_SHOWN = ("sensitive", "theta", "z", "reveal")


@dataclass(frozen=True)
class Option:
    """One mechanism, made for the domain.

    Args:
        mechanism: With its best parameter.
        error: Sum over all values of the variance of their estimates.
        work: Counters that one report touches on the server.
        name: What it is called: one that sends revealed values in pairs, where that is not the default, is marked.
    """

    mechanism: FrequencyOracle
    error: float
    work: float
    name: str

    @property
    def bits(self) -> int:
        """Information bits of one report."""
        return self.mechanism.bits

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        m = self.mechanism
        own: FrequencyOracle = m.base if "base" in m.parameters else m  # type: ignore[attr-defined]
        return {
            "name": self.name,
            "mechanism": m.to_dict(),
            "parameters": {n: v for n, v in chosen(own).items() if n not in _NOT_SHOWN and v != "affine"},
            "error": self.error,
            "rmse": math.sqrt(self.error / m.k),
            "z_star": getattr(m, "z_star", None),
            "bits": self.bits,
            "bytes": m.report_dtype.itemsize,
            "work": self.work,
            "exact_epsilon": m.exact_epsilon(),
        }


@dataclass(frozen=True)
class Recommendation:
    """Mechanisms for a domain with sensitive values, the recommended one first, and the best plain one.

    Args:
        options: All mechanisms, ranked.
        plain: The best mechanism that protects every value, at the same epsilon.
        matters: What mattered most.
        slack: How many times the least error was accepted for it.
        theta: Share of people whose value is not sensitive.
        n: How many people.
    """

    options: tuple[Option, ...]
    plain: Option
    matters: str
    slack: float
    theta: float
    n: int

    @property
    def best(self) -> Option:
        """The recommended one."""
        return self.options[0]

    @property
    def gain(self) -> float:
        """How many times smaller its error is than the best plain mechanism's."""
        return self.plain.error / self.best.error

    @property
    def statement(self) -> str:
        """The answer in a sentence."""
        u = self.best.mechanism
        some = f"{len(u.guarantee.sensitive)} of" if isinstance(u.guarantee, ULDP) else "all"
        reason = {
            "accuracy": "has the least error",
            "bits": f"needs the fewest bits among those within {self.slack:g} times the least error",
            "work": f"costs the server least among those within {self.slack:g} times the least error",
        }[self.matters]
        return (
            f"{self.best.name} {reason}: it protects {some} {u.k} values and has an error {self.gain:.3g} times "
            f"smaller than {self.plain.name}, which protects all of them."
            f"{f' It promises {u.guarantee}.' if u._delta else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "recommended": self.best.name,
            "statement": self.statement,
            "matters": self.matters,
            "slack": self.slack,
            "theta": self.theta,
            "n": self.n,
            "gain": self.gain,
            "options": [option.to_dict() for option in self.options],
            "plain": self.plain.to_dict(),
        }


def uldp(
    domain: Domain,
    epsilon: float,
    *,
    theta: float | None = None,
    n: int = 100_000,
    matters: str = "accuracy",
    slack: float = 2.0,
    delta: float = 0.0,
    prefer: str | None = None,
) -> Recommendation:
    """Recommend a mechanism for a domain some of whose values are sensitive.

    Args:
        domain: Says which values are sensitive; there must be others.
        epsilon: Privacy loss of a sensitive value's report.
        theta: Share of people whose value is not sensitive; when left out, as if all values were equally frequent.
        n: How many people.
        matters: "accuracy" takes the least error; "bits" the shortest report and "work" the least work for the server,
            among those within `slack` times the least error.
        slack: See there.
        delta: Above 0, transformations of AGRR, ASUE, ABLH and AOLH are looked at too, which promise (epsilon,
            delta)-ULDP; the plain mechanisms are then these four as well.
        prefer: The name of `matters` in version 0.1, when its words were "utility", "bits" and "computation".

    >>> found = uldp(Domain(size=100, sensitive=range(10)), 1.0)
    >>> found.best.name, found.gain > 3
    ('uSS', True)
    """
    if not isinstance(domain, Domain):
        raise ParameterError(
            message("domain", "must be a Domain", type(domain), "use hush.Domain(size=…, sensitive=…)")
        )
    if domain.sensitive is None or len(domain.sensitive) == domain.size:
        rule = "must name some values, but not all"
        remedy = "where all are sensitive, use a mechanism that protects them all"
        raise ParameterError(message("sensitive", rule, domain.sensitive, remedy))
    epsilon = rules.epsilon(epsilon)
    rules.integer("n", n, 1, 10**15, "use e.g. 100000")
    rules.number("slack", slack, 1.0 - 1e-12, 1e12, "use e.g. 2")
    if prefer is not None:
        deprecated("prefer of uldp", "matters")
        matters = OLD_WORDS.get(prefer, prefer)
    if matters not in MATTERS:
        raise ParameterError(message("matters", f"must be one of {', '.join(MATTERS)}", matters, "use 'accuracy'"))
    others = domain.size - len(domain.sensitive)
    share = others / domain.size if theta is None else rules.share("theta", theta)
    options = _made(domain, epsilon, share, n)
    if delta:
        options += _approximate(domain, epsilon, rules.delta(delta), share, n)
    least = min(option.error for option in options)
    keys = {
        "accuracy": lambda o: (o.error, o.bits),
        "bits": lambda o: (o.error > slack * least, o.bits, o.error),
        "work": lambda o: (o.error > slack * least, o.work, o.error),
    }
    frequencies = np.full(domain.size, share / others)
    frequencies[list(domain.sensitive)] = (1 - share) / len(domain.sensitive)
    plain = [cls(k=domain.size, epsilon=epsilon) for cls in PLAIN]
    plain += _bases(domain.size, epsilon, delta) if delta else []
    ways = [Option(m, float(m.variances(frequencies, n).sum()), m.forms.server_work, m.name()) for m in plain]
    ranked = tuple(sorted(options, key=keys[matters]))
    return Recommendation(ranked, min(ways, key=lambda way: way.error), matters, slack, share, n)


def _made(domain: Domain, epsilon: float, theta: float, n: int) -> list[Option]:
    """Make every mechanism; and the one that sends pairs, where a revealed value can go alone."""
    found = []
    for cls in MECHANISMS:
        for reveal in ("alone", "pair"):
            try:
                u = cls(k=domain.size, epsilon=epsilon, sensitive=domain.sensitive, theta=theta, reveal=reveal)
            except ParameterError:  # some cannot send a value alone
                continue
            only = cls.reveal == "alone" or u.z_mean == 0  # where nothing is revealed beside a report, no pair is sent
            name = u.name() if only or reveal == "alone" else f"{u.name()}, in pairs"
            found.append(Option(u, total_error(u, theta, n), u.base.forms.server_work, name))
            if only:
                break
    return found


def _bases(k: int, epsilon: float, delta: float) -> list[FrequencyOracle]:
    """The approximate mechanisms that there are over so many values."""
    found: list[FrequencyOracle] = []
    for cls in APPROXIMATE:
        with contextlib.suppress(ParameterError):  # AOLH has no optimum at a large delta; one value needs no mechanism
            found.append(cls(k=k, epsilon=epsilon, delta=delta))  # type: ignore[call-arg]
    return found


def _approximate(domain: Domain, epsilon: float, delta: float, theta: float, n: int) -> list[Option]:
    """Transform the approximate mechanisms."""
    found = []
    for base in _bases(len(domain.sensitive or ()), epsilon, delta):
        u = transform(base, domain)
        how = ", in pairs" if u.reveal == "pair" and u.z_mean > 0 else ""
        found.append(Option(u, total_error(u, theta, n), base.forms.server_work, f"u({base.name()}){how}"))
    return found
