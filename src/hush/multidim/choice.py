"""One registered mechanism for each attribute: what splitting the budget and sampling an attribute share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

from hush.errors import ParameterError, message
from hush.guarantee import LDP, ApproxLDP, Guarantee, of_all_values
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.chosen import Chosen, Entries, choices, recovered
from hush.mechanisms.direct import GRR
from hush.mechanisms.registry import registry
from hush.mechanisms.unary import OUE
from hush.mechanisms.usual import usual_oracles
from hush.multidim import checks
from hush.multidim.base import Multidim, plain

ADAPTIVE = "ADP"
"""The name that stands for whichever mechanism has the least variance."""


@dataclass(frozen=True, kw_only=True)
class AnyMechanism(Chosen, Multidim):
    """A collection that randomizes each attribute with a registered mechanism."""

    mechanism: str | Sequence[str] = ADAPTIVE
    options: Mapping[str, Any] | Sequence[tuple[str, Any]] = field(default=())
    chosen: Sequence[Any] | None = field(default=None, repr=False)

    choice: ClassVar[str] = "chosen"

    def _settle(self) -> None:
        names = checks.names("mechanism", self.mechanism, self.d, [ADAPTIVE, *registry()])
        best = tuple(self._best(k) if name == ADAPTIVE else name for name, k in zip(names, self.sizes, strict=True))
        self._set(mechanism=best, options=checks.options(self.options), chosen=checks.chosen(self.chosen, self.d))
        due = tuple(checks.sorted_pairs(self._own(component, dict(self.options))) for component in self.components)
        if self.chosen is not None and self.chosen != due:  # more would be hidden, and less be chosen by the reader
            rule = "must be what the mechanisms choose for themselves beside their options, all of it and nothing else"
            raise ParameterError(message("chosen", rule, told_choices(self.chosen), "leave it out, or use options"))
        self._set(chosen=due)

    @staticmethod
    def _own(component: FrequencyOracle, options: Mapping[str, Any]) -> dict[str, Any]:
        """What a mechanism has chosen for itself beside its options."""
        return {name: x for name, x in choices(component).items() if name not in options}

    @classmethod
    def recovered(cls, entries: Entries, thresholds: Entries) -> list[dict[str, Any]]:
        """What each attribute's mechanism chose in a spec of version 0.1, where thresholds tell; others choose anew."""
        plain: dict[str, Any] = {"sizes": entries["sizes"], "epsilon": entries["epsilon"]}
        options, own = entries["options"], []
        known = {"epsilon": cls(mechanism="GRR", **plain).budget, **options}
        for j, (name, k) in enumerate(zip(entries["mechanism"], entries["sizes"], strict=True)):
            mine = {key.partition(".")[2]: t for key, t in thresholds.items() if key.partition(".")[0] == str(j)}
            told = recovered(registry()[name], {"k": k, **known}, mine)
            own.append(cls._own(registry()[name](k=k, **known, **told), options))
        return own

    @classmethod
    def offers(cls, sizes: Sequence[int]) -> Iterator[dict[str, Any]]:
        """Every usual oracle for all attributes, and the better of two for each."""
        for each in super().offers(sizes):
            yield from ({**each, "mechanism": name} for name in (ADAPTIVE, *usual_oracles(sizes)))

    @property
    def budget(self) -> float:
        """What one attribute's report may spend."""
        return self.epsilon

    def _best(self, k: int) -> str:
        """Randomized response where the domain is small, else unary encoding."""
        direct, unary = GRR(k=k, epsilon=self.budget), OUE(k=k, epsilon=self.budget)
        return (direct if direct.variance() <= unary.variance() else unary).name()

    @cached_property
    def components(self) -> tuple[FrequencyOracle, ...]:
        """The mechanism of each attribute."""
        several = zip(self.mechanism, self.sizes, self.chosen or [()] * self.d, strict=True)
        return tuple(self._component(name, k, dict(chosen)) for name, k, chosen in several)

    def _component(self, name: str, k: int, chosen: Mapping[str, Any]) -> FrequencyOracle:
        try:
            made = registry()[name](k=k, epsilon=self.budget, **{**dict(self.options), **chosen})
        except (TypeError, ParameterError) as error:
            rule = f"must take k={k}, epsilon={self.budget:g} and the options {dict(self.options)}"
            raise ParameterError(message("mechanism", rule, name, str(error))) from None
        if made.guarantee is None:
            raise ParameterError(message("mechanism", "must have a guarantee", name, "use e.g. 'OUE'"))
        if self.d > 1 and of_all_values(made.guarantee, k) is None:
            # Many tuples have a value that is revealed, and other parts of theirs: no set of sensitive tuples is
            # one for which Definition 3 of ULDP holds.
            rule = "must protect every value of its attribute where there are several"
            remedy = "use e.g. 'OUE', or report this attribute on its own"
            raise ParameterError(message("mechanism", rule, f"{name}, {made.guarantee}", remedy))
        return made

    @abstractmethod
    def _combined(self, promises: Sequence[LDP | ApproxLDP]) -> LDP | ApproxLDP:
        """What the attributes' promises come to."""

    @property
    def guarantee(self) -> Guarantee:
        """The attributes' promises, combined, and epsilon at least; of a single attribute, its own."""
        if self.d == 1:
            return self.components[0].guarantee
        promises = [of_all_values(c.guarantee, c.k) for c in self.components]
        total = self._combined([promise for promise in promises if promise is not None])
        return replace(total, epsilon=max(total.epsilon, self.epsilon))

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes, as plain data."""
        plain = {name: value for name, value in super().parameters.items() if name != "chosen"}
        told = [] if self.unsaid else told_choices(self.chosen or ())
        return plain | {"options": dict(self.options)} | ({"chosen": told} if any(told) else {})


def told_choices(chosen: Sequence[Any]) -> list[dict[str, Any]]:
    """What the mechanism of each attribute chose for itself, as plain data."""
    return [dict(plain(part)) for part in chosen]
