"""Many values: subset selection (SS), modular subset selection (MSS) and projective geometry response (PGR).

Decoding is timed alone and together with the aggregation of all reports before it: the reference times of MSS's paper
and of PGR's C++ are of collections held in memory, and do not say which they are. Times are the best of several turns,
on all cores; beside them stands the processor time of all threads, which a busy machine changes less.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import hush
from benchmarks import modular_growth, report, timing
from benchmarks.peers import peers
from hush.mechanisms.modular.moduli import choose_moduli

K, N, MANY = 22_000, 10_000, (1024, 10**6)
BUDGETS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
LIMITS = {"MSS": 0.020, "PGR": 0.060}  # seconds, n = 10,000 and k = 22,000
SOON = 0.020  # seconds, a million reports at k = 1024
REFERENCE = {"MSS": "0.13 to 0.28 s", "PGR": "1.9 to 57 s; C++ 0.04 to 0.38 s"}
RATES = {"SS": 1e8, "MSS": 1e8, "PGR": 1e7}  # elements or reports a second
COLD = 10.0  # seconds
HUGE, HUGE_LIMIT = (300_000, 1_000_000), 0.3  # values, and seconds of decoding for the largest
MEMORY = 1 << 30  # bytes of reports that a measurement may hold

CHOOSE = """
import json, sys, time
start, busy = time.perf_counter(), time.process_time()
from hush.mechanisms.modular.moduli import choose_moduli
moduli = choose_moduli(int(sys.argv[1]), float(sys.argv[2]))
taken = time.perf_counter() - start, time.process_time() - busy
print(json.dumps({"moduli": moduli, "seconds": taken[0], "processor": taken[1]}))
"""


def run(quick: bool) -> list[report.Table]:
    """Decoding, clients, choosing moduli, and how time grows, which is drawn too."""
    return [
        _decoding(quick),
        _soon(quick),
        _million(quick),
        _clients(quick),
        _beside(quick),
        _choosing(quick),
        *modular_growth.run(quick),
    ]


def measured(work: Callable[[], Any], turns: int) -> tuple[float, float]:
    """Shortest time and shortest processor time of a call that was made once already."""
    taken = busy = float("inf")
    for _ in range(turns):
        start, before = time.perf_counter(), time.process_time()
        work()
        taken, busy = min(taken, time.perf_counter() - start), min(busy, time.process_time() - before)
    return taken, busy


def _server(m: Any, n: int, turns: int) -> dict[str, tuple[float, float]]:
    """Aggregation, decoding, and both."""
    reports = m.privatize(np.random.default_rng(7).integers(0, m.k, n))
    whole = m.aggregate(reports)
    m.decode(whole.tally, n)

    def both() -> None:
        fresh = m.aggregate(reports)
        m.decode(fresh.tally, n)

    return {
        "aggregate": measured(lambda: m.aggregate(reports), turns),
        "decode": measured(lambda: m.decode(whole.tally, n), turns),
        "both": measured(both, turns),
    }


def _row(table: report.Table, name: str, m: Any, n: int, turns: int, limit: float, whole: bool) -> None:
    """One collection; the limit holds for decoding, or for the whole."""
    found = _server(m, n, turns)
    decided = found["both" if whole else "decode"][0]
    table.add(
        name,
        f"{m.report_dtype.itemsize:,}",
        *(f"{1e3 * taken:.1f} ms" for taken, _ in found.values()),
        f"{1e3 * found['both'][1]:.1f} ms",
        f"< {1e3 * limit:g} ms" + (" both" if whole else " decode"),
        missed=f"{1e3 * decided:.1f} of {1e3 * limit:g} ms" if decided >= limit else "",
        mechanism=m.name(),
        k=m.k,
        epsilon=m.epsilon,
        n=n,
        seconds=found,
    )


def _decoding(quick: bool) -> report.Table:
    table = report.Table(
        f"Servers for many values: k = {K:,}, {N:,} reports",
        ("mechanism, ε", "bytes", "aggregate", "decode", "both", "processor, both", "required"),
        note="Reference: "
        + "; ".join(f"{name} {what}" for name, what in REFERENCE.items())
        + ". Aggregating MSS reads all members: at ε = 0.5 there are 58 million of them, in 151 MB. PGR is bound by "
        "both together, MSS by decoding alone.",
    )
    budgets = BUDGETS[1::2] if quick else BUDGETS
    for name, epsilon in report.progress([(name, e) for name in LIMITS for e in budgets], "servers"):
        m = getattr(hush, name)(k=K, epsilon=epsilon)
        _row(table, f"{name}, {epsilon:g}", m, N, 5 if quick else 25, LIMITS[name], name == "PGR")
    return table


def _soon(quick: bool) -> report.Table:
    k, n = MANY
    table = report.Table(
        f"Servers for many reports: k = {k:,}, n = 10⁶",
        ("mechanism, ε", "bytes", "aggregate", "decode", "both", "processor, both", "required"),
        note="Reference: C++ of PGR 0.02 s. PGR is bound by both together, MSS by decoding alone.",
    )
    cases = [("PGR", e) for e in BUDGETS] + [("MSS", e) for e in BUDGETS if e >= 3]
    for name, epsilon in report.progress(cases[::3] if quick else cases, "many reports"):
        m = getattr(hush, name)(k=k, epsilon=epsilon)
        _row(table, f"{name}, {epsilon:g}", m, n, 3 if quick else 15, SOON, name == "PGR")
    return table


def _million(quick: bool) -> report.Table:
    table = report.Table(
        "Decoding very many values: 100,000 people, ε = 4",
        ("k", "double precision", "refined", "ratio", "processor", "ratio", "largest difference", "required"),
        note="In turns, in one process: conjugate gradients in double precision on one thread, with the residues "
        "debiased beforehand, as up to 262,143 values; and in single precision, tile by tile, on all cores, refined. "
        "Both to a relative residual of 10⁻¹¹.",
    )
    for k in report.progress(HUGE[:1] if quick else HUGE, "very many values"):
        m, n = hush.MSS(k=k, epsilon=4.0, moduli=choose_moduli(k, 4.0)), 100_000
        rng = np.random.default_rng(7)
        people = rng.multinomial(n, np.full(m.ell, 1 / m.ell))
        several = zip(people, m.omegas, m.moduli, strict=True)
        tally = np.concatenate([*(rng.multinomial(c * w, np.full(size, 1 / size)) for c, w, size in several), people])
        apart = np.abs(_plainly(m, tally) - m.decode(tally, n)).max() / np.abs(m.decode(tally, n)).max()
        both: list[tuple[float, float]] = []
        for _ in range(3 if quick else 9):
            works = partial(_plainly, m, tally), partial(m.decode, tally, n)
            both += [measured(work, 1) for work in works]
        before, after = (tuple(map(min, zip(*both[part::2], strict=True))) for part in (0, 1))
        limit = HUGE_LIMIT if k == HUGE[-1] else math.inf
        table.add(
            f"{k:,}",
            f"{1e3 * before[0]:.0f} ms",
            f"{1e3 * after[0]:.0f} ms",
            report.ratio(before[0] / after[0]),
            f"{1e3 * before[1]:.0f} and {1e3 * after[1]:.0f} ms",
            report.ratio(before[1] / after[1]),
            f"{apart:.0e}",
            f"< {1e3 * limit:g} ms" if limit < math.inf else "",
            missed=f"{1e3 * after[0]:.0f} of {1e3 * limit:g} ms" if after[0] >= limit else "",
            k=k,
            before=before,
            after=after,
            apart=float(apart),
        )
    return table


def _plainly(m: hush.MSS, tally: Any) -> Any:
    """Decoding as it is for fewer values: debiased residues, one modulus after the other, in double precision."""
    from hush.kernels.modular import conjugate_gradients

    parts, people = m._residues(tally)
    weights, right = m.blocks.weights * people, np.zeros(m.k)
    for weight, part in zip(weights, parts, strict=True):
        right += weight * np.resize(part, m.k)
    x = (right - right.mean()) / weights.sum() + 1 / m.k
    if conjugate_gradients(np.array(m.moduli), weights, 0.0, right, x, 1e-11, 2_000) < 0:
        raise RuntimeError("does not settle")
    return x


def _members(m: Any) -> float:
    """Members of a subset, on average; a PGR report counts as one."""
    return float(np.mean(m.omegas)) if isinstance(m, hush.MSS) else getattr(m, "omega", 1)


def _clients(quick: bool) -> report.Table:
    table = report.Table(
        "Clients for many values: reports and sorted subset members a second",
        ("mechanism, k, ε", "ω", "reports/s", "members/s", "a processor second", "required"),
        note="Privatize with secure randomness, on all cores; members of subsets are drawn, sorted and written. "
        "Reference: C++ of PGR 4 to 8 million reports/s, of SS 3,800 at k = 22,000, ε = 2.",
    )
    cases = [(name, k, e) for name in RATES for k in (1024, K) for e in (BUDGETS[2::3] if quick else BUDGETS)]
    for name, k, epsilon in report.progress(cases, "clients"):
        _client(getattr(hush, name)(k=k, epsilon=epsilon), quick, table)
    return table


def _client(m: Any, quick: bool, table: report.Table) -> None:
    n = min(MEMORY >> 2 * quick, 2_000_000 * m.report_dtype.itemsize) // m.report_dtype.itemsize
    values = np.random.default_rng(7).integers(0, m.k, n)
    m.privatize(values[:100])
    taken, busy = measured(lambda: m.privatize(values), 3 if quick else 9)
    members = _members(m)
    required = RATES[m.name()]
    rate = n * members / taken
    table.add(
        f"{m.name()}, {m.k:,}, {m.epsilon:g}",
        f"{members:.4g}" if m.name() != "PGR" else "",
        report.rate(n / taken),
        report.rate(rate) if m.name() != "PGR" else "",
        report.rate(n * members / busy),
        f"≥ {report.rate(required)}" if required else "",
        missed=f"{report.rate(rate)} of {report.rate(required)}" if rate < required else "",
        mechanism=m.name(),
        k=m.k,
        epsilon=m.epsilon,
        n=n,
        members=members,
        seconds=taken,
        processor=busy,
    )


def _beside(quick: bool) -> report.Table:
    table = report.Table(
        "Clients of subset selection beside the peer's",
        ("k, ε", "ω", "ours", "multi-freq-ldpy", "ratio", "required"),
        note="Reports a second in one process, in turns; ours on all cores with secure randomness.",
    )
    for k, epsilon in report.progress(((1024, 2.0), (K, 2.0), (K, 5.0)), "beside"):
        m, peer = hush.SS(k=k, epsilon=epsilon), peers("SS", k, epsilon)[0]
        n = (MEMORY >> 2 * quick) // m.report_dtype.itemsize
        values = np.random.default_rng(7).integers(0, k, n)
        some = random.Random(7).choices(range(k), k=20 if quick else 200)
        m.privatize(values[:100])
        peer.client(some[:2])
        ours, theirs = timing.best([lambda m=m, v=values: m.privatize(v), lambda p=peer, s=some: p.client(s)], 5)
        ratio = (n / ours) / (len(some) / theirs)
        table.add(
            f"{k:,}, {epsilon:g}",
            f"{m.omega:,}",
            report.rate(n / ours),
            report.rate(len(some) / theirs),
            report.ratio(ratio),
            "≥ 10×",
            missed=f"{report.ratio(ratio)} of 10×" if ratio < 10 else "",
            k=k,
            epsilon=epsilon,
            ours=n / ours,
            peer=len(some) / theirs,
        )
    return table


def _choosing(quick: bool) -> report.Table:
    table = report.Table(
        f"Choosing moduli for k = {K:,}, cold",
        ("ε", "blocks", "seconds", "processor", "nothing compiled", "processor", "required"),
        note="A fresh process that does not look into the table of moduli; imports count. The kernels were compiled by "
        "an earlier process, or, in the columns after it, by none.",
    )
    for epsilon in report.progress(BUDGETS[1:2] if quick else BUDGETS[1::2], "choosing"):
        _chosen(epsilon, dict(os.environ))  # compiles
        found = min((_chosen(epsilon, dict(os.environ)) for _ in range(1 if quick else 3)), key=lambda f: f["seconds"])
        with tempfile.TemporaryDirectory() as empty:
            first = _chosen(epsilon, {**os.environ, "NUMBA_CACHE_DIR": empty})
        table.add(
            f"{epsilon:g}",
            f"{len(found['moduli'])}",
            *(f"{each[part]:.1f}" for each in (found, first) for part in ("seconds", "processor")),
            f"< {COLD:g} s",
            missed=f"{found['seconds']:.1f} s of {COLD:g} s" if found["seconds"] >= COLD else "",
            epsilon=epsilon,
            compiled=found,
            uncompiled=first,
        )
    return table


def _chosen(epsilon: float, environment: dict[str, str]) -> dict[str, Any]:
    """What a fresh process chooses, and how long it takes."""
    done = subprocess.run(
        [sys.executable, "-c", CHOOSE, str(K), str(epsilon)],
        check=True,
        capture_output=True,
        text=True,
        env=environment,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found
