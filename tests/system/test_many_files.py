"""`hush estimate` of folders, patterns and addresses: what is read, what is refused, and nothing is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import hush
from tests.system.support import COIN, answer, heard, refused, run, words
from tests.waiting import wait_for_file

SPEC = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["cat", "dog", "emu"]))
REPORTS = SPEC.privatize(["cat", "cat", "dog", "emu"] * 150, rng=hush.seeded(3))
SLOW = f"""{COIN}

class Slow(Coin):
    def tally(self, reports):
        import pathlib, time

        pathlib.Path("started").touch()
        while not pathlib.Path("go on").exists():
            time.sleep(0.01)
        return super().tally(reports)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three periods of 200 reports, in two files each."""
    for i in range(6):
        path = tmp_path / "all" / f"period={8 + i // 2}" / f"part-{i % 2}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = pa.table({"region": ["north", "south"] * 50})
        hush.write(path, REPORTS[100 * i : 100 * i + 100], spec=SPEC, kept=kept, keep_order=True, randomness="secure")
    (tmp_path / "all" / "_SUCCESS").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def totals(found: dict[str, Any]) -> dict[str, int]:
    return {each["group"]: each["n"] for each in found["groups"]}


def test_a_folder_of_periods_is_estimated_period_by_period(folder: Path) -> None:
    found = answer("estimate", "all")
    assert (found["by"], totals(found)) == ("period", {"8": 200, "9": 200, "10": 200})
    assert list(totals(found)) == ["8", "9", "10"]
    due = SPEC.estimate(SPEC.aggregate(REPORTS[200:400])).frequencies.tolist()
    assert [row["frequency"] for row in found["groups"][1]["estimate"]] == due
    assert answer("estimate", "all", "--by", "period")["groups"] == found["groups"]
    one = answer("estimate", "all", "--in-period", "9")
    assert [row["frequency"] for row in one["estimate"]] == due
    assert totals(answer("estimate", "all", "--by", "region")) == {"north": 300, "south": 300}
    assert totals(answer("estimate", "all", "--by", "region", "--in-period", "10")) == {"north": 100, "south": 100}


@pytest.mark.parametrize(
    "sources",
    [
        ["all"],
        ["all/*"],
        ["all/**/*.parquet"],
        ["all/period=8", "all/period=9", "all/period=1[0-9]/part-?.parquet"],
        ["all/period=8/part-0.parquet", "all/period=8/part-1.parquet", "file://HERE/all/period=9", "all/period=10"],
    ],
    ids=str,
)
@pytest.mark.parametrize("threads", ["1", "2"])
def test_all_of_them_together_are_the_whole(
    folder: Path, sources: list[str], threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUSH_THREADS", threads)
    given = [each.replace("HERE", str(folder)) for each in sources]
    assert run("estimate", *given, "--all-periods", "--aggregate-out", "a.hush").exit_code == 0
    assert (folder / "a.hush").read_bytes() == SPEC.aggregate(REPORTS).to_bytes()


def test_an_address_that_fsspec_knows(folder: Path) -> None:
    memory = pytest.importorskip("fsspec").filesystem("memory")
    memory.store.clear()
    memory.pseudo_dirs[:] = [""]  # another test of this process may have made some
    for path in (folder / "all").rglob("*.parquet"):
        memory.pipe(f"/far/{path.relative_to(folder)}", path.read_bytes())
    near = answer("estimate", "all")
    assert answer("estimate", "memory://far/all") == answer("estimate", "memory://far/all/period=*/*") == near
    assert "'memory://far/x*'" in refused("estimate", "memory://far/x*")


def test_reports_without_a_spec_are_read_by_the_one_that_is_named(folder: Path) -> None:
    hush.write("spec.json", SPEC)
    whole = [pq.read_table(path) for path in sorted(Path("all").rglob("*.parquet"))]
    cast = pa.concat_tables(whole).cast(pa.schema([("report", pa.binary()), ("region", pa.string())]))
    pq.write_table(cast.replace_schema_metadata(None), "again.parquet")
    assert "must carry a spec in its metadata" in refused("estimate", "again.parquet")
    found = answer("estimate", "again.parquet", "--spec", "spec.json")
    assert found["estimate"] == answer("estimate", "all", "--all-periods")["estimate"]


def test_refuses(folder: Path) -> None:
    other = hush.Spec(hush.GRR(k=3, epsilon=2.0), SPEC.domain)
    hush.write("other.parquet", other.privatize(["cat"] * 9), spec=other)
    Path("empty").mkdir()
    Path("mixed").mkdir()
    shutil.copy("all/period=8/part-0.parquet", "mixed/a.parquet")
    Path("mixed/notes.md").write_text("CANARY")
    torn = bytearray(Path("all/period=9/part-1.parquet").read_bytes())
    torn[100] ^= 1
    Path("torn").mkdir()
    Path("torn/t.parquet").write_bytes(torn)
    cases = {
        "all other.parquet": ["reports other.parquet must have the spec of all/period=10/part-0.parquet"],
        "other.parquet all": ["reports all/period=10/part-0.parquet must have the spec of other.parquet"],
        "all all/period=8/part-0.parquet": ["reports must be different files", "'all/period=8/part-0.parquet'"],
        "empty": ["reports must be a file, or a folder with files in it", "'empty', which has none"],
        "x*.parquet": ["reports must match at least one file", "'x*.parquet'"],
        "mixed": ["input must be a readable Parquet file of reports", "mixed/notes.md"],
        "mixed/a.parquet all": ["reports all/period=10/part-0.parquet must lie in folders that name the same columns"],
        "torn": ["input must be a readable Parquet file of reports", "torn/t.parquet", "CRC"],
        "all --by nothing": ["--by must be a kept column of all/period=10/part-0.parquet (region, period)"],
        "gopher://x": ["reports must begin with file://", "gopher://"],
    }
    before = sorted(folder.rglob("*"))
    for arguments, said in cases.items():
        saved = [] if "--by" in arguments else ["--aggregate-out", "never.hush"]
        told = refused("estimate", *arguments.split(), "--csv", "never.csv", *saved)
        assert all(each in told for each in said), told
        assert "CANARY" not in told
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("output", ["--csv all/x.csv", "--aggregate-out all/period=8/x.hush"])
def test_nothing_is_written_where_it_would_be_read_the_next_time(folder: Path, output: str) -> None:
    option, path = output.split()
    told = refused("estimate", "all", "--all-periods", option, path)
    assert f"{option} must lie outside of all, all of which this command reads" in told
    assert not Path(path).exists()


def test_a_file_that_nobody_may_read_is_named(folder: Path) -> None:
    path = folder / "all" / "period=9" / "part-1.parquet"
    path.chmod(0)
    plain = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []
    if plain and (shutil.which("setpriv") is None or subprocess.run([*plain, "true"], check=False).returncode):
        pytest.skip("root cannot give up what root may")
    done = subprocess.run([*plain, *words("estimate", "all")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "must be a file or folder that can be read, got 'all/period=9/part-1.parquet'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("threads", ["1", "2"])
def test_an_interrupted_estimate_leaves_nothing_behind(tmp_path: Path, threads: str) -> None:
    (tmp_path / "own.py").write_text(SLOW)
    script = """
import hush, own, numpy as np
spec = hush.Spec(own.Slow(k=3, epsilon=1.0))
hush.register(own.Slow)
for i in range(60):
    hush.write(f"all/{i}.parquet", np.zeros(10, "u1"), spec=spec)
"""
    (tmp_path / "all").mkdir()
    (tmp_path / "make.py").write_text(script)
    python = words()[0]
    subprocess.run([python, "make.py"], cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "started").unlink(missing_ok=True)
    before = sorted(tmp_path.rglob("*"))
    command = words("estimate", "all", "--mechanism", "own:Slow", "--csv", "x.csv", "--aggregate-out", "x.hush")
    environment = {**os.environ, "HUSH_THREADS": threads}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True, preexec_fn=heard
    ) as process:
        wait_for_file(tmp_path / "started", process)
        process.send_signal(signal.SIGINT)
        (tmp_path / "go on").touch()
        told = process.communicate()[1]
    assert (process.returncode, told) == (130, "Error: interrupted; no half-written file is left\n")
    for name in ("started", "go on"):
        (tmp_path / name).unlink()
    assert [path for path in sorted(tmp_path.rglob("*")) if "__pycache__" not in str(path)] == [
        path for path in before if "__pycache__" not in str(path)
    ]


def test_threads_change_nothing_that_is_printed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = []
    for each in ("1", "2", "3"):
        monkeypatch.setenv("HUSH_THREADS", each)
        shown.append(run("estimate", "all", "--json").stdout)
    assert shown[0]
    assert shown[0] == shown[1] == shown[2]


def test_reports_of_nobody_and_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hush.write("none.parquet", np.zeros(0, "u1"), spec=SPEC)
    assert "aggregate must hold at least one report" in refused("estimate", "none.parquet")
    hush.write("one.parquet", np.zeros(1, "u1"), spec=SPEC)
    assert answer("estimate", "one.parquet", "none.parquet")["n"] == 1
    assert answer("estimate", ".")["n"] == 1
