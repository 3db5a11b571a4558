"""Python code from anywhere is audited, whatever its reports are, and none of its faults passes for a result."""

from __future__ import annotations

import dataclasses
import enum
import itertools
import math
import random
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import hush
from hush.audit import Claim, HistoryInputs, Inputs, MechanismTarget, NumberInputs, TupleInputs, run
from hush.audit.bounds import best_provable
from hush.audit.foreign import CallableTarget, from_name
from hush.audit.inputs import Values
from hush.errors import ParameterError
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

K = 4
ALPHA = 1e-6  # of every audit here: the chance that honest code is accused


def grr(value: int, k: int = K, epsilon: float = 1.0) -> int:
    """Honest randomized response by Python's own generator."""
    if random.random() < math.exp(epsilon) / (math.exp(epsilon) + k - 1):
        return value
    other = random.randrange(k - 1)
    return other if other < value else other + 1


@dataclasses.dataclass
class Answer:
    value: int
    version: str = "2"


class Slotted:
    __slots__ = ("inner",)

    def __init__(self, value: int) -> None:
        self.inner = [value, None]


Colour = enum.Enum("Colour", ["red", "green", "blue", "other"])

WRAPPINGS: dict[str, Callable[[int], Any]] = {
    "integer": int,
    "float": lambda y: y / 8,
    "boolean": lambda y: y == 0,
    "text": lambda y: f"colour-{'abcd'[y]}",
    "bytes": lambda y: bytes([7, 1 << y]),
    "tuple": lambda y: (y, 3.5),
    "mixed tuple": lambda y: (y, "x", None),
    "one-hot list": lambda y: [int(y == v) for v in range(K)],
    "ragged list": lambda y: [9] * y,
    "array": lambda y: np.eye(K)[y],
    "matrix": lambda y: np.eye(K)[y].reshape(2, 2),
    "array and number": lambda y: (np.eye(K)[y], 1),
    "dictionary": lambda y: {"y": y, "n": 1},
    "nested": lambda y: {"a": [{"b": (y, "z")}]},
    "set": lambda y: {y},
    "frozen set of text": lambda y: frozenset({"abcd"[y], "e"}),
    "generator": lambda y: (v for v in (y, y)),
    "data class": Answer,
    "slots": Slotted,
    "enumeration": lambda y: list(Colour)[y],
    "numpy number": np.uint8,
    "complex": lambda y: complex(0, y),
    "huge integer": lambda y: 10**30 + y,
    "not a number": lambda y: math.nan if y == 0 else float(y),
    "infinite": lambda y: math.inf if y == 0 else -math.inf,
    "nothing": lambda y: None if y == 0 else y,
    "record": lambda y: np.array([(y, 1.5)], dtype=[("y", "u1"), ("z", "f8")])[0],
}


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_reports_of_every_kind_show_what_they_carry(wrapping: str) -> None:
    wrap = WRAPPINGS[wrapping]
    leaking = run(CallableTarget(lambda value: wrap(value), K, 1.0), "classifier", trials=1000)
    assert leaking.epsilon_lower == pytest.approx(best_provable(leaking.trials))
    honest = CallableTarget(lambda value: wrap(grr(value)), K, 1.0)
    found = run(honest, "classifier", trials=10_000, alpha=ALPHA, pair=(0, 1), rng=hush.seeded(7))
    assert not found.violated
    assert found.epsilon_lower > 0.55


def test_a_batch_may_be_an_array_records_or_a_list() -> None:
    m = hush.OUE(k=K, epsilon=1.0)
    ways: list[Callable[..., Any]] = [
        lambda values, rng: m.privatize(values, rng=rng),
        lambda values, rng: m.support_matrix(m.privatize(values, rng=rng)),
        lambda values, rng: m.support_matrix(m.privatize(values, rng=rng)).tolist(),
        lambda values, rng: [set(np.flatnonzero(row)) for row in m.support_matrix(m.privatize(values, rng=rng))],
    ]
    found = [
        run(
            CallableTarget(way, K, 1.0, "OUE", True),
            "classifier",
            trials=30_000,
            alpha=ALPHA,
            pair=(0, 1),
            rng=hush.seeded(3),
        )
        for way in ways
    ]
    assert all(each.verdict == "consistent" and each.epsilon_lower > 0.6 for each in found)
    assert len({each.counts for each in found}) == 1  # the same reports in four forms: the same event


def test_a_function_of_arrays_is_recognised_and_one_coin_for_all_is_not_taken_for_many() -> None:
    arrays = CallableTarget(lambda values: values.astype(float) + 0.5, K)
    assert arrays.draw(2, 7, None).tolist() == [2.5] * 7
    calls = []

    def one_coin(value: Any) -> Any:
        calls.append(type(value))
        return value if random.random() < 0.5 else 0

    CallableTarget(one_coin, K).draw(2, 7, None)
    assert set(calls) == {int}


@pytest.mark.parametrize(
    ("function", "batched", "complaint"),
    [
        (lambda v: 1 // 0, None, "must turn every value into a report, got an error for value 1; it failed with Zero"),
        (lambda v: sys.exit(4), None, "it failed with SystemExit: 4"),
        (lambda v: 1 // (v - 1), None, "got an error for value 1; it failed with Zero"),
        (lambda v: {}["seed"], False, "it failed with KeyError: 'seed' \\(test_audit_foreign.py, line"),
        (lambda v: v[:-1], True, "must give one report for each value, got 8 for 9 values"),
        (lambda v: 3, True, "must turn an array of values into as many reports, got a int for 9 values"),
        (lambda v: "abcdefghi", True, "got a str for 9 values"),
        (lambda v: np.zeros(random.randrange(2, 4)), False, "must give arrays of one shape, got shape \\(3,\\) after"),
    ],
)
def test_faulty_code_is_told_what_is_wrong(function: Callable[..., Any], batched: bool | None, complaint: str) -> None:
    target = CallableTarget(function, K, name="the code", batched=batched)
    random.seed(1)
    with pytest.raises(ParameterError, match=f"^target the code .*{complaint}"):
        target.draw(1, 9, None)


def fails_on_seven(value: int) -> int:
    if value == 7:
        raise ValueError("no seven here")
    return value


def fails_on_two(values: np.ndarray) -> np.ndarray:
    if np.isin(values, [3, 7]).any():
        raise ValueError("neither three nor seven")
    return values


@pytest.mark.parametrize(
    ("function", "batched", "named"),
    [(fails_on_seven, False, "value 7"), (fails_on_seven, None, "value 7"), (fails_on_two, True, "values 3, 7")],
)
def test_the_values_that_fail_are_named_and_no_others(
    function: Callable[..., Any], batched: bool | None, named: str
) -> None:
    target = CallableTarget(function, 16, 1.0, "the code", batched)
    with pytest.raises(ParameterError, match=f"got an error for {named}; it failed with ValueError"):
        run(target, "classifier", trials=1000, rng=hush.seeded(7))


def test_an_object_that_says_nothing_is_refused() -> None:
    target = CallableTarget(lambda v: object(), K, name="the code")
    with pytest.raises(ParameterError, match="target the code must give reports that can be read, got a object"):
        run(target, "classifier", trials=1000)


@pytest.mark.parametrize("batched", [False, True])
def test_code_that_hangs_is_left(batched: bool) -> None:
    stopped = []

    def endless(value: Any) -> None:
        try:
            for _ in itertools.count():
                time.sleep(0.01)
        finally:
            stopped.append(True)

    target = CallableTarget(endless, K, name="the code", batched=batched, timeout=0.1)
    with pytest.raises(ParameterError, match=r"must give a report in time, got none for value 1 in 0\.1 seconds"):
        target.draw(1, 9, None)
    wait_until(lambda: stopped)  # the thread has ended, too


def test_slow_code_that_goes_on_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time allowed runs out once for each report."""
    allowed, reported, calls = threading.Semaphore(0), threading.Semaphore(0), list[int]()

    class Done(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            allowed.release()
            assert reported.acquire(timeout=60)
            return self.is_set()

        def set(self) -> None:
            super().set()
            reported.release()

    def slow(value: int) -> int:
        if calls:  # then the report before this one is counted
            reported.release()
        calls.append(value)
        assert allowed.acquire(timeout=60)
        return value

    monkeypatch.setattr("hush.audit.guard.threading", SimpleNamespace(Event=Done, Thread=threading.Thread))
    assert CallableTarget(slow, K, batched=False).draw(1, 12, None).tolist() == [1] * 12
    assert len(calls) == 12


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"function": 3, "k": K}, "function must be callable"),
        ({"function": grr, "k": 1}, "k must be"),
        ({"function": grr, "k": K, "claim": -1.0}, "claim must be"),
        ({"function": grr, "k": K, "claim": math.nan}, "claim must be"),
        ({"function": grr, "k": K, "claim": "1"}, "claim must be"),
        ({"function": grr, "k": K, "timeout": 0}, "timeout must be"),
    ],
)
def test_parameters_are_checked(arguments: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ParameterError, match=f"^{complaint}"):
        CallableTarget(**arguments)


def test_a_value_must_be_of_the_domain() -> None:
    with pytest.raises(ParameterError, match="value must be an integer in 0"):
        CallableTarget(grr, K).draw(K, 5, None)


def test_a_seeded_audit_repeats_itself_and_leaves_the_generators_as_they_were() -> None:
    random.seed(5)
    np.random.seed(5)
    before = random.getstate(), np.random.get_state()[1].tolist()
    target = CallableTarget(lambda v: (grr(v), int(np.random.randint(3))), K, 1.0)
    first, second = (run(target, "classifier", trials=3000, rng=hush.seeded(9)) for _ in range(2))
    assert first.counts == second.counts
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before
    draws = [target.draw(0, 30_000, hush.seeded(at))["report"].tolist() for at in (1, 1, 2)]
    assert draws[0] == draws[1] != draws[2]
    assert draws[0][:8192] != draws[0][8192:16384]  # no batch repeats another


def test_the_proved_loss_exceeds_the_truth_no_more_often_than_stated(thorough: bool) -> None:
    audits, alpha = 150 if thorough else 100, 0.2
    target = CallableTarget(lambda values, rng: hush.GRR(k=K, epsilon=1.0).privatize(values, rng=rng), K, 1.0, "", True)
    wrong = sum(
        run(target, "classifier", trials=1000, alpha=alpha, bound="one-sided", rng=hush.seeded(at)).violated
        for at in range(audits)
    )
    most = int(binom.isf(1e-9, audits, alpha))  # more has a probability below 1e-9, if alpha holds
    assert wrong <= most
    assert 0 < most < audits / 2


def test_one_client_forgets_to_clear_a_bit_and_is_found() -> None:
    def unreset(value: int, epsilon: float = 0.25) -> Any:  # as in pure-LDP 1.1.2
        bits = np.random.choice([1, 0], size=K, p=[1 / (math.exp(epsilon) + 1), 1 - 1 / (math.exp(epsilon) + 1)])
        if random.random() < 0.5:
            bits[value] = 1
        return bits

    found = run(CallableTarget(unreset, K, 0.25), "classifier", trials=20_000, alpha=ALPHA, rng=hush.seeded(7))
    assert found.violated
    assert 0.8 < found.epsilon_lower < 1.18906993111192  # the true loss


MODULE = """
import random
K = 4
def honest(value):
    return value if random.random() < 0.3 else random.randrange(4)
class Client:
    def __init__(self, k, epsilon):
        self.k, self.epsilon = k, epsilon
    def privatise(self, value):
        return (self.k, self.epsilon, value)
class Caller:
    def __call__(self, value):
        return value + 1
class Demanding:
    def __init__(self, key):
        pass
one = Client(3, 0.5)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module in the current directory."""
    name = f"clients_of_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    (tmp_path / f"{name}_broken.py").write_text("raise RuntimeError('no licence')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return name


def test_a_name_gives_a_function_an_object_or_a_class(module: str) -> None:
    assert set(from_name(f"{module}:honest", K).draw(1, 200, None).tolist()) == {0, 1, 2, 3}
    assert from_name(f"{module}:Client", K, 2.0).draw(1, 1, None)["report"].tolist() == [[4, 2.0, 1]]
    assert from_name(f"{module}:one", K).draw(1, 1, None)["report"].tolist() == [[3, 0.5, 1]]
    assert from_name(f"{module}:one.privatise", K).draw(1, 1, None)["report"].tolist() == [[3, 0.5, 1]]
    assert from_name(f"{module}:Caller", K).draw(1, 2, None).tolist() == [2, 2]
    named = from_name(f"{module}:honest", K, Claim(1.0, 1e-6))
    assert (named.name, named.claim) == (f"{module}:honest", Claim(1.0, 1e-6))
    own = from_name("hush:OUE", K, 1.0)
    assert isinstance(own, MechanismTarget)
    assert own.mechanism == hush.OUE(k=K, epsilon=1.0)


MECHANISMS = """
import hush
one = hush.OUE(k=5, epsilon=1.0)
kept = hush.longitudinal.LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0)
mean = hush.Piecewise(low=0.0, high=10.0, epsilon=1.0)
two = hush.multidim.RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR")
made = hush.audit.CallableTarget(lambda value: value, k=5, claim=1.0)
"""


@pytest.fixture
def mechanisms(module: str) -> str:
    """A module of mechanisms."""
    Path(f"{module}_mechanisms.py").write_text(MECHANISMS)
    return f"{module}_mechanisms"


def test_a_mechanism_by_name_is_asked_about_what_is_said(mechanisms: str) -> None:
    over = [from_name(f"{mechanisms}:{name}", inputs=HistoryInputs.unchanging(5, 12)) for name in ("one", "kept")]
    assert [each.unit for each in over] == ["12 reports of one person"] * 2
    told = from_name(f"{mechanisms}:kept", inputs=HistoryInputs(((0, 0, 0), (0, 0, 1)), 5))
    assert told.exact_epsilon() == told.protocol.history_epsilon((0, 0, 0), (0, 0, 1))  # type: ignore[attr-defined]
    changed = from_name(f"{mechanisms}:two", inputs=TupleInputs((2, 5), 1))
    assert changed.exact_epsilon() < from_name(f"{mechanisms}:two", inputs=TupleInputs((2, 5))).exact_epsilon()
    assert from_name(f"{mechanisms}:mean", inputs=NumberInputs(0.0, 10.0)).k == 257
    assert from_name(f"{mechanisms}:made", 5).claim == Claim(1.0)


@pytest.mark.parametrize(
    ("name", "inputs", "words"),
    [
        ("one", Values(7), "values in 0..6, got .*:one, which takes values in 0..4"),
        ("one", NumberInputs(0.0, 10.0), "numbers from 0 to 10, got .* which takes values in 0..4"),
        ("mean", Values(5), "values in 0..4, got .* which takes numbers from 0 to 10"),
        ("mean", NumberInputs(0.0, 1.0), "numbers from 0 to 1, got .* which takes numbers from 0 to 10"),
        ("two", TupleInputs((3, 5), 1), "tuples of 2 attributes with 3, 5 values that differ in at most 1"),
        (
            "kept",
            HistoryInputs.unchanging(4, 12),
            "histories among 4 of 12 rounds, got .*:kept, which takes values",
        ),
        (
            "made",
            HistoryInputs.unchanging(4, 2),
            "histories among 4 of 2 rounds, got .*:made, which takes values in 0..4",
        ),
    ],
)
def test_a_mechanism_by_name_that_takes_something_else_is_refused(
    mechanisms: str, name: str, inputs: Inputs, words: str
) -> None:
    with pytest.raises(ParameterError, match=f"^target must take {words}"):
        from_name(f"{mechanisms}:{name}", inputs=inputs)


@pytest.mark.parametrize(
    ("suffix", "complaint"),
    [
        ("", "must look like module:function"),
        (":", "must look like module:function"),
        (":1x", "must look like module:function"),
        (":nothing", "must name something that .* has"),
        (":K", "must name a function, or an object that has privatize"),
        ("_broken:f", "must be importable.*RuntimeError: no licence"),
        ("_absent:f", "must be importable.*ModuleNotFoundError"),
        (":Demanding", "must be a class that k and epsilon suffice for.*key"),
    ],
)
def test_a_wrong_name_is_told_what_is_wrong(module: str, suffix: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=f"^target {complaint}"):
        from_name(module + suffix, K)


@pytest.mark.parametrize("mark", ["serial", "clock"])
@pytest.mark.parametrize("broken", [False, True])
def test_marks_of_reports_are_neither_a_leak_nor_a_cover(mark: str, broken: bool) -> None:
    """Reports carry a serial number or the time; the broken client never says 3 for another value. False alarm 1e-6."""
    numbers = itertools.count()

    def client(value: int) -> tuple[int, int]:
        told = grr(value)
        told = value if broken and value != 3 and told == 3 else told
        return told, next(numbers) if mark == "serial" else time.time_ns() // 1_000_000

    found = run(CallableTarget(client, K, 1.0), "classifier", trials=30_000, alpha=ALPHA, pair=(2, 3))
    assert found.violated == broken, found.statement
    assert found.epsilon_lower > (5.0 if broken else 0.5)
