"""The rows of a report file say nothing about the order of the input."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import hypergeom

import hush
from hush.files import kept, order, randomizing, tables
from hush.files import reports as report_files
from hush.statistics import FALSE_ALARM
from tests.system.support import COIN, answer, refused, run, write_csv
from tests.waiting import wait_for_file

GRR = ("--mechanism", "GRR", "--epsilon", 40)
"""At this budget a report is its value, but for one in 10^16."""
N, K = 50_000, 10


@pytest.fixture(params=[None, 20_000], ids=["held", "dealt"])
def memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows in memory, and rows that wait in a file."""
    if request.param is not None:
        monkeypatch.setattr(order, "MEMORY", request.param)
        monkeypatch.setattr(randomizing, "READ", 500)


def records(path: Path, m: Any) -> npt.NDArray[Any]:
    return np.frombuffer(b"".join(pq.read_table(path)["report"].to_pylist()), m.report_dtype)


def tells(seen: npt.NDArray[np.bool_], chosen: slice) -> bool:
    """Whether rows in some places of the file have a mark more often than a uniform order would have it.

    Given the marks, their number there is hypergeometric: false with a probability of 1e-9 over ten such questions.
    """
    n, size = seen.size, seen[chosen].size
    return bool(hypergeom.sf(seen[chosen].sum() - 1, n, seen.sum(), size) < FALSE_ALARM / 10)


def told(path: Path, m: hush.FrequencyOracle) -> int:
    """Of a file whose input was sorted: how many of the values are more frequent in the place where they were."""
    supports = m.support_matrix(records(path, m))  # type: ignore[attr-defined]
    share = N // K
    return sum(tells(supports[:, v], slice(v * share, (v + 1) * share)) for v in range(K))


def recovered(path: Path, m: hush.FrequencyOracle, window: int = 1000) -> float:
    """Values that a moving average over the reports of a sorted file recovers."""
    sums = np.cumsum(m.support_matrix(records(path, m)), axis=0)  # type: ignore[attr-defined]
    guesses = np.argmax(sums[window:] - sums[:-window], axis=1)
    return float(np.mean(guesses == np.arange(window // 2, N - window // 2) * K // N))


def test_a_sorted_file_is_not_recovered_from_its_reports(tmp_path: Path) -> None:
    """The attack works where rows are aligned, so it would be seen."""
    data = write_csv(tmp_path / "sorted.csv", {"v": [i * K // N for i in range(N)]})
    made = ("privatize", data, "--column", "v", "--k", K, "--mechanism", "OUE", "--epsilon", 0.5)
    m = hush.OUE(k=K, epsilon=0.5)
    assert run(*made, "-o", tmp_path / "aligned.parquet", "--keep-order").exit_code == 0
    assert recovered(tmp_path / "aligned.parquet", m) > 0.9
    assert told(tmp_path / "aligned.parquet", m) == K
    assert run(*made, "-o", tmp_path / "reports.parquet").exit_code == 0
    assert told(tmp_path / "reports.parquet", m) == 0
    assert recovered(tmp_path / "reports.parquet", m) < 0.5  # by chance, 25 of 50 windows of which 5 are due: 2e-13


@pytest.mark.parametrize("name", ["Duchi", "Piecewise", "Hybrid"])
def test_nor_are_sorted_amounts(tmp_path: Path, name: str) -> None:
    data = write_csv(tmp_path / "sorted.csv", {"v": [i * 2 // N for i in range(N)]})
    made = ("privatize", data, "--column", "v", "--mechanism", name, "--low", 0, "--high", 1, "--epsilon", 2)
    m = getattr(hush, name)(low=0.0, high=1.0, epsilon=2.0)
    for options, expected in (((), False), (("--keep-order",), True)):
        assert run(*made, "-o", tmp_path / "r.parquet", *options).exit_code == 0
        found = records(tmp_path / "r.parquet", m)
        assert tells(found > np.median(np.unique(found)) - 0.5, slice(N // 2, N)) is expected


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_kept_cells_stay_with_their_report(tmp_path: Path, suffix: str) -> None:
    n, k = 3000, 300
    values = [i % k for i in range(n)]
    columns = {"v": values, "id": list(range(n)), "name": [f"é{i}" if i % 5 else None for i in range(n)]}
    path = tmp_path / f"data{suffix}"
    if suffix == ".csv":
        write_csv(path, columns)
    else:
        pq.write_table(pa.table(columns), path, row_group_size=700)
    out = tmp_path / "r.parquet"
    chosen = ("--column", "v", "--k", k, *GRR, "--keep", "name", "--keep", "id")
    assert answer("privatize", path, *chosen, "-o", out)["reports"] == n
    table = pq.read_table(out)
    rows = list(
        zip(
            map(int, table["id"].to_pylist()),
            records(out, hush.GRR(k=k, epsilon=40.0)).tolist(),
            table["name"].to_pylist(),
            strict=True,
        )
    )
    assert [row[0] for row in rows] != list(range(n))
    assert sorted(rows) == [(i, values[i], columns["name"][i]) for i in range(n)]


def test_the_file_and_the_command_say_the_order(tmp_path: Path) -> None:
    values = [i % 7 for i in range(1000)]
    data = write_csv(tmp_path / "d.csv", {"v": values})
    made = ("privatize", data, "--column", "v", "--k", 7, *GRR)
    for options, said in (((), "shuffled"), (("--keep-order",), "input")):
        result = run(*made, "-o", tmp_path / "r.parquet", *options)
        assert ("in the input's order (--keep-order)" in " ".join(result.stderr.split())) == bool(options)
        assert answer(*made, "-o", tmp_path / "r.parquet", *options)["order"] == said
        assert pq.read_schema(tmp_path / "r.parquet").metadata[b"hush.order"].decode() == said
        found = records(tmp_path / "r.parquet", hush.GRR(k=7, epsilon=40.0)).tolist()
        assert (found == values) == bool(options)
        assert sorted(found) == sorted(values)


def test_the_smallest_group_of_kept_cells_is_said(tmp_path: Path) -> None:
    data = write_csv(
        tmp_path / "d.csv",
        {"v": [0] * 100, "a": ["x"] * 40 + ["y"] * 60, "b": ["", "z"] * 48 + ["z"] * 4, "id": list(range(100))},
    )
    made = ("privatize", data, "--column", "v", "--k", 2, *GRR, "-o", tmp_path / "r.parquet")
    assert answer(*made)["smallest_group"] is None
    assert answer(*made, "--keep", "a")["smallest_group"] == 40
    assert answer(*made, "--keep", "a", "--keep", "b")["smallest_group"] == 20
    assert answer(*made, "--keep", "b", "--keep", "id")["smallest_group"] == 1
    assert "40 reports in the smallest group" in run(*made, "--keep", "a").stderr


def test_groups_that_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_MOST", 3)
    data = write_csv(tmp_path / "d.csv", {"v": [0] * 8, "three": list("aabbccaa"), "four": list("aabbccdd")})
    made = ("privatize", data, "--column", "v", "--k", 2, *GRR, "-o", tmp_path / "r.parquet")
    assert answer(*made, "--keep", "three")["smallest_group"] == 2
    assert answer(*made, "--keep", "four")["smallest_group"] is None


def test_groups_that_cannot_be_counted(tmp_path: Path) -> None:
    lists = tmp_path / "lists.parquet"
    pq.write_table(pa.table({"v": [0, 1], "where": [[1], [2]]}), lists)
    made = ("privatize", lists, "--column", "v", "--k", 2, *GRR, "--keep", "where", "-o", tmp_path / "r.parquet")
    assert answer(*made)["smallest_group"] is None
    said = " ".join(run(*made).stderr.split())
    assert "were not counted, since there are too many groups, or cells, such as lists, that make none" in said


# What else a Parquet file says.


@pytest.mark.usefixtures("memory")
def test_dictionaries_follow_the_output(tmp_path: Path) -> None:
    """A column of categories lists them as the input has them, which would be its order where they name people."""
    n = 2000
    names = [f"person {i}" for i in range(n)]
    table = pa.table({"v": [i * 2 // n for i in range(n)], "who": pa.array(names).dictionary_encode()})
    pq.write_table(table, tmp_path / "d.parquet")
    made = ("privatize", tmp_path / "d.parquet", "--column", "v", "--k", 2, *GRR, "--keep", "who")
    assert run(*made, "-o", tmp_path / "r.parquet").exit_code == 0
    listed = pq.ParquetFile(tmp_path / "r.parquet", read_dictionary=["who"]).read()["who"].combine_chunks()
    if isinstance(listed, pa.ChunkedArray):
        listed = listed.chunk(0)
    assert listed.dictionary.to_pylist() != names
    assert listed.dictionary.to_pylist() == pq.read_table(tmp_path / "r.parquet")["who"].to_pylist()


@pytest.mark.parametrize("options", [(), ("--keep-order",)])
def test_row_groups_tell_only_how_many_rows_there_are(tmp_path: Path, options: tuple[str, ...]) -> None:
    """The reader's blocks end where so many bytes of the input do, which would tell how long its cells are."""
    sizes = []
    for long in (False, True):
        n = 300_000
        more = ["x" * 40] * (n // 2) + [""] * (n // 2)
        data = write_csv(tmp_path / "d.csv", {"v": [0] * n, "more": more if long else more[::-1]})
        made = ("privatize", data, "--column", "v", "--k", 2, *GRR, "-o", tmp_path / "r.parquet", *options)
        assert run(*made).exit_code == 0
        file = pq.ParquetFile(tmp_path / "r.parquet").metadata
        sizes.append([file.row_group(i).num_rows for i in range(file.num_row_groups)])
    assert sizes == [[262_144, 37_856]] * 2


@pytest.mark.parametrize("options", [(), ("--keep-order",)])
@pytest.mark.parametrize("same", [False, True])
def test_long_kept_cells_are_held_a_few_at_a_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], same: bool
) -> None:
    """Equal cells take one place in the input, so its own account of them is short."""
    held = []

    def seen(self: tables.TableFile, advance: Any) -> Iterator[Any]:
        for batch in batches(self, advance):
            held.append(batch.nbytes)
            yield batch

    batches = tables.TableFile.batches
    monkeypatch.setattr(tables.TableFile, "batches", seen)
    monkeypatch.setattr(tables, "_TEXTS", 64)
    monkeypatch.setattr(tables, "_BATCH_BYTES", 1 << 16)
    monkeypatch.setattr(report_files, "BATCH_BYTES", 1 << 16)
    n, long = 1000, "x" * 1000
    texts = [long if same else f"{i} {long}" for i in range(n)]
    pq.write_table(pa.table({"v": [0] * n, "a.b": texts}), tmp_path / "d.parquet")
    made = ("privatize", tmp_path / "d.parquet", "--column", "v", "--k", 2, *GRR, "--keep", "a.b", *options)
    assert run(*made, "-o", tmp_path / "r.parquet").exit_code == 0
    assert max(held) < 2 << 16
    file = pq.ParquetFile(tmp_path / "r.parquet")
    assert {file.metadata.row_group(i).num_rows for i in range(file.num_row_groups - 1)} == {64}
    assert max(file.read_row_group(i).nbytes for i in range(file.num_row_groups)) <= 1 << 16
    assert sorted(file.read()["a.b"].to_pylist()) == sorted(texts)


def test_texts_that_are_views_are_kept(tmp_path: Path) -> None:
    pq.write_table(
        pa.table({"v": [0, 1, 1], "who": pa.array(["a", None, "b"], pa.string_view())}), tmp_path / "d.parquet"
    )
    made = ("privatize", tmp_path / "d.parquet", "--column", "v", "--k", 2, *GRR, "--keep", "who")
    assert answer(*made, "-o", tmp_path / "r.parquet")["smallest_group"] == 1
    assert set(pq.read_table(tmp_path / "r.parquet")["who"].to_pylist()) == {"a", None, "b"}


# What waits on the disk.


def test_no_label_and_no_kept_cell_waits_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = []

    def named(dir: Path, buffering: int = -1) -> Any:
        if dir != tmp_path / "wait":
            return tempfile.SpooledTemporaryFile()
        files.append(tempfile.NamedTemporaryFile(dir=dir, buffering=buffering, delete=False))  # noqa: SIM115 (the command closes it)
        return files[-1]

    n = 3000
    data = write_csv(tmp_path / "d.csv", {"v": ["CANARY label", "b"] * (n // 2), "keep": ["CANARY cell"] * n})
    (tmp_path / "labels.txt").write_text("CANARY label\nb\n")
    monkeypatch.setattr(order, "MEMORY", 20_000)
    monkeypatch.setattr(randomizing, "READ", 1000)
    monkeypatch.setattr(tempfile, "TemporaryFile", named)
    (tmp_path / "wait").mkdir()
    made = ("privatize", data, "--column", "v", "--domain", tmp_path / "labels.txt", *GRR, "--keep", "keep")
    assert run(*made, "-o", tmp_path / "r.parquet", "--temporary", tmp_path / "wait").exit_code == 0
    waited = [path.read_bytes() for path in (tmp_path / "wait").iterdir()]
    assert len(waited) == len(files) > 0
    assert sum(map(len, waited)) > n * len("CANARY cell")
    assert not any(b"CANARY" in each for each in waited)


KILLED = """
from hush.cli import main
from hush.files import randomizing
from hush.files import order

order.MEMORY, randomizing.READ = 1 << 18, 1 << 16
main()
"""


@pytest.fixture
def waiting(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command that has dealt out its rows, and waits in the middle of randomizing them."""
    (tmp_path / "coin.py").write_text(COIN)
    (tmp_path / "wait").mkdir()
    write_csv(tmp_path / "d.csv", {"v": [0, 1] * 150_000})
    chosen = ["d.csv", "--column", "v", "--k", "2", "--mechanism", "coin:Waiting", "--epsilon", "1"]
    words = [sys.executable, "-c", KILLED, "privatize", *chosen, "-o", "r.parquet", "--temporary", "wait"]
    with subprocess.Popen(words, cwd=tmp_path, env={**os.environ, "HUSH_THREADS": "1"}) as process:
        wait_for_file(tmp_path / "started", process)
        yield process
        process.kill()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="open files are seen in Linux's /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_command_that_is_killed_leaves_no_rows(
    waiting: subprocess.Popen[bytes], number: signal.Signals, tmp_path: Path
) -> None:
    links = [os.readlink(each) for each in Path(f"/proc/{waiting.pid}/fd").iterdir()]
    assert any(str(tmp_path / "wait") in link and link.endswith("(deleted)") for link in links)
    assert list((tmp_path / "wait").iterdir()) == []
    waiting.send_signal(number)
    waiting.wait(60)
    assert list((tmp_path / "wait").iterdir()) == []
    assert not (tmp_path / "r.parquet").exists()
    if number == signal.SIGTERM:
        assert list(tmp_path.glob(".hush*")) == []


@pytest.fixture
def little_room(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No file may grow beyond a few bytes, as on a disk that is full."""
    monkeypatch.setattr(order, "MEMORY", 20_000)
    monkeypatch.setattr(randomizing, "READ", 1000)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_too_little_room(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    data = write_csv(tmp_path / "d.csv", {"v": [0, 1] * 5000})
    made = ("privatize", data, "--column", "v", "--k", 2, *GRR, "-o", tmp_path / "r.parquet", "--temporary", tmp_path)
    assert run(*made).exit_code == 0  # what is compiled is kept in files, too
    (tmp_path / "r.parquet").unlink()
    request.getfixturevalue("little_room")
    message = refused(*made)
    assert "--temporary must be a folder with room for a file without a name, in which rows wait" in message
    assert f"got {str(tmp_path)!r}; File too large" in message
    assert "name another folder with --temporary" in message
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.csv"]


@pytest.mark.parametrize("where", ["the reports", "the spec"])
def test_a_full_disk_is_told_with_the_file(tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_csv(tmp_path / "d.csv", {"v": [0, 1] * 50_000})
    out = tmp_path / "r.parquet"
    made = ("privatize", data, "--column", "v", "--k", 2, *GRR, "-o", out)
    assert run(*made).exit_code == 0  # what is compiled is kept in files, too
    most = 50_000 if where == "the reports" else out.stat().st_size - 50
    out.unlink()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        message = refused(*made)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert f"output must be a place where files can be written, got {str(out)!r}; " in message
    assert "File too large" in message
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    data = write_csv(tmp_path / "d.csv", {"v": [0, 1]})
    made = ("privatize", data, "--column", "v", "--k", 2, *GRR, "-o", tmp_path / "r.parquet")
    assert "--temporary must be a folder that exists" in refused(*made, "--temporary", data)


# Simulated files.


def test_simulated_reports_are_shuffled_and_repeatable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = ("--dataset", "uniform", "--k", K, "--n", N, "--mechanism", "OUE", "--epsilon", 0.5, "--runs", 1)
    for threads in (1, 3):
        monkeypatch.setenv("HUSH_THREADS", str(threads))
        out = tmp_path / f"{threads}.parquet"
        assert run("simulate", *chosen, "--seed", 7, "--reports-out", out).exit_code == 0
        assert pq.read_schema(out).metadata[b"hush.order"] == b"shuffled"
        assert told(out, hush.OUE(k=K, epsilon=0.5)) == 0
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "3.parquet").read_bytes()
    assert json.loads(pq.read_schema(out).metadata[b"hush.spec"])["mechanism"]["k"] == K
