"""A fuzzer: what strangers write is read as it is meant, or refused with a HushError. Nothing else ever happens.

A target takes something real, breaks it somewhere, and hands it in. A case is a target and a number, which is all the
chance there is, so that every case can be run again. The tests run a few hundred of each; `make fuzz` goes on for as
long as one likes:

    python -m tests.fuzz --seconds 3600 --first 1000
    python -m tests.fuzz --target specs --first 1234 --cases 1
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import io
import json
import math
import struct
import sys
import tempfile
import time
import traceback
import zlib
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import hush
from hush import longitudinal, multidim
from hush.audit.checkpoint import Checkpoint
from hush.cli._app import app
from hush.errors import HushError
from hush.estimation import Aggregate
from hush.files.domains import read_domain
from hush.files.specs import spec_from
from hush.longitudinal import Ledger
from tests.conftest import example

Rng = np.random.Generator

K = 7
PLAIN: list[Any] = [
    None, True, False, 0, 1, 2, 3, -1, 2**31, 2**53, 2**63, 2**64, 10**400, 0.0, -0.0, 0.5, 1.0, 1e-300, 1e308,
    math.inf, -math.inf, math.nan, "", "a", "0", "1e400", "exact", "\ud800", "\x00", [], [0], [0, 1, 2], ["a", "a"],
    [[1], [2, 3]], {}, {"a": 1}, {"k": 2}, [None], [math.nan], [[]],
]  # fmt: skip
"""What JSON can hold, and much that is no JSON."""
ODD: list[Any] = [
    *PLAIN, Fraction(1, 2), np.array(7), np.array([1, 2]), np.array([]), np.int64(3), np.float32(0.5), np.str_("b"),
    b"ab", {1, 2}, range(3), 1j, object(), np.ma.masked_array([1, 2], [0, 1]), np.array([[1, 2], [3, 4]]), (1, 2),
    np.datetime64("NaT"), np.array(["a", None], object), iter(()), np.bool_(True), Ellipsis, np.zeros(2, [("a", "u1")]),
    int, len,
]  # fmt: skip
"""What Python can hold besides."""
PIECES = [b"\x00", b"\xff", b"\n", b"\r\n", b'"', b"-", b"9", b",", b"[" * 5_000, b"\xed\xa0\x80"]
"""What is put into bytes."""


def one(rng: Rng, things: list[Any]) -> Any:
    """One of them; a list or a dict is a new one, which may be broken further."""
    thing = things[int(rng.integers(len(things)))]
    return copy.deepcopy(thing) if isinstance(thing, list | dict) else thing


# What is broken.


@cache
def mechanisms() -> list[Any]:
    """Mechanisms and collections of every kind, small."""
    found: list[Any] = [example(name, K, 1.0) for name in sorted(hush.registry()) if ":" not in name]
    found += [hush.utility.uLH(k=K, epsilon=1.0, sensitive=range(4), z="balanced"), hush.GRR(k=2, epsilon=0.1)]
    found += [hush.utility.uUE(k=K, epsilon=1.0, sensitive=[2]), hush.LH(k=K, epsilon=1.0, g=4, hash="family")]
    found.append(hush.utility.transform(hush.OUE(k=3, epsilon=1.0), hush.Domain(size=K, sensitive=range(3))))
    found += [cls(low=0.0, high=4.0, epsilon=e) for cls in hush.registry(kind="numeric").values() for e in (0.5, 2.0)]
    found += [protocol.first_report for protocol in protocols() if not isinstance(protocol, longitudinal.Memoized)]
    found += [multidim.SPL(sizes=(2, 5), epsilon=2.0), multidim.SMP(sizes=(2, 5), epsilon=2.0, mechanism="SS")]
    found += [multidim.RSFD(sizes=(2, 5), epsilon=1.0, variant=each) for each in ("GRR", "OUE-z", "SUE-r")]
    return [*found, multidim.RSRFD(sizes=(2, 2), epsilon=1.0, priors=[[0.8, 0.2], [0.5, 0.5]])]


@cache
def protocols() -> list[Any]:
    """Longitudinal protocols."""
    two = ("LGRR", "LSUE", "LOSUE", "LOUE", "LSOUE", "BiLOLOHA", "OLOLOHA")
    found: list[Any] = [
        hush.registry("longitudinal")[name](k=K, epsilon_permanent=3.0, epsilon_report=1.0) for name in two
    ]
    found.append(longitudinal.dBitFlipPM(k=K, epsilon_permanent=1.0, d=3))
    return [*found, longitudinal.Memoized(mechanism=hush.OUE(k=K, epsilon=1.0))]


def people(m: Any) -> Any:
    """Values that a mechanism takes."""
    if isinstance(m, multidim.SPL | multidim.SMP | multidim.RSFD | multidim.RSRFD):
        return np.zeros((40, m.d), np.int64)
    return np.linspace(0.0, 4.0, 40) if isinstance(m, hush.Numeric) else np.arange(40) % m.k


@cache
def aggregate(at: int) -> Aggregate:
    """A real aggregate of one of the mechanisms."""
    m = mechanisms()[at]
    return m.aggregate(m.privatize(people(m), rng=hush.seeded(at)))


@cache
def written() -> list[str]:
    """Specs of every kind."""
    labelled = hush.Domain(labels=["cat", "dog", "other"], other="other", sensitive=["cat"], values=[1.0, 2.0, 3.0])
    sexes = {"sex": hush.Domain(labels=["f", "m"]), "age": hush.Domain(size=5)}
    kept = longitudinal.Memoized(mechanism=hush.SS(k=3, epsilon=1.0))
    specs = [hush.Spec(hush.OUE(k=3, epsilon=1.0), labelled), hush.Spec(kept, labelled)]
    specs.append(hush.Spec(multidim.SPL(sizes=(2, 5), epsilon=2.0), sexes))
    return [spec.to_json() for spec in (*specs, *map(hush.Spec, mechanisms()), *map(hush.Spec, protocols()))]


# How it is broken.


def broken(rng: Rng, plain: Any, odd: list[Any] = PLAIN) -> Any:
    """Plain data with one to three nodes replaced, removed, renamed or doubled."""
    whole = [copy.deepcopy(plain)]
    for _ in range(int(rng.integers(1, 4))):
        nodes = list(_nodes(whole))
        holder, key = nodes[int(rng.integers(len(nodes)))]
        act = int(rng.integers(6))
        if act == 0 and isinstance(holder, dict):
            del holder[key]
        elif act == 1 and isinstance(holder, dict):
            holder[one(rng, ["", "k", "epsilon", "unsaid", "thresholds", "rule"])] = holder.pop(key)
        elif act == 2 and holder is not whole and isinstance(holder, list):
            holder.insert(key, holder[key])
        else:
            holder[key] = one(rng, odd)
    return whole[0]


def _nodes(whole: Any) -> Iterator[tuple[Any, Any]]:
    """Where every node of plain data hangs."""
    for key in whole if isinstance(whole, dict) else range(len(whole)):
        yield whole, key
        if isinstance(whole[key], dict | list):
            yield from _nodes(whole[key])


def garbled(rng: Rng, data: bytes) -> bytes:
    """Bytes, some of them changed, cut off, put in or doubled."""
    out = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(out) + 1))
        act = int(rng.integers(5))
        if act == 0:
            out[at : at + 1] = bytes([int(rng.integers(256))])
        elif act == 1:
            del out[at : at + int(rng.integers(1, 20))]
        elif act == 2:
            out[at:at] = one(rng, PIECES)
        elif act == 3:
            out[at:at] = out[at : at + int(rng.integers(1, 40))]
        else:
            del out[at:]
    return bytes(out)


def text_of(plain: Any) -> str:
    """JSON of anything: what has none becomes its name."""
    return json.dumps(plain, default=lambda thing: type(thing).__name__)


# Targets. Each returns, or raises HushError; anything else it finds it raises as an AssertionError.


def specs(rng: Rng) -> None:
    """A spec is refused, or is one that is written as it was read."""
    text = one(rng, written())
    how = rng.random()
    if how < 0.05:
        bad = json.dumps(json.loads(text), indent=2)  # laid out otherwise, which says the same
    elif how < 0.7:
        bad = text_of(broken(rng, json.loads(text)))
    else:
        bad = garbled(rng, text.encode()).decode(errors="replace")
    with contextlib.suppress(HushError):
        spec_from(bad.encode(errors="replace"), "a file")
    found = hush.Spec.from_json(bad)
    assert hush.Spec.from_json(found.to_json()) == found, "a spec that was accepted does not survive being written"


def aggregates(rng: Rng) -> None:
    """An aggregate is refused, or gives numbers."""
    at = int(rng.integers(len(mechanisms())))
    m, good = mechanisms()[at], aggregate(at)
    tally, n = good.tally.copy(), good.n
    if rng.random() < 0.2:
        data = garbled(rng, good.to_bytes())
    else:
        odd = [0, 1, -1, n, n + 1, -n, 2 * n, 2**31, 2**62, 2**63 - 1, -(2**63), int(rng.integers(-100, 100))]
        for _ in range(int(rng.integers(1, 4))):
            act = int(rng.integers(5))
            if act == 0:
                n = one(rng, [0, 1, max(n - 1, 0), n + 1, 2**62, 2**63, n // 2])
            elif act == 1:
                tally[:] = one(rng, odd)
            else:
                tally.flat[int(rng.integers(tally.size))] = one(rng, odd)
        shape = one(rng, [tally.shape, tally.shape, tally.shape, (tally.size, 1), (0,)])
        body = struct.pack("<4sH32sQB", b"HUSH", 1, bytes.fromhex(good.spec_hash), n, len(shape))
        body += struct.pack(f"<{len(shape)}Q", *shape) + tally.astype("<i8").tobytes()
        data = body + struct.pack("<I", zlib.crc32(body))
    found = Aggregate.from_bytes(data)
    with contextlib.suppress(HushError):
        assert (good + found).n == good.n + found.n
    if isinstance(m, hush.Numeric):
        told = m.estimate(m.check(found))
        assert np.isfinite([told.mean, told.stderr, *told.interval()]).all()
        return
    estimates = m.estimate(m.check(found))
    for told in estimates if isinstance(estimates, tuple) else [estimates]:
        assert np.isfinite(told.frequencies).all()
        assert np.isfinite(told.stderr).all()
        low, high = told.interval()
        assert (low <= high).all()
        assert np.isfinite(told.project().frequencies).all()


def reports(rng: Rng) -> None:
    """Reports are refused, or tallied to something that reports can give."""
    m = one(rng, mechanisms())
    size = m.report_dtype.itemsize
    real = np.ascontiguousarray(m.privatize(people(m), rng=hush.seeded(int(rng.integers(2**32))))).tobytes()
    data = rng.bytes(size * int(rng.integers(1, 9))) if rng.random() < 0.3 else garbled(rng, real)
    some = np.frombuffer(data[: len(data) // size * size], m.report_dtype)
    found = m.aggregate(some)
    m.check(found)
    if isinstance(m, hush.FrequencyOracle):
        assert (m.log_prob(some, 0) <= 1e-9).all()
        assert m.attack(some, rng=hush.seeded(1)).shape == some.shape


def values(rng: Rng) -> None:
    """Odd values, counts, priors and shapes are refused, or taken for what they are."""
    m = one(rng, mechanisms())
    thing = one(rng, ODD)
    some = [thing] * int(rng.integers(1, 3)) if rng.random() < 0.5 else thing
    acts: list[Callable[[], Any]] = [lambda: m.privatize(some), lambda: m.aggregate(some)]
    if isinstance(m, hush.FrequencyOracle):
        few = m.privatize([0, 1], rng=hush.seeded(1))
        acts += [lambda: m.simulate(some), lambda: m.log_prob(few, some), lambda: m.attack(few, some)]
        acts += [lambda: m.estimate(some), lambda: m.asr(some), lambda: hush.Spec(m).privatize(some)]
    one(rng, acts)()


def parameters(rng: Rng) -> None:
    """A mechanism refuses odd parameters, or is one that travels."""
    m = one(rng, [*mechanisms(), *protocols()])
    given = {f.name: getattr(m, f.name) for f in dataclasses.fields(m) if f.init}
    name = one(rng, sorted(given))
    made = type(m)(**{**given, name: one(rng, ODD)})
    if ":" not in made.to_dict().get("mechanism", ""):
        text_of(made.to_dict())
        assert len(made.spec_hash) == 64


def domains(rng: Rng) -> None:
    """A domain is refused, or survives being written; what it encodes, too."""
    plain = {
        "size": 4,
        "labels": ["cat", "dog", 3, "other"],
        "other": "other",
        "sensitive": [0, 2],
        "values": [1.5] * 4,
    }
    kind = int(rng.integers(4))
    if kind == 0:
        found = hush.Domain.from_dict(broken(rng, plain, ODD))
    elif kind == 1:
        names = ("size", "labels", "other", "sensitive", "values")
        given = {name: one(rng, ODD) for name in names if rng.random() < 0.4}
        found = hush.Domain(**given)
    else:
        ending = one(rng, [".txt", ".json"])
        text = text_of(broken(rng, plain)).encode() if ending == ".json" else b"cat\ndog\nother\n"
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"domain{ending}"
            path.write_bytes(garbled(rng, text) if rng.random() < 0.5 else text)
            found = read_domain(path, one(rng, [None, "other", "", " "]))
    assert hush.Domain.from_dict(found.to_dict()) == found
    found.encode([one(rng, ODD), one(rng, ODD)])


def ledgers(rng: Rng) -> None:
    """A ledger is refused, or its lines add up."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger"
        ledger = Ledger(limit="2", path=path)
        for i in range(3):
            ledger.spend("1/10", what=f"day {i}")
        lines = [json.loads(line) for line in path.read_bytes().splitlines()]
        bad = broken(rng, lines)
        text = "".join(text_of(line) + "\n" for line in bad).encode() if isinstance(bad, list) else b"{}\n"
        path.write_bytes(text if rng.random() < 0.5 else garbled(rng, path.read_bytes()))
        again = Ledger(limit="2" if rng.random() < 0.8 else one(rng, ODD), path=path)
        with contextlib.suppress(HushError):
            again.spend(one(rng, [0.1, *ODD]), what=one(rng, ["a day", *ODD]))
        assert again.spent == sum(entry.epsilon for entry in again.entries) <= again.limit
        assert again.advanced_for_fixed_budgets(1e-6) <= float(again.spent)


def checkpoints(rng: Rng) -> None:
    """A checkpoint is refused, or counts."""
    plain = {"audit": {"target": "OUE", "root": 7}, "streams": {"2": [10, 3, 4], "3": [10, 1, 0]}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "checkpoint"
        whole = rng.random() < 0.6
        path.write_bytes(text_of(broken(rng, plain)).encode() if whole else garbled(rng, text_of(plain).encode()))
        found = Checkpoint.read(path)
        assert found is not None
        found.must_be({"target": "OUE", "root": 7})
        done, hits = found.standing(2, 2, 10, 5)
        assert isinstance(found.complete(10), bool)
        assert all(isinstance(hit, int) and 0 <= hit <= done <= 10 for hit in hits)


def commands(rng: Rng) -> None:
    """A command leaves with an exit code that it has, and never with an internal error."""
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _files(rng, Path(folder))
        words = _words(rng)
        out, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(said):
            try:
                app(words)
                code: Any = 0
            except SystemExit as done:
                code = done.code
        assert code in {0, 1, 2, 3}, f"hush {' '.join(words)} left with {code}: {said.getvalue()[-300:]}"
        assert "Traceback" not in said.getvalue(), said.getvalue()


def _files(rng: Rng, folder: Path) -> None:
    """Files that a command may be given, one of them broken."""
    m = one(rng, [m for m in mechanisms() if isinstance(m, hush.FrequencyOracle) and m.name() in hush.registry()])
    spec = hush.Spec(m)
    made = m.privatize(np.arange(40) % m.k, rng=hush.seeded(1))
    cells = [made[i].tobytes() for i in range(len(made))]
    column = pa.array(cells, pa.binary(m.report_dtype.itemsize))
    schema = pa.schema([pa.field("report", column.type)], {b"hush.spec": spec.to_json().encode()})
    double = pa.schema([pa.field("report", column.type)] * 2, schema.metadata)
    buffer = io.BytesIO()
    twice = rng.random() < 0.2
    pq.write_table(pa.table([column] * (2 if twice else 1), schema=double if twice else schema), buffer)
    contents = {
        "reports.parquet": buffer.getvalue(),
        "saved.hush": spec.aggregate(made).to_bytes(),
        "spec.json": spec.to_json().encode(),
        "values.csv": b"pet,town\ncat,a\ndog,b\nbird,a\ncat,c\n",
        "counts.csv": b"value,count\n" + b"".join(b"%d,%d\n" % (i, 10 * i) for i in range(m.k)),
        "domain.txt": b"cat\ndog\nbird\n",
        "domain.json": b'{"labels": ["cat", "dog", "bird"], "sensitive": [0]}',
    }
    target = one(rng, sorted(contents))
    for name, data in contents.items():
        (folder / name).write_bytes(garbled(rng, data) if name == target and rng.random() < 0.8 else data)


FILES = [
    "reports.parquet", "saved.hush", "spec.json", "values.csv", "counts.csv", "domain.txt", "domain.json", "none.csv",
]  # fmt: skip
NUMBERS = ["0", "1", "3", "7", "-1", "0.5", "1e400", "nan", "inf", "", "x", "9" * 50, "1e-300", "7.0", "0x7", "1_000"]
NAMES = ["OUE", "GRR", "oue", "uSS", "Piecewise", "LH", "MSS", "SHE", "", ":", "json:loads", "hush:GRR", "no.such:A"]
SETTINGS = [
    "g=3",
    "g=",
    "=3",
    "p=0.5",
    "p=x",
    "moduli=7,11",
    "moduli=[",
    "sensitive=0,1",
    "k=7",
    "theta=1e400",
    "g=[2]",
]
OPTIONS: dict[str, list[str]] = {
    "--mechanism": NAMES, "--k": NUMBERS, "--epsilon": NUMBERS, "--delta": NUMBERS, "--spec": FILES, "--domain": FILES,
    "--set": SETTINGS, "--column": ["pet", "town", "", "none"], "--other": ["other", "", "cat"], "--n": NUMBERS,
    "--sensitive": ["0", "cat", "0-9", "", "9-0"], "--counts": FILES, "--by": ["town", "report", ""], "--top": NUMBERS,
    "--level": NUMBERS, "--csv": ["out.csv", "/no/where.csv", "spec.json"], "--project": ["simplex", "clip", "x"],
    "--seed": NUMBERS, "--low": NUMBERS, "--high": NUMBERS, "--aggregate-out": ["out.hush", ""],
    "--spec-out": ["out.json", "."], "--keep": ["town", "pet", "report"], "--json": [],
}  # fmt: skip
COMMANDS = {
    "estimate": "reports.parquet",
    "privatize": "values.csv --column pet --domain domain.txt --mechanism GRR --epsilon 1 -o x.parquet",
    "simulate": "--spec spec.json --counts counts.csv",
    "mechanisms": "",
    "audit": "--mechanism GRR --k 4 --epsilon 1 --trials 500",
    "capacity": "--mechanism GRR --epsilon 1 --counts counts.csv --cap 500",
    "nonsense": "",
}


def _words(rng: Rng) -> list[str]:
    """A command, its arguments and some options, its own or another's."""
    name = one(rng, [*COMMANDS, "estimate", "estimate", "simulate", "privatize"])
    words = [name, *COMMANDS[name].split()]
    if name == "estimate" and rng.random() < 0.6:
        words = [name, "saved.hush", "--spec", "spec.json"]
    if rng.random() < 0.3:
        words[int(rng.integers(len(words)))] = one(rng, [*FILES, *NUMBERS, "--"])
    for _ in range(int(rng.integers(0, 4))):
        option = one(rng, sorted(OPTIONS))
        words += [option, one(rng, OPTIONS[option])] if OPTIONS[option] else [option]
    return words


TARGETS: dict[str, Callable[[Rng], None]] = {
    each.__name__: each
    for each in (specs, aggregates, reports, values, parameters, domains, ledgers, checkpoints, commands)
}


def case(target: str, number: int) -> None:
    """Run one case."""
    rng = np.random.default_rng([sum(target.encode()), number])
    with contextlib.suppress(HushError):
        TARGETS[target](rng)


def main() -> int:
    """Go on until the time is up; say what failed, and how to see it again."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--cases", type=int, default=2**62)
    parser.add_argument("--target", choices=[*TARGETS], action="append")
    asked = parser.parse_args()
    end, failed, number = time.monotonic() + asked.seconds, 0, asked.first
    while number < asked.first + asked.cases and time.monotonic() < end:
        for target in asked.target or TARGETS:
            began = time.monotonic()
            try:
                case(target, number)
            except Exception:
                failed += 1
                traceback.print_exc()
                print(f"again: python -m tests.fuzz --target {target} --first {number} --cases 1", flush=True)
            if (took := time.monotonic() - began) > 10:
                print(f"slow, {took:.0f} s: --target {target} --first {number}", flush=True)
        number += 1
    print(f"{number - asked.first} cases of each target, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
