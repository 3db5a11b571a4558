"""Files, read by what is in them and not by what they are called."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

from hush import strict_json
from hush.errors import ParameterError, message
from hush.estimation import Aggregate
from hush.files.datasets import ReportDataset, opened
from hush.files.domains import from_entries
from hush.files.forms import form_of
from hush.files.listing import is_pattern, kind_of
from hush.files.paths import quoted
from hush.files.places import Source, place_of, reachable
from hush.files.reports import ReportFile, read_reports
from hush.files.saved import read_aggregate
from hush.files.specs import spec_from
from hush.mechanisms.spec import Spec
from hush.people import Domain

_AGGREGATE = b"HUSH"


def read(
    path: Source | Iterable[Source], *, spec: Spec | None = None, filesystem: Any = None
) -> Spec | Domain | Aggregate | ReportFile | ReportDataset:
    """What a file holds, or many files of reports together.

    Args:
        path: A spec in JSON, of any kind, gives a Spec; a domain in JSON, or a list of labels, a Domain; a saved
            aggregate, an Aggregate; a file of reports, in Parquet or Arrow's own formats, a ReportFile, which knows its
            spec and reads its reports when asked. A folder, a pattern (`reports/*.parquet`) or a list of paths gives a
            ReportDataset, which does the same for all of them. Paths may be URIs.
        spec: What reports are of, where their files carry no spec.
        filesystem: Of `pyarrow.fs` or of fsspec, where the paths lie; left out, URIs say so themselves.

    A spec may name a mechanism of your own only after `hush.register`: no code that a file names is run.
    """
    place = place_of(path, filesystem) if isinstance(path, (str, PathLike)) else None
    if place is None:
        return opened(path, spec, filesystem=filesystem)
    with reachable(str(place)):
        kind = kind_of(place)
    if kind == "folder" or (kind == "nothing" and is_pattern(place)):
        return opened(path, spec, filesystem=filesystem)
    if kind != "file":
        raise ParameterError(message("path", "must be a file that exists", quoted(place), "check the path"))
    if form_of(place) is not None:
        return read_reports(place, spec)
    text = place.read()
    if text.startswith(_AGGREGATE):
        return read_aggregate(place)
    try:
        plain = strict_json.loads(text)
    except ValueError:
        rule = "must be a Parquet or Arrow file of reports, an aggregate, or JSON"
        raise ParameterError(message("path", rule, quoted(place), "write it with hush.write")) from None
    if isinstance(plain, dict) and plain.keys() & {"mechanism", "multidim", "protocol"}:
        return spec_from(text, str(place))
    return from_entries({"labels": plain} if isinstance(plain, list) else plain, None, str(place))
