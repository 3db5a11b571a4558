"""Engines: whatever reads reports on many cores or machines, by one seam.

A job cuts files into pieces by their footers alone, folds pieces to the bytes of aggregates wherever an engine likes,
and merges these bytes in any order. All of it can be pickled, and whatever the engine, the number of workers and the
cutting, the bytes that come out are the same.
"""

from hush.engine import local
from hush.engine.datasets import ReportDataset, aggregate, opened
from hush.engine.jobs import Engine, Job, Parts, tree
from hush.engine.pieces import Piece, pieces

__all__ = ["Engine", "Job", "Parts", "Piece", "ReportDataset", "aggregate", "local", "opened", "pieces", "tree"]
