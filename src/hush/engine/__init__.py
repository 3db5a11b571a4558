"""Engines: whatever reads reports on many cores or machines, by one seam.

Files are cut into pieces by their footers alone; a job folds pieces to the bytes of aggregates wherever an engine
likes, and merges these bytes in any order. All of it can be pickled, and whatever the engine, the number of workers and
the cutting, the bytes that come out are the same.
"""

from hush.engine import local
from hush.engine.jobs import Engine, Job, Parts, tree
from hush.engine.merging import merged
from hush.engine.pieces import Piece, pieces
from hush.files.datasets import opened

__all__ = ["Engine", "Job", "Parts", "Piece", "local", "merged", "opened", "pieces", "tree"]
