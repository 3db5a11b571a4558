"""Threads that share a client, or a ledger."""

from __future__ import annotations

import copy
import pickle
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import hush
from hush.errors import ParameterError
from hush.longitudinal import LGRR, LOSUE, OLOLOHA, Ledger, Longitudinal, Memoized, dBitFlipPM
from tests.waiting import wait_until

THREADS = 8
ASKING: list[int] = []
"""The threads that are about to ask for a report."""


@dataclass(frozen=True, kw_only=True)
class SlowGRR(hush.GRR):
    """A mechanism that draws only when all threads are about to ask."""

    def sample(self, values: Any, rng: np.random.Generator) -> Any:
        wait_until(lambda: len(ASKING) == THREADS)
        return super().sample(values, rng)


PROTOCOLS: list[Longitudinal] = [
    LGRR(k=200, epsilon_permanent=0.5, epsilon_report=0.25),
    LOSUE(k=64, epsilon_permanent=2.0, epsilon_report=1.0),
    OLOLOHA(k=200, epsilon_permanent=6.0, epsilon_report=5.0),
    dBitFlipPM(k=64, epsilon_permanent=1.0, d=32),
    Memoized(mechanism=hush.OUE(k=64, epsilon=1.0)),
]


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns a thousand times as often as by default."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(5e-6)
    yield
    sys.setswitchinterval(usual)


def together(work: Callable[[int], object]) -> None:
    """Call it on every thread at the same moment."""
    start = threading.Barrier(THREADS)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        start.wait()
        try:
            work(number)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed, failed


def test_a_client_that_threads_share_draws_one_answer_for_a_value() -> None:
    """Each draw leaves the others time to look for an answer that is not there yet."""
    protocol = Memoized(mechanism=SlowGRR(k=10_000, epsilon=0.1))  # two answers differ all but surely
    for _ in range(5):
        client = protocol.client()
        sent: list[bytes] = []
        ASKING.clear()

        def report(number: int, client: Any = client, sent: Any = sent) -> None:
            ASKING.append(number)
            sent.append(client.report(3).tobytes())

        together(report)
        assert len(sent) == THREADS
        assert len(set(sent)) == 1
        assert client.answers == 1


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda p: type(p).__name__)
@pytest.mark.usefixtures("hurried")
def test_what_threads_saw_is_what_a_client_keeps(protocol: Longitudinal) -> None:
    """States that were stored while others reported never disagree with the last one."""
    for seed in range(20):
        client = protocol.client(rng=hush.seeded(seed))
        stored: list[dict[str, Any]] = []

        def report(number: int, client: Any = client, stored: Any = stored) -> None:
            for value in range(4):
                client.report((value + number) % 4)
                stored.append(client.state)
                stored.append(pickle.loads(pickle.dumps(client)).state)

        together(report)
        last = client.state
        assert len(stored) == 8 * THREADS
        for state in stored:
            assert state["public"] == last["public"]
            assert state["answers"].items() <= last["answers"].items()
        assert copy.deepcopy(client).state == copy.copy(client).state == last
        assert 1 <= client.answers <= 4


@pytest.mark.usefixtures("hurried")
def test_a_ledger_that_threads_share_never_overspends_and_always_adds_up() -> None:
    ledger = Ledger(limit=10)
    refused: list[int] = []

    def spend(number: int) -> None:
        for _ in range(200):
            try:
                ledger.spend("1/100", what="a report")
            except ParameterError:
                refused.append(number)
            entries, spent = ledger._seen()
            assert sum((entry.epsilon for entry in entries), start=Fraction(0)) == spent

    together(spend)
    assert ledger.left == 0
    assert len(refused) == 200 * THREADS - 1000
