"""What pages need is imported beside, in a thread, while the first one is being read: then none holds up the others."""

from __future__ import annotations

import asyncio
import logging
import pkgutil
import threading
from importlib import import_module

import hush
import hush.workbench

_FIRST = ("GRR", "OUE")
_LOG = logging.getLogger("hush.workbench")
_SECONDS = 30.0


class Warming:
    """Imports whatever the workbench has, once."""

    def __init__(self) -> None:
        self._done = threading.Event()

    def begin(self) -> None:
        """Begin, in a thread."""
        threading.Thread(target=self._load, name="hush-warming", daemon=True).start()

    async def done(self) -> None:
        """Return when it is done: to import in the event loop would keep every other page waiting."""
        if not self._done.is_set():
            await asyncio.to_thread(self._done.wait, _SECONDS)

    def _load(self) -> None:
        try:
            for each in pkgutil.walk_packages(hush.workbench.__path__, "hush.workbench."):
                import_module(each.name)
            _rehearse()
        except Exception:  # the page that needs it will say so
            _LOG.exception("what pages need could not be imported beforehand")
        finally:
            self._done.set()


def _rehearse() -> None:
    """A collection of eight people: what it imports and compiles when it is first used is what most pages need."""
    for name in _FIRST:
        made = hush.registry()[name](k=4, epsilon=1.0)
        made.estimate(made.aggregate(made.privatize([0, 1, 2, 3] * 2))).interval(0.95)
        made.asr()
