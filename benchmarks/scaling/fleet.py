"""How many machines a flow of reports needs, by what each report costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

DAY = 86_400


@dataclass(frozen=True, kw_only=True)
class Stage:
    """One step on the road of a report.

    Args:
        name: What it is called.
        processor: Seconds of a core a report.
        disk: Bytes a report that go to a disk or come from it.
        network: Bytes a report that come in.
        kept: Bytes a report that stay.
        steady: Whether it keeps up with the busiest moment, or may take all day.
    """

    name: str
    processor: float
    disk: float
    network: float = 0.0
    kept: float = 0.0
    steady: bool = True


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A machine that one can buy or rent.

    Args:
        cores: It has.
        disk: Bytes a second.
        network: Bytes a second.
    """

    cores: int = 8
    disk: float = 1e9
    network: float = 1.25e9


@dataclass(frozen=True)
class Need:
    """What a stage needs.

    Args:
        cores: Busy ones.
        disk: Bytes a second.
        network: Bytes a second.
        kept: Bytes a day.
        machines: How many, none busier than it should be.
        limit: What they are needed for.
    """

    cores: float
    disk: float
    network: float
    kept: float
    machines: int
    limit: str


def need(stage: Stage, a_day: float, *, kind: Kind, peak: float, busy: float) -> Need:
    """What a stage needs for so many reports a day.

    Args:
        stage: Which.
        a_day: Reports.
        kind: Of machines.
        peak: How many times as many come at the busiest moment as on average.
        busy: The share of a machine that may be used then.

    >>> found = need(Stage(name="a", processor=1e-6, disk=100.0), 86_400_000_000, kind=Kind(), peak=2, busy=0.5)
    >>> found.cores, found.disk, found.machines, found.limit
    (2.0, 200000000.0, 1, 'processor')
    """
    rate = a_day / DAY * (peak if stage.steady else 1)
    cores, disk, network = rate * stage.processor, rate * stage.disk, rate * stage.network
    shares = {"processor": cores / kind.cores, "disk": disk / kind.disk, "network": network / kind.network}
    limit = max(shares, key=shares.__getitem__)
    return Need(cores, disk, network, a_day * stage.kept, max(1, math.ceil(shares[limit] / busy)), limit)
