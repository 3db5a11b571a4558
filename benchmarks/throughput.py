"""Client and server reports a second, beside the best peer, and the price of secure randomness."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import partial

import numpy as np

import hush
from benchmarks import report, timing
from benchmarks.peers import Peer, peers

SETTINGS = ((128, 1.0), (1024, 2.0))
REQUIRED = {  # client and server, as a ratio to the best peer
    "GRR": (20, 5),
    "SS": (10, 10),
    "SUE": (30, 10),
    "OUE": (30, 10),
    "BLH": (30, 1000),
    "OLH": (30, 1000),
    "SHE": (5, 3),
    "THE": (30, 10),
    "HR": (30, 5),
}
SECURE_COST = 1.5
MEMORY = 1 << 29  # bytes of reports that a measurement may hold
POOL = 1 << 27  # bytes of distinct reports for a peer's server: more than a cache holds


@dataclass(frozen=True)
class Side:
    """Reports a second, ours and the best peer's."""

    ours: float
    peer: float
    who: str

    @property
    def ratio(self) -> float:
        """How many times faster we are."""
        return self.ours / self.peer


def run(quick: bool) -> list[report.Table]:
    """Every mechanism at every setting."""
    speed = report.Table(
        "Reports a second, and how many times the best peer's",
        ("mechanism", "client", "best peer", "ratio", "required", "server", "best peer", "ratio", "required"),
        note="Client: privatize with secure randomness; server: aggregate and estimate; both on all cores.",
    )
    secure = report.Table(
        "Secure against seeded randomness",
        ("mechanism", "secure", "seeded", "cost", "required"),
        note="Client reports a second; the cost is the secure path's time over the seeded one's.",
    )
    cases = [(name, k, epsilon) for k, epsilon in SETTINGS for name in REQUIRED]
    for name, k, epsilon in report.progress(cases, "throughput"):
        _compare(name, k, epsilon, quick, speed, secure)
    return [speed, secure]


def _compare(name: str, k: int, epsilon: float, quick: bool, speed: report.Table, secure: report.Table) -> None:
    mechanism = getattr(hush, name)(k=k, epsilon=epsilon)
    n = _population(mechanism, quick)
    values = np.random.default_rng(7).integers(0, k, n)
    for warm in (None, hush.seeded(7)):  # compile before the clock runs
        mechanism.estimate(mechanism.aggregate(mechanism.privatize(values[:100], rng=warm)))
    rivals, turns, target = peers(name, k, epsilon), 2 if quick else 7, 0.1 if quick else 0.3
    clients = _rivals_clients(rivals, k, target)
    times = timing.best(
        [
            lambda: mechanism.privatize(values),
            lambda: mechanism.privatize(values, rng=hush.seeded(7)),
            *(work for work, _ in clients),
        ],
        turns,
    )
    client = _side(n / times[0], rivals, [c[1] / t for c, t in zip(clients, times[2:], strict=True)])
    reports = mechanism.privatize(values)
    servers = _rivals_servers(rivals, k, target)
    times_server = timing.best(
        [lambda: mechanism.estimate(mechanism.aggregate(reports)), *(work for work, _ in servers)], turns
    )
    server = _side(n / times_server[0], rivals, [s[1] / t for s, t in zip(servers, times_server[1:], strict=True)])
    _rows(name, k, epsilon, client, server, speed)
    cost = times[0] / times[1]
    secure.add(
        f"{name} ({k}, {epsilon:g})",
        *(report.rate(n / t) for t in times[:2]),
        f"{cost:.2f}",
        f"≤ {SECURE_COST}",
        missed=f"costs {cost:.2f}" if cost > SECURE_COST else "",
        mechanism=name,
        k=k,
        epsilon=epsilon,
        cost=cost,
    )


def _rows(name: str, k: int, epsilon: float, client: Side, server: Side, table: report.Table) -> None:
    cells, missed = [], []
    for what, side, required in zip(("client", "server"), (client, server), REQUIRED[name], strict=True):
        cells += [report.rate(side.ours), f"{report.rate(side.peer)} {side.who}", report.ratio(side.ratio)]
        cells += [f"≥ {required}×"]
        if side.ratio < required:
            missed.append(f"{what} {report.ratio(side.ratio)} of {required}×")
    table.add(
        f"{name} ({k}, {epsilon:g})",
        *cells,
        missed=", ".join(missed),
        mechanism=name,
        k=k,
        epsilon=epsilon,
        client=vars(client),
        server=vars(server),
    )


def _population(mechanism: hush.FrequencyOracle, quick: bool) -> int:
    """As many reports as fit the memory, at most four million."""
    return int(min(500_000 if quick else 4_000_000, (MEMORY >> 2 * quick) // mechanism.report_dtype.itemsize))


def _rivals_clients(rivals: list[Peer], k: int, target: float) -> list[tuple[timing.Work, int]]:
    made = []
    for peer in rivals:
        peer.client([0, 1])  # multi-freq-ldpy compiles its clients
        n = timing.enough(lambda n, p=peer: p.client(_values(k, n)), target)
        made.append((partial(peer.client, _values(k, n)), n))
    return made


def _rivals_servers(rivals: list[Peer], k: int, target: float) -> list[tuple[timing.Work, int]]:
    """As many distinct reports as fit the pool (peers take eight bytes a value), then the same again."""
    made = []
    for peer in rivals:
        few = peer.received(peer.client(_values(k, 1000)))
        n = timing.enough(lambda n, p=peer, r=few: p.server(_longer(r, n)), target)
        pool = peer.received(peer.client(_values(k, min(n, POOL // (8 * k)))))
        made.append((partial(peer.server, _longer(pool, n)), n))
    return made


def _values(k: int, n: int) -> list[int]:
    return random.Random(7).choices(range(k), k=n)


def _longer(reports: list[object], n: int) -> list[object]:
    return (reports * (n // len(reports) + 1))[:n]


def _side(ours: float, rivals: list[Peer], rates: list[float]) -> Side:
    best = max(range(len(rates)), key=rates.__getitem__)
    return Side(ours, rates[best], rivals[best].name)
