"""Many people's devices at once: what `Client` is for one, for as many as there are, without a loop over them."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.errors import ParameterError, Unsaid, message
from hush.longitudinal.memory import MOST_PEOPLE, InProcess, KeepsAnswers
from hush.mechanisms.spec import Spec
from hush.people.columns import cells, not_integers
from hush.randomness import CHUNK, source
from hush.types import Ints, Reports


class Clients:
    """Reports of many people, again and again, with the answers that each of them keeps.

    People are numbers from 0 on; whoever comes for the first time gets a device. They are kept for as long as this
    object is: `hush.files.clients` keeps them on the disk. Threads may share it.

    >>> from hush.longitudinal import LGRR
    >>> clients = LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0).clients()
    >>> clients.report([0, 1, 2, 1], [3, 0, 0, 2]).shape, clients.answers([0, 1, 2]).tolist()
    ((4,), [1, 2, 1])
    """

    def __init__(
        self, protocol: KeepsAnswers, *, rng: np.random.Generator | None = None, spec: Spec | None = None
    ) -> None:
        self.protocol = protocol
        self.spec = spec  # whose labels it takes; values 0..k-1 without one
        self._rng = rng if rng is None else source(rng)
        self._lock = threading.Lock()
        self._memory = InProcess()

    def report(self, people: npt.ArrayLike, values: Any) -> Reports:
        """One report of each person's value, or label where a spec has some: shape (n,), dtype `report_dtype`.

        Whoever comes several times reports several times.

        Args:
            people: Whose they are, numbers from 0 on.
            values: What each holds; of tuples, columns by name or rows.
        """
        numbers = _numbers(people)
        held = self.protocol.held(values, None if self.spec is None else self.spec.domain)
        if len(held) != numbers.size:
            rule = f"must be as many as there are people, {numbers.size}"
            raise ParameterError(message("values", rule, Unsaid(f"{len(held)}"), "give each person one"))
        out = np.empty(numbers.size, self.protocol.report_dtype)
        with self._lock:
            for start in range(0, numbers.size, CHUNK):
                part = slice(start, start + CHUNK)
                out[part] = self.protocol.remembered(numbers[part], held[part], self._memory, source(self._rng))
        return out

    def answers(self, people: npt.ArrayLike) -> Ints:
        """How many permanent answers of each person have been drawn; each costs `epsilon_permanent` at most."""
        with self._lock:
            return self._memory.number(_numbers(people))


def _numbers(people: npt.ArrayLike) -> Ints:
    array = cells(people, "people")
    if array.size == 0:
        return np.zeros(0, np.int64)
    whole = array.ndim == 1 and array.dtype.kind in "iu"
    if not whole or int(array.min()) < 0 or int(array.max()) >= MOST_PEOPLE:
        got = not_integers(array) if array.dtype.kind not in "iu" else Unsaid("others")
        raise ParameterError(message("people", f"must be numbers in 0..{MOST_PEOPLE - 1}", got, "number them from 0"))
    return array.astype(np.int64)
