"""Published studies, made again from our own code: their figures as PNG and CSV, and their printed numbers checked."""

from __future__ import annotations

from hush_studies.check import Check, Verdict
from hush_studies.rule import Rule
from hush_studies.study import Part, Settings, Study, Table

__all__ = ["Check", "Part", "Rule", "Settings", "Study", "Table", "Verdict", "studies"]


def studies() -> dict[str, Study]:
    """Every study that can be reproduced, by name.

    >>> list(studies())
    ['refined', 'audit', 'uldp', 'modular', 'budget']
    """
    from hush_studies import audit, budget, modular, refined, uldp

    return {study.name: study for study in (refined.STUDY, audit.STUDY, uldp.STUDY, modular.STUDY, budget.STUDY)}
