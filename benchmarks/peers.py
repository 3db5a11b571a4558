"""The peers, each called along its own best path: one client built once, one call a value, one server.

pure-ldp (items are 1-based) has objects, multi-freq-ldpy has functions. Neither has a batch interface for clients.
Values are Python integers, which both take faster than numpy's. Estimates are part of the server's time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Client = Callable[[list[int]], list[Any]]
Server = Callable[[list[Any]], Any]


@dataclass(frozen=True)
class Peer:
    """One library's way to do one mechanism; values are 0..k-1."""

    name: str
    client: Client
    server: Server
    received: Callable[[list[Any]], list[Any]] = list
    """Reports in the form that the server takes fastest; what this costs is not counted."""


def peers(mechanism: str, k: int, epsilon: float) -> list[Peer]:
    """Every peer that has this mechanism."""
    found = [_pure_ldp(mechanism, k, epsilon), _multi_freq_ldpy(mechanism, k, epsilon)]
    return [peer for peer in found if peer is not None]


def _pure_ldp(mechanism: str, k: int, epsilon: float) -> Peer | None:
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.hadamard_response import HadamardResponseClient, HadamardResponseServer
    from pure_ldp.frequency_oracles.histogram_encoding import HEClient, HEServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    def hadamard() -> tuple[Any, Callable[[], Any]]:
        server = HadamardResponseServer(epsilon, k)
        return HadamardResponseClient(epsilon, k, server.get_hash_funcs()), lambda: _fresh(server)

    makers: dict[str, Callable[[], tuple[Any, Callable[[], Any]]]] = {
        "GRR": lambda: (DEClient(epsilon, k), lambda: DEServer(epsilon, k)),
        "SUE": lambda: (UEClient(epsilon, k), lambda: UEServer(epsilon, k)),
        "OUE": lambda: (UEClient(epsilon, k, use_oue=True), lambda: UEServer(epsilon, k, use_oue=True)),
        "BLH": lambda: (LHClient(epsilon, k, g=2), lambda: LHServer(epsilon, k, g=2)),
        "OLH": lambda: (LHClient(epsilon, k, use_olh=True), lambda: LHServer(epsilon, k, use_olh=True)),
        "SHE": lambda: (HEClient(epsilon, k), lambda: HEServer(epsilon, k)),
        "THE": lambda: (HEClient(epsilon, k), lambda: HEServer(epsilon, k, use_the=True)),
        "HR": hadamard,
    }
    if mechanism not in makers:
        return None
    client, server = makers[mechanism]()
    privatise = client.privatise

    def randomize(values: list[int]) -> list[Any]:
        return [privatise(value + 1) for value in values]

    def estimate(reports: list[Any]) -> Any:
        collecting = server()
        collecting.aggregate_all(reports)
        collecting.check_and_update_estimates()
        return collecting.get_estimates / len(reports)

    return Peer("pure-ldp", randomize, estimate)


def _fresh(server: Any) -> Any:
    """Hadamard response shares a random permutation between client and server, so the server is kept and emptied."""
    server.reset()
    return server


def _multi_freq_ldpy(mechanism: str, k: int, epsilon: float) -> Peer | None:
    from multi_freq_ldpy.pure_frequency_oracles import GRR, HE, LH, SS, UE

    makers: dict[str, tuple[Callable[[int], Any], Server]] = {
        "GRR": (lambda v: GRR.GRR_Client(v, k, epsilon), lambda r: GRR.GRR_Aggregator_MI(r, k, epsilon)),
        "SS": (lambda v: SS.SS_Client(v, k, epsilon), lambda r: SS.SS_Aggregator_MI(r, k, epsilon)),
        "SUE": (lambda v: UE.UE_Client(v, k, epsilon, False), lambda r: UE.UE_Aggregator_MI(r, epsilon, False)),
        "OUE": (lambda v: UE.UE_Client(v, k, epsilon, True), lambda r: UE.UE_Aggregator_MI(r, epsilon, True)),
        "BLH": (lambda v: LH.LH_Client(v, k, epsilon, False), lambda r: LH.LH_Aggregator_MI(r, k, epsilon, False)),
        "OLH": (lambda v: LH.LH_Client(v, k, epsilon, True), lambda r: LH.LH_Aggregator_MI(r, k, epsilon, True)),
        "SHE": (lambda v: HE.HE_Client(v, k, epsilon), lambda r: HE.HE_Aggregator_MI(r, k, epsilon, False)),
        "THE": (lambda v: HE.HE_Client(v, k, epsilon), lambda r: HE.HE_Aggregator_MI(r, k, epsilon, True)),
    }
    if mechanism not in makers:
        return None
    client, server = makers[mechanism]
    received = _lists if mechanism == "SS" else list
    return Peer("multi-freq-ldpy", lambda values: [client(value) for value in values], server, received)


def _lists(subsets: list[Any]) -> list[Any]:
    return [subset.tolist() for subset in subsets]
