"""Rules that budgets and numbers of reports over time obey, for protocols of other folders."""

from __future__ import annotations

from hush.longitudinal import _rounds


def budgets(epsilon_permanent: object, epsilon_report: object) -> tuple[float, float]:
    """A budget for all reports of one value together, and one below it for a single report, checked."""
    permanent = _rounds.permanent(epsilon_permanent)
    return permanent, _rounds.first(epsilon_report, permanent)


def number_of_reports(tau: object) -> int:
    """How many reports one person sends, checked."""
    return int(_rounds.reports_of(tau))
