"""Specs and aggregates that were saved in files."""

from __future__ import annotations

from pathlib import Path

from hush.errors import SpecError, message
from hush.estimation import Aggregate
from hush.files.forms import form_of
from hush.files.paths import existing
from hush.files.places import FilePlace, Source, place_of
from hush.files.reports import read_reports
from hush.files.specs import spec_from
from hush.mechanisms.spec import Spec


def read_spec(path: Path, option: str = "spec") -> Spec:
    """The spec in a JSON file, or in the metadata of a report file; `option` is what messages call it."""
    existing(option, path)
    return read_reports(path).spec if form_of(place_of(path)) else spec_from(path.read_bytes(), str(path))


def read_aggregate(path: Source | FilePlace, spec: Spec | None = None) -> Aggregate:
    """The aggregate that was saved in a file; refused if it is not of the spec that is given."""
    place = path if isinstance(path, FilePlace) else place_of(path)
    try:
        found = Aggregate.from_bytes(place.read())
        if spec is None or found.spec_hash == spec.one_round.hash:
            return found if spec is None else spec.one_round.check(found)
    except SpecError as error:
        raise SpecError(f"{path} cannot be used: {error}") from None
    rule = f"must come from the spec {spec.one_round.hash[:12]}"
    raise SpecError(message(f"aggregate {path}", rule, found.spec_hash[:12], "name the spec that made its reports"))
