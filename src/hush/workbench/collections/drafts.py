"""From what a form holds to a collection that can be made: its spec, and the wishes of whoever runs it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from hush.collect import managing
from hush.errors import HushError
from hush.files.collections import KINDS
from hush.files.specs import construct, of_kind, spec_from
from hush.mechanisms.spec import Spec
from hush.multidim import Attributes
from hush.people import Domain
from hush.workbench.collections import choices
from hush.workbench.collections.troubles import sentence

LABELS = {
    "name": "Name",
    "target_n": "People expected",
    "wished_error": "Margin",
    "ends": "Ends",
    "period_seconds": "Period",
    "horizon": "Late periods",
    "keep": "What is kept",
    "keep_days": "Days",
    "release_floor": "Fewest reports",
    "spec": "Spec",
    "mechanism": "Mechanism",
    "answers": "Answers",
    "attributes": "Questions",
    "epsilon": "Budget ε of one answer",
    "epsilon_permanent": "Budget ε of all answers",
    "epsilon_report": "Budget ε of one answer",
    "delta": "Probability δ",
    "low": "Lowest number",
    "high": "Highest number",
    "sensitive": "Sensitive answers",
    "settings": "Further settings",
}
"""What people know the fields by."""
LONGEST_SPEC = 4 << 20
"""Bytes of a spec that is pasted or uploaded."""
_MEANT = {"k": "answers", "size": "answers", "labels": "answers", "sizes": "attributes", "domain": "answers"}
_ABSENT = "must be given."


class FormError(HushError):
    """What is filled in breaks rules, each told beside its field.

    Args:
        fields: Sentences by the name of a field.
    """

    def __init__(self, fields: Mapping[str, str]) -> None:
        super().__init__(" ".join(fields.values()))
        self.fields = dict(fields)


@dataclass(frozen=True)
class SpecForm:
    """What was filled in of a spec.

    Args:
        pasted: The JSON of a spec; where it is there, nothing else counts.
        kind: What people are asked.
        mechanism: Its name.
        answers: One label a line, or one whole number: how many there are.
        attributes: One question a line: a name, a colon, and its answers with commas between them.
        other: A label that takes in what is none of the others.
        sensitive: Labels that need protection, one a line.
        numbers: Budgets and bounds by name; None where nothing was filled in.
        settings: Further parameters, one `name=value` a line.
    """

    pasted: str = ""
    kind: str = choices.VALUES
    mechanism: str = "OUE"
    answers: str = ""
    attributes: str = ""
    other: str = ""
    sensitive: str = ""
    numbers: Mapping[str, float | None] = field(default_factory=dict)
    settings: str = ""


def spec_in(form: SpecForm) -> Spec:
    """The spec that a form describes; what is wrong with it is told by field."""
    if form.pasted.strip():
        return pasted(form.pasted)
    cls = choices.mechanism_class(form.kind, form.mechanism)
    if cls is None:
        raise FormError({"mechanism": "Mechanism must be one of the list; paste a spec for any other."})
    wanted = choices.wanted(form.kind, form.mechanism)
    given = {name: form.numbers.get(name) for name in wanted.fields if name in form.numbers}
    text = {"answers": form.answers, "attributes": form.attributes}
    missing = [name for name in wanted.fields if name in wanted.needed and not _there(name, given, text)]
    if missing:
        raise FormError({name: f"{LABELS[name]} {_ABSENT}" for name in missing})
    settings = _settings(form.settings, wanted)
    parameters: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        domain: Domain | Attributes | None = None
        if "attributes" in wanted.fields:
            domain = _attributes(form.attributes)
            parameters["sizes"] = tuple(each.size for each in domain.domains)
        elif "answers" in wanted.fields:
            domain = _domain(form, "sensitive" in wanted.fields)
            parameters["k"] = domain.size
            if "sensitive" in wanted.fields:
                parameters["sensitive"] = domain.sensitive
        return Spec(construct(cls, {**parameters, **settings}), domain)
    except FormError:
        raise
    except HushError as error:
        name = _field_of(error, {*wanted.fields, *wanted.settings})
        raise FormError({name: sentence(error, LABELS.get(name))}) from None


def pasted(text: str) -> Spec:
    """The spec in some JSON, of a kind that can be collected."""
    if len(text.encode()) > LONGEST_SPEC:
        rule = f"must have at most {LONGEST_SPEC >> 20} MB; make the collection with hush collection create --spec"
        raise FormError({"spec": f"Spec {rule}."})
    try:
        return of_kind(spec_from(text.encode(), "what was pasted"), KINDS, "what was pasted")
    except HushError as error:
        raise FormError({"spec": sentence(error)}) from None


def wishes_in(given: Mapping[str, Any], spec: Spec, *, now: float | None = None) -> dict[str, Any]:
    """The wishes that were filled in, checked as the collector will; what is None or empty is left out.

    Args:
        given: By the names of the collector's interface; `ends` may be a day or a time, in UTC.
        spec: The collection's.
        now: Seconds since 1970, for tests.
    """
    wishes = {name: value for name, value in given.items() if value is not None and value != ""}
    if isinstance(wishes.get("name"), str):
        wishes["name"] = wishes["name"].strip()
    if isinstance(wishes.get("ends"), str):
        wishes["ends"] = _second(wishes["ends"])
    if not wishes.get("name"):
        raise FormError({"name": "Name must be given: say what people call it."})
    try:
        managing.settings(wishes, time.time() if now is None else now)
        managing.check_error(spec, wishes.get("wished_error"))
    except HushError as error:
        name = error.parameter or "name"
        raise FormError({name: sentence(error, LABELS.get(name))}) from None
    return wishes


def _second(text: str) -> int:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise FormError({"ends": "Ends must be a day or a time, such as 2027-01-31."}) from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())


def _there(name: str, numbers: Mapping[str, float | None], text: Mapping[str, str]) -> bool:
    return bool(text[name].strip()) if name in text else numbers.get(name) is not None


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _domain(form: SpecForm, sensitive: bool) -> Domain:
    labels, other = _lines(form.answers), form.other.strip() or None
    if len(labels) == 1 and labels[0].isascii() and labels[0].isdecimal() and len(labels[0]) < 12:
        if other is not None:
            raise FormError({"other": "A label for all others needs labels beside it: write one answer a line."})
        plain = Domain(size=int(labels[0]))
    else:
        plain = Domain(labels=labels, other=other)
    chosen = _lines(form.sensitive) if sensitive else []
    if not chosen:
        return plain
    places = [plain.find(each) for each in chosen]
    for label, place in zip(chosen, places, strict=True):
        if place is None:
            raise FormError({"sensitive": f"Sensitive answers must be among the answers, and {label!r} is not."})
    return Domain.from_dict({**plain.to_dict(), "sensitive": sorted({each for each in places if each is not None})})


def _attributes(text: str) -> Attributes:
    found: dict[str, Domain] = {}
    for line in _lines(text):
        name, colon, rest = (part.strip() for part in line.partition(":"))
        labels = [each.strip() for each in rest.split(",") if each.strip()]
        if not (name and colon and len(labels) > 1):
            raise FormError({"attributes": f"Each line must be a name, a colon and its answers; {line!r} is not."})
        if name in found:
            raise FormError({"attributes": f"Questions must have different names, and {name!r} is there twice."})
        found[name] = Domain(labels=labels)
    return Attributes(tuple(found.values()), tuple(found))


def _settings(text: str, wanted: choices.Wanted) -> dict[str, Any]:
    pairs: dict[str, Any] = {}
    for line in _lines(text):
        name, equals, value = (part.strip() for part in line.partition("="))
        if not (name and equals and value):
            raise FormError({"settings": f"Each line must look like name=value, and {line!r} does not."})
        if name not in wanted.settings:
            known = ", ".join(wanted.settings) or "none at all"
            raise FormError(
                {"settings": f"Further settings of this mechanism are {known}, and {name} is not among them."}
            )
        pairs[name] = _value(value)
    absent = [name for name in wanted.settings if name in wanted.needed_settings and name not in pairs]
    if absent:
        raise FormError({"settings": f"This mechanism needs {' and '.join(absent)}: write e.g. {absent[0]}=2."})
    return pairs


def _value(text: str) -> Any:
    if "," in text:
        return [_value(part.strip()) for part in text.split(",") if part.strip()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _field_of(error: HushError, fields: set[str]) -> str:
    name = _MEANT.get(error.parameter or "", error.parameter or "")
    if name == "answers" and "attributes" in fields:
        return "attributes"
    if name in LABELS:
        return name
    return "settings" if name in fields else "mechanism"
