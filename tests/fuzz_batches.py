"""A fuzzer of batches: what a stranger sends is a batch of good reports, or it is refused. Nothing else ever happens.

    python -m tests.fuzz_batches [--inputs 1000000] [--seed 1]

An input is a real batch that was broken somewhere, or not: in a bit, in its length, in its head, in a record. One that
is taken must be written back byte for byte, and each of its records must be among all outputs that its mechanism lists
for the record's public part: a list that knows nothing of how records are checked.
"""

from __future__ import annotations

import argparse
import random
import secrets
import sys
import time
from collections import Counter
from functools import cache
from typing import Any

import numpy as np

import hush
from hush.collect import checking
from hush.collect.envelope import Envelope, body
from hush.collect.refusals import REASONS, Refused
from hush.collect.store.collections import StoredCollection
from tests.conftest import example

K = 6
UNLISTED = ("SHE", "GM", "AGM", "ServerTHE", "Wheel", "uWheel")
"""Whose records are any points of a grid or a ring, of which the list names one for many."""


def stored(spec: hush.Spec) -> StoredCollection:
    """An open collection of a spec, as a store would have it."""
    return StoredCollection(
        number=1, id=secrets.token_hex(16), name="", spec=spec.to_json(), spec_hash=spec.hash, status="open",
        target_n=None, wished_error=None, forced=False, predecessor=None, began=0, ends=None, period_seconds=86_400,
        horizon=7, period=0, pruned_below=0,
        forgotten_below=0, keep="reports", keep_days=None, anyone_submits=True, relayed_only=False,
        public=False, release_floor=100,
    )  # fmt: skip


@cache
def collections() -> list[tuple[StoredCollection, bytes]]:
    """One collection for each registered mechanism, with a batch of its reports."""
    found = []
    for name in hush.registry():
        spec = hush.Spec(example(name, K, 1.0))
        collection = stored(spec)
        reports = spec.privatize(np.arange(4) % K, rng=hush.seeded(3))
        size = reports.dtype.itemsize
        made = Envelope(collection.id, spec.hash, "ab" * 16, 0, "fuzz/1", size, reports.tobytes())
        found.append((collection, made.to_bytes()))
    return found


def broken(rng: random.Random, good: bytes) -> bytes:
    """A batch with something wrong in it, perhaps."""
    data = bytearray(good)
    for _ in range(rng.choice((0, 1, 1, 2, 5))):
        if not data:
            break
        at = rng.randrange(len(data)) if rng.random() < 0.4 else rng.randrange(max(len(data) - 40, 0), len(data))
        match rng.choice((0, 0, 0, 1, 1, 2, 3, 4)):
            case 0:
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at] = rng.choice((0, 1, 127, 128, 255))
            case 2:
                del data[at : at + rng.randrange(1, 9)]
            case 3:
                data[at:at] = rng.randbytes(rng.randrange(1, 9))
            case 4:
                data[at : at + 4] = rng.randbytes(4)
    return bytes(data)


class Judge:
    """Knows all reports of a small mechanism."""

    def __init__(self, m: Any) -> None:
        self._m, self._listed = m, cache(self._outputs)

    def _outputs(self, public: Any) -> frozenset[bytes]:
        return frozenset(np.asarray(each, self._m.report_dtype).tobytes() for each in self._m.outputs(public))

    def knows(self, report: Any) -> bool:
        """Whether a record is one of them. Of hashing, the list names a bucket for all that say the same."""
        names = self._m.report_dtype.names or ()
        if "bucket" in names:
            return int(report["bucket"]) < self._m.g
        if "base" in names and "bucket" in (self._m.report_dtype["base"].names or ()):
            kind, value, unused = int(report["kind"]), int(report["value"]), not any(report["base"].tobytes())
            hashed = kind == 0 and int(report["base"]["bucket"]) < self._m.g and value == 0
            return hashed or (kind == 1 and unused and value < K and value not in self._m.guarantee.sensitive)
        public = self._m.public(report)
        try:
            listed = self._listed(public)
        except TypeError:  # what is public is no key of a table
            listed = self._outputs(public)
        return np.asarray(report, self._m.report_dtype).tobytes() in listed


def attempt(collection: StoredCollection, judge: Judge | None, sent: bytes, *, partial: bool) -> str:
    """What becomes of what was sent: "taken", or the reason of its refusal; an assertion fails where it is neither."""
    try:
        key, envelope = checking.read(sent)
        arrival, wrong = checking.checked(collection, envelope, partial=partial)
    except Refused as refused:
        return REASONS[refused.problem()["reason"]].code
    assert sent == body(key, envelope.to_bytes())
    kept = np.frombuffer(arrival.records, collection.parsed.mechanism.report_dtype)
    assert len(kept) == arrival.accepted == envelope.number - len(wrong) > 0
    if judge is not None:
        assert all(judge.knows(report) for report in kept), f"{collection.parsed.mechanism.name()}: {sent.hex()}"
    return "taken"


def run(inputs: int, seed: int, *, bar: bool = False) -> Counter[str]:
    """How many were taken and refused, by reason."""
    rng, found, last = random.Random(seed), Counter[str](), time.monotonic()
    ready = [
        (collection, None if (m := collection.one_round.mechanism).name() in UNLISTED else Judge(m), good)
        for collection, good in collections()
    ]
    for i in range(inputs):
        collection, judge, good = rng.choice(ready)
        sent = body("", broken(rng, good)) if rng.random() < 0.9 else broken(rng, body("key", good))
        found[attempt(collection, judge, sent, partial=rng.random() < 0.3)] += 1
        if bar and time.monotonic() > last + 2:
            last = time.monotonic()
            print(f"\r{i:,} of {inputs:,}", end="", file=sys.stderr, flush=True)
    return found


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    found = run(asked.inputs, asked.seed, bar=sys.stderr.isatty())
    print(
        f"{asked.inputs:,} inputs, {len(hush.registry())} mechanisms: "
        + ", ".join(f"{n:,} {k}" for k, n in found.most_common())
    )


if __name__ == "__main__":
    main()
