"""What one report promises, in sentences, whatever kind of mechanism made it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from hush.errors import HushError
from hush.guarantee import LDP, ULDP, ApproxLDP, Guarantee
from hush.reports.statements import lay

Found = TypeVar("Found")

_DOUBTS = (0.1, 0.5)
_OTHERS = (
    "Other reports exist that only somebody with one certain unprotected value can send: these reveal that value, and "
    "with it that the person holds no protected one."
)
_ANYBODY = "This holds whoever looks, whatever else they know, and however long they compute."


def known(ask: Callable[[], Found]) -> Found | None:
    """What a mechanism says of itself; None where it has no formula and is too large to enumerate."""
    try:
        return ask()
    except (HushError, NotImplementedError):
        return None


@dataclass(frozen=True)
class Promise:
    """What is declared of one report, and what is true of it.

    Args:
        declared: The guarantee.
        exact: The loss of the sampler as it is implemented; None where it could not be computed.
    """

    declared: Guarantee
    exact: float | None

    @property
    def epsilon(self) -> float | None:
        """The loss that is told: the exact one where it is known; None where nothing bounds it."""
        if self.exact is not None:
            return self.exact
        return None if self.declared is None else self.declared.epsilon

    @property
    def broken(self) -> bool:
        """Whether more is lost than is declared."""
        return self.declared is not None and self.exact is not None and self.exact > self.declared.epsilon

    @property
    def bound(self) -> Guarantee:
        """The guarantee with the loss that is told."""
        if self.epsilon is None or self.epsilon == float("inf") or self.declared is None:
            return None
        if isinstance(self.declared, ULDP):
            return ULDP(self.epsilon, self.declared.sensitive, self.declared.delta)
        if isinstance(self.declared, ApproxLDP):
            return ApproxLDP(self.epsilon, self.declared.delta)
        return LDP(self.epsilon)

    def sentences(self) -> list[str]:
        """The paragraphs."""
        match self.bound:
            case LDP(epsilon):
                return [_pure(epsilon), self._declared(), f"{_odds(epsilon)} {_ANYBODY}"]
            case ApproxLDP(epsilon, delta):
                return [_approximate(epsilon, delta), self._declared(), _without_odds(delta)]
            case ULDP(epsilon, _, delta) if delta:
                return [_partly_approximate(epsilon, delta), self._declared(), _without_odds(delta)]
            case ULDP(epsilon):
                return [_partial(epsilon), self._declared(), f"{_odds(epsilon, ' protected')} {_ANYBODY}"]
        return [self._nothing()]

    def _declared(self) -> str:
        assert self.declared is not None
        asked = f"The collection declares a privacy loss of ε = {lay.declared(self.declared.epsilon)} for one report."
        if self.exact is None:
            return (
                f"{asked} The loss of the sampler as it is implemented has too many cases to be computed here; the "
                "factors on this page are e to the power of the declared one, rounded up."
            )
        if self.broken:
            return (
                f"{asked} The sampler does not keep to it: as it is implemented, it loses {lay.loss(self.exact)}. The "
                "factors on this page are those of that loss. Do not use it before this is mended."
            )
        return (
            f"{asked} The exact loss, computed from the whole numbers that the sampler works with, "
            f"is {lay.loss(self.exact)}; the factors on this page are e to the power of it, rounded up."
        )

    def _nothing(self) -> str:
        said = "There is no guarantee"
        if self.declared is not None:
            said += f": the collection declares {self.declared}, which its sampler does not keep"
        said += ". A report may give away what a person holds"
        if self.epsilon == float("inf"):
            said += ": some reports are possible for some values only, and rule the others out altogether"
        elif self.epsilon is not None:
            said += f", being up to {lay.times(self.epsilon)} times likelier than if they held something else"
        return f"{said}. Do not use this collection for people's data."


def _pure(epsilon: float) -> str:
    return (
        f"Whatever a person holds, any report is at most {lay.times(epsilon)} times likelier than if they held "
        "anything else. So no report shows for sure what a person holds: anybody may have sent it. This is called "
        "local differential privacy."
    )


def _approximate(epsilon: float, delta: float) -> str:
    return (
        "Whatever a person holds, the chance that the report is one of any given kind is at most "
        f"{lay.times(epsilon)} times the chance if they held anything else, plus {lay.small(delta)} "
        f"(δ, {lay.one_in(delta)}). This is called approximate local differential privacy."
    )


def _without_odds(delta: float) -> str:
    return (
        "The δ is a gap in the promise: rare reports may tell more than the factor allows, even the value itself, so "
        "that nothing bounds what a single report can make somebody believe. What is bounded is how rare they are: "
        f"the chance that a report rules out another given value altogether is at most {lay.one_in(delta)}, so that "
        f"of a million reports at most {lay.plain(lay.up(delta * 1e6))} do so on average."
    )


def _partial(epsilon: float) -> str:
    return (
        "The promise is made to people who hold a protected value: any report that they can send is at most "
        f"{lay.times(epsilon)} times likelier than if they held anything else, protected or not. {_OTHERS} This is "
        "called utility-optimized local differential privacy."
    )


def _partly_approximate(epsilon: float, delta: float) -> str:
    return (
        "The promise is made to people who hold a protected value: of the reports that they can send, the chance that "
        f"it is one of any given kind is at most {lay.times(epsilon)} times the chance if they held anything else, "
        f"protected or not, plus {lay.small(delta)} (δ, {lay.one_in(delta)}). {_OTHERS} This is called approximate "
        "utility-optimized local differential privacy."
    )


def _odds(epsilon: float, which: str = "") -> str:
    """What a doubt can become: Bayes, with the largest factor."""
    first, second = _DOUBTS
    least = "" if which else f", and at least {lay.at_least(first, epsilon)} %"
    return (
        f"Somebody who thought it {first * 100:g} % likely beforehand that a person holds a certain{which} value can "
        f"think it at most {lay.at_most(first, epsilon)} % likely after seeing the report{least}; somebody who thought "
        f"it {second * 100:g} % likely, at most {lay.at_most(second, epsilon)} %."
    )
