"""What is compiled for the reports of a collection, compiled before the first of them comes.

The first report of a mechanism on a machine takes seconds, since its kernels are compiled and kept on the disk; that is
longer than many clients wait for an answer.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import numpy as np

from hush.collect.store.collections import StoredCollection
from hush.mechanisms.spec import Spec
from hush.randomness import seeded

_LOG = logging.getLogger("hush.collect")


def warm(collections: Iterable[StoredCollection]) -> None:
    """Do once what is done with every batch of these collections; what fails here is left to the first batch."""
    done = set()
    for each in collections:
        try:
            m = each.one_round.mechanism
            if (kind := (type(m), m.report_dtype)) in done:
                continue
            done.add(kind)
            _tried(each.one_round)
        except Exception as error:  # of a mechanism of somebody's own, say
            _LOG.warning("nothing could be prepared for %s (%s)", each.id[:8], type(error).__name__)


def _tried(spec: Spec) -> None:
    m = spec.mechanism
    somebody = m.low if m.kind == "numeric" else [0] * m.d if m.kind == "multidim" else 0
    reports = m.privatize(np.array([somebody]), rng=seeded(0))  # which is thrown away
    m.validate(reports)
    spec.aggregate(iter([reports]))
