"""The domain of a total: what each value amounts to, and which values are clipped away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hush.people.domain import Domain


def up_to(domain: Domain, amounts: Sequence[float], most: float | None) -> Domain:
    """The domain without values of larger amounts.

    Who holds one reports the largest that is left; that one is sensitive where a clipped one is.
    """
    if most is None or all(amount <= most for amount in amounts):
        return domain
    kept = [i for i, amount in enumerate(amounts) if amount <= most]
    top = max(kept, key=lambda i: amounts[i])
    plain: dict[str, Any] = {"size": len(kept)}
    if domain.labels is not None:
        plain["labels"] = [domain.labels[i] for i in kept]
    if domain.values is not None:
        plain["values"] = [domain.values[i] for i in kept]
    if domain.sensitive is not None:
        named = {i if i in kept else top for i in domain.sensitive}
        plain["sensitive"] = [place for place, i in enumerate(kept) if i in named]
    return Domain.from_dict(plain)


def with_amounts(domain: Domain, amounts: Sequence[float]) -> Domain:
    """The domain with the amounts: as it is if they count up from zero, else beside the labels, or as labels."""
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
