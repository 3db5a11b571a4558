"""Windows over streams: no w consecutive rounds cost more than the limit, by all windows of all streams."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import hush
from hush.errors import ParameterError, SpecError
from hush.longitudinal import Ledger, WindowLedger, divided, stream_cost
from hush.longitudinal.windows import worst_window


def by_all_windows(spent: list[tuple[int, Fraction]], window: int) -> Fraction:
    """The definition: the largest sum over every window that there is."""
    last = max((at for at, _ in spent), default=0)
    sums = (sum((e for at, e in spent if start <= at < start + window), Fraction(0)) for start in range(last + 1))
    return max(sums, default=Fraction(0))


@pytest.mark.parametrize("window", [1, 2, 3, 5])
def test_exactly_what_every_window_bears_is_taken(window: int) -> None:
    """All streams of four expenses: each is taken if, and only if, no window then exceeds the limit."""
    limit = Fraction(1)
    for steps in itertools.product((0, 1, 2), repeat=4):
        for amounts in itertools.product(("1/3", "1/2", "1"), repeat=4):
            ledger, taken, at = WindowLedger(limit=limit, window=window), list[tuple[int, Fraction]](), 0
            for step, amount in zip(steps, amounts, strict=True):
                at += step
                entry = (at, Fraction(amount))
                if by_all_windows([*taken, entry], window) <= limit:
                    left = ledger.spend(amount, what="report", round=at)
                    taken.append(entry)
                    assert left == ledger.left_at(at)
                    assert left == limit - sum((e for r, e in taken if r > at - window), Fraction(0))
                else:
                    with pytest.raises(ParameterError, match="which the window of"):
                        ledger.spend(amount, what="report", round=at)
            assert ledger.worst == by_all_windows(taken, window) <= limit
            assert list(zip(ledger.rounds, [e.epsilon for e in ledger.entries], strict=True)) == taken


def test_the_worst_window_of_random_streams() -> None:
    rng = np.random.default_rng(7)
    for _ in range(100):
        rounds = np.sort(rng.integers(0, 30, size=12)).tolist()
        spent = [(at, Fraction(int(rng.integers(1, 9)), int(rng.integers(1, 9)))) for at in rounds]
        for window in (1, 2, 7, 40):
            assert worst_window(spent, window) == by_all_windows(spent, window)


@pytest.mark.parametrize("division", ["uniform", "sample"])
@pytest.mark.parametrize(("window", "rounds"), [(1, 5), (3, 10), (7, 7), (7, 3), (4, 9)])
def test_divisions_use_a_window_up_and_no_more(division: str, window: int, rounds: int) -> None:
    parts = divided("0.7", window, rounds, division)
    spent = [(at, each) for at, each in enumerate(parts) if each]
    most = Fraction(7, 10)
    assert by_all_windows(spent, window) == (
        most if division == "sample" or rounds >= window else most * rounds / window
    )
    assert sum(parts) == stream_cost("0.7", window, rounds, division)
    ledger = WindowLedger(limit=0.7, window=window)
    for at, each in spent:
        ledger.spend(each, what="report", round=at)
    assert ledger.spent == stream_cost(0.7, window, rounds, division)


def test_the_loss_of_a_window_is_what_its_reports_lose() -> None:
    """Two streams that differ in a window: the largest ratio over all reports, by the exact weights."""
    m = hush.GRR(k=3, epsilon=float(divided(1.2, 3, 5)[0]))
    worst = max(math.prod(m.weight(y, 0) / m.weight(y, 1) for y in ys) for ys in itertools.product(range(3), repeat=3))
    assert math.log(worst) <= 1.2 + 1e-12
    assert math.log(worst) == pytest.approx(1.2, abs=1e-9)


def test_a_file_keeps_rounds_and_refuses_others(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    ledger = WindowLedger(limit=1.0, window=3, path=path)
    ledger.spend(0.5, what="Monday")
    ledger.spend(0.5, what="Tuesday")
    again = WindowLedger(limit=1.0, window=3, path=path)
    assert (again.rounds, again.worst, again.left, again.left_at(3)) == ((0, 1), 1, 0, Fraction(1, 2))
    again.spend(0.5, what="Thursday", round=3)
    with pytest.raises(ParameterError, match="must be at most 0, which the window of 3 rounds up to round 3 leaves"):
        ledger.spend(0.1, what="Thursday", round=3)  # the other process's entry is read first
    assert WindowLedger(limit=1.0, window=3, path=path).rounds == (0, 1, 3)
    with pytest.raises(SpecError, match="the limit 1 for each window of 4 rounds whose lines add up"):
        WindowLedger(limit=1.0, window=4, path=path)
    with pytest.raises(SpecError, match="ledger must be a ledger with the limit 1 whose lines add up"):
        Ledger(limit=1.0, path=path)
    plain = tmp_path / "plain.jsonl"
    Ledger(limit=1.0, path=plain)
    with pytest.raises(SpecError, match="ledger must be"):
        WindowLedger(limit=1.0, window=3, path=plain)


@pytest.mark.parametrize("round", [-1, 0, "2", None, 1.5, True])
def test_forged_rounds_are_refused(tmp_path: Path, round: object) -> None:
    """A line whose round goes back, is none, or is in a window that cannot bear it."""
    path = tmp_path / "stream.jsonl"
    WindowLedger(limit=1.0, window=3, path=path).spend(0.7, what="first", round=1)
    line = {"epsilon": "7/10", "what": "second", "spent": "7/5", "round": round}
    path.write_text(path.read_text() + json.dumps(line) + "\n")
    with pytest.raises(SpecError, match="ledger must be"):
        WindowLedger(limit=1.0, window=3, path=path)


def test_a_line_that_was_cut_short_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "stream.jsonl"
    WindowLedger(limit=1.0, window=2, path=path).spend(0.7, what="first")
    path.write_bytes(path.read_bytes() + b'{"epsilon": "3/10", "wh')
    ledger = WindowLedger(limit=1.0, window=2, path=path)
    assert (ledger.rounds, ledger.spent) == ((0,), Fraction(7, 10))
    assert ledger.spend(0.3, what="second") == 0


def test_a_full_disk_while_reading_leaves_nothing_half_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process's last line lacks its end, which cannot be written at first: later it is read once, not twice."""
    path = tmp_path / "stream.jsonl"
    ledger = WindowLedger(limit=1.0, window=3, path=path)
    WindowLedger(limit=1.0, window=3, path=path).spend(0.25, what="of another process")
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))

    def full(file: int, line: bytes) -> int:
        raise OSError("the disk is full")

    with monkeypatch.context() as broken:
        broken.setattr("hush.longitudinal.ledger.os.write", full)
        with pytest.raises(OSError, match="the disk is full"):
            ledger.spend(0.25, what="own", round=1)
    assert (ledger.rounds, ledger.entries) == ((), ())
    assert ledger.spend(0.25, what="own", round=1) == Fraction(1, 2)
    assert ledger.rounds == WindowLedger(limit=1.0, window=3, path=path).rounds == (0, 1)


@pytest.mark.parametrize("window", [0, -1, 1.5, "3", None, True, math.nan])
def test_bad_windows_are_refused(window: object) -> None:
    with pytest.raises(ParameterError, match="window"):
        WindowLedger(limit=1.0, window=window)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="window"):
        divided(1.0, window, 3)  # type: ignore[arg-type]


def test_bad_rounds_divisions_and_words_are_refused() -> None:
    ledger = WindowLedger(limit=1.0, window=2)
    ledger.spend(0.1, what="first", round=5)
    for bad in (4, -1, 1.5, "6"):
        with pytest.raises(ParameterError, match="round"):
            ledger.spend(0.1, what="second", round=bad)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="what"):
        ledger.spend(0.1, what="")
    for bad in (0, -1, math.nan, math.inf):
        with pytest.raises(ParameterError, match="epsilon"):
            ledger.spend(bad, what="second")
    for each in (divided, stream_cost):
        with pytest.raises(ParameterError, match="division"):
            each(1.0, 2, 3, "random")
        with pytest.raises(ParameterError, match="rounds"):
            each(1.0, 2, 0)
