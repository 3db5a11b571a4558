"""Many files as one collection: folders, patterns, folders that name columns, on any filesystem, in every form."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import fs

import hush
from hush.errors import ParameterError, ReportError, SpecError
from hush.files import ReportDataset, ReportFile
from hush.files.forms import ARROW, STREAM, form_of
from hush.files.listing import listed
from hush.files.places import place_of
from hush.files.reports import column_of

SPEC = hush.Spec(hush.OUE(k=4, epsilon=1.0), hush.Domain(labels=["cat", "dog", "emu"], other="other"))
REPORTS = SPEC.mechanism.privatize(np.arange(300) % 4, rng=hush.seeded(3))
TOTAL = SPEC.aggregate(REPORTS)


def made(spec: hush.Spec = SPEC, n: int = 100, seed: int = 1) -> Any:
    return spec.mechanism.privatize(np.arange(n) % spec.mechanism.k, rng=hush.seeded(seed))


def put(path: Path, reports: Any, spec: hush.Spec = SPEC, **more: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    hush.write(path, reports, spec=spec, **more)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files, in two folders that name two columns, and what other programs leave beside them."""
    root = tmp_path / "all"
    put(root / "period=2026-01" / "region=a%2Fb" / "part-0.parquet", REPORTS[:100])
    put(root / "period=2026-01" / "region=a%2Fb" / "part-1.parquet", REPORTS[100:150])
    put(root / "period=2026-02" / "region=__HIVE_DEFAULT_PARTITION__" / "part-0.parquet", REPORTS[150:])
    for name in ("_SUCCESS", ".part-0.parquet.crc", "_temporary/x.txt", ".hidden/y.txt", "period=2026-01/_metadata"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("not reports")
    return root


def in_memory(folder: Path, filesystem: Any, root: str) -> None:
    """The same files in another filesystem."""
    for path in folder.rglob("*"):
        if path.is_file():
            place = f"{root}/{path.relative_to(folder)}"
            filesystem.create_dir(os.path.dirname(place))
            with filesystem.open_output_stream(place) as out:
                out.write(path.read_bytes())


def memory() -> Any:
    fsspec = pytest.importorskip("fsspec")
    found = fsspec.filesystem("memory")
    found.store.clear()
    return found


def filesystems() -> dict[str, Any]:
    """By name: where files are put, and what is passed to read them."""
    mock = fs._MockFileSystem()
    return {"mock": (mock, mock, "deep/all"), "subtree": (mock, fs.SubTreeFileSystem("deep", mock), "all")}


def checked(found: Any, files: int = 3) -> None:
    assert isinstance(found, ReportDataset)
    assert (found.spec, found.n, len(found.files)) == (SPEC, 300, files)
    assert found.kept == ("period", "region")
    assert found.aggregate() == TOTAL
    assert sorted(found.reports().tobytes()) == sorted(REPORTS.tobytes())
    months = found.merged("period").parts
    assert {name: part.n for name, part in months.items()} == {"2026-01": 150, "2026-02": 150}
    assert [*found.merged("region").parts] == ["a/b", None]
    rows = pa.Table.from_batches(found.batches("region", "period"))
    assert rows.column_names == ["report", "region", "period"]
    assert rows.column("region").to_pylist() == ["a/b"] * 150 + [None] * 150


def test_a_folder_is_one_collection(folder: Path) -> None:
    checked(hush.read(folder))
    checked(hush.read(f"{folder}/"))
    checked(hush.read(f"file://{folder}"))
    checked(hush.read([folder / "period=2026-01", str(folder / "period=2026-02")]))


@pytest.mark.parametrize("pattern", ["*", "**", "**/*.parquet", "*/*/*.parquet", "period=*/*", "*/region=*/part-?.*"])
def test_a_pattern_is_one_collection(folder: Path, pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checked(hush.read(f"{folder}/{pattern}"))
    checked(hush.read(folder / pattern))
    monkeypatch.chdir(folder)
    checked(hush.read(pattern))
    if "?" not in pattern:
        checked(hush.read(f"file://{folder}/{pattern}"))


def test_a_pattern_takes_some(folder: Path) -> None:
    some = hush.read(f"{folder}/**/part-[1-9].parquet")
    assert isinstance(some, ReportDataset)
    assert some.n == 50
    assert hush.read(f"{folder}/period=2026-0[2]").n == 150  # type: ignore[union-attr]


def test_a_name_like_a_pattern_is_a_file(tmp_path: Path) -> None:
    put(tmp_path / "r[1].parquet", REPORTS)
    put(tmp_path / "r1.parquet", REPORTS[:7])
    found = hush.read(tmp_path / "r[1].parquet")
    assert isinstance(found, ReportFile)
    assert found.n == 300
    assert [str(each) for each in listed(tmp_path / "r[1].parquet")] == [str(tmp_path / "r[1].parquet")]
    assert hush.read(f"{tmp_path}/r[0-9].parquet").n == 7  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["mock", "subtree"])
@pytest.mark.parametrize("pattern", ["", "/", "/*", "/**/*.parquet", "/period=*/region=*/part-?.parquet"])
def test_other_filesystems_are_read_like_this_one(folder: Path, name: str, pattern: str) -> None:
    system, given, root = filesystems()[name]
    in_memory(folder, system, "deep/all")
    checked(hush.read(root + pattern, filesystem=given))


@pytest.mark.parametrize("pattern", ["", "/", "/*", "/**/*.parquet"])
def test_filesystems_of_fsspec_are_taken_by_themselves_and_by_address(folder: Path, pattern: str) -> None:
    ours = memory()
    in_memory(folder, fs.PyFileSystem(fs.FSSpecHandler(ours)), "/far/all")
    checked(hush.read(f"/far/all{pattern}", filesystem=ours))
    checked(hush.read(f"/far/all{pattern}", filesystem=fs.PyFileSystem(fs.FSSpecHandler(ours))))
    found = hush.read(f"memory://far/all{pattern}")
    checked(found)
    assert isinstance(found, ReportDataset)
    assert all(str(place).startswith("memory://far/all/period=") for place in found.places)
    again = pickle.loads(pickle.dumps(found))
    checked(again)


def test_one_remote_file_is_what_it_holds(tmp_path: Path) -> None:
    ours = memory()
    for name, thing in {"s.json": SPEC, "a.hush": TOTAL, "d.json": SPEC.domain}.items():
        hush.write(tmp_path / name, thing)
        ours.pipe(f"/x/{name}", (tmp_path / name).read_bytes())
        assert hush.read(f"memory://x/{name}") == thing
    ours.pipe("/x/r.parquet", put(tmp_path / "r.parquet", REPORTS).read_bytes())
    found = hush.read("memory://x/r.parquet")
    assert isinstance(found, ReportFile)
    assert str(found.path) == "memory://x/r.parquet"
    assert found.aggregate() == TOTAL
    both = hush.read(["memory://x/r.parquet", "memory://x/a.hush"])
    assert isinstance(both, ReportDataset)
    assert both.aggregate() == TOTAL + TOTAL


@pytest.mark.parametrize("kind", [pa.binary(1), pa.binary(), pa.large_binary(), pa.binary_view()], ids=str)
@pytest.mark.parametrize("form", ["arrow", "feather", "arrows"])
@pytest.mark.parametrize("packed", [None, "zstd"])
def test_files_and_streams_of_arrow_are_report_files(tmp_path: Path, form: str, kind: Any, packed: str | None) -> None:
    reports = REPORTS.copy()
    reports[:5] = 0
    cells = pa.array([bytes(each) for each in reports.reshape(-1, 1).view(np.uint8)], kind)
    half = pa.array(np.arange(300) % 2).dictionary_encode()
    table = pa.table({"report": cells, "half": half}).replace_schema_metadata({"hush.spec": SPEC.to_json()})
    path, options = tmp_path / f"r.{form}", pa.ipc.IpcWriteOptions(compression=packed)
    opened = pa.ipc.new_stream if form == "arrows" else pa.ipc.new_file
    with pa.OSFile(str(path), "wb") as sink, opened(sink, table.schema, options=options) as out:
        out.write_table(table, max_chunksize=70)
    assert form_of(place_of(path)) == (STREAM if form == "arrows" else ARROW)
    found = hush.read(path)
    assert isinstance(found, ReportFile)
    assert (found.spec, found.n, found.kept, found.randomness) == (SPEC, 300, ("half",), "unknown")
    assert found.aggregate() == SPEC.aggregate(reports)
    assert (found.reports() == reports).all()
    dataset = hush.read([path])
    assert isinstance(dataset, ReportDataset)
    assert dataset.merged("half").parts[1] == SPEC.aggregate(reports[1::2])
    path.write_bytes(path.read_bytes()[:-40])
    refused(ParameterError, rf"input must be a readable Arrow .* got '.*r.{form}'", path)


def test_an_arrow_file_without_rows(tmp_path: Path) -> None:
    schema = pa.schema([("report", pa.binary(1))], {"hush.spec": SPEC.to_json()})
    with pa.OSFile(str(tmp_path / "r.arrow"), "wb") as sink, pa.ipc.new_file(sink, schema):
        pass
    found = hush.read(tmp_path / "r.arrow")
    assert isinstance(found, ReportFile)
    assert (found.n, found.aggregate().n, found.reports().size) == (0, 0, 0)


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_what_other_programs_wrote_again_is_read(tmp_path: Path, kind: Any) -> None:
    reports = np.append(REPORTS, np.zeros(20, REPORTS.dtype))
    pq.write_table(pa.table({"report": column_of(reports).cast(kind)}), tmp_path / "r.parquet")
    with pytest.raises(SpecError, match="must carry a spec in its metadata"):
        hush.read(tmp_path / "r.parquet")
    for path in (tmp_path / "r.parquet", tmp_path):
        found = hush.read(path, spec=SPEC)
        assert found.aggregate() == SPEC.aggregate(reports)  # type: ignore[union-attr]
    pq.write_table(pa.table({"report": pa.array([b"\0", b"\0\0"], kind)}), tmp_path / "r.parquet")
    with pytest.raises(ReportError, match=r"r\.parquet must have 1 bytes each, got 2 bytes at position 1"):
        hush.read(tmp_path / "r.parquet", spec=SPEC).aggregate()  # type: ignore[union-attr]


def test_zero_rows_one_row_and_saved_aggregates_are_parts(tmp_path: Path) -> None:
    put(tmp_path / "none.parquet", REPORTS[:0])
    put(tmp_path / "one.parquet", REPORTS[:1])
    hush.write(tmp_path / "rest.hush", SPEC.aggregate(REPORTS[1:]))
    found = hush.read([tmp_path / "none.parquet", tmp_path / "one.parquet", tmp_path / "rest.hush"])
    assert isinstance(found, ReportDataset)
    assert found.n == 1
    assert found.aggregate() == TOTAL
    with pytest.raises(ParameterError, match=r"^by needs reports"):
        found.merged("period")


def tallied(*given: Any, **more: Any) -> Any:
    return hush.read(*given, **more).aggregate()  # type: ignore[union-attr]


def refused(error: type[Exception], words: str, *given: Any, **more: Any) -> str:
    with pytest.raises(error, match=words) as caught:
        tallied(*given, **more)
    return str(caught.value)


def test_what_is_no_collection_is_refused(folder: Path, tmp_path: Path) -> None:
    refused(ParameterError, r"^path must be a file that exists", tmp_path / "nowhere")
    refused(ParameterError, r"^reports must match at least one file, got '.*/\*\.orc'", f"{folder}/*.orc")
    refused(ParameterError, r"^reports must match at least one file", f"{tmp_path}/nowhere/*.parquet")
    refused(ParameterError, r"^reports must name at least one file", [])
    refused(ParameterError, r"^reports must be a file that exists, or a folder", [tmp_path / "nowhere"])
    (tmp_path / "empty" / ".git").mkdir(parents=True)
    (tmp_path / "empty" / ".git" / "x").write_text("x")
    refused(ParameterError, r"^reports must be a file, or a folder with files in it, got '.*empty', which has none",
            tmp_path / "empty")  # fmt: skip
    (folder / "notes.txt").write_text("CANARY")
    said = refused(ParameterError, r"^input must be a readable Parquet file of reports.*notes\.txt", folder)
    assert "CANARY" not in said
    os.mkfifo(tmp_path / "pipe")
    refused(ParameterError, r"^reports must be a file that exists", [tmp_path / "pipe"])


def test_what_is_no_path_is_refused(folder: Path) -> None:
    frame = pa.table({"report": [b"123456789"]})
    words = "^reports must be a path, a URI, or a list of them, got "
    assert "spec.aggregate" in refused(ParameterError, words, frame)
    for nothing in (None, 7, [None], [folder, 7]):
        assert "name a file" in refused(ParameterError, words, nothing)


def test_reports_of_another_size_are_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"report": column_of(made())}), tmp_path / "r.parquet")
    other = hush.Spec(hush.OUE(k=17, epsilon=1.0))
    words = (
        r"^input must have a column 'report' of 3-byte binaries, as OUE has, got fixed_size_binary\[1\] in .*; check"
    )
    refused(ReportError, words, tmp_path / "r.parquet", spec=other)
    pq.write_table(pa.table({"value": [1]}), tmp_path / "v.parquet")
    refused(ReportError, "got none in .*; write it with", tmp_path / "v.parquet", spec=other)


def test_the_same_file_twice_is_refused(folder: Path, tmp_path: Path) -> None:
    one = folder / "period=2026-01" / "region=a%2Fb" / "part-0.parquet"
    refused(ParameterError, r"^reports must be different files", [folder, one])
    refused(ParameterError, r"^reports must be different files", [f"{folder}/*", one.as_uri()])
    (folder / "period=2026-02" / "region=a%2Fb").mkdir()
    (folder / "period=2026-02" / "region=a%2Fb" / "link.parquet").symlink_to(one)
    refused(ParameterError, r"^reports must be different files, got '.*part-0\.parquet' and '.*link\.parquet'", folder)
    ours = memory()
    ours.pipe("/x/r.parquet", one.read_bytes())
    refused(ParameterError, "must be different files", ["memory://x/r.parquet", "memory://x/*.parquet"])


def test_a_link_back_to_a_folder_above_is_not_followed(folder: Path) -> None:
    (folder / "period=2026-01" / "region=a%2Fb" / "up").symlink_to(folder)
    assert len(listed(folder)) == 3


def test_files_of_another_spec_are_named(folder: Path) -> None:
    other = hush.Spec(hush.OUE(k=4, epsilon=1.5), SPEC.domain)
    put(folder / "period=2026-02" / "region=z" / "other.parquet", made(other), other)
    words = r"^reports .*other\.parquet must have the spec of .*part-0\.parquet \([0-9a-f]{12}\)"
    refused(SpecError, words, folder)
    refused(SpecError, r"^reports .*part-0\.parquet must have the spec of the spec that is given", folder, spec=other)


def test_folders_that_name_other_columns_are_refused(folder: Path, tmp_path: Path) -> None:
    lone = put(tmp_path / "lone.parquet", made())
    words = r"^reports .*lone\.parquet must lie in folders that name the same columns as those of .*, got none"
    refused(ParameterError, words, [folder, lone])
    other = put(tmp_path / "year=2026" / "region=a" / "r.parquet", made())
    refused(ParameterError, r"\(period, region\), got region, year", [folder, other])


def test_a_column_that_a_folder_names_too_must_say_the_same(tmp_path: Path) -> None:
    root = tmp_path / "all"
    right = pa.table({"period": ["3"] * 100})
    put(root / "period=3" / "a.parquet", made(), kept=right)
    put(root / "period=3" / "b.parquet", made(), kept=pa.table({"period": [3] * 100}))
    put(root / "period=3" / "c.parquet", made(n=0))
    found = hush.read(root)
    assert isinstance(found, ReportDataset)
    assert found.kept == ("period",)
    assert {name: part.n for name, part in found.merged("period").parts.items()} == {"3": 200}
    for cells in (["4"] * 100, ["3"] * 99 + ["4"], ["3"] * 99 + [None]):
        put(root / "period=3" / "d.parquet", made(), kept=pa.table({"period": cells}))
        words = r"^the column 'period' must be 3 in all rows of a file in the folder period=3.*d\.parquet"
        refused(ReportError, words, root)


@pytest.mark.parametrize("place", ["middle", "end", "footer", "start"])
def test_torn_files_are_named(folder: Path, place: str) -> None:
    path = folder / "period=2026-02" / "region=__HIVE_DEFAULT_PARTITION__" / "part-0.parquet"
    data = bytearray(path.read_bytes())
    if place == "middle":
        data[60] ^= 1
    cut = {"middle": len(data), "end": len(data) - 1, "footer": len(data) // 2, "start": 3}[place]
    path.write_bytes(data[:cut])
    words = r"^input must be a readable Parquet file of reports.*period=2026-02.*part-0\.parquet"
    said = refused(ParameterError, words, folder)
    assert ("CRC" in said) == (place == "middle")
    assert "fetch it or write it again" in said or place == "start"


def test_what_cannot_be_reached_is_named() -> None:
    words = r"^reports must be a file or folder that can be read, got 'hdfs://nowhere\.invalid/x'"
    refused(ParameterError, words, "hdfs://nowhere.invalid/x")
    refused(ParameterError, r"^reports must begin with file://, s3://.* got gopher://", "gopher://x/y.parquet")
    refused(ParameterError, r"^filesystem must be one of pyarrow\.fs or of fsspec", "x", filesystem="s3")


def test_a_filesystem_that_fails_is_named() -> None:
    class Failing(fs.FileSystemHandler):  # type: ignore[misc]
        def __getattribute__(self, name: str) -> Any:
            if name in ("get_file_info", "get_file_info_selector", "open_input_file"):
                raise OSError(13, "no such luck")
            return object.__getattribute__(self, name)

        def get_type_name(self) -> str:
            return "failing"

    for abstract in Failing.__abstractmethods__:
        setattr(Failing, abstract, lambda *_: None)
    Failing.__abstractmethods__ = frozenset()
    words = r"^reports must be a file or folder that can be read, got 'a/b'; the filesystem says: no such luck"
    refused(ParameterError, words, "a/b", filesystem=fs.PyFileSystem(Failing()))


@pytest.mark.parametrize("pattern", ["", "/**", "/**/*.parquet", "/**/**/*.parquet"])
def test_links_that_lead_back_are_passed_over(pattern: str, tmp_path: Path) -> None:
    """Two of them in one folder would double the paths at every step, up to the longest that there can be."""
    put(tmp_path / "d" / "in" / "a.parquet", made())
    for name in ("l1", "l2", "in/l3", "in/l4"):
        (tmp_path / "d" / name).symlink_to("." if "/" not in name else "..")
    assert len(listed([f"{tmp_path}/d{pattern}"])) == 1


def test_a_folder_behind_a_link_is_read(tmp_path: Path) -> None:
    put(tmp_path / "elsewhere" / "a.parquet", made())
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "link").symlink_to(tmp_path / "elsewhere")
    for pattern in ("", "/**", "/**/*.parquet"):
        assert [Path(place.path).name for place in listed([f"{tmp_path}/d{pattern}"])] == ["a.parquet"]


def test_a_file_counts_once_on_whatever_filesystem(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    (tmp_path / "sub").mkdir()
    path = str(put(tmp_path / "a.parquet", made()))
    os.link(path, tmp_path / "hard.parquet")
    (tmp_path / "soft.parquet").symlink_to(path)
    local = fsspec.filesystem("file")
    wrapped = fs.PyFileSystem(fs.FSSpecHandler(local))
    subtree = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    others = [str(tmp_path / name) for name in ("sub/../a.parquet", "hard.parquet", "soft.parquet")]
    for system in (local, wrapped, None):
        assert hush.read(path, filesystem=system).n == 100  # type: ignore[union-attr]
        for other in [*others, f"{tmp_path}//a.parquet", f"file://{path}"]:
            with pytest.raises(ParameterError, match="must be different files"):
                listed([path, other], system)
    for other in ("sub/../a.parquet", "hard.parquet", "soft.parquet", "./a.parquet"):
        with pytest.raises(ParameterError, match="must be different files"):
            listed(["a.parquet", other], subtree)
    mock = fs._MockFileSystem()
    in_memory(tmp_path, mock, "x")
    for other in ("x/sub/../a.parquet", "x//a.parquet", "./x/a.parquet"):
        with pytest.raises(ParameterError, match="must be"):
            listed(["x/a.parquet", other], mock)
    with pytest.raises(ParameterError, match="must be different files"):
        listed([path, f"local://{path}"])


@pytest.mark.parametrize("said", ["true", "True"])
def test_a_flag_is_what_its_folder_says(said: str, tmp_path: Path) -> None:
    put(tmp_path / f"g={said}" / "a.parquet", made(), kept=pa.table({"g": [True] * 100}))
    assert {cell: part.n for cell, part in hush.read(tmp_path).merged("g").parts.items()} == {said: 100}  # type: ignore[union-attr]
    put(tmp_path / "g=false" / "a.parquet", made(), kept=pa.table({"g": [True] * 100}))
    with pytest.raises(ReportError, match="must be false in all rows of a file in the folder g=false"):
        hush.read(tmp_path)


def test_an_aggregate_does_not_stand_in_the_folder_of_its_reports(tmp_path: Path) -> None:
    path = put(tmp_path / "d" / "a.parquet", made())
    hush.write(tmp_path / "d" / "total.hush", hush.read(path).aggregate())  # type: ignore[union-attr]
    with pytest.raises(ParameterError, match=r"must hold reports or saved aggregates .* people would count twice"):
        hush.read(tmp_path / "d")
    with pytest.raises(ParameterError, match="not both: people would count twice"):
        hush.read(f"{tmp_path}/d/*")
    assert hush.read([path, tmp_path / "d" / "total.hush"]).aggregate().n == 200  # type: ignore[union-attr]
