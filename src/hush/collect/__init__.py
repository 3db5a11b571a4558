"""Collect for real: a server, its store, and the client on a device.

What a device needs (`Collector`) is imported when it is asked for, and needs httpx alone of what the extra `collect`
brings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hush.collect.client import Collector

__all__ = ["Collector"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from hush.collect import client

        return getattr(client, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
