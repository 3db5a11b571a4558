"""The ledger: exact sums, refusals, and a file that survives crashes and company."""

from __future__ import annotations

import functools
import json
import math
import operator
import subprocess
import sys
import threading
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hush.errors import ParameterError, SpecError
from hush.longitudinal import Ledger


def test_sums_are_exact() -> None:
    ledger = Ledger(limit=1.0)
    for _ in range(10):
        ledger.spend(0.1, what="a day")
    assert ledger.spent == ledger.limit == 1
    assert ledger.left == 0
    assert functools.reduce(operator.add, [0.1] * 10) != 1.0  # what floats would have made of it
    assert [entry.what for entry in ledger.entries] == ["a day"] * 10
    thirds = Ledger(limit="1/3")
    assert thirds.spend(Fraction(1, 6), what="half") == Fraction(1, 6)
    assert thirds.spend(Decimal("0.1"), what="most of the rest") == Fraction(1, 15)
    assert thirds.spend("1/15", what="the rest") == 0


def test_numbers_of_other_libraries_count_as_numbers() -> None:
    ledger = Ledger(limit=np.int64(2))
    assert ledger.spend(np.float64(0.1), what="x") == Fraction(19, 10)


def test_overspending_is_refused_and_costs_nothing() -> None:
    ledger = Ledger(limit=2)
    ledger.spend(1.5, what="a survey")
    with pytest.raises(ParameterError, match=r"at most 0\.5, which is left of 2, got 0\.75"):
        ledger.spend(0.75, what="another")
    assert ledger.spent == Fraction(3, 2)
    assert len(ledger.entries) == 1
    assert ledger.spend(0.5, what="a smaller one") == 0
    with pytest.raises(ParameterError):
        ledger.spend(1e-300, what="a crumb")


BAD: list[Any] = [
    0,
    -1,
    0.0,
    math.nan,
    math.inf,
    -math.inf,
    None,
    True,
    "x",
    "",
    "1/0",
    "nan",
    [1],
    1j,
    b"1",
    10**7,
    "1e999999999",
]


@pytest.mark.parametrize("bad", BAD, ids=repr)
def test_bad_amounts_are_refused(bad: Any) -> None:
    with pytest.raises(ParameterError, match="limit must be a number above 0"):
        Ledger(limit=bad)
    ledger = Ledger(limit=1)
    with pytest.raises(ParameterError, match="epsilon must be a number above 0"):
        ledger.spend(bad, what="x")
    assert ledger.spent == 0


@pytest.mark.parametrize("what", ["", None, 3])
def test_an_expense_says_what_it_is_for(what: Any) -> None:
    with pytest.raises(ParameterError, match="what must say"):
        Ledger(limit=1).spend(0.5, what=what)


def test_advanced_composition_of_fixed_budgets_is_the_stated_formula() -> None:
    ledger = Ledger(limit=100)
    losses = [0.1] * 300 + [0.2] * 20
    for loss in losses:
        ledger.spend(loss, what="x")
    delta = 1e-6
    drift = sum(e * (math.exp(e) - 1) / (math.exp(e) + 1) for e in losses)
    due = drift + math.sqrt(2 * math.log(1 / delta) * sum(e * e for e in losses))
    assert ledger.advanced_for_fixed_budgets(delta) == pytest.approx(due, rel=1e-12)
    assert ledger.advanced_for_fixed_budgets(delta) < float(ledger.spent)
    assert Ledger(limit=1).advanced_for_fixed_budgets(delta) == 0.0
    few = Ledger(limit=1)
    few.spend(0.5, what="x")
    assert few.advanced_for_fixed_budgets(delta) == 0.5  # never more than the sum
    for bad in (0.0, 1.0, -1.0, math.nan):
        with pytest.raises(ParameterError, match="delta"):
            ledger.advanced_for_fixed_budgets(bad)


def test_a_file_remembers(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    Ledger(limit=1, path=path).spend(0.25, what="été")
    again = Ledger(limit=1.0, path=str(path))
    assert again.spent == Fraction(1, 4)
    assert again.spend("1/4", what="more") == Fraction(1, 2)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines == [
        {"ledger": 1, "limit": "1"},
        {"epsilon": "1/4", "what": "été", "spent": "1/4"},
        {"epsilon": "1/4", "what": "more", "spent": "1/2"},
    ]
    assert Ledger(limit=1, path=path).entries == again.entries
    assert path.stat().st_mode & 0o077 == 0  # nobody else's business
    size = path.stat().st_size
    with pytest.raises(ParameterError):
        again.spend(0.75, what="too much")
    assert path.stat().st_size == size


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_line_that_a_crash_cut_short_was_not_spent(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "ledger.jsonl"
    Ledger(limit=1, path=path).spend(0.25, what="a report that was sent")
    whole = path.read_bytes()
    line = b'{"epsilon": "1/8", "what": "a report never sent", "spent": "3/8"}\n'
    path.write_bytes(whole + line[:cut])
    ledger = Ledger(limit=1, path=path)
    assert ledger.spent == Fraction(1, 4)
    assert path.read_bytes() == whole
    ledger.spend(0.5, what="next")
    assert Ledger(limit=1, path=path).spent == Fraction(3, 4)


def test_a_first_line_cut_short_starts_anew(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(b'{"ledger": 1, "li')
    assert Ledger(limit=3, path=path).spend(1, what="x") == 2
    assert Ledger(limit=3, path=path).left == 2


def test_what_a_killed_process_spent_is_spent(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    code = (
        "import os, sys; from hush.longitudinal import Ledger\n"
        "ledger = Ledger(limit=1, path=sys.argv[1])\n"
        "for day in range(3): ledger.spend(0.1, what=str(day))\n"
        "os.kill(os.getpid(), 9)"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert ended.returncode == -9
    assert Ledger(limit=1, path=path).spent == Fraction(3, 10)


def test_several_hands_on_one_file_never_overspend(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledgers = [Ledger(limit=1, path=path) for _ in range(4)]
    refused: list[int] = []

    def hand(ledger: Ledger) -> None:
        for _ in range(10):
            try:
                ledger.spend("1/30", what="a report")
            except ParameterError:
                refused.append(1)

    threads = [threading.Thread(target=hand, args=(ledger,)) for ledger in ledgers for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 80 - 30
    final = Ledger(limit=1, path=path)
    assert final.left == 0
    assert len(final.entries) == 30


@pytest.mark.parametrize(
    "change",
    [
        lambda lines: [*lines[:1], *lines[2:]],  # an expense left out
        lambda lines: [lines[0], lines[1].replace("1/4", "1/8"), *lines[2:]],
        lambda lines: [lines[0].replace('"1"', '"2"'), *lines[1:]],
        lambda lines: [lines[0].replace(": 1,", ": 2,"), *lines[1:]],
        lambda lines: lines[1:],
        lambda lines: [*lines, "nonsense"],
        lambda lines: [*lines, "[]"],
        lambda lines: [*lines, '{"epsilon": "-1/4", "what": "a gift", "spent": "1/4"}'],
        lambda lines: [*lines, '{"epsilon": "1/0", "what": "x", "spent": "1/4"}'],
    ],
    ids=range(9),
)
def test_a_file_that_does_not_add_up_is_refused(tmp_path: Path, change: Any) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(limit=1, path=path)
    ledger.spend(0.25, what="one")
    ledger.spend(0.25, what="two")
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")
    with pytest.raises(SpecError, match="whose lines add up"):
        Ledger(limit=1, path=path)


def test_a_file_that_shrinks_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    ledger = Ledger(limit=1, path=path)
    ledger.spend(0.25, what="one")
    path.write_text(path.read_text().splitlines()[0] + "\n")
    with pytest.raises(SpecError, match="must only ever grow"):
        ledger.spend(0.25, what="two")


def test_an_expense_that_cannot_be_written_is_not_spent(tmp_path: Path) -> None:
    """A process whose files may not grow beyond a few more bytes, as on a full disk."""
    path = tmp_path / "ledger.jsonl"
    code = (
        "import os, resource, sys; from hush.longitudinal import Ledger\n"
        "ledger = Ledger(limit=1, path=sys.argv[1])\n"
        "ledger.spend(0.25, what='one')\n"
        "size = os.path.getsize(sys.argv[1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, resource.RLIM_INFINITY))\n"
        "try: ledger.spend(0.25, what='two')\n"
        "except OSError as error: print(error)\n"
        "print(ledger.spent, os.path.getsize(sys.argv[1]) == size)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "ledger.spend(0.25, what='three')"
    )
    shown = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    assert "could not be written whole" in shown.stdout
    assert "1/4 True" in shown.stdout
    assert [entry.what for entry in Ledger(limit=1, path=path).entries] == ["one", "three"]


def test_another_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    Ledger(limit=1, path=path)
    with pytest.raises(SpecError, match="limit 2"):
        Ledger(limit=2, path=path)


def three_expenses(path: Path) -> bytes:
    """A ledger of three tenths."""
    ledger = Ledger(limit=1, path=path)
    for day in range(3):
        ledger.spend(0.1, what=f"day {day}")
    return path.read_bytes()


def test_line_ends_of_another_system_lose_no_expense(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    changed = three_expenses(path).replace(b"\n", b"\r\n")
    path.write_bytes(changed)
    for _ in range(3):
        assert Ledger(limit=1, path=path).left == Fraction(7, 10)
        assert path.read_bytes() == changed
    ledger = Ledger(limit=1, path=path)
    assert ledger.spend(0.1, what="one more") == Fraction(6, 10)
    assert Ledger(limit=1, path=path).entries == ledger.entries


def test_a_last_line_that_only_lost_its_end_is_spent(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    whole = three_expenses(path)
    path.write_bytes(whole.removesuffix(b"\n"))
    assert Ledger(limit=1, path=path).left == Fraction(7, 10)
    assert path.read_bytes() == whole
    path.write_bytes(whole.replace(b"\n", b"\r\n").removesuffix(b"\n"))
    ledger = Ledger(limit=1, path=path)
    assert ledger.spend(0.1, what="next") == Fraction(6, 10)
    assert Ledger(limit=1, path=path).left == Fraction(6, 10)


@pytest.mark.parametrize("content", [b"a key without a line end", b"\x00" * 30, b'{"ledger": 1, "limit": "2'])
def test_a_file_that_is_no_ledger_is_not_emptied(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "something"
    path.write_bytes(content)
    with pytest.raises(SpecError, match="must be a ledger"):
        Ledger(limit=1, path=path)
    assert path.read_bytes() == content


def test_line_ends_that_are_none_are_refused_and_nothing_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    whole = three_expenses(path)
    first = whole.index(b"\n") + 1
    for content in (whole.replace(b"\n", b"\r"), whole[:first] + whole[first:].replace(b"\n", b"\r")):
        path.write_bytes(content)
        with pytest.raises(SpecError, match="must be a ledger"):
            Ledger(limit=1, path=path)
        assert path.read_bytes() == content


@pytest.mark.parametrize("huge", ["1e999999999", "1e-999999999", "9" * 5000, "inf", "1e401"])
def test_numbers_in_a_file_are_bounded(tmp_path: Path, huge: str) -> None:
    path = tmp_path / "ledger.jsonl"
    whole = three_expenses(path)
    for content in (
        json.dumps({"ledger": 1, "limit": huge}).encode() + b"\n",
        whole + json.dumps({"epsilon": huge, "what": "x", "spent": "1"}).encode() + b"\n",
        whole + json.dumps({"epsilon": "1/10", "what": "x", "spent": huge}).encode() + b"\n",
        whole + b"[" * 100_000 + b"\n",
    ):
        path.write_bytes(content)
        with pytest.raises(SpecError, match="must be a ledger"):
            Ledger(limit=1, path=path)
        assert path.read_bytes() == content


def test_a_line_end_that_cannot_be_written_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    code = (
        "import os, resource, sys; from hush.longitudinal import Ledger\n"
        "path = sys.argv[1]; ledger = Ledger(limit=1, path=path)\n"
        "Ledger(limit=1, path=path).spend(0.25, what='one')\n"
        "whole = open(path, 'rb').read(); open(path, 'wb').write(whole[:-1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) - 1, resource.RLIM_INFINITY))\n"
        "try: ledger.spend(0.25, what='two')\n"
        "except OSError as error: print('refused')\n"
        "print(ledger.spent, open(path, 'rb').read() == whole[:-1])\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))\n"
        "print(ledger.spend(0.25, what='three'))"
    )
    shown = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    assert shown.stdout.splitlines() == ["refused", "0 True", "1/2"]
    assert [entry.what for entry in Ledger(limit=1, path=path).entries] == ["one", "three"]


def test_fractions_too_long_to_write_are_refused_and_lose_nothing(tmp_path: Path) -> None:
    ledger = Ledger(limit=1, path=tmp_path / "ledger")
    with pytest.raises(ParameterError, match="epsilon must be"):
        ledger.spend(Fraction(1, 10**5000), what="x")
    primes = [p for p in range(3, 12_000) if all(p % q for q in range(2, int(p**0.5) + 1))]
    amounts = [Fraction(1, prime * 10**6) for prime in primes]
    with pytest.raises(ParameterError, match=r"^epsilon must add up to a fraction of at most 3,000 digits"):
        _spend_all(ledger, amounts)
    assert Ledger(limit=1, path=tmp_path / "ledger").spent == ledger.spent > 0


def _spend_all(ledger: Ledger, amounts: list[Fraction]) -> None:
    for amount in amounts:
        ledger.spend(amount, what="x")
