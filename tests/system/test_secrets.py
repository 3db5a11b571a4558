"""A canary goes in wherever people's values may, and is found in no message, log, metadata or temporary file."""

from __future__ import annotations

import gzip
import importlib
import json
import logging
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, get_type_hints

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

import hush
from hush import longitudinal, multidim, utility
from hush.attacks import outcome
from hush.audit.collections import TupleTarget
from hush.cli import app
from hush.cli.asked.paths import ENDINGS
from hush.files import order, randomizing, scratch
from hush.mechanisms import numeric
from hush.planning.capri import population
from tests.system.support import COIN

CANARY = "SECRET-HIV-canary"
TRACES = [CANARY, "SECRET", f"str{32 * len(CANARY)}", f"U{len(CANARY)}", f"S{len(CANARY)}", f"bytes{8 * len(CANARY)}"]
"""What tells of it: itself, its beginning, and the ways in which NumPy writes its length."""


def told(text: str) -> list[str]:
    return [trace for trace in TRACES if trace in text]


# Values in Python.

COLUMNS: dict[str, Callable[[], Any]] = {
    "text": lambda: CANARY,
    "bytes": lambda: CANARY.encode(),
    "scalar": lambda: np.str_(CANARY),
    "list": lambda: ["cat", CANARY],
    "tuple": lambda: ("cat", CANARY),
    "set": lambda: {CANARY},
    "dict": lambda: {CANARY: 1},
    "generator": lambda: (each for each in ["cat", CANARY]),
    "array": lambda: np.array(["cat", CANARY]),
    "bytes array": lambda: np.array([b"cat", CANARY.encode()]),
    "objects": lambda: np.array(["cat", CANARY], object),
    "masked": lambda: np.ma.array(["cat", CANARY], mask=[True, False]),
    "hidden": lambda: np.ma.array(["cat", CANARY], mask=[False, True]),
    "records": lambda: np.array([(1, CANARY)], [("id", int), ("what", f"U{len(CANARY)}")]),
    "Series": lambda: pd.Series(["cat", CANARY]),
    "DataFrame": lambda: pd.DataFrame({CANARY: ["cat", CANARY]}),
    "Arrow": lambda: pa.array(["cat", None, CANARY]),
    "table": lambda: pa.table({"pet": ["cat", CANARY]}),
    "dict in a list": lambda: ["a", {"diagnosis": CANARY}],
    "set in a list": lambda: ["a", {CANARY}],
    "tuple in a list": lambda: ["a", (CANARY, 1)],
    "rows": lambda: [["cat", CANARY], ["dog", CANARY]],
    "twice": lambda: [CANARY, CANARY],
    "among numbers": lambda: [0, CANARY],
}

GRR = hush.GRR(k=3, epsilon=1.0)
PETS = hush.Domain(labels=["cat", "dog", "fish"])
CLIENT = longitudinal.LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0).client()
ENTRIES: dict[str, Callable[[Any], Any]] = {
    "labels": PETS.encode,
    "other": hush.Domain(labels=["cat", "dog"], other="other").encode,
    "numbers": hush.Domain(3).encode,
    "domain": lambda given: hush.Domain(labels=given),
    "domain from a dict": lambda given: hush.Domain.from_dict({"labels": given}),
    "dict of a domain": hush.Domain.from_dict,
    "spec": hush.Spec(GRR, PETS).privatize,
    "spec of numbers": hush.Spec(GRR).privatize,
    "spec from a dict": hush.Spec.from_dict,
    "spec from JSON": hush.Spec.from_json,
    "GRR": GRR.privatize,
    "OLH": hush.OLH(k=3, epsilon=1.0).privatize,
    "uRR": utility.uRR(k=3, epsilon=1.0, sensitive=[0]).privatize,
    "Duchi": numeric.Duchi(low=0, high=1, epsilon=1.0).privatize,
    "clip": numeric.Duchi(low=0, high=1, epsilon=1.0).clip,
    "aggregate": GRR.aggregate,
    "aggregate of a spec": hush.Spec(GRR, PETS).aggregate,
    "aggregate of numbers": numeric.Duchi(low=0, high=1, epsilon=1.0).aggregate,
    "aggregate of tuples": multidim.SPL(sizes=[2, 3], epsilon=1.0).aggregate,
    "bytes of an aggregate": hush.Aggregate.from_bytes,
    "likelihood": lambda given: GRR.log_prob(GRR.privatize([0, 1]), given),
    "attack": GRR.attack,
    "truth": lambda given: outcome.truth("values", given, 3, 2),
    "tuples": multidim.SPL(sizes=[2, 3], epsilon=1.0).privatize,
    "histories": longitudinal.LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0).collect,
    "repetitions": longitudinal.Repeated(GRR, 2).collect,
    "client": CLIENT.report,
    "state": lambda given: CLIENT.protocol.client(state={**CLIENT.state, "answers": given}),
    "answers": lambda given: CLIENT.protocol.client(state={**CLIENT.state, "answers": {CANARY: CANARY}}),
    "collaboration": lambda given: utility.collaborate(
        utility.uSS, k=3, epsilon=1.0, sensitive=[0], values=given, counts=given
    ),
    "collaborating values": lambda given: utility.collaborate(
        utility.uSS, k=3, epsilon=1.0, sensitive=[0], values=given
    ),
    "amounts": lambda given: population(values=given),
    "audited tuple": TupleTarget(multidim.SPL(sizes=[2, 3], epsilon=1.0)).index,
}


@pytest.mark.parametrize("entry", ENTRIES)
def test_values_are_in_no_error(
    entry: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for name, made in COLUMNS.items():
        said = ""
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                ENTRIES[entry](made())
            except Exception as error:
                said = "".join(traceback.format_exception(error)) + repr(error)
        said += " ".join(str(each.message) for each in warned)
        assert not told(said), f"{name}: {said}"
    shown = capfd.readouterr()
    assert not told(caplog.text + shown.out + shown.err)


# Files and options of the command.

FILES: dict[str, bytes] = {
    "people.csv": f"pet,id\ncat,1\n{CANARY},2\n".encode(),
    "wide.csv": f"id,pet\n1,cat\n2,dog,{CANARY}\n".encode(),
    "open.csv": f'id,pet\n1,"{CANARY}\n2,dog\n'.encode(),
    "headless.csv": f"{CANARY},1\n{CANARY},2\n".encode(),
    "latin.csv": f"pet\n{CANARY} é\n".encode("latin-1"),
    "counted.csv": f"label,value,time,count\n{CANARY},{CANARY},{CANARY},{CANARY}\nb,1,2,3\n".encode(),
    "repeated.csv": f"label,value,time,count\n{CANARY},1,{CANARY},3\n{CANARY},1,{CANARY},3\n".encode(),
    "packed.csv.gz": gzip.compress(f"pet\ncat\n{CANARY}\n".encode()),
    "plain.csv.gz": f"{CANARY},pet\ncat,{CANARY}\n".encode(),
    "torn.csv.gz": gzip.compress(f"pet\n{CANARY}\n".encode())[:-9],
    "text.parquet": f"{CANARY}\n".encode() * 9,
    "list.json": json.dumps([CANARY, CANARY]).encode(),
    "records.json": json.dumps([{"name": CANARY, "pet": CANARY}, {"name": CANARY}]).encode(),
    "object.json": json.dumps({CANARY: {"pet": CANARY}}).encode(),
    "nested.json": json.dumps({"hush": 1, "mechanism": CANARY, "domain": {"labels": [CANARY, CANARY]}}).encode(),
    "broken.json": f'{{"pet": "{CANARY}"'.encode(),
    "spaces.txt": f"cat\n {CANARY}\n".encode(),
    "twice.txt": f"{CANARY}\ncat\n{CANARY}\n".encode(),
    "blank.txt": f"{CANARY}\n\n{CANARY}\n".encode(),
    "people.hush": f"{CANARY} and more than a head of bytes, so that it is looked at\n".encode() * 3,
}


def _parquet() -> Iterator[tuple[str, pa.Table]]:
    yield "people.parquet", pa.table({"pet": ["cat", CANARY, None], "id": [1, 2, 3]})
    yield "coded.parquet", pa.table({"pet": pa.array(["cat", CANARY]).dictionary_encode()})
    yield "bytes.parquet", pa.table({"pet": pa.array([b"cat", CANARY.encode() + b"\xff"])})
    yield "lists.parquet", pa.table({"pet": [["cat"], [CANARY]]})
    yield "report.parquet", pa.table({"report": [CANARY]})
    yield "spec.parquet", pa.table({"report": [CANARY]}).replace_schema_metadata({"hush.spec": json.dumps([CANARY])})


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(order, "MEMORY", 1 << 10)  # so that rows wait in temporary files
    monkeypatch.setattr(randomizing, "READ", 50)
    for name, data in FILES.items():
        Path(name).write_bytes(data)
    for name, table in _parquet():
        pq.write_table(table, name)
    Path("labels.txt").write_text("cat\ndog\n")
    Path("good.csv").write_text("pet,id\ncat,1\n")
    Path("coin.py").write_text(COIN + TELLING)
    Path("spec.json").write_text(hush.Spec(GRR, PETS).to_json())
    pair = multidim.SPL(sizes=[3, 3], epsilon=1.0)
    Path("pairs.json").write_text(hush.Spec(pair, {"pet": PETS, "id": PETS}).to_json())
    return tmp_path


@pytest.fixture
def waiting(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary files are kept for us to read."""
    kept = tmp_path_factory.mktemp("waiting")

    def keeping(*, dir: Path, buffering: int) -> IO[bytes]:
        return (kept / f"{len(list(kept.iterdir()))}").open("w+b", buffering)

    monkeypatch.setattr(scratch, "tempfile", SimpleNamespace(TemporaryFile=keeping, gettempdir=tempfile.gettempdir))
    return kept


def silent(*arguments: object) -> int:
    """Run the command with tracebacks on; nothing that it prints or leaves behind may tell of the canary."""
    before = set(Path().rglob("*"))
    result = CliRunner(env={"HUSH_TRACEBACK": "1"}).invoke(app, [str(each) for each in arguments])
    assert not told(result.output + str(result.exception)), f"{arguments}: {result.output}"
    for path in set(Path().rglob("*")) - before:
        if path.is_file():
            assert CANARY.encode() not in path.read_bytes(), f"{arguments}: {path}"
            path.unlink()
    return result.exit_code


GRR_1 = ("--mechanism", "GRR", "--epsilon", 1)
BOTH = ("--column", "pet", "--column", "id", "--mechanism", "SPL", "--epsilon", 1)
PET = ("--column", "pet", "--domain", "labels.txt")
LGRR = ("--mechanism", "LGRR", "--epsilon-permanent", 2, "--epsilon-report", 1)
NO_CERTIFICATE = ("--certificate", "labels.txt", "--certificate-key", "labels.txt")
SERVED = ("--store", "served.db", "--port", 0)
RELAYED = (*SERVED, "--collector", "http://127.0.0.1:9", "--collections", "0" * 32)
CALLS: dict[tuple[str, str], list[tuple[object, ...]]] = {
    ("privatize", "sources"): [
        ("--column", "pet", *GRR_1, *how, "-o", "out.parquet")
        for how in (("--domain", "labels.txt"), ("--domain", "labels.txt", "--other", "other"), ("--k", 3))
    ]
    + [("--column", "pet", "--mechanism", "Duchi", "--low", 0, "--high", 1, "--epsilon", 1, "-o", "out.parquet")]
    + [(*BOTH, "--domain", "labels.txt", *how, "-o", "out.parquet") for how in ((), ("--other", "other"))],
    ("privatize", "--domain"): [("good.csv", *how, "-o", "out.parquet") for how in (("--column", "pet", *GRR_1), BOTH)],
    ("privatize", "--spec"): [("good.csv", "--column", "pet", "-o", "out.parquet")],
    ("privatize", "--temporary"): [("good.csv", "--column", "pet", *GRR_1, "--k", 3, "-o", "out.parquet")],
    ("privatize", "--clients"): [
        ("good.csv", *PET, *how, "--person", "id", "--in-period", "2026-03", "-o", "out.parquet")
        for how in (GRR_1, LGRR)
    ],
    ("estimate", "sources"): [(), ("--spec", "spec.json"), ("--by", "pet")],
    ("estimate", "--spec"): [("people.hush",)],
    ("simulate", "--counts"): [GRR_1, ("--spec", "spec.json"), ("--mechanism", "Duchi", "--low", 0, "--high", 9)],
    ("simulate", "--spec"): [("--dataset", "zipf", "--runs", 1)],
    ("simulate", "--people"): [("--spec", "pairs.json", "--runs", 1), ("--spec", "spec.json", "--runs", 1)],
    ("budget", "--counts"): [("--mechanism", "GRR", "--threshold", 0.1)],
    ("budget", "--earlier"): [("--mechanism", "GRR", "--threshold", 0.1)],
    ("capacity", "--counts"): [("--mechanism", "GRR", "--cap", 9, "--probability", 0.1)],
    ("capacity", "--earlier"): [("--mechanism", "GRR", "--cap", 9, "--probability", 0.1)],
    ("capacity", "--history"): [("--mechanism", "GRR", "--cap", 9, "--probability", 0.1, "--first", 1)],
    ("plan", "--domain"): [("--epsilon", 1)],
    ("plan", "--groups"): [("--epsilon", 1, "--k", 3)],
    ("combine", "sources"): [(), ("--classes",)],
    ("uldp", "--domain"): [("--epsilon", 1, "--sensitive", "cat")],
    ("audit", "--spec"): [()],
    ("audit", "--checkpoint"): [("--mechanism", "GRR", "--k", 3, "--epsilon", 1, "--trials", 1000)],
    ("serve", "--certificate"): [(*SERVED, "--certificate-key", "labels.txt")],
    ("serve", "--certificate-key"): [(*SERVED, "--certificate", "labels.txt")],
    ("serve", "--backups"): [(*SERVED, *NO_CERTIFICATE)],
    ("relay", "--certificate"): [(*RELAYED, "--key-file", "labels.txt", "--certificate-key", "labels.txt")],
    ("relay", "--certificate-key"): [(*RELAYED, "--key-file", "labels.txt", "--certificate", "labels.txt")],
    ("relay", "--key-file"): [(*RELAYED, *NO_CERTIFICATE)],
}
"""How each command is called beside a file that it reads: all of them, see below. No server comes to serve."""


def _read_by_commands() -> set[tuple[str, str]]:
    """Every path that a command takes, but for those that it only writes."""
    group: Any = typer.main.get_command(app)
    commands: dict[str, Any] = {name: group.get_command(None, name) for name in group.list_commands(None)}
    callbacks = {name: getattr(importlib.import_module(f"hush.cli.{name}"), name) for name in commands}
    return {
        (name, each.opts[0])
        for name, command in commands.items()
        for each in command.params
        if ("Path" in str(get_type_hints(callbacks[name]).get(each.name)) or _names_files(str(each.metavar)))
        and each.opts[0] not in {*ENDINGS, "--output"} - {"--checkpoint"}
    }


def _names_files(metavar: str) -> bool:
    """Whether a text is the name of a file, or of many."""
    return "]FILE" in metavar or metavar in ("INPUT…", "REPORTS…")


def test_every_file_that_a_command_reads_is_tried() -> None:
    asked = {each for each in _read_by_commands() if each[0] != "workbench"}  # which reads no file of people
    assert set(CALLS) == asked


@pytest.mark.parametrize(("command", "option"), CALLS, ids="".join)
@pytest.mark.usefixtures("folder")
def test_files_of_people_are_in_no_message(command: str, option: str, waiting: Path) -> None:
    for file in sorted(path.name for path in Path().iterdir()):
        named = (file,) if not option.startswith("-") else (option, file)
        for more in CALLS[command, option]:
            assert silent(command, *named, *more) in (0, 1, 2, 3), (file, more)
    assert all(CANARY.encode() not in path.read_bytes() for path in waiting.iterdir())


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--strip",),
        ("--ignore-case",),
        ("--clip",),
        ("--keep-order",),
        ("--json",),
        ("--keep", "id"),
        ("--temporary", "."),
        ("--spec-out", "s.json"),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("folder")
def test_options_tell_nothing(options: tuple[str, ...], caplog: pytest.LogCaptureFixture, waiting: Path) -> None:
    caplog.set_level(logging.DEBUG)
    many = "pet,id\n" + f"cat,1\n{CANARY},2\n,3\n" * 1000
    Path("many.csv").write_text(many)
    usual = ("privatize", "many.csv", "--column", "pet", "--domain", "labels.txt", *GRR_1, "-o", "out.parquet")
    assert silent(*usual, "--other", "other", *options) == (2 if "--clip" in options else 0)
    assert silent(*usual, *options) == 2
    assert not told(caplog.text)
    assert list(waiting.iterdir()) or options in {("--clip",), ("--keep-order",)}
    assert all(CANARY.encode() not in path.read_bytes() for path in waiting.iterdir())


@pytest.mark.usefixtures("folder")
def test_what_is_kept_waits_encrypted(waiting: Path) -> None:
    Path("many.csv").write_text("pet,what\n" + f"cat,{CANARY}\n" * 1000)
    usual = ("privatize", "many.csv", "--column", "pet", "--domain", "labels.txt", *GRR_1, "-o", "out.parquet")
    result = CliRunner().invoke(app, [str(each) for each in (*usual, "--keep", "what")])
    assert result.exit_code == 0, result.output
    files = list(waiting.iterdir())
    assert sum(path.stat().st_size for path in files) > 1000 * len(CANARY)
    assert all(b"SECRET" not in path.read_bytes() for path in files)


# A person's number, in what a mechanism of one's own says when it fails.

NUMBER = 123_457
TELLING = '''

class Telling(Coin):
    """Its sampler fails, and says for whom."""

    def sample(self, values, rng):
        try:
            raise KeyError(f"no place for {values}")
        except KeyError as error:
            raise ValueError(f"cannot randomize {values}") from error
'''


@pytest.mark.usefixtures("folder")
def test_a_failing_mechanism_tells_nobodys_value(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(".")
    Path("n.csv").write_text(f"pet\n{NUMBER}\n")
    words = ("privatize", "n.csv", "--column", "pet", "--k", 200_000, "--epsilon", 1, "--mechanism", "coin:Telling")
    result = CliRunner(env={"HUSH_TRACEBACK": "1"}).invoke(app, [str(each) for each in (*words, "-o", "o.parquet")])
    assert result.exit_code == 2
    assert "Traceback (most recent call last)" in result.stderr
    assert "failed in sample (coin.py, line" in result.stderr
    assert str(NUMBER) not in result.output
