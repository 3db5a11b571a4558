"""Quotes and blank lines of CSV files, as Python's own reader understands them."""

from __future__ import annotations

import csv
import io
import random
from pathlib import Path

import numpy as np
import pytest

from hush.errors import ParameterError
from hush.files import csv_rows
from hush.kernels import quotes

SEED = 20261117


def followed(text: str, block: int) -> tuple[int, int]:
    """The state after a text, and its blank lines, in blocks of so many bytes."""
    state, run, blank, data = quotes.LINE, 0, 0, text.encode()
    for start in range(0, len(data), block):
        some = np.frombuffer(data[start : start + block], np.uint8)
        state, run, more = quotes.scan(some, state, run, 1 << 22)
        blank += more
        if state == quotes.BROKEN:
            break
    return state, blank


def test_texts_are_followed_as_they_are_read() -> None:
    """Twenty thousand short texts of the letters that matter; what is left open counts as broken."""
    print("seed", SEED)
    drawn = random.Random(SEED)
    broken = 0
    for _ in range(20_000):
        text = "".join(drawn.choices('a,"\n\r', k=drawn.randrange(12)))
        try:
            expected = sum(not cells for cells in csv.reader(io.StringIO(text, newline=""), strict=True))
        except csv.Error:
            expected = None
        state, blank = followed(text, drawn.randrange(1, 5))
        found = None if state in (quotes.BROKEN, quotes.QUOTED) else blank
        assert found == expected, repr(text)
        broken += expected is None
    assert 1000 < broken < 19_000


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_quotes_around_everything(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "d.csv"
    path.write_bytes(start + b'"a","b"\r\n"x\n\ny","""z"""\r\n\r\n"1",2\r\n')
    assert csv_rows.lines(path) == csv_rows.Lines(1, quotes=True)


@pytest.mark.parametrize("cell", ['"x"y,1', '"x,1', f'"{"x" * (1 << 22)} ",1'], ids=["after", "open", "long"])
def test_a_quote_that_swallows_rows_is_refused(tmp_path: Path, cell: str) -> None:
    path = tmp_path / "d.csv"
    path.write_text(f"a,b\n1,2\n{cell}\n3,4\n")
    with pytest.raises(ParameterError, match=r"must close every quote, .* on line 3 of"):
        csv_rows.lines(path)


def test_a_file_without_quotes_says_so(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("a,b\n1,2\n\n3,4")
    assert csv_rows.lines(path) == csv_rows.Lines(1, quotes=False)
