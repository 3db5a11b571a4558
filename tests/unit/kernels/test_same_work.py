"""The same work for every value, counted and not timed: steps of projective geometry response, words of ULDP."""

from __future__ import annotations

import sys
import types
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hush
from hush.kernels import projective, words
from hush.randomness import chunk_generator, keystream
from hush.utility import _records

pytestmark = pytest.mark.slow


def plain(source: Iterator[int]) -> Any:
    """The kernels as Python that takes its words from here."""

    def njit(*functions: Callable[..., Any], **_: Any) -> Any:
        return functions[0] if functions else lambda function: function

    numba = types.ModuleType("numba")
    numba.njit = njit  # type: ignore[attr-defined]
    ours = types.ModuleType("words")
    ours.ONE, ours.ZERO, ours.HALF, ours.LOW = words.ONE, words.ZERO, words.HALF, words.LOW  # type: ignore[attr-defined]
    ours.word = lambda _: np.uint64(next(source))  # type: ignore[attr-defined]

    def bounded(_: Any, size: np.uint64, reject: np.uint64) -> np.uint64:
        while True:
            product = (np.uint64(next(source)) >> words.HALF) * size
            if (product & words.LOW) >= reject:
                return product >> words.HALF

    ours.bounded = bounded  # type: ignore[attr-defined]
    compiled = types.ModuleType("compiled")
    compiled.kernel = njit  # type: ignore[attr-defined]
    made = types.ModuleType("kernels")
    stubs = {"numba": numba, "hush.kernels.words": ours, "hush.kernels.compiled": compiled}
    held = {name: sys.modules[name] for name in stubs}
    sys.modules.update(stubs)
    try:
        path = Path(str(projective.__file__))
        exec(compile(path.read_text("utf-8"), str(path), "exec"), made.__dict__)
    finally:
        sys.modules.update(held)
    return made


def steps(m: hush.PGR, value: int, drawn: list[int]) -> tuple[Counter[tuple[str, int]], int]:
    """How often each line runs for a value, given these words; and the report."""
    kernels, counted = plain(iter(drawn)), Counter[tuple[str, int]]()

    def trace(frame: types.FrameType, event: str, _: Any) -> Any:
        if frame.f_code.co_filename != projective.__file__:
            return None
        if event == "line":
            counted[frame.f_code.co_name, frame.f_lineno] += 1
        return trace

    out = np.zeros(1, np.uint64)
    inside, outside = (words.rejection(int(size)) for size in (m._space.starts[m.t - 1], m._space.powers[m.t - 1]))
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        rng = types.SimpleNamespace(bit_generator=None)
        kernels.respond(rng, np.array([value]), m._space, np.uint64(m.keep), inside, outside, out)
    finally:
        sys.settrace(before)
    return counted, int(out[0])


@pytest.mark.parametrize(("k", "q"), [(40, 2), (100, 3), (60, 4), (100, 16), (1000, 11), (300, 257)])
def test_every_value_takes_the_same_steps(k: int, q: int, thorough: bool) -> None:
    m = hush.PGR(k=k, epsilon=1.0, q=q)
    apart = 5 if q > 100 and not thorough else 1
    values = sorted({*range(0, min(k, 2 * q + 3), apart), *range(4), q - 1, q, q + 1, k // 2, k - 1})
    rng = np.random.default_rng(7)
    seen = set()
    for keep in (0, 2**64 - 1):  # on the hyperplane, and off it
        for _ in range(6):
            drawn = [keep, *(int(each) for each in rng.integers(0, 2**64, 4, dtype=np.uint64))]
            found = [steps(m, value, drawn) for value in values]
            assert all(counted == found[0][0] for counted, _ in found)
            seen |= {report for _, report in found}
    assert len(seen) > len(values)


PEOPLE, SENSITIVE = 1 << 13, 64
KEY = bytes(range(16))


def drawn(rng: np.random.Generator, key: bytes) -> int:
    """How many words a generator has given."""
    (at,) = np.flatnonzero(keystream(key, 0, 1 << 20) == rng.bit_generator.random_raw())
    return int(at)


@pytest.mark.parametrize("z", ["exact", "paper"])
@pytest.mark.parametrize("cls", [hush.uSS, hush.uUE, hush.uRAP])
def test_a_sensitive_value_draws_as_many_words_as_a_disguise(cls: Any, z: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the base mechanism's, a disguise takes three; a sensitive value draws them where no report takes any."""
    waiting = [chunk_generator(bytes(16)) for _ in range(2)]
    spares = list(waiting)
    monkeypatch.setattr(_records, "chunk_generator", lambda _: waiting.pop(0))
    u = cls(k=2 * SENSITIVE, epsilon=1.0, sensitive=range(SENSITIVE), z=z)
    sources = [chunk_generator(KEY) for _ in range(2)]
    held, _ = (u.sample(np.full(PEOPLE, v), rng) for v, rng in zip((0, u.k - 1), sources, strict=True))
    unused = [drawn(spare, bytes(16)) for spare in spares]
    assert unused == [3 * PEOPLE, 0]
    assert (held["kind"] == _records.PROTECTED).all()
    alone = int((1 - u._revelation.hide / 2**64) * PEOPLE)  # those sent at once, after one word
    used = [drawn(rng, KEY) for rng in sources]
    each = (used[0] + unused[0]) / PEOPLE, (used[1] - alone) / (PEOPLE - alone)
    assert each[0] == pytest.approx(each[1], rel=0.01)


@pytest.mark.parametrize("cls", [hush.uSS, hush.uUE, hush.uRAP])
def test_words_that_no_report_takes_change_none(cls: Any) -> None:
    """The stream of reports is that of the base mechanism alone, whoever stands before a sensitive value."""
    u = cls(k=2 * SENSITIVE, epsilon=1.0, sensitive=range(SENSITIVE))
    values = np.arange(SENSITIVE)
    assert (u.sample(values, chunk_generator(KEY))["base"] == u.base.sample(values, chunk_generator(KEY))).all()
