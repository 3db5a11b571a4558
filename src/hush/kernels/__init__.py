"""Compiled inner loops. No privacy logic lives here: callers pass thresholds and sizes.

Every kernel is declared by `compiled.kernel`: serial, without the interpreter lock, and kept on disk where that can be
done; `chunks.each` runs them on a thread pool. Import these modules inside functions: they bring in numba, which takes
a while to load.
"""
