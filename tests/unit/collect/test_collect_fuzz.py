"""A short run of the fuzzer of batches; `python -m tests.fuzz_batches` is the long one."""

from __future__ import annotations

import numpy as np
import pytest

import hush
from hush.collect import checking
from hush.collect.envelope import Envelope
from hush.collect.refusals import Refused
from tests.fuzz_batches import Judge, collections, run, stored


def test_broken_batches_are_refused_and_nothing_else_happens() -> None:
    found = run(4000, 7)
    assert found["taken"] > 200
    assert found["record"] > 100
    assert found["malformed"] > 200


def test_the_judge_knows_good_records_and_bad_ones() -> None:
    m = hush.GRR(k=5, epsilon=1.0)
    assert [Judge(m).knows(np.uint8(report)) for report in range(7)] == [True] * 5 + [False] * 2


def test_every_mechanism_has_a_collection() -> None:
    assert len(collections()) == len(hush.registry())


def batch(records: list[int]) -> Envelope:
    collection = GRR
    return Envelope(collection.id, collection.spec_hash, "ab" * 16, 0, "", 1, bytes(records))


GRR = stored(hush.Spec(hush.GRR(k=5, epsilon=1.0)))


def test_a_batch_is_all_or_nothing_and_names_the_first_bad_record() -> None:
    with pytest.raises(Refused) as caught:
        checking.checked(GRR, batch([0, 4, 5, 1, 9]), partial=False)
    assert caught.value.reason.code == "record"
    assert caught.value.more == {"index": 2}
    assert "record 2" in str(caught.value)


def test_of_a_partial_batch_the_good_records_are_taken() -> None:
    arrival, wrong = checking.checked(GRR, batch([0, 4, 5, 1, 9]), partial=True)
    assert (arrival.accepted, arrival.records, wrong) == (3, bytes([0, 4, 1]), [2, 4])


@pytest.mark.parametrize("bad", [checking.MOST_MALFORMED, checking.MOST_MALFORMED + 1])
def test_a_partial_batch_may_have_so_many_bad_records(bad: int) -> None:
    given = batch([9] * bad + [0] * 10)
    if bad <= checking.MOST_MALFORMED:
        assert checking.checked(GRR, given, partial=True)[0].accepted == 10
    else:
        with pytest.raises(Refused, match="record 0"):
            checking.checked(GRR, given, partial=True)


def test_a_partial_batch_without_a_good_record_is_refused() -> None:
    with pytest.raises(Refused, match="record 0"):
        checking.checked(GRR, batch([9, 9]), partial=True)
