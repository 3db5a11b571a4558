"""Files: reports in Parquet, tables of people, specs, aggregates, domains; and the seam of engines, fold and merge.

What is written appears whole or not at all, and what a file says of people is never repeated in a message.
"""

from hush.files.folding import fold, merge
from hush.files.reading import read
from hush.files.reports import ReportFile
from hush.files.writing import write

__all__ = ["ReportFile", "fold", "merge", "read", "write"]
