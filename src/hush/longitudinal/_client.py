"""One person's device: it draws a permanent answer for each state it comes into, and keeps it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from hush.errors import SpecError, message
from hush.mechanisms.spec import Spec
from hush.people.columns import column
from hush.people.domain import integers
from hush.randomness import source

if TYPE_CHECKING:
    from hush.longitudinal.base import Longitudinal


class Client:
    """Reports a value again and again, with the answers it keeps.

    Store `state` before a report leaves the device, and go on with `protocol.client(state=...)`. A client that loses
    its answers draws new ones, and each new answer for the same value costs the permanent budget again. So do two
    copies of a client, or a process and its fork, which draw answers of their own: keep one client for each person.

    Threads may share a client: no two of them draw for the same state.

    Pickling keeps the answers, not a seeded generator: a client that is unpickled draws securely.
    """

    def __init__(
        self,
        protocol: Longitudinal,
        *,
        rng: np.random.Generator | None = None,
        state: Mapping[str, Any] | None = None,
        spec: Spec | None = None,
    ) -> None:
        self.protocol = protocol
        self.spec = spec  # whose labels it takes; values 0..k-1 without one
        self._rng = rng if rng is None else source(rng)
        self._lock = threading.Lock()
        if state is None:
            self._public = protocol._draw(1, source(self._rng))
            self._memos: dict[int, np.ndarray[Any, Any]] = {}
        else:
            self._public, self._memos = _restored(protocol, self._told, state)

    @property
    def _told(self) -> str:
        """The hash that its state carries. Labels are part of it: in another order, an answer were another value's."""
        return self.protocol.spec_hash if self.spec is None else self.spec.hash

    def report(self, value: Any) -> Any:
        """One report of a value, or of a label where a spec has some: a record of `protocol.report_dtype`."""
        one, single = column(value)
        cell = one if single else [one]
        codes = integers(cell, self.protocol.k) if self.spec is None else self.spec.domain.encode(cell)
        given = codes[None]
        at = int(self.protocol._states(self._public, given)[0, 0])
        with self._lock:  # to look for an answer, to draw it and to keep it is one step; and a seeded rng is shared
            rng = source(self._rng)
            if at not in self._memos:
                self._memos[at] = self.protocol._memoize(np.array([at]), rng)
            core = self.protocol._refresh(self._memos[at], rng)
        return self.protocol._dress(self._public, core.reshape(1, 1))[0, 0]

    @property
    def answers(self) -> int:
        """How many permanent answers have been drawn; each costs `epsilon_permanent` at most."""
        return len(self._memos)

    @property
    def state(self) -> dict[str, Any]:
        """All that must be kept, as plain data for JSON. It tells of the values themselves: store it as safely."""
        with self._lock:
            kept = dict(self._memos)
        return {
            "protocol": self._told,
            "public": self._public.tobytes().hex(),
            "answers": {str(at): memo.tobytes().hex() for at, memo in kept.items()},
        }

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.protocol, self.state, self.spec)


def _unpickled(protocol: Longitudinal, state: Mapping[str, Any], spec: Spec | None = None) -> Client:
    return Client(protocol, state=state, spec=spec)


def _restored(
    protocol: Longitudinal, spec_hash: str, state: Mapping[str, Any]
) -> tuple[Any, dict[int, np.ndarray[Any, Any]]]:
    """What a client drew once, and its answers; refuses another protocol's state, and a damaged one."""
    whole = isinstance(state, Mapping) and set(state) == {"protocol", "public", "answers"}
    if not whole or state["protocol"] != spec_hash:
        raise SpecError(message("state", "must come from a client of this protocol", type(state), "pass client.state"))
    blank = protocol._draw(1, source(None))
    sample = protocol._memoize(np.zeros(1, np.int64), source(None))
    try:
        shown = bytes.fromhex(state["public"])
        public = np.frombuffer(shown, blank.dtype).reshape(blank.shape).copy() if shown or blank.size else blank
        memos = {
            int(at): np.frombuffer(bytes.fromhex(memo), sample.dtype).reshape(sample.shape).copy()
            for at, memo in state["answers"].items()
        }
        reports = [protocol._dress(public, memo.reshape(1, 1))[0] for memo in memos.values()]
        for each in reports:
            protocol.first_report.validate(each)
    except (ValueError, TypeError, AttributeError):  # whose words would tell what the person holds
        rule = "must be what client.state gave, whole"
        raise SpecError(message("state", rule, type(state), "restore it from a copy")) from None
    return public, memos
