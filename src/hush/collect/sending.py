"""Reports of many people to a collector at once: of a file, a simulation, or a demonstration.

A device sends the reports of its own person, by the client, which keeps account of what they spend. Whoever has many
people's values anyway randomizes them with the collection's spec, and sends batches.
"""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from hush.collect.envelope import MOST_RECORDS, Envelope, body, new_id
from hush.collect.manager import Plain
from hush.collect.remote import refusal
from hush.rules import integer
from hush.types import Reports


def sent(
    http: httpx.Client, collection: Plain, reports: Reports, *, key: str = "", build: str = "", size: int = 10_000
) -> Iterator[int]:
    """Send reports in batches; yields how many each added.

    Args:
        http: Carries them; its base is the collector's address.
        collection: As the collector shows it.
        reports: What `Spec.privatize` gave.
        key: What lets batches in, where one is needed.
        build: What names the program that sends.
        size: Reports in a batch.
    """
    integer("size", size, 1, MOST_RECORDS, "use e.g. 10_000")
    where = f"/v1/collections/{collection['id']}/batches"
    for start in range(0, len(reports), size):
        records = reports[start : start + size]
        envelope = Envelope(
            collection["id"],
            collection["spec_hash"],
            new_id(),
            collection["period"],
            build,
            records.dtype.itemsize,
            records.tobytes(),
        )
        answer = http.post(where, content=body(key, envelope.to_bytes()))
        if not answer.is_success:
            raise refusal(answer, str(http.base_url))
        yield int(answer.json()["accepted"])
