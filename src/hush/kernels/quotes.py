"""Quotes and blank lines of a CSV file, byte by byte."""

from __future__ import annotations

from hush.kernels.compiled import kernel

LINE, FIELD, BARE, QUOTED, CLOSED, RETURN = range(6)
"""Where a byte may come: at the start of a line or of a field, within a field that has no quotes around it or that
has, after a quote within one that has, and after a carriage return."""
BROKEN = -1
_QUOTE, _COMMA, _FEED, _RETURN = 34, 44, 10, 13


@kernel
def scan(data, state, run, longest):
    """Follow some bytes from a state on: the state after them, the length of an open field, how many lines are blank.

    The state is `BROKEN` where something else than a comma or the end of a line comes after the quote that closes a
    field, or where a field with quotes is longer than the longest.
    """
    blank = 0
    for i in range(data.size):
        byte = data[i]
        if state == QUOTED:
            run += 1
            if byte == _QUOTE:
                state = CLOSED
            elif run > longest:
                return BROKEN, run, blank
            continue
        if byte in (_FEED, _RETURN):
            if state == LINE or (state == RETURN and byte == _RETURN):
                blank += 1
            state = RETURN if byte == _RETURN else LINE
        elif byte == _COMMA:
            state = FIELD
        elif state == CLOSED:
            if byte != _QUOTE:
                return BROKEN, run, blank
            state = QUOTED  # two quotes stand for one
        elif byte == _QUOTE and state != BARE:
            state, run = QUOTED, 0
        else:
            state = BARE
    return state, run, blank
