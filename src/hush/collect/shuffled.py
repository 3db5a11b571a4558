"""What a relay of another operator adds: the guarantee of shuffled reports towards the collector, or why there is none.

A relay passes records on in permuted batches. The collector sees which batch a report came in and nothing else, so a
report hides among those of its batch, and the n that counts is that of the smallest batch, not of the collection. A
larger batch is at least as private: whoever sees n reports can add one more from a known person.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sqlalchemy as sa

from hush.collect.store.collections import StoredCollection
from hush.collect.store.smallest import smallest
from hush.planning.shuffling import Shuffled, shuffled_epsilon

LARGEST_DELTA = 1e-6
ASSUMES = (
    "the relay is run by somebody else and does not collude with whoever runs the collector",
    "it permutes what it passes on, and says nothing of where or when it came from",
    "the others in a batch are people who report by the spec and do not tell the collector what they sent",
    "everybody reports once, or adds up what each report loses",
)
"""What must hold for it beside the mechanism; nothing here can be seen by the collector."""


def told(connection: sa.Connection, collection: StoredCollection, n: int) -> dict[str, Any] | None:
    """The shuffled guarantee of a collection that only relays may submit to; None of any other.

    Args:
        connection: To the store.
        collection: Which one.
        n: How many reports it has, for the delta.
    """
    if not collection.relayed_only:
        return None
    batch = smallest(connection, collection.number)
    if batch is None:
        return _nothing("no report has come through a relay yet")
    m, delta = collection.parsed.mechanism, delta_for(max(n, batch))
    if m.kind != "frequency":
        return _nothing(f"nothing is proved of shuffled reports of {m.name()}; each keeps its own guarantee")
    found = _proved(m, batch, delta)
    if found.epsilon is None:
        return _nothing(found.reason)
    words = (
        f"Towards the collector a report is ({found.epsilon:.4g}, {delta:.3g})-private, shuffled among the {batch:,}"
        f" reports of the smallest batch that a relay sent, if {'; '.join(ASSUMES)}."
        f" Towards the relay, and if anything of this fails, it keeps what it has by itself, {m.guarantee}."
    )
    return {"epsilon": found.epsilon, "delta": delta, "batch": batch, "assumes": list(ASSUMES), "words": words}


def delta_for(n: int) -> float:
    """The delta that is stated for n reports: a power of ten, at most a tenth of 1/n, and at most 1e-6.

    >>> delta_for(1000), delta_for(2_000_000)
    (1e-06, 1e-08)
    """
    return min(LARGEST_DELTA, float(f"1e{-len(str(n)) - 1}"))


@lru_cache(maxsize=256)
def _proved(m: Any, batch: int, delta: float) -> Shuffled:
    return shuffled_epsilon(m, batch, delta)


def _nothing(reason: str) -> dict[str, Any]:
    words = f"No shuffled guarantee is stated: {reason}."
    return {"epsilon": None, "delta": None, "batch": None, "assumes": list(ASSUMES), "words": words}
