"""The page of the interface says what the server does."""

from __future__ import annotations

import re

from hush.collect.server.measures import Measures
from tests.docs.pages import DOCS, load_script

PAGE = (DOCS / "collector-api.md").read_text(encoding="utf-8")


def test_tables_of_the_interface_are_current() -> None:
    """Run `python docs/routes.py` where this fails."""
    made = load_script("routes")
    assert {found[2] for found in made.MARKED.finditer(PAGE)} == set(made.TABLES)
    assert made.rendered(PAGE) == PAGE


def test_every_role_is_on_the_page() -> None:
    for role in ("admin", "reader", "ingest", "relay"):
        assert re.search(rf"\*{role}\*", PAGE), role


def test_no_measure_has_a_label_of_a_collection() -> None:
    every = [each for each in vars(Measures()).values() if hasattr(each, "_labelnames")]
    assert len(every) > 8
    assert {label for each in every for label in each._labelnames} == {"route", "code", "reason", "fate", "work"}
