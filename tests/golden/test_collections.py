"""What version 0.1 wrote of means, of tuples and of values over time is read, and written again byte for byte.

A state that is not read costs its owner the permanent budget once more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hush

STORED = json.loads(Path(__file__).with_name("collections-0.1.json").read_text(encoding="utf-8"))


def told(reports: Any) -> list[str]:
    return [report.tobytes().hex() for report in np.asarray(reports).ravel()]


def read(reports: list[str], dtype: np.dtype[Any]) -> Any:
    return np.frombuffer(bytes.fromhex("".join(reports)), dtype)


def read_again(stored: dict[str, Any]) -> Any:
    """The mechanism of a spec, which is written as it was read."""
    spec = hush.Spec.from_json(stored["spec"])
    assert (spec.to_json(), spec.hash, spec.mechanism.spec_hash) == (stored["spec"], stored["hash"], stored["hash"])
    assert hush.from_dict(spec.mechanism.to_dict()) == spec.mechanism
    return spec.mechanism


def names(kind: str, key: str) -> list[str]:
    return [json.loads(each["spec"]).get("multidim", json.loads(each["spec"]))[key] for each in STORED[kind]]


@pytest.mark.parametrize("stored", STORED["numeric"], ids=names("numeric", "mechanism"))
def test_means(stored: dict[str, Any]) -> None:
    m = read_again(stored)
    assert told(m.privatize(np.linspace(m.low, m.high, 6), rng=hush.seeded(7))) == stored["reports"]
    aggregate = hush.Aggregate.from_bytes(bytes.fromhex(stored["aggregate"]))
    assert m.aggregate(read(stored["reports"], m.report_dtype)) == aggregate
    assert m.estimate(aggregate).mean == pytest.approx(stored["mean"], rel=1e-12)


@pytest.mark.parametrize("stored", STORED["multidim"], ids=names("multidim", "protocol"))
def test_tuples(stored: dict[str, Any]) -> None:
    m = read_again(stored)
    tuples = [[i % k for k in m.sizes] for i in range(12)]
    assert told(m.privatize(tuples, rng=hush.seeded(7))) == stored["reports"]
    aggregate = hush.Aggregate.from_bytes(bytes.fromhex(stored["aggregate"]))
    assert m.aggregate(read(stored["reports"], m.report_dtype)) == aggregate
    for found, due in zip(m.estimate(aggregate), stored["frequencies"], strict=True):
        assert np.allclose(found.frequencies, due, rtol=1e-12)


@pytest.mark.parametrize("stored", STORED["longitudinal"], ids=names("longitudinal", "protocol"))
def test_values_over_time(stored: dict[str, Any]) -> None:
    protocol = read_again(stored)
    client = protocol.client(rng=hush.seeded(7))
    assert told([client.report(value) for value in (0, 3, 0, 1)]) == stored["first"]
    assert json.dumps(client.state) == stored["state"]
    reports = protocol.collect([[0, 0, 1], [4, 3, 4], [2, 2, 2]], rng=hush.seeded(9))
    assert told(reports) == stored["reports"]
    aggregates = [hush.Aggregate.from_bytes(bytes.fromhex(each)) for each in stored["aggregates"]]
    assert protocol.aggregate(reports) == aggregates
    assert len(protocol.estimate(aggregates)) == 3


@pytest.mark.parametrize("stored", STORED["longitudinal"], ids=names("longitudinal", "protocol"))
def test_a_client_goes_on_from_its_state(stored: dict[str, Any]) -> None:
    protocol = read_again(stored)
    state = json.loads(stored["state"])
    kept = protocol.client(state=state)
    for value in (0, 3, 1):
        kept.report(value)
    assert json.dumps(kept.state) == stored["state"]  # nothing was drawn anew
    later = [protocol.client(rng=hush.seeded(8), state=state).report(value) for value in (0, 3, 4)]
    assert told(later) == stored["later"]
