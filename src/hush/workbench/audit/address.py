"""A question in the address of a page, so that a reload, a bookmark or a link to a colleague asks the same."""

from __future__ import annotations

from collections.abc import Mapping

from hush.workbench.audit.question import WAYS, AuditQuestion

_TERMS = ("trials", "alpha", "claim", "seed", "rounds")


def written(asked: AuditQuestion) -> dict[str, str]:
    """The question as an address has it; the text of a spec is too long for one, and is left out.

    >>> written(AuditQuestion(way="mechanism", name="GRR", parameters={"k": 4}, methods=("exact",)))
    {'way': 'mechanism', 'name': 'GRR', 'trials': '100000', 'alpha': '0.01', 'k': '4', 'methods': 'exact'}
    """
    found = {"way": asked.way, "name": asked.name}
    found |= {each: str(getattr(asked, each)) for each in _TERMS if getattr(asked, each) is not None}
    for name, value in asked.parameters.items():
        found[name] = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    found["methods"] = ",".join(asked.methods)
    return {name: value for name, value in found.items() if value}


def way_of(query: Mapping[str, str], *, code: bool) -> str:
    """What an address wants to audit; a mechanism, where it says nothing that may be.

    Args:
        query: What the address says.
        code: Whether code may be named.
    """
    way = query.get("way", "")
    return way if way in WAYS and (code or way != "code") else "mechanism"


def methods_of(query: Mapping[str, str]) -> set[str]:
    """The methods that an address names."""
    return {each for each in query.get("methods", "").split(",") if each}
