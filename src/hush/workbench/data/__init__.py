"""Pilot or public data of one's own: a column, and what each mechanism would make of it. Nothing is kept."""

from hush.workbench.data.column import CountedColumn
from hush.workbench.data.held import HeldFile, Shelf
from hush.workbench.data.reading import columns_of, counted, held
from hush.workbench.data.trying import Tried, tried, worthwhile

__all__ = [
    "CountedColumn",
    "HeldFile",
    "Shelf",
    "Tried",
    "columns_of",
    "counted",
    "held",
    "tried",
    "worthwhile",
]
