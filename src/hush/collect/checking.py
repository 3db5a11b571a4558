"""Whether what was sent is a batch of a collection, record by record: complete, and before anything is kept."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hush.collect.directory import Directory
from hush.collect.envelope import Envelope, EnvelopeError, opened
from hush.collect.refusals import Refused
from hush.collect.store.collections import CLOSED, OPEN, StoredCollection
from hush.collect.store.intake import Arrival
from hush.collect.tokens import INGEST, RELAY, StoredToken
from hush.errors import NOTHING, ReportError, Unsaid, message
from hush.types import Reports

MOST_MALFORMED = 1000
"""Records that a relay may have wrong in one batch."""


def read(data: bytes) -> tuple[str, Envelope]:
    """The key and the envelope of a body."""
    try:
        key, envelope = opened(data)
        return key, Envelope.from_bytes(envelope)
    except EnvelopeError as error:
        raise Refused("malformed", error.args[0]) from None


def admitted(directory: Directory, collection: StoredCollection, key: str) -> StoredToken | None:
    """Whose key it is; whoever has none is refused, where one is needed."""
    held = directory.tokens.holder(key, directory.clock.now()) if key else None
    roles = (RELAY,) if collection.relayed_only else (INGEST, RELAY)
    mine = held is not None and held.role in roles and held.collection in (None, collection.number)
    if mine or (collection.anyone_submits and not collection.relayed_only and not key):
        return held
    rule, got = "must be an ingest key of this collection", Unsaid("another one") if key else NOTHING
    raise Refused("token", message("key", rule, got, "ask whoever runs the collection for a key"))


def checked(collection: StoredCollection, envelope: Envelope, *, partial: bool) -> tuple[Arrival, list[int]]:
    """What is to be kept of a batch, and which of its records are malformed; none, unless partial batches are taken."""
    if envelope.collection != collection.id:
        rule, got = "must be the collection that it is sent to", Unsaid("another one")
        raise Refused("malformed", message("collection", rule, got, "send it to its own address"))
    if envelope.spec_hash != collection.spec_hash:
        rule, remedy = f"must be {collection.spec_hash[:12]}…", "fetch the collection's spec, and randomize by it"
        raise Refused("spec", message("spec_hash", rule, Unsaid(f"{envelope.spec_hash[:12]}…"), remedy))
    dtype = collection.parsed.mechanism.report_dtype
    if envelope.size != dtype.itemsize:
        rule = f"must be {dtype.itemsize} bytes for {collection.parsed.mechanism.name()}"
        raise Refused("record", message("size", rule, envelope.size, "write records as the docs say"), index=0)
    reports = np.frombuffer(envelope.records, dtype)
    wrong = list(malformed(collection, reports, most=MOST_MALFORMED + 1 if partial else 1))
    if wrong and (not partial or len(wrong) > MOST_MALFORMED or len(wrong) == len(reports)):
        _refuse_record(collection, reports, wrong[0])
    kept = np.delete(reports, wrong).tobytes() if wrong else envelope.records
    arrival = Arrival(
        collection.number,
        envelope.period,
        envelope.build,
        bytes.fromhex(envelope.batch),
        envelope.digest,
        len(reports) - len(wrong),
        kept,
    )
    return arrival, wrong


def timely(directory: Directory, collection: StoredCollection, period: int) -> None:
    """Refuse what comes too early or too late: of a batch that is not known."""
    now = directory.clock.now()
    ended = collection.ends is not None and now >= collection.ends
    if collection.status != OPEN or ended:
        over = ended or collection.status == CLOSED
        got, remedy = ("closed", "report no more to it") if over else ("a draft", "wait until it is opened")
        raise Refused("status", message("collection", "must be open", Unsaid(got), remedy))
    current = collection.period_at(now)
    if period > current:
        rule, remedy = f"must be at most {current}, the present one", "take the one that the server hands out"
        raise Refused("period-ahead", message("period", rule, period, remedy))
    oldest = max(collection.pruned_below, current - collection.horizon)
    if period < oldest:
        rule, remedy = f"must be at least {oldest}", "drop it: it comes too late"
        raise Refused("period-past", message("period", rule, period, remedy))


def malformed(collection: StoredCollection, reports: Reports, *, most: int) -> Iterator[int]:
    """The indexes of records that are no reports, in order; of the first so many, and then no more."""
    m = collection.one_round.mechanism
    spans, found = [(0, len(reports))], 0
    while spans and found < most:
        start, stop = spans.pop()
        try:
            m.validate(reports[start:stop])
        except ReportError:
            if stop - start == 1:
                found += 1
                yield start
            else:
                middle = (start + stop) // 2
                spans += [(middle, stop), (start, middle)]


def _refuse_record(collection: StoredCollection, reports: Reports, index: int) -> None:
    try:
        collection.one_round.mechanism.validate(reports[index : index + 1])
    except ReportError as error:
        raise Refused("record", error.naming(f"record {index}").args[0], index=index) from None
