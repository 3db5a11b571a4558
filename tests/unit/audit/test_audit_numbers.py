"""Audits of means: mechanisms of Hush, broken ones, and code from outside, with numbers for values."""

from __future__ import annotations

import math
import random
import sys

import numpy as np
import pytest

import hush
from hush.audit import CallableTarget, Claim, NumberInputs, NumberTarget, PipeTarget, run, screen
from hush.audit.inputs import GRID, Values
from hush.errors import ParameterError
from hush.mechanisms.numeric.base import Numeric
from hush.testing import exhibits

MEANS = [cls(low=0.0, high=10.0, epsilon=e) for cls in hush.registry(kind="numeric").values() for e in (0.5, 2.0)]


def name(m: object) -> str:
    return f"{type(m).__name__}-{m.epsilon:g}"  # type: ignore[attr-defined]


@pytest.mark.parametrize("m", MEANS, ids=name)
def test_ours_keep_their_promise_and_no_bound_exceeds_the_exact_loss(m: Numeric) -> None:
    """False alarm 1e-9 for each method."""
    for method in ("likelihood", "attack", "classifier"):
        found = run(m, method, trials=20_000, alpha=1e-9, rng=hush.seeded(5))
        assert found.epsilon_lower <= m.exact_epsilon()
        assert found.claimed == m.epsilon
        assert found.witness is not None
        assert {found.witness.first, found.witness.second} == {0.0, 10.0}
        assert str(found.witness).startswith("numbers ")
    assert run(m, trials=20_000, rng=hush.seeded(6)).epsilon_lower > 0.85 * m.epsilon


@pytest.mark.parametrize("m", MEANS, ids=name)
def test_the_exact_loss_is_the_mechanisms_own_and_its_witness_shows_it(m: Numeric) -> None:
    found = run(m, "exact")
    assert found.epsilon_lower == m.exact_epsilon()
    witness = found.witness
    assert witness is not None
    assert witness.record is not None
    report = np.frombuffer(bytes.fromhex(witness.record), m.report_dtype)[0]
    ticks = [round((x - m.low) / m.width * m.steps) for x in (witness.first, witness.second)]
    high, low = (m.weight(report, tick) for tick in ticks)
    assert math.log(high / low) == pytest.approx(found.epsilon_lower, abs=1e-9)


def test_an_exact_loss_has_no_other_delta() -> None:
    m = hush.Duchi(low=0.0, high=1.0, epsilon=1.0)
    with pytest.raises(ParameterError, match="delta of the claim must be the target's own, 0"):
        run(m, "exact", claim=Claim(1.0, 0.1))
    assert run(m, trials=20_000, claim=Claim(1.0, 0.1), rng=hush.seeded(1)).epsilon_lower < 1.0


@pytest.mark.parametrize("large", [False, True])
def test_the_log_ratio_is_that_of_the_law(large: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    m = hush.Piecewise(low=-1.0, high=1.0, epsilon=1.0, steps=8)
    law = m.forms.chances(np.array([-0.9, 0.3]))
    assert law is not None
    if large:
        monkeypatch.setattr("hush.mechanisms.numeric.forms.MOST_CHANCES", 1)
    found = m.forms.log_ratio(m.outputs(), -0.9, 0.3)
    assert found == pytest.approx(np.log(law[:, 0] / law[:, 1]), abs=1e-12)
    large_witness = run(m, "exact").witness
    assert large_witness is not None
    assert large_witness.report is not None


def test_numbers_between_the_grid_can_be_named() -> None:
    m = hush.Hybrid(low=0.0, high=10.0, epsilon=1.0)
    found = run(m, trials=20_000, pair=(2.503, 7.1), rng=hush.seeded(3))
    assert found.witness is not None
    assert {found.witness.first, found.witness.second} == {2.503, 7.1}
    assert "numbers 2.503 and 7.1 of 259, and no others" in str(found.screening)
    assert found.about["pair"] == [2.503, 7.1]
    for wrong in [(0.0, 11.0), (1.0, 1.0), (0.0, math.nan), ("a", "b"), (1.0,), 5]:
        with pytest.raises(ParameterError, match="pair must be two different numbers from 0 to 10"):
            run(m, trials=20_000, pair=wrong)  # type: ignore[arg-type]


def test_the_ends_of_ours_are_compared() -> None:
    found = screen(hush.Piecewise(low=0.0, high=1.0, epsilon=1.0), rng=hush.seeded(2))
    assert str(found) == "numbers 0 and 1 of 257, and no others"


BROKEN = [exhibits.NarrowWindow, exhibits.ExactBand]


@pytest.mark.parametrize("cls", BROKEN)
def test_broken_mechanisms_are_found_out(cls: type[hush.Piecewise]) -> None:
    """False alarm 1e-6. The law that they state is honest: only the reports tell."""
    m = cls(low=0.0, high=1.0, epsilon=1.0)
    assert run(m, "exact").verdict == "consistent"
    found = run(m, "classifier", trials=20_000, alpha=1e-6, rng=hush.seeded(4))
    assert found.verdict == "violation"
    assert str(found.screening).startswith("all 257 numbers, ")


def coin(number: float) -> int:
    return int(random.random() < (1 + (2 * number - 1) * math.tanh(0.5)) / 2)


def laplace(number: float) -> float:
    return number + random.choice((-1, 1)) * random.expovariate(1.0)


def banded(number: float) -> float:
    return number if 0.7 < number < 0.71 else float(coin(number))


def test_an_honest_coin_is_consistent() -> None:
    """False alarm 1e-9."""
    target = CallableTarget(coin, inputs=NumberInputs(0.0, 1.0), claim=1.0)
    found = run(target, "classifier", trials=60_000, alpha=1e-9, rng=hush.seeded(7))
    assert found.verdict == "consistent"
    assert 0.8 < found.epsilon_lower <= 1.0
    assert found.about["numbers"] == 2 * GRID + 1
    assert "numbers between those that were tried" in " ".join(found.notes).lower()


@pytest.mark.parametrize(("client", "least"), [(laplace, 3.0), (banded, 3.0)])
def test_leaks_of_numbers_are_found(client: object, least: float) -> None:
    """The last digits of noise in floating point tell a number; a band of numbers is told. False alarm 1e-6."""
    target = CallableTarget(client, inputs=NumberInputs(0.0, 1.0), claim=1.0)  # type: ignore[arg-type]
    found = run(target, "classifier", trials=20_000, alpha=1e-6, rng=hush.seeded(7))
    assert found.verdict == "violation"
    assert found.epsilon_lower > least
    if client is banded:
        assert found.witness is not None
        assert any(0.7 < each < 0.71 for each in (found.witness.first, found.witness.second))


def test_an_array_of_numbers_is_taken_at_once() -> None:
    def many(numbers: np.ndarray) -> np.ndarray:
        assert numbers.dtype == np.float64
        return np.random.random(numbers.size) < 0.5 + 0.2 * numbers

    target = CallableTarget(many, inputs=NumberInputs(0.0, 1.0), claim=1.0, batched=True)
    assert run(target, "classifier", trials=4000, rng=hush.seeded(1)).epsilon_lower < math.log(7 / 5) + 0.2


def test_a_number_that_fails_is_named() -> None:
    def fails(number: float) -> float:
        if number > 0.99:
            raise RuntimeError("too large")
        return number

    with pytest.raises(ParameterError, match=r"got an error for numbers? .*too large"):
        run(CallableTarget(fails, inputs=NumberInputs(0.0, 1.0), claim=1.0), "classifier", trials=4000)


def test_a_program_is_given_numbers() -> None:
    program = "import sys, random\nfor line in sys.stdin: print(int(random.random() < 0.3 + 0.4 * float(line)))"
    target = PipeTarget([sys.executable, "-c", program], inputs=NumberInputs(0.0, 1.0), claim=2.0)
    found = run(target, "classifier", trials=4000, pair=(0.0, 0.123))
    assert found.epsilon_lower < math.log(0.349 / 0.3) + 0.3
    assert "numbers 0 and 0.123 of 258" in str(found.screening)


def test_either_a_number_of_values_or_inputs() -> None:
    for given in ({}, {"k": 4, "inputs": NumberInputs(0.0, 1.0)}):
        with pytest.raises(ParameterError, match="k must be given, or else inputs, but not both"):
            CallableTarget(coin, **given)  # type: ignore[arg-type]
    assert CallableTarget(coin, 4).inputs == Values(4)


@pytest.mark.parametrize(
    "wrong", [(1.0, 1.0), (2.0, 1.0), (math.nan, 1.0), (0.0, math.inf), ("a", 1.0), (1.0, 1 + 2e-16)]
)
def test_a_range_has_two_ends(wrong: tuple[float, float]) -> None:
    with pytest.raises(ParameterError, match=r"^(low|high) must"):
        NumberInputs(*wrong)


def test_a_target_of_numbers_wants_a_mechanism_for_means() -> None:
    with pytest.raises(ParameterError, match="mechanism must estimate a mean"):
        NumberTarget(hush.GRR(k=4, epsilon=1.0))  # type: ignore[arg-type]


@pytest.mark.parametrize("also", [math.nan, -0.1, 1.1, "x"])
def test_other_numbers_lie_in_the_range(also: float) -> None:
    with pytest.raises(ParameterError, match=r"^also must be"):
        NumberInputs(0.0, 1.0, also=(also,))


def test_what_lies_between_numbers_is_said_where_they_were_screened() -> None:
    """Of a pair that was named, no others were tried."""
    target = CallableTarget(lambda x: float(random.random() < 0.3 + 0.4 * x), inputs=NumberInputs(0.0, 1.0), claim=1.0)
    for pair, said in ((None, True), ((0.0, 1.0), False)):
        found = run(target, "classifier", trials=2000, pair=pair, rng=hush.seeded(1))
        assert any("may behave otherwise" in note for note in found.notes) is said
