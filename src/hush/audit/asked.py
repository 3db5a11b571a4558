"""What is asked of an audit, whatever its method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hush.audit.stream import Progress
from hush.audit.target import Claim
from hush.kernels.workers import Workers


@dataclass(frozen=True)
class AskedAudit:
    """What is asked, and who does it.

    Args:
        promised: The claim, in the unit of the target.
        terms: alpha, delta and bound.
        about: What is audited and how, in plain data.
        require: The share of the claim that must be proved.
        progress: Called with the number of reports, or games, since it was last called.
        engine: Who makes and counts them.
        start: When it began.
    """

    promised: Claim | None
    terms: dict[str, Any]
    about: dict[str, Any]
    require: float
    progress: Progress | None
    engine: Workers
    start: float
