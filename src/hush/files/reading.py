"""Files, read by what is in them and not by what they are called."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from hush import strict_json
from hush.errors import ParameterError, SpecError, message
from hush.estimation import Aggregate
from hush.files.domains import from_entries
from hush.files.paths import existing, quoted
from hush.files.places import FilePlace, Source, place_of
from hush.files.reports import ReportFile, read_reports
from hush.files.specs import spec_from
from hush.mechanisms.spec import Spec
from hush.people import Domain

_PARQUET, _AGGREGATE = b"PAR1", b"HUSH"


def read(path: str | PathLike[str]) -> Spec | Domain | Aggregate | ReportFile:
    """What a file holds.

    Args:
        path: A spec in JSON, of any kind, gives a Spec; a domain in JSON, or a list of labels, a Domain; a saved
            aggregate, an Aggregate; a Parquet file of reports, a ReportFile, which knows its spec and reads its
            reports when asked.

    A spec may name a mechanism of your own only after `hush.register`: no code that a file names is run.
    """
    file = Path(path)
    existing("path", file)
    with file.open("rb") as opened:
        begins = opened.read(4)
    if begins == _PARQUET:
        return read_reports(file)
    if begins == _AGGREGATE:
        return read_aggregate(file)
    text = file.read_bytes()
    try:
        plain = strict_json.loads(text)
    except ValueError:
        rule = "must be a Parquet file of reports, an aggregate, or JSON"
        raise ParameterError(message("path", rule, quoted(file), "write it with hush.write")) from None
    if isinstance(plain, dict) and plain.keys() & {"mechanism", "multidim", "protocol"}:
        return spec_from(text, str(file))
    return from_entries({"labels": plain} if isinstance(plain, list) else plain, None, str(file))


def read_spec(path: Path, option: str = "spec") -> Spec:
    """The spec in a JSON file, or in the metadata of a report file; `option` is what messages call it."""
    existing(option, path)
    return read_reports(path).spec if path.suffix.lower() == ".parquet" else spec_from(path.read_bytes(), str(path))


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
