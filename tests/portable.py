"""Run the golden vectors, the specs and the examples of the docs a second time, as an older processor would.

    python -m tests.portable [arguments of pytest]

numpy, the C library's mathematics, BLAS and numba all choose faster code on newer processors, whose results differ in
the last bit. Here each is told to use its plainest code. An unknown name would be ignored without a message, so a check
first sees that all of it is off. The tests are the golden ones and the files marked `processor`.
"""

from __future__ import annotations

import hashlib
import math
import os
import platform
import random
import struct
import subprocess
import sys

from tests.tiers import ROOT

CORES = {"x86_64": "Nehalem", "AMD64": "Nehalem", "aarch64": "ARMV8", "arm64": "ARMV8"}
"""OpenBLAS's name for the plainest processor of each kind."""


def environment() -> dict[str, str]:
    """Return environment variables that turn off what depends on the processor."""
    from numpy._core._multiarray_umath import __cpu_dispatch__ as names

    return {
        **os.environ,
        "NPY_DISABLE_CPU_FEATURES": ",".join(names),
        "GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2,-FMA",
        "OPENBLAS_CORETYPE": CORES[platform.machine()],
        "OPENBLAS_NUM_THREADS": "1",
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(ROOT / ".venv" / "numba-generic"),
    }


def digest() -> str:
    """Hash what the C library's exp, log and pow return for many numbers."""
    rng, seen = random.Random(1), hashlib.sha256()
    for _ in range(50_000):
        x = rng.uniform(0.1, 5.0)
        seen.update(struct.pack("<3d", math.exp(x), math.log(x), math.pow(x, x)))
    return seen.hexdigest()


def check(default_digest: str) -> None:
    """Exit with a message unless all of it is off.

    Args:
        default_digest: The digest in a process without these variables.
    """
    import numpy as np
    from numba.core.registry import cpu_target
    from numpy._core._multiarray_umath import __cpu_dispatch__ as names
    from numpy._core._multiarray_umath import __cpu_features__ as features
    from threadpoolctl import threadpool_info

    np.ones((2, 2)) @ np.ones((2, 2))
    on = [name for name in names if features[name]]
    blas = {pool["architecture"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    _, made_for, extras = cpu_target.target_context.codegen().magic_tuple()
    fused = features.get("FMA3", False) and platform.libc_ver()[0] == "glibc"
    wrong = {
        f"numpy uses {on}": bool(on),
        f"BLAS is made for {blas}": blas != {CORES[platform.machine()]},
        f"numba compiles for {made_for}": (made_for, extras) != ("generic", ""),
        "the C library takes this processor's exp, log and pow": fused and digest() == default_digest,
    }
    problems = [words for words, found in wrong.items() if found]
    if problems:
        sys.exit(f"portable: {'; '.join(problems)}. See tests/portable.py")
    libm = "without fused multiplication" if fused else "as it is: there is no fused multiplication to turn off"
    print(f"portable: numpy without {', '.join(names)}; BLAS for {', '.join(blas)}; numba for generic; exp {libm}")


def main(arguments: list[str]) -> None:
    """Check, then run the tests."""
    plain = environment()
    checked = [sys.executable, "-c", f"from tests.portable import check; check({digest()!r})"]
    for command in (checked, [sys.executable, "-m", "pytest", "--only", "processor", *arguments]):
        done = subprocess.run(command, env=plain, cwd=ROOT, check=False)
        if done.returncode:
            sys.exit(done.returncode)


if __name__ == "__main__":
    main(sys.argv[1:])
