"""Tables that somebody uploads: what is in them, or in words why that cannot be told."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hush.errors import HushError, ParameterError, Unsaid, message
from hush.files.tables import TableFile, header, readable
from hush.people.coding import dictionary
from hush.people.columns import missing
from hush.people.domain import Label
from hush.workbench.data.column import CountedColumn
from hush.workbench.data.held import MEGABYTE, MOST_BYTES, MOST_ROWS, HeldFile

MOST_COLUMNS = 1000
MOST_DIFFERENT = 100_000
"""Different values of a column that are counted, at most: with more of them it is no column of answers."""
_MOST_UNPACKED = 16 * MOST_BYTES
_LONGEST_LABEL = 200
_BATCH = 1 << 16
FILE = "The file"
"""What messages call it."""
_KINDS = {b"PK\x03\x04": "a spreadsheet or an archive", b"\x1f\x8b": "a compressed file", b"%PDF": "a PDF"}
_PARQUET = b"PAR1"


def held(name: str, content: bytes) -> HeldFile:
    """A file that was uploaded, looked at from outside: its name, its size and how it begins.

    Args:
        name: As the person's machine has it.
        content: All of its bytes.
    """
    title = name.replace("\\", "/").rpartition("/")[2]
    is_csv, is_parquet = (title.lower().endswith(ending) for ending in (".csv", ".parquet"))
    if not is_csv and not is_parquet:
        rule, got = "must be a CSV or a Parquet file", Unsaid(f"a name that ends in {_ending(title)}")
        raise ParameterError(message(FILE, rule, got, "save it as .csv or .parquet"))
    if not content:
        raise ParameterError(message(FILE, "must hold a table", Unsaid("an empty file"), "choose another one"))
    if len(content) > MOST_BYTES:
        rule, got = f"must have at most {MOST_BYTES // MEGABYTE} MB", Unsaid(f"{len(content) / MEGABYTE:,.1f} MB")
        raise ParameterError(message(FILE, rule, got, "keep the one column that you want to try, or fewer rows"))
    _is_what_it_says(content, is_csv=is_csv)
    return HeldFile(name=title, path=title, filesystem="memory", content=content)


def _ending(title: str) -> str:
    stem, dot, ending = title.rpartition(".")
    return f".{ending[:20]}" if dot and stem else "nothing"


def _is_what_it_says(content: bytes, *, is_csv: bool) -> None:
    """Refuse a file whose first bytes are of another kind than its name."""
    if content.startswith(_PARQUET):
        if is_csv:
            rule, got = "must be text, as its name ends in .csv", Unsaid("a Parquet file")
            raise ParameterError(message(FILE, rule, got, "rename it to .parquet"))
        return
    if not is_csv:
        rule, got = "must be Parquet, as its name ends in .parquet", Unsaid("something else")
        raise ParameterError(message(FILE, rule, got, "if it is text, rename it to .csv"))
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)
    if kind is None and content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        kind = "text in UTF-16"
    if kind is None and b"\0" in content[: 1 << 16]:
        kind = "bytes that are no text"
    if kind is not None:
        rule, remedy = "must be text in UTF-8 with commas between the cells", "export the table as CSV in UTF-8"
        raise ParameterError(message(FILE, rule, Unsaid(kind), remedy))


def columns_of(file: HeldFile) -> list[str]:
    """The names of its columns, those that can be read, in their order."""
    with _said():
        names = header(file) if file.suffix == ".csv" else _parquet_columns(file)
    if len(names) > MOST_COLUMNS:
        rule = f"must have at most {MOST_COLUMNS:,} columns"
        raise ParameterError(message(FILE, rule, Unsaid(f"{len(names):,}"), "keep those that you want to try"))
    if len(names) == 1 and (sign := next((s for s in (";", "\t", "|") if s in names[0]), None)):
        spoken = {";": "semicolons", "\t": "tabs", "|": "bars"}[sign]
        rule, got = "must have commas between its cells", Unsaid(f"a first row with {spoken}")
        raise ParameterError(message(FILE, rule, got, "export it with commas"))
    return names


def arrived(file: HeldFile, names: list[str]) -> str:
    """That a file is here, with how many columns; of Parquet, also that lists and records are not among them."""
    many = f"{len(names):,} column{'' if len(names) == 1 else 's'}"
    if file.suffix == ".csv":
        return f"{file.title} is here: {many}."
    return f"{file.title} is here: {many} of plain values. Columns of lists or records cannot be tried."


def _parquet_columns(file: HeldFile) -> list[str]:
    """Columns of plain cells, once the footer says that there is not too much behind them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with readable(file), file.open() as source:
        about = pq.read_metadata(source)
        schema = about.schema.to_arrow_schema()
    _few_enough(about.num_rows)
    groups = [about.row_group(i) for i in range(about.num_row_groups)]
    unpacked = sum(group.column(i).total_uncompressed_size for group in groups for i in range(group.num_columns))
    if unpacked > _MOST_UNPACKED:
        rule = f"must have at most {_MOST_UNPACKED // MEGABYTE} MB when it is unpacked"
        got = Unsaid(f"{unpacked / MEGABYTE:,.0f} MB")
        raise ParameterError(message(FILE, rule, got, "keep the column that you want to try, or fewer rows"))
    found = [field.name for field in schema if not pa.types.is_nested(field.type)]
    if not found:
        rule = "must have a column of plain values"
        raise ParameterError(message(FILE, rule, Unsaid("none"), "choose a table with a row for each person"))
    return found


def _few_enough(rows: int) -> None:
    if rows > MOST_ROWS:
        rule, remedy = f"must have at most {MOST_ROWS:,} rows", "take some of them, at random"
        raise ParameterError(message(FILE, rule, Unsaid(f"{rows:,} or more"), remedy))


def counted(file: HeldFile, column: str) -> CountedColumn:
    """How often each value stands in a column; the most frequent first, equal ones in the order of their names."""
    found: Counter[Label] = Counter()
    rows = gaps = 0
    with _said():
        for batch in TableFile(file, {column: "The column"}, _BATCH, [column]).batches(lambda _: None):
            rows += batch.num_rows
            _few_enough(rows)
            for label, count in _cells(batch.column(0), column):
                if label is None:
                    gaps += count
                else:
                    found[label] += count
            if len(found) > MOST_DIFFERENT:
                rule = f"must hold at most {MOST_DIFFERENT:,} different values"
                raise ParameterError(
                    message(f"Column {column}", rule, Unsaid("more"), "choose a column of answers, not of names")
                )
    if not found:
        got = Unsaid("no rows" if rows == 0 else f"{rows:,} empty ones")
        raise ParameterError(message(f"Column {column}", "must hold some values", got, "choose another column"))
    order = sorted(found, key=lambda label: (-found[label], str(label)))
    return CountedColumn(column, {label: found[label] for label in order}, gaps)


def _cells(cells: Any, column: str) -> Iterator[tuple[Label | None, int]]:
    """The different cells of a batch, as labels, with how many rows hold each; None for what is missing."""
    coded = dictionary(cells, column)
    for entry in coded.value_counts().to_pylist():
        yield _label(entry["values"], column), entry["counts"]


def _label(cell: Any, column: str) -> Label | None:
    """What a cell is called: a text, or a number that a spec can hold."""
    if missing(cell) or cell == "":
        return None
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, float) or (isinstance(cell, int) and abs(cell) <= 2**53):
        return int(cell) if isinstance(cell, float) and cell.is_integer() and math.fabs(cell) <= 2**53 else cell
    try:
        text = cell.decode() if isinstance(cell, bytes) else str(cell)
        text.encode()
    except UnicodeError:
        rule, got = "must hold text or numbers", Unsaid("bytes that are no text")
        raise ParameterError(message(f"Column {column}", rule, got, "choose another column")) from None
    if len(text) > _LONGEST_LABEL:
        rule, got = f"must hold answers of at most {_LONGEST_LABEL} letters", Unsaid(f"one of {len(text):,}")
        raise ParameterError(message(f"Column {column}", rule, got, "choose a column of answers, not of texts"))
    return text


@contextmanager
def _said() -> Iterator[None]:
    """What a reader of files calls an option, as a person who uploaded one does."""
    try:
        yield
    except HushError as error:
        raise error.naming(FILE) if error.parameter == "input" else error from None
