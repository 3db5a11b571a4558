"""Exports by period: what is over, once, whole; and several collectors of one spec that add up to one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from scipy.stats import hypergeom

import hush
from hush import statistics
from hush.collect.envelope import Envelope, body, new_id
from hush.collect.partitions import REPORTS, Layout
from hush.collect.refusals import Refused
from hush.collect.service import Service
from hush.collect.store.database import Database
from hush.errors import ParameterError, SpecError
from hush.files import ReportFile, merge
from hush.files.datasets import AGGREGATE
from hush.files.places import FilePlace, place_of
from tests.collecting import DAY, SPEC, HandClock, fold, opened_one, reports_of, send
from tests.collectors import Opened, Served, in_thread
from tests.system.support import answer, refused, run


class InMemory:
    """A filesystem of pyarrow's that is not this machine's."""

    def __init__(self) -> None:
        self.system = fs._MockFileSystem()
        self.system.create_dir("bucket")

    @property
    def root(self) -> FilePlace:
        return FilePlace("mock://bucket/outings", "bucket/outings", self.system)

    def files(self) -> list[str]:
        found = self.system.get_file_info(fs.FileSelector("bucket", recursive=True))
        return sorted(info.path for info in found if info.type == fs.FileType.File)


def three_periods(service: Service, database: Database, hand: HandClock, **more: Any) -> str:
    """A collection with 10, 20 and 30 reports of periods 0, 1 and 2, each of two builds; horizon 1, now period 2."""
    id = opened_one(service, horizon=1, **more)
    for period in range(3):
        for build in ("a/1", "b/1"):
            values = [period] * (5 + 5 * period)
            send(service, database, id, reports_of(values, seed=period), period=period, build=build)
        if period < 2:
            hand.forward(DAY)
    fold(database, service)
    return id


def whole(period: int, times: int = 2) -> bytes:
    """The aggregate of one of those periods."""
    return SPEC.aggregate(iter([reports_of([period] * (5 + 5 * period), seed=period)] * times)).to_bytes()


def read(root: Path, id: str, period: int) -> ReportFile:
    found = hush.read(root / f"period={period}" / f"part-{id}.parquet")
    assert isinstance(found, ReportFile)
    return found


def test_only_periods_that_are_over_are_exported_and_each_once(
    service: Service, database: Database, hand: HandClock, tmp_path: Path
) -> None:
    id, root = three_periods(service, database, hand), tmp_path / "outings"
    layout = Layout(place_of(root), id, REPORTS)
    first = layout.export(service)
    assert [(each["period"], each["n"]) for each in first.written] == [(0, 10)]
    assert (first.present, first.unfinished, first.uncounted) == ([], [1, 2], [])
    assert hush.read(root / "_spec.json") == SPEC
    found = read(root, id, 0)
    assert (found.spec, found.n, found.order) == (SPEC, 10, "shuffled")
    assert found.aggregate().to_bytes() == whole(0)
    before = (root / f"period=0/part-{id}.parquet").read_bytes()
    hand.forward(DAY)
    second = layout.export(service)
    assert ([each["period"] for each in second.written], second.present, second.unfinished) == ([1], [0], [2])
    service.close(id, who="tests")
    third = layout.export(service)
    assert ([each["period"] for each in third.written], third.present, third.unfinished) == ([2], [0, 1], [])
    assert (root / f"period=0/part-{id}.parquet").read_bytes() == before
    assert [read(root, id, period).aggregate().to_bytes() for period in range(3)] == [whole(i) for i in range(3)]
    names = sorted(str(path.relative_to(root)) for path in root.rglob("*"))
    files = [each for i in range(3) for each in (f"period={i}", f"period={i}/part-{id}.parquet")]
    assert names == ["_spec.json", *files]
    (root / f"period=1/part-{id}.parquet").unlink()
    assert [each["period"] for each in layout.export(service).written] == [1]


def test_a_run_that_is_repeated_replaces_and_never_doubles(
    service: Service, database: Database, hand: HandClock, tmp_path: Path
) -> None:
    id = three_periods(service, database, hand)
    service.close(id, who="tests")
    layout = Layout(place_of(tmp_path), id, REPORTS)
    layout.export(service)
    service.exclude(id, "b/1", who="tests")
    assert layout.export(service).written == []
    assert [each["n"] for each in layout.export(service, again=True).written] == [5, 10, 15]
    assert [read(tmp_path, id, i).aggregate().to_bytes() for i in range(3)] == [whole(i, 1) for i in range(3)]
    service.exclude(id, "a/1", who="tests")
    layout.export(service, again=True)
    assert [read(tmp_path, id, i).n for i in range(3)] == [0, 0, 0]
    assert len(list(tmp_path.rglob("*.parquet"))) == 3


def test_reports_of_a_period_are_in_an_order_that_tells_nothing(
    service: Service, database: Database, tmp_path: Path
) -> None:
    """How many rows of the second of two batches stand in the first half is hypergeometric; false-alarm rate 1e-9."""
    spec, half = hush.Spec(hush.GRR(k=2, epsilon=5.0)), 1000
    id = opened_one(service, spec)
    send(service, database, id, np.zeros(half, "u1"))
    send(service, database, id, np.ones(half, "u1"))
    service.close(id, who="tests")
    Layout(place_of(tmp_path), id, REPORTS).export(service)
    table = pq.read_table(tmp_path / f"period=0/part-{id}.parquet", partitioning=None)
    assert table.column_names == ["report"]  # the folder says the period
    ones = sum(cell == b"\1" for cell in table.column("report").to_pylist()[:half])
    law = hypergeom(2 * half, half, half)
    assert min(law.cdf(ones), law.sf(ones - 1)) > statistics.FALSE_ALARM / 2


def test_aggregates_wait_until_all_is_counted(
    service: Service, database: Database, hand: HandClock, tmp_path: Path
) -> None:
    id = three_periods(service, database, hand, keep="aggregates")
    send(service, database, id, reports_of([1] * 10, seed=1), period=1, build="late/1")
    service.close(id, who="tests")
    layout = Layout(place_of(tmp_path), id, AGGREGATE)
    first = layout.export(service)
    assert ([each["period"] for each in first.written], first.uncounted) == ([0, 2], [1])
    fold(database, service)
    assert [each["period"] for each in layout.export(service).written] == [1]
    parts = [(tmp_path / f"period={i}/part-{id}.hush").read_bytes() for i in range(3)]
    assert parts == [whole(0), whole(1, 3), whole(2)]
    kept = Layout(place_of(tmp_path / "reports"), id, REPORTS).export(service)
    assert (kept.written, kept.unfinished) == ([], [])  # there are none


def test_a_folder_is_of_one_spec_and_of_one_kind(
    service: Service, database: Database, hand: HandClock, tmp_path: Path
) -> None:
    id = three_periods(service, database, hand)
    tmp_path = tmp_path / "out"
    Layout(place_of(tmp_path), id, REPORTS).export(service)
    other = opened_one(service, hush.Spec(hush.OLH(k=5, epsilon=2.0)))
    with pytest.raises(SpecError, match="to must be a folder of the spec"):
        Layout(place_of(tmp_path), other, REPORTS).export(service)
    same = opened_one(service)
    for each in (id, same):
        with pytest.raises(ParameterError, match="never of both"):
            Layout(place_of(tmp_path), each, AGGREGATE).export(service)
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 2


def test_periods_whose_reports_are_forgotten_stay_as_they_were_exported(
    service: Service, database: Database, hand: HandClock, tmp_path: Path
) -> None:
    id = three_periods(service, database, hand, keep_days=2)
    layout = Layout(place_of(tmp_path), id, REPORTS)
    layout.export(service)
    assert read(tmp_path, id, 0).n == 10
    hand.forward(2 * DAY)
    service.maintain()
    with pytest.raises(Refused, match="period must be at least 2") as told:
        service.export(id, tmp_path, period=0)
    assert told.value.reason.code == "parameter"
    done = layout.export(service, again=True)
    assert ([each["period"] for each in done.written], done.unfinished) == ([2], [])
    assert read(tmp_path, id, 0).n == 10
    sums = Layout(place_of(tmp_path / "sums"), id, AGGREGATE).export(service)
    assert [each["period"] for each in sums.written] == [0, 1, 2]


def test_another_filesystem_has_the_same_files(service: Service, database: Database, hand: HandClock) -> None:
    id, there = three_periods(service, database, hand), InMemory()
    service.close(id, who="tests")
    layout = Layout(there.root, id, REPORTS)
    layout.export(service)
    layout.export(service, again=True)
    parts = [f"bucket/outings/period={i}/part-{id}.parquet" for i in range(3)]
    assert there.files() == ["bucket/outings/_spec.json", *parts]
    for i, path in enumerate(parts):
        with there.system.open_input_file(path) as file:
            table = pq.ParquetFile(file).read()
        assert hush.files.fold(SPEC, table.to_batches()) == whole(i)


class Failing:
    """A collector that is gone when it is asked for a period."""

    def __init__(self, service: Service, at: int, then: Callable[[], None]) -> None:
        self._service, self._at, self._then = service, at, then

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)

    def export(self, id: str, folder: Path, *, period: int | None = None) -> dict[str, Any]:
        made = self._service.export(id, folder, period=period)
        if period == self._at:
            Path(made["path"]).write_bytes(Path(made["path"]).read_bytes()[:-9])
            self._then()
        return made


def _interrupt() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("elsewhere", [False, True])
def test_what_is_cut_short_leaves_whole_files_only_and_is_taken_up(
    service: Service, database: Database, hand: HandClock, tmp_path: Path, elsewhere: bool
) -> None:
    id, there = three_periods(service, database, hand), InMemory()
    service.close(id, who="tests")
    here = tmp_path / "out"
    layout = Layout(there.root if elsewhere else place_of(here), id, REPORTS)
    with pytest.raises(KeyboardInterrupt):
        layout.export(Failing(service, 1, _interrupt))  # type: ignore[arg-type]
    names = there.files() if elsewhere else [str(path) for path in here.rglob("*") if path.is_file()]
    assert sorted(name.rpartition("/")[2] for name in names) == ["_spec.json", f"part-{id}.parquet"]
    done = layout.export(service)
    assert ([each["period"] for each in done.written], done.present) == ([1, 2], [0])


def test_a_place_that_cannot_be_written_is_said(
    service: Service, database: Database, hand: HandClock, tmp_path: Path
) -> None:
    id = three_periods(service, database, hand)
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(ParameterError, match=r"^to must be a folder that can be written"):
        Layout(place_of(tmp_path / "file"), id, REPORTS).export(service)


# Several collectors.


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[Served]]:
    """Three, each with a store of its own."""
    with ExitStack() as stack:
        yield [stack.enter_context(in_thread(tmp_path / name)) for name in ("a", "b", "all") if _made(tmp_path / name)]


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _opened(server: Served, began: int) -> Opened:
    asked = {"spec": SPEC.to_dict(), "name": "outings", "target_n": 1000, "anyone_submits": True, "horizon": 9}
    id = server.ask("POST", "/v1/collections", json=asked).json()["id"]
    made = server.ask("POST", f"/v1/collections/{id}/open", json={"force": True, "began": began})
    assert made.status_code == 200, made.text
    assert (made.json()["began"], made.json()["period"]) == (began, 2)
    return Opened(id, "", server.url)


def _batch(to: Opened, reports: Any, period: int, batch: str) -> bytes:
    made = Envelope(to.id, SPEC.hash, batch, period, "app/1", SPEC.mechanism.report_dtype.itemsize, reports.tobytes())
    return body("", made.to_bytes())


@pytest.mark.parametrize("kind", ["reports", "aggregates"])
def test_two_collectors_add_up_to_one_that_has_all(servers: list[Served], tmp_path: Path, kind: str) -> None:
    """Bit for bit, for every period, by files of reports and by sums; and no batch counts in both."""
    now = int(servers[0].server.service._clock.now())  # type: ignore[union-attr]
    one, two, every = (_opened(server, now - 2 * DAY - 60) for server in servers)
    rng = np.random.default_rng(5)
    for i in range(12):
        reports = reports_of(rng.integers(0, 4, size=50).tolist(), seed=i)
        at, to = (servers[0], one) if i % 3 else (servers[1], two)
        batch = new_id()
        sent = _batch(to, reports, i // 4, batch)
        for _ in range(2):  # a retry is known
            assert httpx.post(to.address, content=sent).status_code == 200
        wrong = servers[1] if at is servers[0] else servers[0]
        other = two if to is one else one
        elsewhere = httpx.post(f"{wrong.url}{to.path}/batches", content=sent)
        assert (elsewhere.status_code, elsewhere.json()["reason"]) == (404, "unknown")
        taken = httpx.post(other.address, content=sent)  # a batch says which collection it is of
        assert (taken.status_code, taken.json()["parameter"]) == (400, "collection")
        together = _batch(every, reports, i // 4, batch)
        assert httpx.post(every.address, content=together).status_code == 200
    folder, more = tmp_path / "out", ["--aggregates"] if kind == "aggregates" else []
    for server, of in zip(servers, (one, two, every), strict=True):
        server.ask("POST", f"{of.path}/close")
        to = tmp_path / "whole" if of is every else folder
        said = ["collection", "export", of.id, "--to", to, *more, "--server", server.url, "--token", server.admin]
        done: dict[str, Any] = {"uncounted": [0]}
        while done["uncounted"]:  # folding goes on beside
            done = answer(*said)
        assert (done["unfinished"], done["uncounted"]) == ([], [])
    ending = ".hush" if more else ".parquet"
    for period in range(3):
        parts = [hush.read(path) for path in sorted((folder / f"period={period}").glob(f"*{ending}"))]
        (expected,) = (hush.read(path) for path in (tmp_path / f"whole/period={period}").glob(f"*{ending}"))
        sums = [(part.aggregate() if isinstance(part, ReportFile) else part).to_bytes() for part in parts]
        due = expected.aggregate() if isinstance(expected, ReportFile) else expected
        assert len(parts) == 2
        assert merge(SPEC, *sums) == due.to_bytes()
        asked = servers[2].ask("GET", f"{every.path}/aggregate", params={"period": period})
        assert merge(SPEC, *sums) == asked.content
    if more:
        told = answer("estimate", folder / "period=1", "--spec", folder / "_spec.json")
        groups = [told]
    else:
        groups = answer("estimate", folder, "--by", "period")["groups"][1:2]
    there = servers[2].ask("GET", f"{every.path}/estimate", params={"period": 1}).json()
    assert [(each["n"], each["estimate"]) for each in groups] == [(there["n"], there["estimate"])]


def test_a_collection_begins_when_another_did_and_no_later_than_now(service: Service, hand: HandClock) -> None:
    now = int(hand.now())

    def drafted() -> str:
        made = service.create(spec=SPEC.to_dict(), name="x", target_n=100_000, horizon=2, who="tests")
        return str(made["id"])

    shown = service.open(drafted(), force=True, began=now - 5 * DAY - 1, who="tests")
    assert (shown["began"], shown["period"], shown["oldest_period"]) == (now - 5 * DAY - 1, 5, 3)
    assert service.open(drafted(), force=True, who="tests")["began"] == now
    for wrong in (now + 1, -1, 1.5, True):
        id = drafted()
        with pytest.raises(Refused, match="began must be an integer") as told:
            service.open(id, force=True, began=wrong, who="tests")  # type: ignore[arg-type]
        assert told.value.reason.code == "parameter"
        assert service.show(id, whole=False)["status"] == "draft"


def test_the_command_exports_by_period_and_says_what_it_left(tmp_path: Path) -> None:
    store = ["--store", tmp_path / "store.db"]
    made = answer("collection", "create", "--name", "trips", "--mechanism", "GRR", "--k", 3, "--epsilon", 1,
                  "--n", 100_000, *store)  # fmt: skip
    answer("collection", "open", "trips", "--began", "2026-01-05T06:07:08Z", *store)
    assert "2026-01-05T06:07:08Z" in run("collection", "show", "trips", *store).stdout
    said = run("collection", "export", "trips", "--to", tmp_path / "out", *store)
    assert f"0 periods of {made['id'][:8]}" in said.stdout
    assert "No period has reports yet." in said.stderr
    assert json.loads((tmp_path / "out/_spec.json").read_text()) == made["spec"]
    assert "--output must be given" in refused("collection", "export", "trips", *store)
    both = ["--to", tmp_path / "out", "-o", tmp_path / "one.parquet"]
    assert "--output must be given, or else --to, got both" in refused("collection", "export", "trips", *both, *store)
    alone = ["-o", tmp_path / "one.parquet", "--again"]
    assert "--again must stand with --to" in refused("collection", "export", "trips", *alone, *store)
    assert "--to must" in refused("collection", "export", "trips", "--to", "nowhere://x", *store)
    other = answer("collection", "create", "--name", "later", "--mechanism", "GRR", "--k", 3, "--epsilon", 1,
                   "--n", 100_000, *store)  # fmt: skip
    assert "--began must be an integer" in refused("collection", "open", other["id"], "--began", "2d", *store)
