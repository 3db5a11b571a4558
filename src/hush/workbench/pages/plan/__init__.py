"""Plan: the page that asks in sentences, and answers with one recommendation."""

from __future__ import annotations

from hush.workbench.frame import page
from hush.workbench.visits import Visit


@page("/plan", "Plan", order=10, about="Which mechanism and which ε, for the accuracy that you need.")
def plan(visit: Visit) -> None:
    """Lay it out."""
    from hush.workbench.pages.plan.whole import PlanPage

    PlanPage(visit).laid()
