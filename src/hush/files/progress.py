"""How far a long reading has come, for whoever watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Progress = Callable[[str, float], AbstractContextManager[Callable[[float], None]]]
"""Told what is done and how much there is to do, it gives the function that is told how much was done."""


@contextmanager
def unseen(title: str, total: float) -> Iterator[Callable[[float], None]]:
    """Progress that nobody watches."""
    yield lambda amount: None
