"""What a small file asks for stays small: labels, specs, canonical JSON."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

import hush
import hush.utility
from hush.canonical import canonical, pieces
from hush.errors import HushError, ParameterError
from hush.files import footer
from hush.files import reports as report_files
from hush.mechanisms import registry
from hush.people.coding import Coder
from hush.people.index import Index
from hush.utility import BalancedLH, total_error, uHR
from tests.conftest import NAMES, UTILITY, example

pytestmark = pytest.mark.boundary

MEGABYTE = 1 << 20
LARGEST = 10**8


@contextmanager
def within(size: float) -> Iterator[None]:
    """At most so many bytes are taken at once."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < size
    finally:
        tracemalloc.stop()


class Counted(str):
    """A label that counts how often it is compared."""

    compared = 0
    __slots__ = ()
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)  # type: ignore[no-any-return]


# Labels.

LABELS = st.one_of(st.text(max_size=3), st.integers(-3, 3), st.floats(-3, 3), st.sampled_from([2.0**61, 1.0, 2.0**122]))


@given(st.lists(LABELS, max_size=30), LABELS)
def test_an_index_finds_what_a_dict_finds(items: list[Any], other: Any) -> None:
    first: dict[Any, int] = {}
    twice = next(((first[item], i) for i, item in enumerate(items) if first.setdefault(item, i) != i), None)
    first = {item: i for i, item in reversed(list(enumerate(items)))}
    index = Index(items)
    assert [index.place(item) for item in [*items, other]] == [first.get(item) for item in [*items, other]]
    assert index.repeated() == twice


def test_a_repeated_label_is_found_without_comparing_all_with_all() -> None:
    labels = [Counted(f"label {i}") for i in range(2000)]
    Counted.compared = 0
    with pytest.raises(ParameterError, match="labels must be distinct, got the same at positions 1999 and 2000"):
        hush.Domain(labels=[*labels, Counted("label 1999")])
    assert Counted.compared < 4 * len(labels)


def test_a_domain_takes_little_beyond_its_labels() -> None:
    labels = [f"label {i}" for i in range(200_000)]
    with within(60 * len(labels)):
        domain = hush.Domain(labels=labels, other="label 7")
    with within(MEGABYTE):
        coder = Coder(domain, "v")
        assert [coder.code(cell) for cell in ("label 199999", None, "nobody's")] == [199_999, -1, -1]


def test_labels_are_found_in_another_process() -> None:
    """Texts have other hashes there."""
    domain = hush.Domain(labels=[f"label {i}" for i in range(100)])
    code = "import pickle, sys; print(pickle.load(sys.stdin.buffer).encode(['label 0', 'label 99']).tolist())"
    for seed in ("1", "2"):
        shown = subprocess.run(
            [sys.executable, "-c", code],
            input=pickle.dumps(domain),
            capture_output=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(hush.__file__).parents[1])},
        )
        assert shown.stdout.strip() == b"[0, 99]"


def test_sensitive_labels_that_are_numbers_travel() -> None:
    domain = hush.Domain(labels=[3, 1, 2, 0], sensitive=[1, 0])
    assert domain.sensitive == (1, 3)
    assert hush.Domain.from_dict(json.loads(json.dumps(domain.to_dict()))) == domain


# Canonical JSON.

PLAIN = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    | st.integers(-(2**53) + 1, 2**53 - 1),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.lists(st.text()),
    max_leaves=20,
)  # fmt: skip


@given(PLAIN)
def test_canonical_json_is_that_of_the_standard(plain: Any) -> None:
    assert canonical(plain) == rfc8785.dumps(plain).decode()


def test_every_letter_is_written_as_the_standard_has_it() -> None:
    letters = [chr(i) for i in range(0x3000) if not 0xD800 <= i < 0xE000] + ["😀", "\u2028"]
    assert canonical(letters) == rfc8785.dumps(letters).decode()


@pytest.mark.parametrize("entries", [0, 1, (1 << 16) - 1, 1 << 16, (1 << 17) + 1])
def test_long_lists_are_written_in_pieces(entries: int) -> None:
    plain = {"labels": [f"ä{i}" for i in range(entries)], "sensitive": list(range(entries)), "size": 2}
    assert "".join(pieces(plain)) == canonical(plain) == rfc8785.dumps(plain).decode()
    assert max(map(len, pieces(plain))) < 10 << 16


# Footers.


@pytest.mark.parametrize("length", [0, 1, 127, 128, 1 << 14, 3 << 20])
def test_a_footer_is_filled_as_arrow_would(tmp_path: Path, length: int) -> None:
    value, ours, theirs = b"x" * length, tmp_path / "ours.parquet", tmp_path / "theirs.parquet"
    for path, written in ((ours, b"the mark"), (theirs, value)):
        with pq.ParquetWriter(path, pa.schema({"report": pa.int64()})) as writer:
            writer.write_table(pa.table({"report": [1, 2]}))
            writer.add_key_value_metadata({b"spec": written})
    footer.fill(ours, b"the mark", [value[: length // 3], value[length // 3 :]])
    assert ours.read_bytes() == theirs.read_bytes()


def test_a_footer_that_no_reader_takes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(footer, "MOST", 1000)
    out = tmp_path / "reports.parquet"
    spec = hush.Spec(hush.GRR(k=300, epsilon=1.0), hush.Domain(labels=[f"label {i}" for i in range(300)]))
    with pytest.raises(ParameterError, match="at most 1,000 bytes"), report_files.writing(out, spec, "secure", "input"):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kept", [None, pa.record_batch({"region": ["north"]})])
def test_a_report_file_has_its_spec_once(tmp_path: Path, kept: Any) -> None:
    out = tmp_path / "reports.parquet"
    spec = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["a", "b", "seldom"]))
    with report_files.writing(out, spec, "secure", "input") as write:
        write(spec.privatize(["a"]), kept)
    assert out.read_bytes().count(spec.to_json().encode()) == 1
    assert b"ARROW:schema" not in out.read_bytes()  # which would hold it again, in letters of base 64
    assert pq.read_table(out).schema.metadata[b"hush.spec"].decode() == spec.to_json()
    assert report_files.read_reports(out).spec == spec
    assert report_files.read_reports(out).randomness == "secure"


KINDS = [pa.string(), pa.bool_(), pa.int8(), pa.uint64(), pa.float32(), pa.float64(), pa.date32(), pa.binary(3)]
KINDS += [pa.large_string(), pa.timestamp("us", "Europe/Berlin"), pa.duration("s")]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_a_kept_column_is_of_its_type_and_the_spec_beside_it(tmp_path: Path, kind: pa.DataType) -> None:
    out, spec = tmp_path / "reports.parquet", hush.Spec(hush.GRR(k=3, epsilon=1.0))
    with report_files.writing(out, spec, "secure", "input") as write:
        write(spec.privatize([0]), pa.record_batch({"kept": pa.array([None], kind)}))
    table = pq.read_table(out)
    assert table.schema.field("kept").type == kind
    assert table.schema.metadata[b"hush.spec"].decode() == spec.to_json()
    assert report_files.read_reports(out).spec == spec


def test_a_report_file_with_a_very_long_spec_is_read(tmp_path: Path) -> None:
    """Parquet readers refuse a footer with more than 100 MB in one piece, unless they are told otherwise."""
    spec = hush.Spec(hush.GRR(k=2, epsilon=1.0), hush.Domain(labels=["a", "b" * 101_000_000]))
    with report_files.writing(tmp_path / "r.parquet", spec, "secure", "shuffled") as write:
        write(spec.mechanism.privatize([0, 1]))
    found = report_files.read_reports(tmp_path / "r.parquet")
    assert (found.spec.hash, found.n) == (spec.hash, 2)


# Specs.


def opened(plain: dict[str, Any]) -> hush.Spec | None:
    """The spec of a mechanism with these parameters, made and then read, or None if it is refused."""
    parameters = {name: value for name, value in plain.items() if name != "mechanism"}
    try:
        made = registry._known[plain["mechanism"]](**parameters)
        spec = hush.Spec.from_json(hush.Spec(made, hush.Domain(size=made.k)).to_json())
    except HushError:
        return None
    assert len(spec.hash) == 64
    assert spec.mechanism.report_dtype.itemsize > 0
    return spec


@pytest.mark.parametrize("k", [10**6, LARGEST])
@pytest.mark.parametrize("name", sorted({*NAMES, *UTILITY}))
def test_a_spec_opens_in_little_memory_whatever_k_is(name: str, k: int) -> None:
    plain = {n: v for n, v in example(name, 100, 1.0).to_dict().items() if n != "thresholds"}
    if "sensitive" in plain:
        plain["sensitive"] = None
    needed = {"UE": {"p"}, "LH": {"g"}, "LHO": {"g"}}.get(name, set())
    unsaid = {n: v for n, v in plain.items() if n in {"mechanism", "k", "epsilon", "delta", *needed}}
    with within(20 * MEGABYTE):
        opened({**plain, "k": k})
        opened({**unsaid, "k": k})


@pytest.mark.parametrize("reveal", ["pair", "alone"])
@pytest.mark.parametrize("z", ["exact", "constant", "paper", "balanced"])
@pytest.mark.parametrize("name", sorted(UTILITY))
def test_few_sensitive_values_of_many_take_little_memory(name: str, z: str, reveal: str) -> None:
    cls = hush.registry()[name]
    few = {n: v for n, v in cls(k=10, epsilon=1.0, sensitive=[1, 5, 9]).to_dict().items() if n != "thresholds"}  # type: ignore[call-arg]
    left = {n: v for n, v in few.items() if n not in ("omega", "p", "g", "coverage", "blocks")}
    with within(20 * MEGABYTE):
        opened({**few, "k": LARGEST, "z": z, "reveal": reveal})
        opened({**left, "k": LARGEST, "z": z, "reveal": reveal})


@pytest.mark.parametrize("blocks", [1, 1024, 2**27])
def test_hadamard_response_and_balanced_hashing_open_with_any_number_of_parts(blocks: int) -> None:
    plain = {"mechanism": "uHR", "k": LARGEST, "epsilon": 1.0, "sensitive": None, "z": "exact", "reveal": "alone"}
    with within(20 * MEGABYTE):
        assert opened({**plain, "theta": None, "blocks": blocks}) is not None
        assert opened({"mechanism": "BalancedLH", "k": LARGEST, "epsilon": 1.0, "g": 99_999_999}) is not None


@pytest.mark.parametrize(("k", "g"), [(10, 3), (10, 10), (1000, 7), (12, 4)])
def test_balanced_buckets_are_counted(k: int, g: int) -> None:
    m = BalancedLH(k=k, epsilon=1.0, g=g)
    held = [int(b - a) for a, b in zip(m.edges[:-1], m.edges[1:], strict=True)]
    assert m.collision == sum(h * (h - 1) for h in held) / (k * (k - 1))


def test_blocks_that_are_chosen_for_all_values_have_the_least_error() -> None:
    draw = random.Random(5)
    for _ in range(20):
        k, epsilon = draw.randrange(3, 300), round(draw.uniform(0.1, 6.0), 2)
        options = [2**i for i in range((2 * k).bit_length())]
        errors = {blocks: total_error(uHR(k=k, epsilon=epsilon, blocks=blocks)) for blocks in options}
        assert errors[uHR(k=k, epsilon=epsilon).blocks] <= min(errors.values()) * (1 + 1e-8)  # type: ignore[index]


@pytest.mark.parametrize("name", ["uUE", "uLH", "uWheel", "uHR", "uRAP", "uSS", "uRR"])
def test_the_constant_z_is_the_least_of_all_sizes(name: str) -> None:
    for s in (2, 3, 10):
        given = {"k": 12, "epsilon": 1.5, "sensitive": range(s), "reveal": "pair"}  # f does not go by z then
        u = hush.registry()[name](**given, z="constant")
        exact = hush.registry()[name](**given, z="exact")
        sizes = exact._revelation.shape.possible  # type: ignore[attr-defined]
        if exact.base == u.base:  # type: ignore[attr-defined]
            assert u._revelation.constant == min(exact._revelation._of(size) for size in sizes)  # type: ignore[attr-defined]


def test_a_spec_of_kept_answers_is_read_without_labels(tmp_path: Path) -> None:
    """Its inner mechanism is no mechanism of a spec with a domain."""
    spec = hush.Spec(hush.longitudinal.Memoized(mechanism=hush.OUE(k=5, epsilon=1.0)))
    (tmp_path / "spec.json").write_text(spec.to_json(), encoding="utf-8")
    assert hush.read(tmp_path / "spec.json") == spec
