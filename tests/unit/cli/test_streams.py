"""Secure randomness: processes, threads and calls never share a stream; seeds repeat whatever the threads."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import hush
from hush.randomness import CHUNK, chunk_keys
from tests.conftest import example

M = hush.OUE(k=256, epsilon=1.0)  # 32-byte reports: two equal ones are a shared stream, not chance


def some_reports(_: int) -> list[bytes]:
    """Reports of forty people, without a seed."""
    return [report.tobytes() for report in M.privatize(np.zeros(40, np.int64))]


@pytest.mark.parametrize("start", ["fork", "spawn", "forkserver"])
def test_processes_never_share_a_stream(start: str) -> None:
    parent = some_reports(0)  # randomness was used before the fork
    with multiprocessing.get_context(start).Pool(3) as pool:
        children = pool.map(some_reports, range(6))
    everything = parent + [report for child in children for report in child]
    assert len(set(everything)) == len(everything)


def test_threads_and_calls_never_share_a_stream() -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(some_reports, range(64)))
    everything = [report for result in results for report in result]
    assert len(set(everything)) == len(everything)


def test_chunks_never_share_a_stream() -> None:
    values = np.zeros(3 * CHUNK + 5, np.int64)
    for rng in (None, hush.seeded(1)):
        reports = M.privatize(values, rng=rng)
        heads = [reports[i * CHUNK + j].tobytes() for i in range(4) for j in range(5)]
        assert len(set(heads)) == len(heads)


def test_keys_are_fresh_and_distinct() -> None:
    keys = chunk_keys(None, 1000) + chunk_keys(None, 1000)
    assert len(set(keys)) == 2000
    assert {len(key) for key in keys} == {16}
    assert chunk_keys(hush.seeded(3), 5) == chunk_keys(hush.seeded(3), 5)
    assert chunk_keys(hush.seeded(3), 5) != chunk_keys(hush.seeded(4), 5)


def test_seeded_reports_do_not_depend_on_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m = example(name, 9, 1.0)
    values = np.arange(2 * CHUNK + 77) % 9
    results = {}
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("HUSH_THREADS", threads)
        reports = m.privatize(values, rng=hush.seeded(8))
        results[threads] = (reports.tobytes(), m.aggregate(reports).to_bytes())
    assert results["1"] == results["2"] == results["5"]


def test_an_advancing_generator_gives_new_reports() -> None:
    rng = hush.seeded(9)
    assert M.privatize([1], rng=rng).tobytes() != M.privatize([1], rng=rng).tobytes()


@pytest.mark.parametrize("seed", [-1, 1.5, "a", True, None, [], [1, -2]])
def test_bad_seeds_are_refused(seed: object) -> None:
    with pytest.raises(hush.errors.ParameterError, match="seed must be"):
        hush.seeded(seed)  # type: ignore[arg-type]


@pytest.mark.parametrize("rng", [7, np.random.RandomState(1), "secure"])
def test_bad_generators_are_refused(rng: object) -> None:
    with pytest.raises(hush.errors.ParameterError, match="rng must be"):
        M.privatize([1], rng=rng)  # type: ignore[arg-type]
