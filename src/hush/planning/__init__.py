"""The planner: which protocol, with which parameters and budget."""

from __future__ import annotations

from typing import Any

from hush.planning.uldp import Recommendation, uldp

__all__ = ["Recommendation", "budget", "capacity", "survey", "uldp"]


def __getattr__(name: str) -> Any:
    """Searches for a budget, imported when first used."""
    if name == "budget":
        from hush.planning.optimus import budget

        return budget
    if name == "capacity":
        from hush.planning.capri import capacity

        return capacity
    if name == "survey":
        from hush.planning.surveys import survey

        return survey
    raise AttributeError(f"module 'hush.planning' has no attribute {name!r}")
