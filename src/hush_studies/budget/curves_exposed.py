"""Figures 6.1 to 6.5: what a report gives away."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from hush_studies.budget.exposed import MEASURES
from hush_studies.budget.exposed import PROTOCOLS as NAMES
from hush_studies.budget.strokes import BUDGET, PROTOCOL_SIGNS, PROTOCOLS, legend
from hush_studies.frame import THEME, entitle, frame, label, mark
from hush_studies.study import Table

_WORDS = {"asr": "Attack success (ASR)", "mse": "Squared distance (MSE)", "f_score": "F-score"}


def guesses(table: Table) -> Figure:
    """Figure 6.1."""
    return _panels(table, ("asr", "mse"), "How well a household’s water use is guessed from its report")


def limits(table: Table) -> Figure:
    """Figures 6.2 to 6.5."""
    limit = table.column("limit")[0]
    what = "used no water" if limit == 0 else f"used at most {limit} m³"
    return _panels(table, MEASURES, f"Who {what}: guessed from the report")


def _panels(table: Table, measures: Sequence[str], title: str) -> Figure:
    figure, panels = frame(1, len(measures), title, tall=3.3, sharex=True)
    for axes, measure in zip(panels[0], measures, strict=True):
        for name in NAMES:
            rows = table.where(protocol=name)
            at, colour = rows.numbers("epsilon"), PROTOCOLS[name]
            axes.plot(at, rows.numbers(measure), color=colour, lw=1.5)
            axes.plot(at, rows.numbers(f"{measure}_measured"), PROTOCOL_SIGNS[name], color=colour, ms=5)
            axes.plot(at, rows.numbers(f"{measure}_informed"), "--", color=colour, lw=1.1)
        axes.set_ylim(bottom=0)
        entitle(axes, _WORDS.get(measure, measure.capitalize()))
    label(panels, BUDGET, "")
    more = mark("dashed: by one who knows how amounts are spread", THEME.faint, ls="--", lw=1.1)
    legend(figure, NAMES, PROTOCOLS, PROTOCOL_SIGNS, mark("lines: exact", THEME.faint, lw=1.5), more)
    return figure
