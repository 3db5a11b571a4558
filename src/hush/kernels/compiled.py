"""How a kernel is declared: compiled when it is first called, and kept on disk where that can be done.

A collection never stops for the sake of the cache. Where nobody may write, where the disk is full, where a file is
torn, the kernel is compiled anew, and one warning says so.

Numba takes what it finds for a kernel's own by the source file of that kernel alone. Here each kept kernel says what
it is: the types and the processor that it is for, the sources of all kernels, and a digest of its bytes. So one that a
crash left behind, or that calls what a later version changed in another file, is not run.
"""

from __future__ import annotations

import pickle
import warnings
from contextlib import suppress
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps


class CacheWarning(RuntimeWarning):
    """A kernel is compiled anew, since the cache of compiled kernels cannot be used."""


def kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function that Python calls: serial, without the interpreter lock, and kept on disk.

    Args:
        function: The function; parts that only kernels call are declared by numba's own `njit`.
        options: More of numba's options, as in ``@kernel(fastmath=True)``.
    """
    if function is None:
        return lambda declared: kernel(declared, **options)
    compiled = njit(nogil=True, **options)(function)
    try:
        compiled._cache = _Cache(function)
    except Exception as error:  # no folder can be written
        _warn(error)
    return compiled


class _Cache(FunctionCache):
    """Numba's cache, whose failures are warnings, and which loads only what is certainly meant."""

    def load_overload(self, sig, target_context):
        """The kernel that was kept for these types, or None."""
        try:
            rtsys.initialize(target_context)  # what a kept kernel needs; the rest, a compiler does, which takes long
            key = self._index_key(sig, target_context.codegen())
            kept = self._cache_file.load(key)
            if kept is None or kept[0] != (_sources(), key):
                return None
            _, digest, code = kept
            if sha256(code).digest() != digest:
                raise ValueError(f"a file in {self.cache_path} is damaged")
            return self._impl.rebuild(target_context, pickle.loads(code))
        except Exception as error:  # whatever a torn file makes of its reader
            _warn(error)
            self._start_anew()
            return None

    def save_overload(self, sig, data):
        """Keep the kernel for these types."""
        try:
            if self._impl.check_cachable(data):
                self._impl.locator.ensure_cache_path()
                key = self._index_key(sig, data.codegen)
                code = dumps(self._impl.reduce(data))
                self._cache_file.save(key, ((_sources(), key), sha256(code).digest(), code))
        except Exception as error:  # the disk is full, or somebody took the folder away
            _warn(error)

    def _start_anew(self):
        """Empty the index, so that what is compiled now can be kept."""
        with suppress(OSError):  # then it is not kept, and the warning is out
            self.flush()


@cache
def _sources() -> bytes:
    """A digest of every kernel's source: kernels call parts that stand in other files."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return sha256(b"".join(sha256(file.read_bytes()).digest() for file in files)).digest()


_warned = False


def _warn(error: Exception) -> None:
    """Say it once: what holds for one kernel mostly holds for all."""
    global _warned
    if not _warned:
        _warned = True
        said = " ".join(str(error).split())
        warnings.warn(
            f"compiled kernels cannot be kept on disk or read from there ({type(error).__name__}: {said}); they are "
            "compiled anew, which takes seconds; name a folder with space left that only this user can write in "
            "the environment variable NUMBA_CACHE_DIR",
            CacheWarning,
            stacklevel=2,
        )
