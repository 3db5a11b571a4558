"""The combinatorial number system: every subset has its own number, in the fewest bits there can be."""

from __future__ import annotations

import hashlib
import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hush
from hush.errors import ParameterError, ReportError
from hush.kernels.combinadic import Combinadic, _tables, _weight
from hush.mechanisms.subset.lengths import joint_bits, joint_bytes, subset_bits
from hush.testing import check_mechanism

pytestmark = pytest.mark.slow

ONE = np.empty(0, np.uint8)
"""Which sizes the subsets are of, where there is one."""


def number(row: np.ndarray) -> int:
    return int.from_bytes(row.tobytes(), "little")


def written_as(value: int, width: int) -> np.ndarray:
    return np.frombuffer(value.to_bytes(width, "little"), np.uint8)[None]


def weight(code: Combinadic, s: int, i: int) -> int:
    word, shift = _weight(s, i, *code._tables[:3])
    return int(word) << int(shift)


@pytest.mark.parametrize("m", range(2, 11))
def test_numbers_of_all_subsets_in_order(m: int) -> None:
    for omega in range(1, m):
        code = Combinadic((m,), (omega,))
        subsets = np.array(sorted(itertools.combinations(range(m), omega), key=lambda s: s[::-1]))
        written = code.encode(ONE, subsets, 2)
        assert [number(row) for row in written] == list(range(math.comb(m, omega)))
        assert code.bits == (math.comb(m, omega) - 1).bit_length()
        read = np.empty_like(subsets)
        assert code.decode(written, ONE, read)
        assert (read == subsets).all()


def test_numbers_of_several_sizes_follow_each_other() -> None:
    sizes, omegas = (5, 7, 4), (2, 3, 1)
    code = Combinadic(sizes, omegas)
    total = 10 + 35 + 4
    assert code.bits == (total - 1).bit_length()
    every = np.arange(total, dtype=np.uint8)[:, None]
    which, subsets = np.empty(total, np.uint8), np.empty((total, 3), np.uint8)
    assert code.decode(every, which, subsets)
    assert which.tolist() == [0] * 10 + [1] * 35 + [2] * 4
    assert len({(j, *row) for j, row in zip(which.tolist(), subsets.tolist(), strict=True)}) == total
    assert (subsets[:10, 2] == 0).all()
    assert (subsets[45:, 1:] == 0).all()
    assert (code.encode(which, subsets, 1) == every).all()
    assert not code.decode(np.array([[total]], np.uint8), which, subsets)


@given(st.integers(2, 3_000), st.data())
def test_weights_leave_room_for_the_smaller_ones(m: int, data: st.DataObject) -> None:
    """What makes numbers unique, and that they waste next to nothing."""
    s = data.draw(st.integers(1, m))
    i = data.draw(st.integers(1, s))
    code = Combinadic((4_000,), (1,))
    true, found = math.comb(s, i), weight(code, s, i)
    assert found == true if true < 2**57 else true < found <= true + (true >> 40)
    assert weight(code, s + 1, i) >= found + (weight(code, s, i - 1) if i > 1 else 1)


def test_weights_of_the_largest_sizes() -> None:
    tables, rng = _tables(1 << 17), np.random.default_rng(7)
    for s, i in zip(rng.integers(50_000, 120_000, 60).tolist(), rng.integers(1, 400, 60).tolist(), strict=True):
        words = [_weight(*pair, *tables[:3]) for pair in ((s, i), (s + 1, i), (s, i - 1))]
        here, above, beside = (int(word) << int(shift) for word, shift in words)
        assert above >= here + (beside if i > 1 else 1)
        assert 0 <= here - math.comb(s, i) <= here >> 37


@given(st.integers(2, 700), st.data())
def test_round_trip_within_the_bits(m: int, data: st.DataObject) -> None:
    omega = data.draw(st.integers(1, m - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    subset = np.sort(rng.choice(m, omega, replace=False)).astype(np.uint16)[None]
    code = Combinadic((m,), (omega,))
    assert code.bits == subset_bits(m, omega) == (math.comb(m, omega) - 1).bit_length()
    written = code.encode(ONE, subset, joint_bytes((m,), (omega,)))
    exact = sum(math.comb(int(s), i + 1) for i, s in enumerate(subset[0]))
    assert 0 <= number(written[0]) - exact <= exact >> 40
    assert number(written[0]).bit_length() <= code.bits
    read = np.empty_like(subset)
    assert code.decode(written, ONE, read)
    assert (read == subset).all()


@pytest.mark.parametrize(("m", "omega"), [(22_000, 240), (22_000, 2_622), (65_536, 1), (70_000, 69_999), (50_000, 9)])
def test_round_trip_of_many_values(m: int, omega: int) -> None:
    code, rng = Combinadic((m,), (omega,)), np.random.default_rng(7)
    drawn = [np.sort(rng.choice(m, omega, replace=False)) for _ in range(6)]
    subsets = np.stack([*drawn, np.arange(omega), np.arange(m - omega, m)]).astype(np.uint32)
    written = code.encode(ONE, subsets, joint_bytes((m,), (omega,)))
    read = np.empty_like(subsets)
    assert code.decode(written, ONE, read)
    assert (read == subsets).all()


def test_numbers_stay_as_they_are() -> None:
    """Reports that are kept must be read by later versions."""
    subsets = (np.arange(500) ** 2 * 7 % 601).reshape(1, -1) + 601 * np.arange(500)[None]
    code = Combinadic((601 * 500,), (500,))
    written = code.encode(ONE, subsets, -(-code.bits // 8))
    assert code.bits == 5331
    assert hashlib.sha256(written.tobytes()).hexdigest()[:16] == "9ba0ac1a602239cf"


@pytest.mark.parametrize(("m", "omega"), [(5, 2), (64, 30), (67, 33), (300, 1), (300, 299), (2003, 538)])
def test_the_last_number_is_a_subset_and_the_next_is_not(m: int, omega: int) -> None:
    code = Combinadic((m,), (omega,))
    width = code.bits // 8 + 1
    last = code.encode(ONE, np.arange(m - omega, m)[None], width)
    read = np.empty((1, omega), np.uint16)
    assert code.decode(last, ONE, read)
    assert (read[0] == np.arange(m - omega, m)).all()
    assert weight(code, m, omega) - number(last[0]) <= max(1, weight(code, m, omega) >> 40)
    for beyond in (number(last[0]) + 1, weight(code, m, omega), (1 << 8 * width) - 1):
        assert not code.decode(written_as(beyond, width), ONE, read)


@given(st.integers(68, 400), st.data())
def test_numbers_between_those_of_subsets_are_refused(m: int, data: st.DataObject) -> None:
    omega = data.draw(st.integers(1, m - 1))
    code = Combinadic((m,), (omega,))
    value = data.draw(st.integers(0, weight(code, m, omega) - 1))
    read, width = np.empty((1, omega), np.uint16), joint_bytes((m,), (omega,))
    if code.decode(written_as(value, width), ONE, read):
        assert (np.diff(read[0].astype(int)) > 0).all()
        assert number(code.encode(ONE, read, width)[0]) == value


def test_bits_are_exact() -> None:
    for power in range(14, 27):
        assert subset_bits(1 << power, 1) == subset_bits(1 << power, (1 << power) - 1) == power
        assert subset_bits((1 << power) + 1, 1) == power + 1
    assert hush.SS(k=1 << 20, epsilon=1.0, omega=1).bits == 20
    rng = np.random.default_rng(7)
    for m in rng.integers(2, 6_000, 150).tolist():
        omegas = rng.integers(1, m, 2).tolist() if m > 2 else [1, 1]
        assert subset_bits(m, omegas[0]) == (math.comb(m, omegas[0]) - 1).bit_length()
        due = (math.comb(m, omegas[0]) + math.comb(m + 1, omegas[1]) - 1).bit_length()
        assert joint_bits((m, m + 1), omegas) == due


def test_subset_selection_sends_its_bits_and_nothing_more() -> None:
    plain = hush.SS(k=1024, epsilon=2.0)
    short = hush.SS(k=1024, epsilon=2.0, code="enumerative")
    assert plain.bits == short.bits == 535
    assert (plain.report_dtype.itemsize, short.report_dtype.itemsize) == (244, 67)
    values = np.arange(300)
    sorted_ones, numbers = (m.privatize(values, rng=hush.seeded(7)) for m in (plain, short))
    assert (short.members(numbers) == plain.members(sorted_ones)).all()
    assert (short.aggregate(numbers).tally == plain.aggregate(sorted_ones).tally).all()
    assert short.asr() == plain.asr()


def test_codes_are_different_specs_and_the_usual_one_is_not_written() -> None:
    plain, short = hush.SS(k=9, epsilon=1.0), hush.SS(k=9, epsilon=1.0, code="enumerative")
    assert "code" not in plain.to_dict()
    assert short.to_dict()["code"] == "enumerative"
    assert plain.spec_hash != short.spec_hash
    assert hush.from_dict(short.to_dict()) == short
    with pytest.raises(ParameterError, match="code must be one of sorted, enumerative"):
        hush.SS(k=9, epsilon=1.0, code="huffman")


def test_enumerative_subset_selection_conforms() -> None:
    check_mechanism(hush.SS(k=5, epsilon=1.0, code="enumerative"))
    check_mechanism(hush.SS(k=2, epsilon=1.0, code="enumerative"))


def test_numbers_of_no_subset_are_refused() -> None:
    m = hush.SS(k=5, epsilon=1.0, omega=2, code="enumerative")
    bad = np.frombuffer(bytes([10]), m.report_dtype)
    with pytest.raises(ReportError, match=r"below C\(5, 2\)"):
        m.aggregate(bad)


def test_too_many_values_to_number() -> None:
    with pytest.raises(ParameterError, match="code must be sorted for more than 4194304 values, got 'enumerative'"):
        hush.SS(k=10**7, epsilon=1.0, code="enumerative")
