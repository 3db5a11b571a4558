"""Clients of other libraries as targets, each with the claim that its library makes.

Names are those of Hush's mechanisms where it has one. A library is needed only when one of its clients is made.

A hashed report (bucket, seed) is audited together with the values that it supports, which whoever knows the library
can compute: the loss of that is the loss of the report.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

import numpy as np

from hush import rules
from hush.audit.foreign import CallableTarget
from hush.audit.reading import some
from hush.audit.target import Claim
from hush.errors import ParameterError, message, missing

_SHOWN = 64  # values whose support is shown, at most
_COHORTS, _SKETCH = 8, 64  # of mechanisms that hash into a sketch or a Bloom filter

PURE_LDP = ("GRR", "SUE", "OUE", "BLH", "OLH", "FLH", "SHE", "HR", "HM", "CMS", "HCMS", "PCS", "RAPPOR")
MULTI_FREQ_LDPY = ("GRR", "SUE", "OUE", "BLH", "OLH", "SS", "SHE", "ADP")
_MODULES = ("GRR", "UE", "LH", "SS", "HE", "ADP")
OPENDP = ("GRR", "RR", "SUE")


def pure_ldp(mechanism: str, k: int, epsilon: float) -> CallableTarget:
    """A client of pure-ldp.

    Args:
        mechanism: One of `PURE_LDP`: DEClient is GRR, UEClient is SUE and OUE, LHClient is BLH and OLH, FastLHClient is
            FLH, HEClient is SHE, HadamardResponseClient is HR, HadamardMechClient is HM, CMSClient is CMS and HCMS.
        k: Number of values; theirs start at one.
        epsilon: What it claims.
    """
    _checked(mechanism, PURE_LDP, k, epsilon)
    library = _imported("pure_ldp.frequency_oracles", "pure-ldp")
    claim = Claim(epsilon)
    if mechanism == "RAPPOR":
        return _rappor(library, k, epsilon)
    client = _pure_ldp_client(library, mechanism, k, epsilon)
    privatise = client.privatise

    def plain(value: int) -> Any:
        return privatise(value + 1)

    function = _with_support(plain, k, client.g) if mechanism in ("BLH", "OLH", "FLH") else plain
    return CallableTarget(function, k, claim, f"pure-ldp {mechanism}", False)


def _pure_ldp_client(library: Any, mechanism: str, k: int, epsilon: float) -> Any:
    family = import_module("pure_ldp.core").generate_hash_funcs
    hashes = family(_COHORTS, _SKETCH)
    signs = list(zip(hashes, family(_COHORTS, 2), strict=True))
    makers: dict[str, Callable[[], Any]] = {
        "GRR": lambda: library.DEClient(epsilon, k),
        "SUE": lambda: library.UEClient(epsilon, k),
        "OUE": lambda: library.UEClient(epsilon, k, use_oue=True),
        "BLH": lambda: library.LHClient(epsilon, k, g=2),
        "OLH": lambda: library.LHClient(epsilon, k, use_olh=True),
        "FLH": lambda: library.FastLHClient(epsilon, k, 1000, use_olh=True),
        "SHE": lambda: library.HEClient(epsilon, k),
        "HR": lambda: library.HadamardResponseClient(
            epsilon, k, library.HadamardResponseServer(epsilon, k).get_hash_funcs()
        ),
        "HM": lambda: library.HadamardMechClient(epsilon, k, 1, use_optimal_t=True),
        "CMS": lambda: library.CMSClient(epsilon, hashes, _SKETCH),
        "HCMS": lambda: library.CMSClient(epsilon, hashes, _SKETCH, is_hadamard=True),
        "PCS": lambda: library.PCSClient(epsilon, _COHORTS, _SKETCH, signs),
    }
    return makers[mechanism]()


def _rappor(library: Any, k: int, epsilon: float) -> CallableTarget:
    """One hash function; f is rounded by the library, so the claim is what the library says of the rounded one."""
    f = round(1 / (0.5 * math.exp(epsilon / 2) + 0.5), 2)
    server = library.RAPPORServer(f, _SKETCH, 1, k, _COHORTS)
    client = library.RAPPORClient(f, _SKETCH, server.get_hash_funcs(), _COHORTS)
    claim = Claim(client.convert_f_to_eps(f, 1))
    return CallableTarget(lambda value: client.privatise(value + 1), k, claim, "pure-ldp RAPPOR", False)


def multi_freq_ldpy(mechanism: str, k: int, epsilon: float) -> CallableTarget:
    """A client of multi-freq-ldpy.

    Args:
        mechanism: One of `MULTI_FREQ_LDPY`: GRR_Client, UE_Client (SUE and OUE), LH_Client (BLH and OLH), SS_Client,
            HE_Client (SHE) and ADP_Client.
        k: Number of values.
        epsilon: What it claims.
    """
    _checked(mechanism, MULTI_FREQ_LDPY, k, epsilon)
    client = {name: _imported(f"multi_freq_ldpy.pure_frequency_oracles.{name}", "multi-freq-ldpy") for name in _MODULES}
    grr, unary, hashing, subset, noisy, adaptive = (getattr(client[name], f"{name}_Client") for name in _MODULES)
    clients: dict[str, Callable[[int], Any]] = {
        "GRR": lambda value: grr(value, k, epsilon),
        "SUE": lambda value: unary(value, k, epsilon, False),
        "OUE": lambda value: unary(value, k, epsilon, True),
        "BLH": lambda value: hashing(value, k, epsilon, False),
        "OLH": lambda value: hashing(value, k, epsilon, True),
        "SS": lambda value: subset(value, k, epsilon),
        "SHE": lambda value: noisy(value, k, epsilon),
        "ADP": lambda value: adaptive(value, k, epsilon),
    }
    function = clients[mechanism]
    if mechanism in ("BLH", "OLH"):
        buckets = 2 if mechanism == "BLH" else round(math.exp(epsilon)) + 1
        function = _with_support(function, k, buckets)
    name = f"multi-freq-ldpy {mechanism}"
    return CallableTarget(function, k, epsilon, name, False, seed=_compiled_seed())


def opendp(mechanism: str, k: int, epsilon: float) -> CallableTarget:
    """A randomized response of OpenDP, with the claim that its privacy map computes.

    Args:
        mechanism: GRR (make_randomized_response), RR (make_randomized_response_bool, for k = 2) or SUE
            (make_randomized_response_bitvec, on vectors with one bit set).
        k: Number of values.
        epsilon: The loss that its probabilities are chosen for.
    """
    _checked(mechanism, OPENDP, k, epsilon)
    library = _imported("opendp.prelude", "opendp")
    library.enable_features("contrib")
    if mechanism == "RR":
        if k != 2:
            raise ParameterError(message("k", "must be 2 for RR", k, "use GRR for more values"))
        measurement = library.m.make_randomized_response_bool(1 / (1 + math.exp(-epsilon)))
        given: list[Any] = [False, True]
    elif mechanism == "GRR":
        measurement = library.m.make_randomized_response(
            list(range(k)), math.exp(epsilon) / (math.exp(epsilon) + k - 1)
        )
        given = list(range(k))
    else:
        f = 2 / (math.exp(epsilon / 2) + 1)  # a bit keeps its value with probability 1 - f/2
        domain = library.bitvector_domain(max_weight=1)
        measurement = library.m.make_randomized_response_bitvec(domain, library.discrete_distance(), f)
        given = [np.packbits(row).tobytes() for row in np.eye(k, dtype=np.uint8)]
    claim = Claim(float(measurement.map(1)))
    return CallableTarget(lambda value: measurement(given[value]), k, claim, f"OpenDP {mechanism}", False)


LIBRARIES: dict[str, tuple[Callable[[str, int, float], CallableTarget], tuple[str, ...]]] = {
    "pure-ldp": (pure_ldp, PURE_LDP),
    "multi-freq-ldpy": (multi_freq_ldpy, MULTI_FREQ_LDPY),
    "opendp": (opendp, OPENDP),
}
"""What makes a client of each library, and of which mechanisms."""


def from_name(name: str, k: int, epsilon: float) -> CallableTarget:
    """The client that "library:mechanism" names.

    Args:
        name: One of `LIBRARIES`, a colon and one of its mechanisms.
        k: Number of values.
        epsilon: What it claims.
    """
    library, colon, mechanism = str(name).partition(":")
    if not colon or library not in LIBRARIES:
        rule = f"must be a library and a mechanism, LIBRARY:NAME, of {', '.join(LIBRARIES)}"
        raise ParameterError(message("adapter", rule, name, "write e.g. pure-ldp:OLH"))
    return LIBRARIES[library][0](mechanism, k, epsilon)


def _checked(mechanism: str, known: Iterable[str], k: int, epsilon: float) -> None:
    names = tuple(known)
    if mechanism not in names:
        raise ParameterError(
            message("mechanism", f"must be one of {', '.join(names)}", mechanism, f"use e.g. {names[0]!r}")
        )
    rules.domain_size(k)
    rules.epsilon(epsilon)


def _imported(module: str, library: str) -> Any:
    """A module of a library; where one that the library itself needs is what is missing, the error names that one."""
    try:
        return import_module(module)
    except ImportError as error:
        lacking = (error.name or module).partition(".")[0]
        package = library if module.startswith(lacking) else lacking
        raise missing(package, "peers", f"auditing {library}") from None


def _with_support(client: Callable[[int], Any], k: int, buckets: int) -> Callable[[int], Any]:
    """Reports (bucket, seed) with a bit for each value that hashes into the bucket."""
    from xxhash import xxh32 as hashed  # both libraries need it

    values = [str(value) for value in some(k, _SHOWN)]

    def function(value: int) -> list[int]:
        bucket, seed = client(value)
        return [int(bucket), int(seed), *(hashed(v, seed=seed).intdigest() % buckets == bucket for v in values)]

    return function


def _compiled_seed() -> Callable[[int], object]:
    """Seeds the generator of numba's compiled code, which is another one on each thread."""
    from numba import njit

    @njit
    def seed(number):  # type: ignore[no-untyped-def]
        np.random.seed(number)

    return seed
