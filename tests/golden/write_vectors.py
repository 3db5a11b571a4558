"""Write what later versions must read, and what every processor must choose: never to make a test pass.

    python -m tests.golden.write_vectors

Byte vectors that are there already are kept as they are, and only missing ones are added: run it for a new mechanism.
What version 0.1 wrote is in files of its own, which nothing writes any more.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import hush
from hush.kernels.hashing import keys
from hush.randomness import chunk_generator
from tests.conftest import example
from tests.golden.choices import chosen

FILE = Path(__file__).with_name("vectors.json")
OLD_FILE = Path(__file__).with_name("vectors-0.1.json")
CHOICES = Path(__file__).with_name("choices.json")
ADAPTIVE = ("ASS", "AUE", "ALH", "ATHE")
PAIRS = ("uRR", "uRAP", "uSS", "uUE", "uLH", "uWheel")
VALUES = [0, 1, 2, 3, 4, 4, 0, 2]


def spec_of(name: str) -> hush.Spec:
    """An example of a mechanism, by what was the default when its vector was written: "uSS, alone" is as it is now."""
    name, _, reveal = name.partition(", ")
    old = {"design": "paper"} if name in ADAPTIVE else {"reveal": reveal or "pair"} if name in PAIRS else {}
    return hush.Spec(example(name, 5, 1.0, **old), hush.Domain(labels=["α", "b", 'quote"', "d\n", "e"]))


def vector(name: str) -> dict[str, Any]:
    """Everything of one mechanism that travels."""
    spec = spec_of(name)
    reports = spec.privatize(spec.domain.decode(VALUES), rng=hush.seeded(7))
    aggregate = spec.aggregate(reports)
    return {
        "spec": spec.to_json(),
        "hash": spec.hash,
        "reports": [report.tobytes().hex() for report in reports],
        "aggregate": aggregate.to_bytes().hex(),
        "frequencies": spec.estimate(aggregate).frequencies.tolist(),
    }


def shared() -> dict[str, Any]:
    """What all mechanisms build on: the word source and the keys of hashing."""
    words = chunk_generator(bytes(range(16))).bit_generator.random_raw(4)
    return {"words": [f"{word:016x}" for word in words], "keys": [int(key) for key in keys(8)]}


def main() -> None:
    """Add what is missing."""
    stored = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    stored.setdefault("shared", shared())
    for name in (*hush.registry(), *(f"{name}, alone" for name in PAIRS)):
        stored.setdefault(name, vector(name))
    FILE.write_text(json.dumps(stored, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    lines = (f"{json.dumps(setting)}: {json.dumps(numbers)}" for setting, numbers in chosen().items())
    CHOICES.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    np.seterr(all="raise")
    main()
