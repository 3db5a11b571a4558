"""Rates are held in bounded memory, and addresses are not kept."""

from __future__ import annotations

import pytest

from hush.collect.refusals import Refused
from hush.collect.server.rates import Addresses, Rates


def test_a_burst_is_taken_and_then_the_rate() -> None:
    rates = Rates(rate=2.0, burst=3)
    assert [rates.wait("a", 100.0) for _ in range(3)] == [0.0] * 3
    assert rates.wait("a", 100.0) == pytest.approx(0.5)
    assert rates.wait("b", 100.0) == 0.0
    assert rates.wait("a", 100.5) == 0.0
    assert rates.wait("a", 100.5) == pytest.approx(0.5)


def test_over_any_time_no_more_than_burst_and_rate_are_taken() -> None:
    rates = Rates(rate=7.0, burst=5)
    taken = sum(rates.wait("a", i / 1000) == 0.0 for i in range(10_000))
    assert taken == 5 + 7 * 10 - 1  # the one of the last instant is yet to come


def test_what_is_refused_costs_nothing() -> None:
    rates = Rates(rate=1.0, burst=1)
    assert rates.wait("a", 0.0) == 0.0
    for _ in range(1000):
        assert rates.wait("a", 0.5) == pytest.approx(0.5)
    assert rates.wait("a", 1.0) == 0.0


def test_no_rate_is_no_limit_and_holds_nothing() -> None:
    rates = Rates(rate=0.0, burst=1)
    assert not any(rates.wait(i % 3, 0.0) for i in range(100))
    assert len(rates) == 0


def test_memory_is_bounded_and_the_longest_unused_go_first() -> None:
    rates = Rates(rate=0.001, burst=1, most=100)
    for i in range(1000):
        assert rates.wait(i, 0.0) == 0.0
        rates.wait("always", 0.0)
    assert len(rates) == 100
    assert rates.wait("always", 0.0) > 0
    assert rates.wait(999, 0.0) > 0
    assert rates.wait(0, 0.0) == 0.0


def test_the_refusal_says_when_to_come_back() -> None:
    rates = Rates(rate=0.1, burst=1)
    rates.take("a", 0.0, parameter="requests")
    with pytest.raises(Refused) as caught:
        rates.take("a", 0.0, parameter="requests")
    assert caught.value.reason.code == "rate"
    assert caught.value.parameter == "requests"
    assert caught.value.retry == 10


def test_addresses_are_hashed_under_a_secret_of_the_process() -> None:
    one, other = Addresses(), Addresses()
    assert one.hashed("192.0.2.1") == one.hashed("192.0.2.1") != one.hashed("192.0.2.2")
    assert one.hashed("192.0.2.1") != other.hashed("192.0.2.1")
    assert one.hashed("::ffff:192.0.2.1") == one.hashed("192.0.2.1")
    assert one.hashed("2001:db8::1") == one.hashed("2001:db8::ffff:1") != one.hashed("2001:db8:0:1::1")
    assert one.hashed("fe80::1%eth0") == one.hashed("fe80::2")
    assert len(one.hashed("no address")) == 8
