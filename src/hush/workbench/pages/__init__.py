"""The pages, one module each, which only lays out. Whatever lies here is found when the workbench starts.

A module imports what computes when its page is opened, not before, so that the workbench starts at once.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module


def load() -> None:
    """Import all of them, which lets `hush.workbench.frame` know them."""
    for each in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{each.name}")
