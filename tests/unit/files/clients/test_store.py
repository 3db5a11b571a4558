"""The store of people's devices: each report made once, charged before it is seen, and written whole."""

from __future__ import annotations

import math
import signal
import sqlite3
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import hush
from hush.errors import HushError, ParameterError
from hush.files.clients import Account, ClientStore, StoreRun, rows_of
from hush.files.clients.schema import VERSION
from hush.longitudinal import LGRR, LOSUE, OLOLOHA, Memoized, dBitFlipPM
from hush.multidim import LSMP, LSPL, SMP

LABELS = ["red", "green", "blue"]
DOMAIN = hush.Domain(labels=LABELS)
BOTH = {"colour": DOMAIN, "size": hush.Domain(labels=["s", "m", "l", "xl"])}
TUPLES = {"colour": ["red", "blue", "blue"], "size": ["s", "xl", "m"]}
PEOPLE = ["ann", "bob", "cid"]


def twice(make: Any) -> Any:
    return make(k=3, epsilon_permanent=2.0, epsilon_report=1.0)


def spec_of(mechanism: Any) -> hush.Spec:
    if hasattr(mechanism, "sizes"):
        return hush.Spec(mechanism, BOTH)
    return hush.Spec(mechanism) if mechanism.kind == "numeric" else hush.Spec(mechanism, DOMAIN)


FRESH = [hush.GRR(k=3, epsilon=0.1), hush.Duchi(low=0, high=10, epsilon=0.1), SMP(sizes=(3, 4), epsilon=0.1)]
KEPT = [
    *map(twice, (LGRR, LOSUE, OLOLOHA)),
    Memoized(mechanism=hush.GRR(k=3, epsilon=1.0)),
    dBitFlipPM(k=3, epsilon_permanent=1.0, d=2),
    LSMP(sizes=(3, 4), epsilon_permanent=2.0, epsilon_report=1.0),
    LSPL(sizes=(3, 4), epsilon_permanent=2.0, epsilon_report=1.0),
]


def values_of(spec: hush.Spec) -> Any:
    if hasattr(spec.mechanism, "sizes"):
        return TUPLES
    return [1.0, 2.5, 9.0] if spec.mechanism.kind == "numeric" else ["red", "blue", "blue"]


def collect(store: ClientStore, spec: hush.Spec, output: Path, month: Any = "2026-01", **more: Any) -> StoreRun:
    return store.collect(spec, [rows_of(spec, PEOPLE, values_of(spec), month)], output, **more)


@pytest.mark.parametrize("mechanism", [*FRESH, *KEPT], ids=lambda m: m.name())
def test_every_kind_reports_month_by_month(mechanism: Any, tmp_path: Path) -> None:
    spec = spec_of(mechanism)
    with ClientStore(tmp_path / "c.hushdb") as store:
        for month in range(1, 4):
            made = collect(store, spec, tmp_path / f"{month}.parquet", f"2026-{month}")
            assert (made.reports, made.people, made.passed_over, made.refused, made.again) == (3, 3, 0, 0, 0)
            assert (made.totals.fewest, made.totals.most) == (month, month)
            file = hush.read(tmp_path / f"{month}.parquet")
            assert (file.n, file.kept, file.randomness, file.order) == (3, ("period",), "secure", "shuffled")
            file.aggregate()
        assert store.people == 3
        assert store.collections() == [spec]
    with ClientStore(tmp_path / "c.hushdb") as store:
        assert store.account(spec, "ann").reports == 3


def test_fresh_reports_add_up_as_exact_fractions(tmp_path: Path) -> None:
    spec = spec_of(hush.GRR(k=3, epsilon=0.1))
    with ClientStore(tmp_path / "c.hushdb") as store:
        months = [f"m{i}" for i in range(11) for _ in PEOPLE]
        rows = rows_of(spec, PEOPLE * 11, ["red"] * 33, months)
        made = store.collect(spec, [rows], tmp_path / "r.parquet", limit=1)
        assert (made.reports, made.refused, made.refused_people) == (30, 3, 3)
        assert made.totals.most_spent == 1
        assert store.account(spec, "ann") == Account(10, Fraction(1), Fraction(1))
        written = hush.read(tmp_path / "r.parquet")
    left = {cell for batch in written.batches("period") for cell in batch.column("period").to_pylist()}
    assert left == {f"m{i}" for i in range(10)}  # the last month is the one that was refused


def test_deltas_add_up_too(tmp_path: Path) -> None:
    spec = hush.Spec(hush.GM(k=3, epsilon=0.5, delta=1e-6))
    with ClientStore(tmp_path / "c.hushdb") as store:
        rows = rows_of(spec, ["a", "a"], [0, 1], ["1", "2"])
        store.collect(spec, [rows], tmp_path / "r.parquet")
        assert store.account(spec, "a") == Account(2, Fraction(1), Fraction(1), Fraction(2, 10**6))


def test_kept_answers_are_charged_by_number_alone(tmp_path: Path) -> None:
    """Whether a value changed plays no part, or a refusal would tell."""
    m = twice(LGRR)
    spec, limit = spec_of(m), m.history_bound(2)
    with ClientStore(tmp_path / "c.hushdb") as store:
        for month, colours in enumerate((["red", "red"], ["red", "blue"], ["red", "green"])):
            rows = rows_of(spec, ["still", "moving"], colours, str(month))
            made = store.collect(spec, [rows], tmp_path / f"{month}.parquet", limit=limit)
            assert (made.reports, made.refused) == ((2, 0) if month < 2 else (0, 2))
        both = [store.account(spec, person) for person in ("still", "moving")]
    assert both[0] == both[1]
    assert float(both[0].spent or 0) == limit
    assert float(both[0].unchanging) == m.sequence_epsilon(2)


def test_a_bound_that_is_infinite_lets_nobody_report_twice_within_a_limit(tmp_path: Path) -> None:
    m = dBitFlipPM(k=5, epsilon_permanent=1.0, d=2)
    assert math.isinf(m.history_bound(2))
    spec = hush.Spec(m)
    with ClientStore(tmp_path / "c.hushdb") as store:
        rows = rows_of(spec, ["a", "a"], [0, 0], ["1", "2"])
        assert store.collect(spec, [rows], tmp_path / "r.parquet", limit=100).reports == 1
        again = rows_of(spec, ["a"], [0], "2")
        made = store.collect(spec, [again], tmp_path / "s.parquet")  # without a limit all may
        assert (made.reports, made.totals.most_spent, store.account(spec, "a").spent) == (1, None, None)


def test_the_limit_is_over_all_collections_of_the_store(tmp_path: Path) -> None:
    one, other = spec_of(hush.GRR(k=3, epsilon=1.0)), spec_of(hush.OUE(k=3, epsilon=1.0))
    with ClientStore(tmp_path / "c.hushdb") as store:
        collect(store, one, tmp_path / "1.parquet", limit=1.5)
        made = collect(store, other, tmp_path / "2.parquet", limit=1.5)
        assert (made.reports, made.refused, made.totals.most_spent) == (0, 3, 1)
        assert collect(store, other, tmp_path / "3.parquet", limit=2).totals.most_spent == 2


def test_several_rows_of_one_person_are_each_charged_and_share_their_answer(tmp_path: Path) -> None:
    spec = spec_of(Memoized(mechanism=hush.OUE(k=3, epsilon=0.01)))
    with ClientStore(tmp_path / "c.hushdb") as store:
        rows = rows_of(spec, ["ann"] * 50, ["red"] * 50, "1")
        made = store.collect(spec, [rows], tmp_path / "r.parquet")
        assert (made.reports, made.again, made.people) == (50, 49, 1)
        assert store.account(spec, "ann").reports == 50
    assert np.unique(hush.read(tmp_path / "r.parquet").reports()).size == 1


def test_answers_are_kept_from_run_to_run(tmp_path: Path) -> None:
    """200 people with noise that agrees by chance in less than 1e-60 of all runs."""
    spec = spec_of(Memoized(mechanism=hush.GRR(k=3, epsilon=0.01)))
    found = []
    for month in range(3):
        with ClientStore(tmp_path / "c.hushdb") as store:
            rows = rows_of(spec, list(range(200)), ["red"] * 200, str(month))
            store.collect(spec, [rows], tmp_path / f"{month}.parquet", shuffled=False)
        found.append(hush.read(tmp_path / f"{month}.parquet").reports())
    assert all((found[0] == each).all() for each in found[1:])
    assert np.unique(found[0]).size == 3


def test_a_year_in_one_file_is_as_twelve_files(tmp_path: Path) -> None:
    spec = spec_of(twice(LGRR))
    months = [str(month) for month in range(1, 13)]
    with ClientStore(tmp_path / "a.hushdb") as store:
        rows = rows_of(spec, PEOPLE * 12, ["red", "blue", "blue"] * 12, [m for m in months for _ in PEOPLE])
        whole = store.collect(spec, [rows], tmp_path / "year.parquet", limit=5)
    with ClientStore(tmp_path / "b.hushdb") as store:
        parts = [collect(store, spec, tmp_path / f"{month}.parquet", month, limit=5) for month in months]
    assert whole.reports == sum(part.reports for part in parts) == 9
    assert spec.mechanism.history_bound(3) <= 5 < spec.mechanism.history_bound(4)
    assert whole.periods == tuple(months)  # 2 before 10
    assert whole.totals == parts[-1].totals


def test_whoever_has_reported_in_a_period_is_passed_over_in_it(tmp_path: Path) -> None:
    spec = spec_of(hush.GRR(k=3, epsilon=1.0))
    with ClientStore(tmp_path / "c.hushdb") as store:
        collect(store, spec, tmp_path / "1.parquet")
        late = rows_of(spec, [*PEOPLE, "dan"], ["red"] * 4, "2026-01")
        made = store.collect(spec, [late], tmp_path / "2.parquet")
        assert (made.reports, made.passed_over) == (1, 3)
        assert store.account(spec, "ann").reports == 1


# A run that is cut short.

KILLED = """
import os, signal, sys
from pathlib import Path
from hush.files.clients import ClientStore, rows_of
import hush, json

class Killed(ClientStore):
    def _deliver(self, *given):
        os.kill(os.getpid(), signal.SIGKILL)

class KilledLater(ClientStore):
    def _forget(self, *given):
        os.kill(os.getpid(), signal.SIGKILL)

kind, store, spec, output = sys.argv[1:]
spec = hush.Spec.from_json(spec)
with globals()[kind](store) as opened:
    rows = rows_of(spec, list(range(500)), [0] * 500, "1")
    opened.collect(spec, [rows], output, limit=3)
"""


def outbox(path: Path) -> list[bytes]:
    connection = sqlite3.connect(path)
    found = [bytes(batch) for (batch,) in connection.execute("SELECT batch FROM outbox ORDER BY id")]
    connection.close()
    return found


@pytest.mark.parametrize("mechanism", [hush.GRR(k=3, epsilon=1.0), twice(LGRR)], ids=["fresh", "kept"])
@pytest.mark.parametrize("kind", ["Killed", "KilledLater"])
def test_a_killed_run_draws_nothing_twice(mechanism: Any, kind: str, tmp_path: Path) -> None:
    import pyarrow as pa

    spec, path, output = hush.Spec(mechanism), tmp_path / "c.hushdb", tmp_path / "r.parquet"
    ended = subprocess.run([sys.executable, "-c", KILLED, kind, path, spec.to_json(), output], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert output.exists() == (kind == "KilledLater")
    before = output.read_bytes() if output.exists() else None
    (waiting,) = outbox(path)
    with ClientStore(path) as store:
        assert store.account(spec, 7).reports == 1
        rows = rows_of(spec, list(range(500)), [0] * 500, "1")
        with pytest.raises(ParameterError, match="cut short"):
            store.collect(spec, [rows], tmp_path / "other.parquet")
        made = store.collect(spec, [rows], output, limit=3)
        assert (made.reports, made.left_over, made.passed_over) == (0, 500, 500)
        assert store.account(spec, 7).reports == 1
    due = pa.ipc.open_stream(pa.py_buffer(waiting)).read_all()
    found = next(hush.read(output).batches("period"))
    assert found.column("report").to_pylist() == due.column("report").to_pylist()
    assert before in (None, output.read_bytes())
    assert not outbox(path)


def test_a_run_that_fails_before_it_is_committed_has_done_nothing(tmp_path: Path) -> None:
    spec = spec_of(twice(LGRR))

    def broken() -> Any:
        yield rows_of(spec, PEOPLE, values_of(spec), "1")
        raise KeyboardInterrupt

    with ClientStore(tmp_path / "c.hushdb") as store:
        with pytest.raises(KeyboardInterrupt):
            store.collect(spec, broken(), tmp_path / "r.parquet")
        assert (store.people, store.collections(), store.account(spec, "ann").reports) == (0, [], 0)
        assert collect(store, spec, tmp_path / "r.parquet").reports == 3


def test_what_waits_is_not_mixed_with_other_columns(tmp_path: Path) -> None:
    import pyarrow as pa

    class CutShort(ClientStore):
        def _deliver(self, *given: Any) -> None:
            raise KeyboardInterrupt

    spec = spec_of(hush.GRR(k=3, epsilon=1.0))
    with CutShort(tmp_path / "c.hushdb") as store, pytest.raises(KeyboardInterrupt):
        collect(store, spec, tmp_path / "r.parquet")
    kept = pa.record_batch([pa.array(["x"])], ["sex"])
    with ClientStore(tmp_path / "c.hushdb") as store:
        with pytest.raises(ParameterError, match="kept columns"):
            store.collect(spec, [rows_of(spec, ["dan"], ["red"], "2026-01", kept)], tmp_path / "r.parquet")
        assert store.account(spec, "dan").reports == 0  # nothing was done
        late = store.collect(spec, [rows_of(spec, ["dan"], ["red"], "2026-01")], tmp_path / "r.parquet")
        assert (late.reports, late.left_over, hush.read(tmp_path / "r.parquet").n) == (1, 3, 4)


class CutShort(ClientStore):
    """Commits, and delivers nothing."""

    def _deliver(self, *given: Any) -> None:
        raise KeyboardInterrupt


def cut_short(path: Path, spec: hush.Spec, output: Path, kept: Any = None, **more: Any) -> None:
    with CutShort(path) as store, pytest.raises(KeyboardInterrupt):
        store.collect(spec, [rows_of(spec, PEOPLE, values_of(spec), "1", kept)], output, **more)


def test_an_output_that_reports_wait_for_is_no_other_collections(tmp_path: Path) -> None:
    first, second, output = spec_of(twice(LGRR)), spec_of(twice(LOSUE)), tmp_path / "r.parquet"
    cut_short(tmp_path / "c.hushdb", first, output)
    with ClientStore(tmp_path / "c.hushdb") as store:
        with pytest.raises(ParameterError, match="another collection"):
            collect(store, second, output)
        assert store.account(second, "ann").reports == 0
        assert collect(store, first, output, "2").left_over == 3
        assert hush.read(output).n == 6


@pytest.mark.parametrize("change", [{"kept": None}, {"kept": [1, 2, 3]}, {"shuffled": False}], ids=str)
def test_what_does_not_fit_waiting_reports_is_refused_and_charges_nobody(change: Any, tmp_path: Path) -> None:
    import pyarrow as pa

    def beside(cells: Any) -> Any:
        return None if cells is None else pa.record_batch([pa.array(cells)], ["region"])

    spec, path, output = spec_of(twice(LGRR)), tmp_path / "c.hushdb", tmp_path / "r.parquet"
    cut_short(path, spec, output, beside(["n", "s", "s"]))
    waiting = outbox(path)
    kept = beside(change.get("kept", ["n", "s", "s"]))
    with ClientStore(path) as store:
        others = rows_of(spec, PEOPLE, values_of(spec), "2", kept)
        with pytest.raises(ParameterError, match="cut short"):
            store.collect(spec, [others], output, shuffled=change.get("shuffled", True))
        assert store.account(spec, "ann").reports == 1
    assert outbox(path) == waiting
    with ClientStore(path) as store:  # the rows that wait may be asked for in whatever way: nothing is made
        again = rows_of(spec, PEOPLE, values_of(spec), "1", kept)
        made = store.collect(spec, [again], output, shuffled=change.get("shuffled", True))
        assert (made.reports, made.left_over) == (0, 3)
    found = hush.read(output)
    assert (found.n, found.kept, found.order) == (3, ("period", "region"), "shuffled")


def test_nobody_is_charged_where_no_file_can_be(tmp_path: Path) -> None:
    spec = spec_of(twice(LGRR))
    with ClientStore(tmp_path / "c.hushdb") as store:
        with pytest.raises(ParameterError, match="folder"):
            collect(store, spec, tmp_path / "no" / "r.parquet")
        assert store.account(spec, "ann").reports == 0
        assert collect(store, spec, tmp_path / "r.parquet").reports == 3


def test_a_limit_counts_all_rows_of_a_period(tmp_path: Path) -> None:
    spec = spec_of(hush.GRR(k=3, epsilon=0.4))
    with ClientStore(tmp_path / "c.hushdb") as store:
        rows = rows_of(spec, ["ann", "bob", "ann"], ["red", "red", "blue"], "1")
        made = store.collect(spec, [rows], tmp_path / "r.parquet", limit="0.5")
        assert (made.reports, made.refused, made.refused_people) == (1, 2, 1)
        assert (store.account(spec, "ann").reports, store.account(spec, "bob").reports) == (0, 1)


def test_a_limit_charges_the_collection_that_is_asked_for_not_the_latest(tmp_path: Path) -> None:
    dear, cheap = (spec_of(hush.GRR(k=3, epsilon=epsilon)) for epsilon in (0.5, 0.1))
    with ClientStore(tmp_path / "c.hushdb") as store:
        for name, spec in (("dear", dear), ("cheap", cheap)):
            collect(store, spec, tmp_path / f"{name}.parquet", "1")
        assert collect(store, dear, tmp_path / "2.parquet", "2", limit=1).refused == 3
        assert collect(store, cheap, tmp_path / "3.parquet", "3", limit=1).reports == 3


# The file.


def test_no_name_is_in_the_store_or_in_the_output(tmp_path: Path) -> None:
    spec = spec_of(twice(LOSUE))
    canaries = [f"canary-{i:04}" for i in range(300)]
    with ClientStore(tmp_path / "c.hushdb") as store:
        rows = rows_of(spec, canaries, ["red"] * 300, "1")
        store.collect(spec, [rows], tmp_path / "r.parquet")
    for path in tmp_path.iterdir():
        assert b"canary" not in path.read_bytes(), path
    assert (tmp_path / "c.hushdb").stat().st_mode & 0o777 == 0o600


def test_two_stores_call_one_person_differently(tmp_path: Path) -> None:
    with ClientStore(tmp_path / "a") as one, ClientStore(tmp_path / "b") as other:
        assert one.hashed("ann") == one.hashed(b"ann") != other.hashed("ann")
        assert one.hashed(7) == one.hashed("7")


def test_one_process_at_a_time(tmp_path: Path) -> None:
    with ClientStore(tmp_path / "c.hushdb"):
        script = "import sys; from hush.files.clients import ClientStore; ClientStore(sys.argv[1])"
        other = subprocess.run([sys.executable, "-c", script, tmp_path / "c.hushdb"], capture_output=True, check=False)
        assert b"one process at a time" in other.stderr


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no database, but a text that is long enough to be read as one" * 100)
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE t (x)").connection.close()
    with ClientStore(tmp_path / "later"):
        pass
    connection = sqlite3.connect(tmp_path / "later")
    connection.execute(f"PRAGMA user_version={VERSION + 1}")
    connection.close()
    for name, words in (
        ("text", "damaged"),
        ("other", "another program"),
        ("later", "upgrade"),
        ("no/such", "No such"),
    ):
        with pytest.raises(ParameterError, match=words):
            ClientStore(tmp_path / name)


def test_an_output_that_is_there_is_not_written_over(tmp_path: Path) -> None:
    spec = spec_of(hush.GRR(k=3, epsilon=1.0))
    with ClientStore(tmp_path / "c.hushdb") as store:
        collect(store, spec, tmp_path / "r.parquet")
        with pytest.raises(ParameterError, match="new file"):
            collect(store, spec, tmp_path / "r.parquet", "2026-02")


def test_bad_rows_and_limits_are_refused(tmp_path: Path) -> None:
    spec = spec_of(hush.GRR(k=3, epsilon=1.0))
    with ClientStore(tmp_path / "c.hushdb") as store:
        for limit in (0, -1, math.nan, math.inf, "much", True):
            with pytest.raises(ParameterError, match="limit"):
                collect(store, spec, tmp_path / "r.parquet", limit=limit)
        with pytest.raises(ParameterError, match="different lengths"):
            store.collect(spec, [rows_of(spec, ["a"], ["red", "red"], "1")], tmp_path / "r.parquet")
        with pytest.raises(HushError):
            store.collect(spec, [rows_of(spec, ["a"], ["purple"], "1")], tmp_path / "r.parquet")
        made = store.collect(spec, [], tmp_path / "empty.parquet")
        assert (made.reports, made.people, hush.read(tmp_path / "empty.parquet").n) == (0, 0, 0)


def test_what_a_device_drew_stays_over_runs(tmp_path: Path) -> None:
    """The attribute of each of 60 people; a new draw every month would keep it with a chance of 2^-120."""
    spec = hush.Spec(LSMP(sizes=(2, 2), epsilon_permanent=2.0, epsilon_report=1.0))
    people = [f"p{i}" for i in range(60)]
    shown = []
    for month in range(3):
        with ClientStore(tmp_path / "c.hushdb") as store:
            rows = rows_of(spec, people, [(0, 0)] * 60, month)
            store.collect(spec, [rows], tmp_path / f"{month}.parquet", shuffled=False)
        shown.append(hush.read(tmp_path / f"{month}.parquet").reports()["attribute"])
    assert 0 < shown[0].sum() < 60  # two in 2^60
    assert (shown[0] == shown[1]).all()
    assert (shown[0] == shown[2]).all()


def test_answers_of_two_attributes_are_drawn_apart(tmp_path: Path) -> None:
    """Where one kept answer served both, two attributes with equal values would never differ but by fresh noise."""
    spec = hush.Spec(LSPL(sizes=(2, 2), epsilon_permanent=2.0, epsilon_report=1.999, protocol="LGRR"))
    n = 2_000
    with ClientStore(tmp_path / "c.hushdb") as store:
        rows = rows_of(spec, [f"p{i}" for i in range(n)], [(0, 0)] * n, 1)
        store.collect(spec, [rows], tmp_path / "r.parquet", shuffled=False)
    made = hush.read(tmp_path / "r.parquet").reports()
    p = spec.mechanism.first_report.components[0].p_star
    limit = scipy.stats.binom.ppf(1e-9, n, 2 * p * (1 - p))  # the chance of a false alarm
    assert (made["a0"] != made["a1"]).sum() > limit
    assert limit > n / 5


def test_a_number_is_one_person_whatever_it_is_written_as(tmp_path: Path) -> None:
    spec = spec_of(FRESH[0])
    with ClientStore(tmp_path / "c.hushdb") as store:
        for i, person in enumerate((7, 7.0, np.float64(7), "7", np.int32(7))):
            store.collect(spec, [rows_of(spec, [person], ["red"], i)], tmp_path / f"{i}.parquet")
        assert store.people == 1
        assert store.account(spec, 7).reports == 5
