"""The hashing server's kernel, numba beside C: hashes a second, on one thread and on all."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

import hush
from benchmarks import report, timing
from hush.kernels import chunks

SOURCE = Path(__file__).parent / "reference" / "support.c"
BUILD = Path(__file__).parent / "build"
FLAGS = ("-O3", "-march=native", "-mprefer-vector-width=512", "-shared", "-fPIC")
WITHIN = 2.0

Kernel = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]


def build() -> Kernel | None:
    """The C kernel, compiled when there is a compiler and the source is newer; None without one."""
    library = BUILD / "support.so"
    if not library.exists() or library.stat().st_mtime < SOURCE.stat().st_mtime:
        compiler = shutil.which("gcc") or shutil.which("cc")
        if compiler is None:
            return None
        BUILD.mkdir(exist_ok=True)
        subprocess.run([compiler, *FLAGS, "-o", str(library), str(SOURCE)], check=True)
    counts = ctypes.CDLL(str(library)).support_counts
    word, whole = np.ctypeslib.ndpointer(np.uint32, 1, flags="C"), np.ctypeslib.ndpointer(np.int64, 1, flags="C")
    counts.argtypes = [word, word, word, ctypes.c_size_t, word, ctypes.c_size_t, whole]
    counts.restype = None
    return lambda a, b, length, keys, tally: counts(a, b, length, a.size, keys, keys.size, tally)


def run(quick: bool) -> list[report.Table]:
    """Both kernels at both domain sizes."""
    from hush.kernels.hashing import keys as keys_of
    from hush.kernels.hashing import support_counts

    reference = build()
    cores = chunks.threads()
    table = report.Table(
        "Hashing kernel: hashes a second",
        ("k, threads", "numba", "C (gcc)", "C over numba", "required"),
        note="For each report and value: one multiplication, one addition, one comparison, one count.",
    )
    for k, epsilon in ((128, 1.0), (1024, 2.0)):
        mechanism, n = hush.OLH(k=k, epsilon=epsilon), (2**15 if quick else 2**18) * 1024 // k
        reports = mechanism.privatize(np.arange(n) % k)
        a, b, length = mechanism._interval(reports)
        keys = keys_of(k)
        for threads in sorted({1, cores}):
            kernels = [support_counts] if reference is None else [support_counts, reference]
            works = [partial(_threaded, kernel, a, b, length, keys, threads) for kernel in kernels]
            if len({work().tobytes() for work in works}) > 1:  # compiles, too
                raise RuntimeError("the C reference and the numba kernel count differently")
            times = timing.best(works, 3 if quick else 9)
            rates = [n * k / t for t in times]
            slower = rates[1] / rates[0] if reference else float("nan")
            table.add(
                f"{k}, {threads}",
                *(f"{r / 1e9:.1f} G" for r in rates),
                *(["no gcc"] if reference is None else []),
                f"{slower:.2f}",
                f"≤ {WITHIN:g}",
                missed=f"numba {slower:.2f}× slower" if slower > WITHIN else "",
                k=k,
                threads=threads,
                rates=rates,
            )
    return [table]


def _threaded(
    kernel: Kernel, a: np.ndarray, b: np.ndarray, length: np.ndarray, keys: np.ndarray, threads: int
) -> np.ndarray:
    def part(i: int) -> np.ndarray:
        mine = slice(i * a.size // threads, (i + 1) * a.size // threads)
        tally = np.zeros(keys.size, np.int64)
        kernel(a[mine], b[mine], length[mine], keys, tally)
        return tally

    if threads == 1:
        return part(0)
    with ThreadPoolExecutor(threads) as pool:
        return np.sum(list(pool.map(part, range(threads))), axis=0)
