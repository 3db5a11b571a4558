"""Files: reports in few files or many, tables of people, specs, aggregates, domains; and the seam of engines.

What is written appears whole or not at all, and what a file says of people is never repeated in a message.
"""

from hush.files.datasets import ReportDataset
from hush.files.folding import fold, merge
from hush.files.reading import read
from hush.files.reports import ReportFile
from hush.files.writing import write

__all__ = ["ReportDataset", "ReportFile", "fold", "merge", "read", "write"]
