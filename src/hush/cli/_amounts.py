"""The domain of a capacity question: what each value amounts to, which are sensitive, and which are clipped away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hush.cli._choose import sensitive_in
from hush.people.domain import Domain


def described(domain: Domain, amounts: Sequence[float], sensitive: list[str] | None, most: float | None) -> Domain:
    """The domain that a spec carries: the labels or else the amounts as labels, without those that are clipped.

    Who holds a clipped amount reports the largest that is left; that one is sensitive where a clipped one is.

    Args:
        domain: The values, as they were read.
        amounts: What each adds to the total.
        sensitive: What --sensitive named.
        most: Amounts above this are clipped.
    """
    whole = _named(domain, amounts)
    if sensitive is not None:
        whole = sensitive_in(sensitive, whole)
    if most is None or all(amount <= most for amount in amounts):
        return whole
    kept = [i for i, amount in enumerate(amounts) if amount <= most]
    top = max(kept, key=lambda i: amounts[i])
    plain: dict[str, Any] = {"size": len(kept)}
    if whole.labels is not None:
        plain["labels"] = [whole.labels[i] for i in kept]
    if whole.values is not None:
        plain["values"] = [whole.values[i] for i in kept]
    if whole.sensitive is not None:
        named = {i if i in kept else top for i in whole.sensitive}
        plain["sensitive"] = [place for place, i in enumerate(kept) if i in named]
    return Domain.from_dict(plain)


def _named(domain: Domain, amounts: Sequence[float]) -> Domain:
    """With the amounts: as they are if they count up from zero, else beside the labels, or as labels."""
    if list(amounts) == list(range(domain.size)):
        return domain
    if domain.labels is None and len(set(amounts)) == domain.size:
        labels = [int(amount) if amount == int(amount) else amount for amount in amounts]
        return Domain(labels=labels, sensitive=domain.sensitive)
    if domain.labels is not None and [_number(label) for label in domain.labels] == list(amounts):
        return domain if not isinstance(domain.labels[0], str) else _with(domain, amounts)
    return _with(domain, amounts)


def _with(domain: Domain, amounts: Sequence[float]) -> Domain:
    return Domain.from_dict({**domain.to_dict(), "values": list(amounts)})


def _number(label: object) -> float | None:
    try:
        return float(label)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
