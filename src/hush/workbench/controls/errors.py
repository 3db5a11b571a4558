"""Errors beside the field that they are of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from hush.errors import HushError
from hush.workbench.controls.field import FormField


class AlreadySaid(Exception):
    """Something was wrong, and the page has said so beside the field: nothing is left to do."""


@contextmanager
def said(fields: Mapping[str, FormField[Any]]) -> Iterator[None]:
    """Put what breaks a rule beside the field of its parameter; what belongs to no field, the page says by itself.

    Args:
        fields: By the names of the parameters that they give.

    Raises:
        AlreadySaid: After something was said beside a field. The frame says no more, so that a handler simply ends.
    """
    for each in fields.values():
        each.right()
    try:
        yield
    except HushError as error:
        field = fields.get(error.parameter or "")
        if field is None:
            raise
        field.wrong(f"{error.rule}; {error.remedy}" if error.rule else str(error))
        raise AlreadySaid from None
