"""What people read and look at: answers in sentences, statements, PNG figures, and one self-contained HTML page."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hush.reports.statements.whole import Statement, statement

__all__ = ["Statement", "statement"]


def __getattr__(name: str) -> Any:
    """Statements, imported when they are first asked for."""
    if name in __all__:
        return getattr(import_module("hush.reports.statements.whole"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
