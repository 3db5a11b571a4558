"""What a collection says, of every kind of spec; and its reports in a file of which the command says the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest
from scipy.stats import hypergeom

import hush
from hush import statistics
from hush.collect.refusals import Refused
from hush.collect.service import Service
from hush.collect.store.database import Database
from hush.files import order
from hush.longitudinal import LGRR
from hush.multidim import LSMP, SMP
from tests.collecting import DAY, SPEC, HandClock, fold, opened_one, reports_of, send
from tests.system.support import answer

Rounds = list[npt.NDArray[Any]]
"""The reports of each period."""


def of_frequencies() -> tuple[hush.Spec, Rounds]:
    spec = hush.Spec(hush.OUE(k=3, epsilon=1.0), hush.Domain(labels=["yes", "no", "none"]))
    return spec, [spec.privatize(["yes"] * 300 + ["no"] * 100, rng=hush.seeded(i)) for i in range(2)]


def of_numbers() -> tuple[hush.Spec, Rounds]:
    spec = hush.Spec(hush.registry("numeric")["Piecewise"](low=0.0, high=1.0, epsilon=1.0))
    return spec, [spec.privatize([0.5] * 200, rng=hush.seeded(i)) for i in range(2)]


def of_tuples() -> tuple[hush.Spec, Rounds]:
    spec = hush.Spec(SMP(sizes=(2, 3), epsilon=1.0), {"a": hush.Domain(size=2), "b": hush.Domain(size=3)})
    people = {"a": [0, 1] * 150, "b": [0, 2] * 150}
    return spec, [spec.privatize(people, rng=hush.seeded(i)) for i in range(2)]


def over_time() -> tuple[hush.Spec, Rounds]:
    spec = hush.Spec(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0))
    whole = spec.privatize([[0, 1]] * 300, rng=hush.seeded(3))
    return spec, [whole[:, 0], whole[:, 1]]


def tuples_over_time() -> tuple[hush.Spec, Rounds]:
    spec = hush.Spec(LSMP(sizes=(2, 3), epsilon_permanent=2.0, epsilon_report=1.0))
    whole = spec.privatize(np.zeros((200, 2, 2), np.int64), rng=hush.seeded(3))
    return spec, [whole[:, 0], whole[:, 1]]


def collected(
    service: Service, database: Database, hand: HandClock, spec: hush.Spec, rounds: Rounds, **more: Any
) -> str:
    """A collection with those reports, one period after the other, of two builds."""
    id = opened_one(service, spec, **more)
    for period, reports in enumerate(rounds):
        send(service, database, id, reports[:50], period=period, build="app/1")
        send(service, database, id, reports[50:], period=period, build="app/2")
        hand.forward(DAY)
    fold(database, service)
    return id


@pytest.mark.parametrize("made", [of_frequencies, of_numbers, of_tuples, over_time, tuples_over_time])
def test_the_command_says_of_the_export_what_the_service_says(
    service: Service,
    database: Database,
    hand: HandClock,
    tmp_path: Path,
    made: Callable[[], tuple[hush.Spec, Rounds]],
) -> None:
    spec, rounds = made()
    id = collected(service, database, hand, spec, rounds)
    told = service.export(id, tmp_path)
    assert told["n"] == sum(map(len, rounds))
    path = told["path"]
    kept = spec.mechanism.kind == "longitudinal"
    assert answer("estimate", path, *([] if kept else ["--all-periods"]), "--level", 0.9) == service.estimate(
        id, level=0.9
    )
    assert answer("estimate", path, "--in-period", 1) == service.estimate(id, period=1)
    file = hush.files.reports.read_reports(Path(path))
    assert (file.order, file.kept, file.spec.hash) == ("shuffled", ("period",), spec.hash)
    whole = spec.one_round.aggregate(iter(rounds))
    assert file.aggregate() == whole
    for period, reports in enumerate(rounds):
        assert service.aggregate(id, period=period) == spec.one_round.aggregate(iter([reports])).to_bytes()
    if kept:
        with pytest.raises(Refused, match="period must be given"):
            service.aggregate(id)
    else:
        assert service.aggregate(id) == whole.to_bytes()


def test_a_saved_aggregate_is_what_the_command_reads(service: Service, database: Database, tmp_path: Path) -> None:
    id = opened_one(service)
    send(service, database, id, reports_of([0] * 50, seed=1))
    fold(database, service)
    saved, spec = tmp_path / "saved.hush", tmp_path / "spec.json"
    saved.write_bytes(service.aggregate(id))
    hush.write(spec, SPEC)
    assert answer("estimate", saved, "--spec", spec)["estimate"] == service.estimate(id)["estimate"]


def test_a_period_without_reports_and_a_level_that_is_none(service: Service) -> None:
    id = opened_one(service)
    assert service.estimate(id, period=3)["estimate"] is None
    other = opened_one(service, over_time()[0])
    assert (service.estimate(other)["n"], service.estimate(other)["groups"]) == (0, [])
    for wrong in ({"level": 1.0}, {"level": float("nan")}, {"period": -1}, {"period": True}, {"period": 1 << 31}):
        with pytest.raises(Refused) as refused:
            service.estimate(id, **wrong)  # type: ignore[arg-type]
        assert (refused.value.reason.code, refused.value.parameter) == ("parameter", *wrong)


def test_nothing_is_exported_as_a_file_without_rows(service: Service, tmp_path: Path) -> None:
    id = opened_one(service)
    told = service.export(id, tmp_path)
    assert told["n"] == 0
    assert pq.read_table(told["path"]).num_rows == 0


def test_what_is_pending_is_exported_and_what_is_excluded_is_not(
    service: Service, database: Database, tmp_path: Path
) -> None:
    id = opened_one(service)
    send(service, database, id, reports_of([0] * 50, seed=1), build="bad/1")
    fold(database, service)
    send(service, database, id, reports_of([0] * 30, seed=1), build="good/1")
    service.exclude(id, "bad/1", who="tests")
    assert service.export(id, tmp_path)["n"] == 30


@pytest.mark.parametrize("memory", [None, 4096])
def test_the_order_of_an_export_tells_nothing(
    service: Service, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory: int | None
) -> None:
    """How many rows of the second of two batches stand in the first half of the file is hypergeometric.

    The false-alarm rate is 1e-9. With little memory rows wait in a scratch file, in an order that tells as little.
    """
    if memory is not None:
        monkeypatch.setattr(order, "MEMORY", memory)
    spec = hush.Spec(hush.GRR(k=2, epsilon=5.0))
    id = opened_one(service, spec)
    half = 1000
    send(service, database, id, np.zeros(half, spec.mechanism.report_dtype))
    send(service, database, id, np.ones(half, spec.mechanism.report_dtype))
    rows = pq.read_table(service.export(id, tmp_path)["path"])
    found = np.array([int.from_bytes(cell, "little") for cell in rows.column("report").to_pylist()])
    assert found.sum() == half
    ones = int(found[:half].sum())
    law = hypergeom(2 * half, half, half)
    assert min(law.cdf(ones), law.sf(ones - 1)) > statistics.FALSE_ALARM / 2


def test_a_folder_that_cannot_be_written_is_said(service: Service, tmp_path: Path) -> None:
    id = opened_one(service)
    with pytest.raises(Refused) as refused:
        service.export(id, tmp_path / "nowhere")
    assert refused.value.reason.code == "parameter"
