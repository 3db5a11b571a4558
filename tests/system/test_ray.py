"""A real Ray of several nodes on this machine: it gives what one machine gives, whatever fails."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hush
from hush.audit.foreign import CallableTarget
from hush.engine import local, opened
from hush.engine.ray import RayCluster, connect, fold
from hush.engine.ray import privatize as privatized
from hush.engine.ray.keys import JobKeys
from hush.files.randomizing import Rows
from hush.kernels.workers import THREADS
from tests import failures
from tests.system.support import COIN, refused, run, shell
from tests.waiting import wait_until

ray = pytest.importorskip("ray")

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.xdist_group("ray"),  # one cluster at a time
    pytest.mark.filterwarnings("ignore"),  # resources that Ray itself leaves open
]
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of two nodes with a core each, to which this process is connected."""
    from ray.cluster_utils import Cluster

    folder = tmp_path_factory.mktemp("failures")
    changed = {
        failures.FOLDER: str(folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "disabled",
        "RAY_health_check_period_ms": "500",
        "RAY_health_check_failure_threshold": "3",
    }
    known = {name: os.environ.get(name) for name in changed}
    os.environ |= changed
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        found.add_node(num_cpus=1)
        hook = {"worker_process_setup_hook": failures.install}
        ray.init(found.address, log_to_driver=False, logging_level="ERROR", runtime_env=hook)
        yield found
    finally:
        ray.shutdown()
        found.shutdown()
        for name, value in known.items():
            os.environ.pop(name)
            os.environ |= {} if value is None else {name: value}


@pytest.fixture
def cluster(nodes: Any) -> Iterator[RayCluster]:
    with connect() as found:
        yield found


SPECS = {
    "GRR": hush.Spec(hush.GRR(k=5, epsilon=1.0)),
    "OUE": hush.Spec(hush.OUE(k=12, epsilon=1.0)),
    "OLH": hush.Spec(hush.OLH(k=30, epsilon=2.0)),
    "SS": hush.Spec(hush.SS(k=9, epsilon=1.0)),
    "Duchi": hush.Spec(hush.Duchi(low=0.0, high=4.0, epsilon=1.0)),
}


def write(path: Path, spec: hush.Spec, n: int, *, groups: int = 3) -> Path:
    """Reports beside a column of groups, in small row groups."""
    size = getattr(spec.mechanism, "k", 5)
    reports = spec.privatize(hush.seeded(n).integers(size, size=n), rng=hush.seeded(3))
    kept = pa.record_batch({"group": pa.array([f"g{i % groups}" for i in range(n)], pa.string())})
    hush.write(path, reports, spec=spec, kept=kept, randomness="simulated")
    return path


@pytest.mark.parametrize("name", SPECS)
def test_engines_agree_bit_for_bit(name: str, cluster: RayCluster, tmp_path: Path) -> None:
    for i, n in enumerate((4000, 0, 1, 700)):
        write(tmp_path / f"{i}.parquet", SPECS[name], n)
    found = opened([tmp_path])
    assert [file.n for file in found.files] == [4000, 0, 1, 700]
    for by in (None, "group"):
        here, there = (found.merged(by, engine=engine) for engine in (local.run, cluster))
        assert list(here.parts) == list(there.parts)
        for group, part in here.parts.items():
            assert there.parts[group].to_bytes() == part.to_bytes()


def test_the_command_prints_the_same(cluster: RayCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("reports.parquet"), SPECS["OUE"], 3000)
    for more in ([], ["--by", "group"], ["--json"]):
        here, there = (
            run("estimate", "reports.parquet", *more, "--engine", engine).output for engine in ("local", "ray")
        )
        assert here == there
    assert "0.0" in here


def test_nothing_to_read_is_nothing_everywhere(cluster: RayCluster, tmp_path: Path) -> None:
    write(tmp_path / "none.parquet", SPECS["GRR"], 0)
    found = opened([tmp_path / "none.parquet"])
    assert found.aggregate(engine=cluster).to_bytes() == found.aggregate().to_bytes()


def test_files_of_two_collections_are_refused(cluster: RayCluster, tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{name}.parquet", SPECS[name], 50) for name in ("GRR", "OUE")]
    assert "must have the spec of" in refused("estimate", *paths, "--engine", "ray")
    lost = write(tmp_path / "lost.parquet", SPECS["GRR"], 50)
    found = opened([lost])
    lost.unlink()
    with pytest.raises(hush.HushError, match="must be a file or folder that can be read"):
        found.aggregate(engine=cluster)


FAILING = """
import sys
from pathlib import Path

import hush
from hush.engine import opened
from hush.engine.ray import connect

paths = [Path(path) for path in sys.argv[2:]]
found = opened(paths)
for path in paths[::2]:
    path.unlink()
with connect(sys.argv[1]) as cluster:
    for i in range(15):
        try:
            found.aggregate(engine=cluster)
        except hush.HushError:
            print(i)
"""


def test_work_that_fails_leaves_whoever_asked_alive(nodes: Any, tmp_path: Path) -> None:
    """In a process of its own, which Ray would end if a task were cancelled while its answer is taken in."""
    paths = [write(tmp_path / f"{i}.parquet", SPECS["GRR"], 50) for i in range(4)]
    command = [sys.executable, "-W", "ignore", "-c", FAILING, nodes.address, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout.split()) == (0, [str(i) for i in range(15)]), done.stderr[-2000:]


def test_a_ray_dataset_is_folded(cluster: RayCluster, tmp_path: Path) -> None:
    import ray.data

    path = write(tmp_path / "reports.parquet", SPECS["SS"], 2000)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    assert fold(SPECS["SS"], ray.data.read_parquet(str(path))).to_bytes() == opened([path]).aggregate().to_bytes()


def test_a_worker_that_dies_while_it_reads_changes_nothing(cluster: RayCluster, tmp_path: Path) -> None:
    found = opened([write(tmp_path / "reports.parquet", SPECS["OLH"], 3000)])
    failures.order("fold")
    assert found.merged("group", engine=cluster).parts["g1"] == found.merged("group").parts["g1"]
    assert not failures.ordered("fold").exists()


def slowly(i: int) -> tuple[int, str]:
    time.sleep(0.02)
    return i * i, ray.get_runtime_context().get_node_id()


def test_tasks_come_in_order_while_nodes_come_and_go(nodes: Any, cluster: RayCluster) -> None:
    late, gone, seen = None, 0, list[int]()
    for number, node in cluster.map(slowly, range(100_000)):
        seen.append(number)
        if len(seen) == 20:
            late = nodes.add_node(num_cpus=1)
        elif late is not None and node == late.node_id and not gone:
            nodes.remove_node(late, allow_graceful=False)
            gone = len(seen)
        elif gone and len(seen) > gone + 200:
            break
    assert gone
    assert seen == [i * i for i in range(len(seen))]


def test_an_error_of_the_work_comes_as_it_was_raised(cluster: RayCluster) -> None:
    def refusing(i: int) -> None:
        raise hush.errors.ParameterError(hush.errors.message("k", "must be whole", i, "use 2"))

    with pytest.raises(hush.errors.ParameterError, match="k must be whole, got 0; use 2"):
        list(cluster.map(refusing, range(3)))


def test_a_task_that_always_kills_its_worker_ends(cluster: RayCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hush.engine.ray.cluster.RETRIES", 1)
    with pytest.raises(hush.errors.ParameterError, match="must keep a worker alive"):
        list(cluster.map(lambda i: failures.die(), [0]))


COMMANDS = [
    ["audit", "--mechanism", "OLH", "--k", "20", "--epsilon", "1", "--trials", "300000", "--seed", "5"],
    ["budget", "--mechanism", "OUE", "--dataset", "zipf", "--k", "20", "--n", "5000", "--loss", "l1"],
    ["simulate", "--mechanism", "SS", "--dataset", "zipf", "--k", "8", "--n", "2000", "--epsilon", "1", "--runs", "6"],
    ["simulate", "--mechanism", "Duchi", "--low", "0", "--high", "7", "--dataset", "zipf", "--k", "8", "--n", "70000"],
    ["simulate", "--mechanism", "SMP", "--set", "mechanism=OUE", "--attributes", "3,4", "--dataset", "zipf"],
    ["simulate", "--mechanism", "LOSUE", "--dataset", "zipf", "--k", "4", "--epsilon-permanent", "2"],
]
MORE = {
    1: ["--threshold", "0.01", "--seed", "5"],
    3: ["--epsilon", "1", "--runs", "3", "--seed", "5"],
    4: ["--n", "70000", "--epsilon", "1", "--runs", "3", "--seed", "5"],
    5: ["--epsilon-report", "1", "--rounds", "2", "--change", "0.1", "--n", "30000", "--runs", "3", "--seed", "5"],
}


@pytest.mark.parametrize("case", range(len(COMMANDS)), ids=[f"{words[0]} {words[2]}" for words in COMMANDS])
def test_the_same_seed_gives_the_same_everywhere(case: int, cluster: RayCluster) -> None:
    words = [*COMMANDS[case], *MORE.get(case, ["--seed", "5"] if case == 2 else []), "--json"]
    here, there = (run(*words, "--engine", engine) for engine in ("local", "ray"))
    assert here.exit_code == there.exit_code == 0, there.output
    assert timeless(json.loads(here.stdout)) == timeless(json.loads(answer(there.stdout)))


def answer(printed: str) -> str:
    """What the command printed: Ray may tell before it, in its own words, of a node that an earlier test killed."""
    return printed[printed.index("\n{") + 1 :] if not printed.startswith("{") else printed


def timeless(plain: Any) -> Any:
    """All of an answer but how long it took, and by which command."""
    if isinstance(plain, dict):
        left = {name: value for name, value in plain.items() if "seconds" not in name and name != "command"}
        return {name: timeless(value) for name, value in left.items()}
    return [timeless(each) for each in plain] if isinstance(plain, list) else plain


def test_a_study_is_the_same_everywhere(cluster: RayCluster, tmp_path: Path) -> None:
    for engine in ("local", "ray"):
        made = run("reproduce", "audit", "--quick", "--only", "figure-5", "-o", tmp_path / engine, "--engine", engine)
        assert made.exit_code == 0, made.output
    here, there = ((tmp_path / engine / "figure-5.csv").read_bytes() for engine in ("local", "ray"))
    assert here == there


def test_an_audit_goes_on_from_its_checkpoint_on_another_engine(cluster: RayCluster, tmp_path: Path) -> None:
    m, chunk = hush.GRR(k=4, epsilon=1.0), 65_536
    kept, trials = tmp_path / "standing.json", 34 * chunk

    def stop(done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hush.audit.run(m, "attack", trials=trials, rng=hush.seeded(7), checkpoint=kept, progress=stop)
    assert json.loads(kept.read_text())["streams"]["2"][0] == 16 * chunk
    more: dict[str, Any] = {"trials": trials, "rng": hush.seeded(7)}
    there = hush.audit.run(m, "attack", checkpoint=kept, engine=cluster, **more)
    assert there.counts == hush.audit.run(m, "attack", trials=trials, rng=hush.seeded(7)).counts


def test_foreign_code_is_audited_here_alone(cluster: RayCluster) -> None:
    with pytest.raises(hush.errors.ParameterError, match="must be this machine for code from outside Hush"):
        hush.audit.run(CallableTarget(lambda value: value, 2, 1.0), "classifier", engine=cluster)


DYING = f"""{COIN}

class Dying(Coin):
    def sample(self, values, rng):
        import os, pathlib, sys

        order = pathlib.Path(os.environ["{failures.FOLDER}"], "sample")
        if sys.argv[0].endswith("default_worker.py") and order.exists():
            order.unlink()
            os.kill(os.getpid(), 9)
        return super().sample(values, rng)
"""


def test_a_mechanism_of_ones_own_whose_worker_dies_leaves_the_answer_alone(nodes: Any, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(DYING, encoding="utf-8")
    failures.order("sample")
    words = ["--mechanism", "own:Dying", "--k", "4", "--epsilon", "1.2", "--method", "attack"]
    words += ["--pair", "0,1", "--trials", "150000", "--seed", "3", "--json"]
    here = shell("audit", *words, folder=tmp_path)
    there = shell("audit", *words, "--engine", "ray", "--address", nodes.address, folder=tmp_path)
    assert not failures.ordered("sample").exists(), there
    assert (there.returncode, there.stderr) == (here.returncode, here.stderr)
    assert timeless(json.loads(there.stdout)) == timeless(json.loads(here.stdout))


# Writing.

N = 3000


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A table in small row groups, sorted, as it must not come out."""
    path = tmp_path / "people.parquet"
    values = np.sort(hush.seeded(1).integers(6, size=N))
    table = pa.table({"value": values, "region": pa.array([f"r{i % 2}" for i in range(N)], pa.string())})
    pq.write_table(table, path, row_group_size=500)
    return path


@pytest.fixture
def cut_small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many pieces and buckets of few rows."""
    monkeypatch.setattr("hush.engine.ray.scattering._ROWS", 700)
    monkeypatch.setattr("hush.engine.ray.writing._BUCKET", 20_000)


def rows_of(path: Path) -> Rows:
    return Rows([path], ["value"], ["region"], hush.Spec(hush.GRR(k=6, epsilon=25.0)), False)


def visible(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def whole(folder: Path) -> Counter[tuple[int, str]]:
    """All rows of all files; with such a budget, a report is the value."""
    tables = [pq.read_table(path) for path in sorted(folder.iterdir())]
    cells = [(table["report"].to_pylist(), table["region"].to_pylist()) for table in tables]
    return Counter(
        (report[0], region) for reports, regions in cells for report, region in zip(reports, regions, strict=True)
    )


@pytest.mark.parametrize("failure", ["none", "scatter", "before the write", "after the write"])
def test_every_row_has_one_report_whatever_dies(
    failure: str, cluster: RayCluster, people: Path, cut_small: None, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    failures.ordered("left").unlink(missing_ok=True)
    if failure != "none":
        failures.order(failure)
    written = privatized(cluster, rows_of(people), out)
    assert not failures.ordered(failure).exists()  # it was taken
    buckets = -(-N * 17 // 20_000)
    assert visible(out) == [f"part-{i:05d}.parquet" for i in range(buckets)]
    assert visible(tmp_path) == ["out", "people.parquet"]
    table = pq.read_table(people)
    assert whole(out) == Counter(zip(table["value"].to_pylist(), table["region"].to_pylist(), strict=True))
    assert (written.reports, written.rows, written.smallest_group) == (N, N, N // 2)
    found = opened([out])
    assert found.n == N
    assert {file.order for file in found.files} == {"shuffled"}
    assert {file.randomness for file in found.files} == {"secure"}
    if failure == "after the write":
        left = failures.ordered("left").read_bytes()
        assert left in [path.read_bytes() for path in out.iterdir()]  # two attempts say no more than one


@pytest.mark.parametrize("failure", ["scatter", "after the write"])
def test_what_is_made_again_is_what_was_made(
    failure: str, cluster: RayCluster, people: Path, cut_small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under one secret, with a failure and without, at a budget so small that what is drawn anew would be another."""
    monkeypatch.setattr("hush.engine.ray.writing.JobKeys", lambda: JobKeys(bytes(32)))
    rows = replace(rows_of(people), spec=hush.Spec(hush.GRR(k=6, epsilon=0.5)))
    begun, files = [], []
    for name in ("calm", "torn"):
        failures.ordered("scattered").unlink(missing_ok=True)
        if name == "torn":
            failures.order(failure)
        privatized(cluster, rows, tmp_path / name)
        assert not failures.ordered(failure).exists()  # it was taken
        begun.append(Counter(failures.ordered("scattered").read_text().split()))
        files.append([path.read_bytes() for path in sorted((tmp_path / name).iterdir())])
    assert set(begun[0].values()) == {1}
    assert set(begun[1]) == set(begun[0])
    assert (2 in begun[1].values()) == (failure == "scatter")
    assert files[0] == files[1]


def test_reports_lost_with_a_node_are_made_again_the_same(
    nodes: Any, cluster: RayCluster, people: Path, cut_small: None, tmp_path: Path
) -> None:
    import threading

    late = nodes.add_node(num_cpus=1)
    failures.order("wait")
    done: list[Any] = []
    work = threading.Thread(target=lambda: done.append(privatized(cluster, rows_of(people), tmp_path / "out")))
    work.start()
    try:
        wait_until(lambda: any(tmp_path.glob(".hush-out-*.parts/*.attempt")))
        nodes.remove_node(late, allow_graceful=False)
    finally:
        failures.taken("wait")
        work.join(60)
    assert [written.reports for written in done] == [N]
    assert sum(whole(tmp_path / "out").values()) == N
    assert not any(name.startswith(".") for name in visible(tmp_path / "out"))


def test_the_command_writes_a_folder_that_the_command_reads(
    cluster: RayCluster, people: Path, cut_small: None, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    choice = ["--column", "value", "--k", "6", "--mechanism", "OUE", "--epsilon", "4", "--keep", "region"]
    told = run("privatize", people, *choice, "-o", out, "--engine", "ray", "--json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["reports"] == N
    seen = json.loads(run("estimate", out, "--by", "region", "--json").stdout)
    assert [group["n"] for group in seen["groups"]] == [N // 2, N // 2]
    assert "must be a folder that does not exist yet" in refused(
        "privatize", people, *choice, "-o", out, "--engine", "ray"
    )


def test_several_tables_are_shuffled_together(cluster: RayCluster, people: Path, tmp_path: Path) -> None:
    pq.write_table(pa.table({"value": [5] * 7, "region": ["r0"] * 7}), tmp_path / "more.parquet")
    choice = ["--column", "value", "--k", "6", "--mechanism", "GRR", "--epsilon", "25", "--keep", "region"]
    files = [people, tmp_path / "more.parquet"]
    told = run("privatize", *files, *choice, "-o", tmp_path / "out", "--engine", "ray")
    assert told.exit_code == 0, told.output
    assert sum(whole(tmp_path / "out").values()) == N + 7
    pq.write_table(pa.table({"value": [5] * 7, "region": [3] * 7}), files[1])
    said = refused("privatize", *files, *choice, "-o", tmp_path / "other", "--engine", "ray")
    assert re.search("--keep must be of one type in all files, got region: (string and int64|int64 and string)", said)
    assert visible(tmp_path) == ["more.parquet", "out", "people.parquet"]


@pytest.mark.parametrize("rows", [0, 1])
def test_tables_of_few_rows(rows: int, cluster: RayCluster, tmp_path: Path) -> None:
    path = tmp_path / "few.parquet"
    pq.write_table(pa.table({"value": pa.array([2] * rows, pa.int64()), "region": pa.array(["a"] * rows)}), path)
    assert privatized(cluster, rows_of(path), tmp_path / "out").reports == rows
    assert opened([tmp_path / "out"]).n == rows


def test_a_bad_cell_leaves_nothing(cluster: RayCluster, cut_small: None, tmp_path: Path) -> None:
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"value": [0] * 2500 + [77], "region": ["a"] * 2501}), path, row_group_size=500)
    choice = ["--column", "value", "--k", "6", "--mechanism", "GRR", "--epsilon", "1"]
    said = refused("privatize", path, *choice, "-o", tmp_path / "out", "--engine", "ray")
    assert "2,501" in said or "2501" in said  # the row in the file, not in the piece
    assert "77" not in said
    assert visible(tmp_path) == ["people.parquet"]


def test_what_an_earlier_run_left_must_go_first(cluster: RayCluster, people: Path, tmp_path: Path) -> None:
    (tmp_path / ".hush-out-0123456789abcdef.parts").mkdir()
    with pytest.raises(hush.errors.ParameterError, match="must have nothing beside it of a run that was cut short"):
        privatized(cluster, rows_of(people), tmp_path / "out")


def test_what_only_one_machine_can_do_is_refused(cluster: RayCluster, people: Path, tmp_path: Path) -> None:
    choice = ["--column", "value", "--k", "6", "--mechanism", "GRR", "--epsilon", "1", "-o", tmp_path / "out"]
    for more in (["--keep-order"], ["--temporary", tmp_path], ["--person", "region"]):
        assert "must be left out with --engine ray" in refused("privatize", people, *choice, *more, "--engine", "ray")


def test_threads_give_what_the_cluster_gives(cluster: RayCluster) -> None:
    def drawn(i: int) -> int:
        return int(hush.seeded([7, i]).integers(1 << 40))

    assert list(cluster.map(drawn, range(300))) == list(THREADS.map(drawn, range(300)))
    assert list(cluster.map(drawn, iter(range(3)))) == [drawn(i) for i in range(3)]
    assert list(cluster.map(drawn, [])) == list(THREADS.map(drawn, [])) == []
