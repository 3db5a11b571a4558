"""The combinatorial number system: every subset has its own number, in the fewest bits there can be."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import hush
from hush.errors import ParameterError, ReportError
from hush.kernels.combinadic import Combinadic
from hush.testing import check_mechanism


def number(row: np.ndarray) -> int:
    return int.from_bytes(row.tobytes(), "little")


@pytest.mark.parametrize("m", range(2, 11))
def test_numbers_of_all_subsets_in_order(m: int) -> None:
    for omega in range(1, m):
        code = Combinadic(m, omega)
        subsets = np.array(sorted(itertools.combinations(range(m), omega), key=lambda s: s[::-1]))
        written = code.encode(subsets, 2)
        assert [number(row) for row in written] == list(range(math.comb(m, omega)))
        assert code.bits == (math.comb(m, omega) - 1).bit_length()
        read = np.empty_like(subsets)
        assert code.decode(written, read)
        assert (read == subsets).all()


@given(st.integers(2, 700), st.data())
def test_round_trip_within_the_bits(m: int, data: st.DataObject) -> None:
    omega = data.draw(st.integers(1, m - 1))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    subset = np.sort(rng.choice(m, omega, replace=False)).astype(np.uint16)[None]
    code = Combinadic(m, omega)
    written = code.encode(subset, max(1, -(-code.bits // 8)))
    assert number(written[0]) == sum(math.comb(int(s), i + 1) for i, s in enumerate(subset[0]))
    assert number(written[0]).bit_length() <= code.bits
    read = np.empty_like(subset)
    assert code.decode(written, read)
    assert (read == subset).all()


@pytest.mark.parametrize(("m", "omega"), [(5, 2), (64, 30), (67, 33), (300, 1), (300, 299), (2003, 538)])
def test_the_last_number_is_a_subset_and_the_next_is_not(m: int, omega: int) -> None:
    code = Combinadic(m, omega)
    width = code.bits // 8 + 1
    last = np.frombuffer((math.comb(m, omega) - 1).to_bytes(width, "little"), np.uint8)[None]
    read = np.empty((1, omega), np.uint16)
    assert code.decode(last, read)
    assert (read[0] == np.arange(m - omega, m)).all()
    beyond = np.frombuffer(math.comb(m, omega).to_bytes(width, "little"), np.uint8)[None]
    assert not code.decode(beyond, read)
    assert not code.decode(np.full((1, width), 255, np.uint8), read)


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
