"""Table 2: how long a server takes to estimate from ten thousand reports; only the quotient of times is judged."""

from __future__ import annotations

import time

import numpy as np

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.projective import PGR
from hush.mechanisms.registry import registry
from hush.randomness import seeded
from hush.types import Floats, Reports
from hush_studies.modular.settings import LARGE, N, large, mechanism, people
from hush_studies.study import Advance, Settings, Table, rows_of

PRINTED = {
    2.0: ("0.160", "0.027", "2.897", "0.220", "18.1"),
    2.5: ("0.275", "0.094", "4.019", "0.283", "14.6"),
    3.0: ("0.272", "0.086", "9.618", "0.679", "35.4"),
    3.5: ("0.162", "0.050", "1.908", "0.138", "11.7"),
    4.0: ("0.168", "0.056", "11.461", "0.702", "68.3"),
    4.5: ("0.127", "0.047", "56.906", "3.570", "447.8"),
    5.0: ("0.152", "0.054", "3.208", "0.198", "21.1"),
}
"""By ε: seconds of MSS and their spread, of PGR and theirs, and the speed-up."""

READINGS = ("MSS", "PGR", "PGR, best q")


def _mechanism(name: str, k: int, epsilon: float) -> FrequencyOracle:
    return registry()["PGR"](k=k, epsilon=epsilon) if name == "PGR, best q" else mechanism(name, k, epsilon)


def runtimes(settings: Settings, advance: Advance) -> Table:
    """Seconds from reports to estimates: counting, then decoding; a first, untimed run fills caches."""
    k, sets, again = large(settings), 1 if settings.quick else 4, 3 if settings.quick else 5
    epsilons = (2.0, 3.5, 4.5) if settings.quick else tuple(PRINTED)
    rows = []
    values = np.repeat(np.arange(k), people("zipf", k))
    for epsilon in epsilons:
        for name in READINGS:
            m = _mechanism(name, k, epsilon)
            parts = np.concatenate(
                [
                    timed(m, m.privatize(values, rng=seeded([settings.seed, 2, round(10 * epsilon), i])), again)
                    for i in range(sets)
                ]
            )
            times, size = parts.sum(axis=1), m.size if isinstance(m, PGR) else None
            said = PRINTED[epsilon][:2] if name == "MSS" else PRINTED[epsilon][2:4] if name == "PGR" else (None, None)
            told = [times.mean(), times.std(ddof=1), parts[:, 1].mean(), *(each and float(each) for each in said)]
            rows.append([name, k, N, epsilon, getattr(m, "q", None), size, len(times), *told])
            advance(1 / (len(epsilons) * len(READINGS)))
    columns = ("protocol", "k", "n", "epsilon", "q", "messages", "runs", "seconds", "seconds_sd", "seconds_decoding")
    return rows_of((*columns, "seconds_printed", "seconds_printed_sd"), rows)


def timed(m: FrequencyOracle, reports: Reports, again: int) -> Floats:
    """Seconds of counting and of decoding, a row a time; the first one, which may compile, does not count."""
    m.decode(m.tally(reports), reports.size)
    found = []
    for _ in range(again):
        start = time.perf_counter()
        tally = m.tally(reports)
        counted = time.perf_counter()
        m.decode(tally, reports.size)
        found.append([counted - start, time.perf_counter() - counted])
    return np.array(found)


def geometry(epsilon: float) -> int:
    """Messages that PGR needs for the large domain, with the prime closest to e^epsilon + 1."""
    m = mechanism("PGR", LARGE, epsilon)
    assert isinstance(m, PGR)
    return m.size
