"""One person's device for tuples over time: a device for each attribute that it reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hush.errors import ParameterError, SpecError, Unsaid, message
from hush.mechanisms.spec import Spec
from hush.randomness import source

if TYPE_CHECKING:
    from hush.multidim.over_time import TuplesOverTime


class TupleClient:
    """Reports a tuple again and again, with the answers it keeps; what `hush.longitudinal.Client` is for one value.

    Store `state` before a report leaves the device, and go on with `protocol.client(state=...)`.
    """

    def __init__(
        self,
        protocol: TuplesOverTime,
        *,
        rng: np.random.Generator | None = None,
        state: Mapping[str, Any] | None = None,
        spec: Spec | None = None,
    ) -> None:
        self.protocol = protocol
        self.spec = spec  # whose labels it takes; values 0..k-1 without one
        self._rng = rng if rng is None else source(rng)
        parts = self._new() if state is None else self._told_parts(state)
        made = zip(protocol.components, parts, strict=True)
        self._clients = [None if part is None else c.client(rng=self._rng, state=part or None) for c, part in made]

    @property
    def _told(self) -> str:
        return self.protocol.spec_hash if self.spec is None else self.spec.hash

    def _new(self) -> list[Mapping[str, Any] | None]:
        """Nothing kept yet of the attributes that this person reports; None for the others."""
        speakers = self.protocol._speakers(1, lambda draw: draw(1), source(self._rng))
        return [{} if rows.size else None for rows in speakers]

    def _told_parts(self, state: Mapping[str, Any]) -> list[Mapping[str, Any] | None]:
        """What was kept of each attribute; refuses another protocol's state, and a damaged one."""
        whole = isinstance(state, Mapping) and set(state) == {"protocol", "attributes"}
        parts = state["attributes"] if whole and state["protocol"] == self._told else None
        due = 1 if self.protocol.samples else self.protocol.d
        there = [part for part in parts if part] if isinstance(parts, list) else []
        if not isinstance(parts, list) or len(parts) != self.protocol.d or len(there) != due:
            rule, got = "must come from a client of this protocol", Unsaid("something else")
            raise SpecError(message("state", rule, got, "pass client.state"))
        return list(parts)

    def report(self, value: Any) -> Any:
        """One report of a tuple, of labels by name or in order where a spec has some: a record of `report_dtype`."""
        held = self.protocol.held([value]) if self.spec is None else self.protocol.held(value, self.spec.domain)
        if len(held) != 1:
            raise ParameterError(
                message("value", "must be one tuple", Unsaid(f"{len(held)}"), "report them one by one")
            )
        none = np.zeros(0, np.int64)
        parts = [
            (none, np.zeros(0, component.report_dtype))
            if client is None
            else (np.zeros(1, np.int64), np.array([client.report(int(code))], component.report_dtype))
            for component, client, code in zip(self.protocol.components, self._clients, held[0], strict=True)
        ]
        return self.protocol.first_report.whole(1, parts)[0]

    @property
    def answers(self) -> int:
        """How many permanent answers have been drawn, of all attributes."""
        return sum(client.answers for client in self._clients if client is not None)

    @property
    def state(self) -> dict[str, Any]:
        """All that must be kept, as plain data for JSON. It tells of the values themselves: store it as safely."""
        parts = [None if client is None else client.state for client in self._clients]
        return {"protocol": self._told, "attributes": parts}

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.protocol, self.state, self.spec)


def _unpickled(protocol: TuplesOverTime, state: Mapping[str, Any], spec: Spec | None = None) -> TupleClient:
    return TupleClient(protocol, state=state, spec=spec)
