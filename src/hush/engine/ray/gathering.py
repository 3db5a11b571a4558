"""The second half of writing: the parts of a bucket, in a random order, as a file of one attempt."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path

from hush.engine.ray.keys import Bytes, unsealed
from hush.engine.ray.scattering import unpacked
from hush.files import reports as report_files
from hush.files.batches import evenly
from hush.files.order import Shuffler
from hush.mechanisms.spec import Spec
from hush.randomness import chunk_generator

ATTEMPT = ".attempt"
"""How the file of an attempt ends; it begins with a dot, and readers of folders pass over it."""


@dataclass(frozen=True)
class Gathered:
    """A file that an attempt wrote, whole.

    Args:
        name: In the folder.
        rows: How many reports it holds.
        size: Its bytes.
    """

    name: str
    rows: int
    size: int


def gather(spec: Spec, folder: str, key: bytes, seal: bytes, *parts: Bytes) -> Gathered:
    """Write the reports of a bucket to a file that nobody else writes.

    Args:
        spec: What they are of.
        folder: Where to, on a filesystem that all nodes share.
        key: Of the bucket: the same key and parts give the same order, however often.
        seal: Of all parts.
        parts: What every piece gave, in the order of the pieces.
    """
    attempt = Path(folder) / f".hush-{secrets.token_hex(8)}{ATTEMPT}"
    with (
        Shuffler(chunk_generator(key), temporary=Path(folder)) as shuffler,
        report_files.writing(attempt, spec, "secure", report_files.SHUFFLED) as put,
    ):
        for part in parts:
            shuffler.add(unpacked(unsealed(seal, part)))
        for batch in evenly(shuffler, report_files.batch_rows(spec), report_files.BATCH_BYTES):
            kept = batch.schema.names[1:]
            put(report_files.reports_of(spec, batch), batch.select(kept) if kept else None)
    return Gathered(attempt.name, shuffler.rows, attempt.stat().st_size)
