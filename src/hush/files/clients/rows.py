"""Rows of people on their way into the store: whose they are, of which period, and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hush.mechanisms.spec import Spec


@dataclass(frozen=True)
class Rows:
    """Some rows.

    Args:
        people: The name of each row's person, as bytes.
        periods: The name of each row's period.
        held: What each row holds, as the mechanism takes it: one row each.
        kept: A record batch of what stays beside the reports, in the clear; None for nothing.
    """

    people: Sequence[bytes]
    periods: Sequence[str]
    held: npt.NDArray[Any]
    kept: Any = None


def rows_of(spec: Spec, people: Sequence[object], values: Any, period: object, kept: Any = None) -> Rows:
    """Rows of labels, as Python has them: a name, a label (or tuple) and a period for each, or one period for all."""
    m, names = spec.mechanism, [name_of(each) for each in people]
    held = m.held(values, spec.domain) if m.kind == "longitudinal" else m._encoded(values, spec.domain)[0]
    single = isinstance(period, str) or not isinstance(period, Sequence)
    periods = [str(period)] * len(names) if single else [str(each) for each in period]  # type: ignore[attr-defined]
    return Rows(names, periods, np.asarray(held), kept)


def name_of(person: object) -> bytes:
    """A person's name as bytes; a number and its text are one name, as they are in a CSV file."""
    return person if isinstance(person, bytes) else str(person).encode()
