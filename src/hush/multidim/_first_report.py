"""One report of tuples over time, as a collection of tuples: what tallies, estimates and is checked like any other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hush.errors import ParameterError, Unsaid, message
from hush.guarantee import LDP
from hush.longitudinal import Longitudinal
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.collected import from_outside
from hush.mechanisms.registry import from_dict
from hush.multidim.base import Multidim
from hush.multidim.sampled import Sampled
from hush.multidim.split import Split
from hush.types import Ints, Reports


@dataclass(frozen=True, kw_only=True)
class FirstTuples(Multidim):
    """A collection whose attributes are reported as a protocol over time reports them, any one time.

    Args:
        sizes: Domain size of each attribute.
        epsilon: Loss of one report.
        protocols: The protocol of each attribute.
    """

    protocols: tuple[Longitudinal, ...]

    def _settle(self) -> None:
        self._set(protocols=tuple(self.protocols))
        if tuple(each.k for each in self.protocols) != self.sizes:
            rule, got = "must be one for each attribute, of its size", Unsaid("others")
            raise ParameterError(message("protocols", rule, got, "ask the protocol for its first_report"))

    @classmethod
    def name(cls) -> str:
        """Module and class, as for a mechanism from outside: it is not for use without its protocol."""
        return super().name() if from_outside(cls) else f"hush.multidim:{cls.__name__}"

    @cached_property
    def components(self) -> tuple[FrequencyOracle, ...]:
        """The law of one report of each attribute."""
        return tuple(each.first_report for each in self.protocols)

    @property
    def guarantee(self) -> LDP:
        """What one report promises for any two tuples."""
        return LDP(self.epsilon)

    @property
    def parameters(self) -> dict[str, Any]:
        """What the constructor takes, as plain data."""
        return super().parameters | {"protocols": [each.to_dict() for each in self.protocols]}

    @classmethod
    def _read(cls, entries: dict[str, Any]) -> dict[str, Any]:
        told = super()._read(entries)
        return {name: tuple(map(from_dict, item)) if name == "protocols" else item for name, item in told.items()}

    @abstractmethod
    def whole(self, n: int, parts: Iterable[tuple[Ints, Reports]]) -> Reports:
        """The n reports that have these parts: of each attribute, the rows that report it, and their records."""


@dataclass(frozen=True, kw_only=True)
class FirstLSMP(Sampled, FirstTuples):
    """One report of LSMP: one attribute, drawn uniformly and named."""


@dataclass(frozen=True, kw_only=True)
class FirstLSPL(Split, FirstTuples):
    """One report of LSPL: every attribute."""
