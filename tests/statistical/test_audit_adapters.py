"""Clients of other libraries, audited: most keep their claim, some do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import hush
from hush.audit import adapters, run
from hush.audit.foreign import CallableTarget
from hush.errors import ParameterError

pytestmark = pytest.mark.nightly

ALPHA = 1e-6  # of every audit here: the chance that an honest client is accused

LIBRARIES = [
    *((adapters.pure_ldp, name) for name in adapters.PURE_LDP),
    *((adapters.multi_freq_ldpy, name) for name in adapters.MULTI_FREQ_LDPY),
    *((adapters.opendp, name) for name in adapters.OPENDP),
]
LEAKING = {
    "pure-ldp RAPPOR": 1.2,  # never clears a bit
    "pure-ldp SHE": 1.2,  # noise added in floating point shows in the last digits
    "multi-freq-ldpy SHE": 1.2,
    "multi-freq-ldpy SS": 1.2,  # lists the true value first
}
FAINT = {"CMS", "HCMS", "PCS"}  # so few reports show nothing of a value that is hashed in eight ways


@pytest.mark.filterwarnings("ignore:non-integer arguments to randrange")  # in pure-ldp's HR
@pytest.mark.parametrize(("library", "name"), LIBRARIES, ids=lambda each: getattr(each, "__name__", each))
def test_clients_of_other_libraries_are_as_private_as_they_claim_or_not(
    library: Callable[[str, int, float], CallableTarget], name: str
) -> None:
    target = library(name, 2 if name == "RR" else 6, 1.0)
    assert target.claim is not None
    assert target.claim.epsilon == pytest.approx(1.0, abs=0.05)  # RAPPOR's f is rounded
    trials = 30_000 if name in {"RAPPOR", "SUE"} else 10_000  # their event is one bit, of RAPPOR's one cohort in eight
    found = run(target, "classifier", trials=trials, alpha=ALPHA, pair=(0, 1), rng=hush.seeded(7))
    least = LEAKING.get(target.name)
    assert found.violated == (least is not None), found.statement
    assert found.epsilon_lower > (least or 0.2) or name in FAINT


def test_an_adapter_knows_its_clients() -> None:
    with pytest.raises(ParameterError, match="mechanism must be one of GRR, RR, SUE"):
        adapters.opendp("OUE", 4, 1.0)
    with pytest.raises(ParameterError, match="k must be 2 for RR"):
        adapters.opendp("RR", 3, 1.0)
    with pytest.raises(ParameterError, match="epsilon must be"):
        adapters.pure_ldp("OUE", 4, 0.0)
    with pytest.raises(ParameterError, match="k must be"):
        adapters.multi_freq_ldpy("GRR", 1, 1.0)
