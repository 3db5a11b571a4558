"""What a report costs the server: how many counters it touches while it is tallied.

A count of steps, not a time: unary bits are added 64 at a time, hashes one by one. `make bench` measures times.
"""

from __future__ import annotations

from functools import singledispatch

from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.direct import GRR
from hush.mechanisms.hadamard import HR
from hush.mechanisms.hashing import LH
from hush.mechanisms.modular import MSS
from hush.mechanisms.projective import PGR
from hush.mechanisms.subset import SS


@singledispatch
def server_work(m: FrequencyOracle) -> float:
    """Counters that one report touches: k for a report that says something about every value.

    Register your own mechanism's count with `server_work.register`.
    """
    return m.k


@server_work.register
def _(m: GRR) -> float:
    return 1


@server_work.register
def _(m: LH) -> float:
    return 1 if m.hash == "family" else m.k  # a public family's reports are counted in a table, settled at the end


@server_work.register
def _(m: HR | PGR) -> float:
    return 1  # the transform, or the sum over hyperplanes, is done once, at the end


@server_work.register
def _(m: SS) -> float:
    return m.omega


@server_work.register
def _(m: MSS) -> float:
    return sum(m.omegas) / len(m.omegas)  # on average over the blocks; the solution is found once, at the end
