"""Compiled inner loops. No privacy logic lives here: callers pass thresholds and sizes.

Every kernel is serial, releases the interpreter lock and is cached on disk; `chunks.each` runs them on a thread
pool. Import these modules inside functions: they bring in numba, which takes a while to load.
"""
