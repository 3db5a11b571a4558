"""Reports with a part for every attribute, side by side: what splitting the budget and fake data share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hush.exact.enumeration import check_few
from hush.multidim.base import Multidim
from hush.types import Ints, Reports


@dataclass(frozen=True, kw_only=True)
class SideBySide(Multidim):
    """A collection whose report has one record for each attribute: that of the attribute's mechanism."""

    @cached_property
    def _fields(self) -> tuple[str, ...]:
        return tuple(f"a{j}" for j in range(self.d))

    @property
    def report_dtype(self) -> np.dtype[Any]:
        """The attributes' records, a0, a1, ..., without padding."""
        parts = zip(self._fields, self.components, strict=True)
        return np.dtype([(name, component.report_dtype) for name, component in parts])

    def parts(self, reports: Reports) -> Iterator[tuple[Ints, Reports]]:
        """For each attribute, all rows, and their parts for it."""
        for name in self._fields:
            yield np.arange(reports.size), np.ascontiguousarray(reports[name])

    def whole(self, n: int, parts: Iterable[tuple[Ints, Reports]]) -> Reports:
        """The n reports that have these parts, as `parts` gives them."""
        out = np.empty(n, self.report_dtype)
        for name, (rows, records) in zip(self._fields, parts, strict=True):
            out[name][rows] = records
        return out

    @cached_property
    def _shapes(self) -> tuple[tuple[int, ...], ...]:
        return tuple(c.tally(np.zeros(0, c.report_dtype)).shape for c in self.components)

    def tally(self, reports: Reports) -> Ints:
        """The attributes' own tallies, one after the other."""
        parts = zip(self._fields, self.components, strict=True)
        tallies = [component.tally(np.ascontiguousarray(reports[name])).ravel() for name, component in parts]
        return np.concatenate(tallies).astype(np.int64, copy=False)

    def _tallies(self, tally: Ints) -> list[Ints]:
        """The tally of each attribute."""
        ends = np.cumsum([math.prod(shape) for shape in self._shapes])[:-1]
        return [part.reshape(shape) for part, shape in zip(np.split(tally, ends), self._shapes, strict=True)]

    def check_tally(self, tally: Ints, n: int) -> None:
        """Every report has a record of each attribute."""
        for component, part in zip(self.components, self._tallies(tally), strict=True):
            component.check_tally(part, n)

    def outputs(self, public: Any = None) -> Reports:
        """Every combination of the attributes' outputs."""
        seeds = [None] * self.d if public is None else public
        parts = [component.outputs(seed) for component, seed in zip(self.components, seeds, strict=True)]
        total = math.prod(len(part) for part in parts)
        check_few(total, max(self.sizes))
        places = np.unravel_index(np.arange(total), [len(part) for part in parts])
        out = np.empty(total, self.report_dtype)
        for name, part, at in zip(self._fields, parts, places, strict=True):
            out[name] = part[at]
        return out

    def copies(self, report: Any) -> int:
        """How many outputs this one stands for."""
        return math.prod(c.copies(report[name]) for name, c in zip(self._fields, self.components, strict=True))

    @property
    def bits(self) -> int:
        """The attributes' bits, added up."""
        return sum(component.bits for component in self.components)
