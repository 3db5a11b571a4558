"""Domains in files: labels in lines of text, or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hush import strict_json
from hush.errors import ParameterError, Unsaid, message
from hush.files.paths import existing, quoted
from hush.people.domain import Domain
from hush.people.index import Index

_ENTRIES: dict[str, tuple[type, ...]] = {
    "size": (int,),
    "labels": (list,),
    "other": (str, int, float),
    "sensitive": (list,),
    "values": (list,),
}
_REMEDY = "write a list of labels, or what Domain.to_dict gives"


def read_domain(path: Path, other: str | None = None, option: str = "domain") -> Domain:
    """The domain in a file: one label per line, or (.json) a list of labels or what Domain.to_dict gives.

    Args:
        path: The file.
        other: A label that takes in unknown and missing values.
        option: What messages call the file.
    """
    return from_plain(read_plain(path, option), other, str(path), option)


def read_plain(path: Path, option: str = "domain") -> Any:
    """What is in a file of labels: those of its lines, in a list, or (.json) whatever it says."""
    existing(option, path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ParameterError(message(option, "must be UTF-8 text", quoted(path), "save it as UTF-8")) from None
    if not text.strip():
        rule = "must name at least two labels"
        raise ParameterError(message(option, rule, Unsaid(f"an empty file, {quoted(path)}"), "write one per line"))
    if path.suffix.lower() != ".json":
        return _lines(text, path, option)
    try:
        return strict_json.loads(text)
    except ValueError as error:
        raise ParameterError(message(option, "must be JSON", quoted(path), f"the reader says: {error}")) from None


def from_plain(plain: Any, other: str | None, where: str, option: str = "domain") -> Domain:
    """The domain that plain data describe: a list of labels, or an object with entries."""
    if other is not None:
        _neat("--other", other, Unsaid(repr(other)), "leave the option out, or name a label such as other")
    return from_entries({"labels": plain} if isinstance(plain, list) else plain, other, where, option)


def from_entries(plain: Any, other: str | None, where: str, option: str = "domain") -> Domain:
    """The domain that plain data describe, each entry being of its kind."""
    if not isinstance(plain, dict):
        raise ParameterError(message(option, f"must be a list or an object in {where}", type(plain), _REMEDY))
    whole = dict(plain)
    for name, value in whole.items():
        if name not in _ENTRIES:
            rule = f"must have no entries but {', '.join(_ENTRIES)} in {where}"
            raise ParameterError(message(option, rule, Unsaid("another one"), "remove that entry"))
        if not isinstance(value, _ENTRIES[name]):
            rule = f"must have a {'list' if list in _ENTRIES[name] else 'plain value'} as {name} in {where}"
            raise ParameterError(message(option, rule, type(value), _REMEDY))
    for name in ("sensitive", "values"):
        for each in whole.get(name, ()):
            kinds = (int, str) if name == "sensitive" else (int, float)
            if type(each) not in kinds:
                rule = f"must have {'indices or labels' if name == 'sensitive' else 'numbers'} as {name} in {where}"
                raise ParameterError(message(option, rule, type(each), _REMEDY))
    if other is not None and whole.setdefault("other", other) != other:
        raise ParameterError(message("--other", f"must be the one in {where}", other, "leave it out"))
    labels = whole.get("labels")
    if labels is None and "size" not in whole:
        raise ParameterError(message(option, f"must have labels or a size in {where}", Unsaid("neither"), _REMEDY))
    if labels is not None and len(labels) + ("other" in whole and whole["other"] not in labels) < 2:
        rule = "must name at least two labels"
        found = Unsaid(f"{len(labels)} in {where}")
        raise ParameterError(message(option, rule, found, "add the others, or give --other a label"))
    return Domain.from_dict(whole)


def _lines(text: str, path: Path, option: str) -> list[str]:
    lines = text.removesuffix("\n").split("\n")
    labels = [line.removesuffix("\r") for line in lines]
    for i, label in enumerate(labels):
        if label and label == label.strip():
            continue
        if not label.strip():
            rule = f"must have a label on every line of {path}"
            raise ParameterError(message(option, rule, Unsaid(f"a blank line {i + 1}"), "remove that line"))
        remedy = "remove them; if they belong to the label, write a .json list"
        _neat(option, label, Unsaid(f"such a one on line {i + 1} of {path}"), remedy)
    if (twice := Index(labels).repeated()) is not None:
        rule, (first, second) = "must have each label once", twice
        where = Unsaid(f"the same on lines {first + 1} and {second + 1} of {path}")
        raise ParameterError(message(option, rule, where, "remove one of them"))
    return labels


def _neat(option: str, label: str, got: Unsaid, remedy: str) -> None:
    if not label or label != label.strip():
        rule = "must have labels without spaces at their ends" if label.strip() else "must not be empty"
        raise ParameterError(message(option, rule, got, remedy))
