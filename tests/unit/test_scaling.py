"""The simulation of jobs on many machines, against what can be computed by hand."""

from __future__ import annotations

import pytest
from benchmarks.scaling.simulation import Costs, Machines, bound, simulated
from hypothesis import given
from hypothesis import strategies as st


def test_cores_share_what_is_parallel() -> None:
    costs = Costs(start=1.0, parallel=0.01)
    for cores in (1, 2, 4):
        assert simulated(costs, 1000, Machines(cores=cores), piece=10) == pytest.approx(1 + 10 / cores)


def test_a_piece_is_not_shared() -> None:
    costs = Costs(parallel=1.0)
    assert simulated(costs, 3, Machines(cores=2), piece=1) == pytest.approx(2)
    assert simulated(costs, 3, Machines(cores=2), piece=2) == pytest.approx(2)
    assert simulated(costs, 3, Machines(cores=2), piece=3) == pytest.approx(3)


def test_what_one_does_at_a_time_takes_as_long_on_many_cores() -> None:
    costs = Costs(serial=0.5, parallel=0.25)
    assert simulated(costs, 8, Machines(cores=1), piece=1) == pytest.approx(6)
    assert simulated(costs, 8, Machines(cores=8), piece=1) == pytest.approx(8 * 0.5 + 0.25)


def test_a_disk_serves_one_at_a_time_and_machines_have_one_each() -> None:
    costs = Costs(parallel=0.001, reads=4.0, writes=6.0)
    one = Machines(cores=8, reads=2.0, writes=3.0)
    assert simulated(costs, 100, one, piece=1) == pytest.approx(200 + 30, rel=0.02)
    many = Machines(number=4, cores=8, reads=2.0, writes=3.0)
    assert simulated(costs, 100, many, piece=1) == pytest.approx(50 + 30, rel=0.05)


def test_the_disk_writes_at_the_end_or_half_a_minute_late_while_others_compute() -> None:
    costs, on = Costs(parallel=1.0, writes=1.0), Machines(writes=0.5)
    assert simulated(costs, 1, on, piece=1) == pytest.approx(1 + 2)
    assert simulated(costs, 3, on, piece=1) == pytest.approx(3 + 3 * 2)
    assert simulated(costs, 100, on, piece=1) == pytest.approx(1 + 30 + 100 * 2)
    assert simulated(costs, 100, Machines(writes=2.0), piece=1) == pytest.approx(100 + 30 * 0.5, rel=0.01)


def test_a_driver_that_is_slow_is_the_limit() -> None:
    costs = Costs(parallel=1.0)
    fast, slow = (Machines(number=10, cores=10, task=task) for task in (0.0, 0.1))
    assert simulated(costs, 1000, fast, piece=1) == pytest.approx(10)
    assert simulated(costs, 1000, slow, piece=1) == pytest.approx(101)


def test_nothing_takes_only_the_start() -> None:
    assert simulated(Costs(start=2.5, parallel=1.0), 0, Machines(), piece=10) == 2.5


@given(
    serial=st.floats(0, 1),
    parallel=st.floats(0, 1),
    reads=st.floats(0, 10),
    writes=st.floats(0, 10),
    rows=st.integers(1, 60),
    piece=st.integers(1, 20),
    cores=st.integers(1, 4),
    number=st.integers(1, 3),
)
def test_no_job_is_faster_than_its_busiest_resource_or_slower_than_one_thing_after_the_other(
    serial: float, parallel: float, reads: float, writes: float, rows: int, piece: int, cores: int, number: int
) -> None:
    costs = Costs(start=0.5, serial=serial, parallel=parallel, reads=reads, writes=writes)
    on = Machines(number=number, cores=cores, reads=3.0, writes=2.0)
    found = simulated(costs, rows, on, piece=piece)
    whole = rows * (serial + parallel + reads / 3 + writes / 2)
    assert bound(costs, rows, on) * (1 - 1e-9) <= found <= (0.5 + whole) * (1 + 1e-9)
