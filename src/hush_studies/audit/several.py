"""Figures of many reports (6 and 11) and of tuples (7 and 12)."""

from __future__ import annotations

from matplotlib.figure import Figure

from hush.audit import bounds
from hush_studies.audit.curves import positive
from hush_studies.audit.proof import TRIALS
from hush_studies.audit.protocols import REPEATED, TUPLES
from hush_studies.frame import THEME, below, entitle, frame, label, logarithmic, mark, shades
from hush_studies.study import Table

_ACROSS = 5


def sequences(table: Table) -> Figure:
    """Figures 6 and 11."""
    ks = sorted(set(table.column("k")))
    down = len(REPEATED) // _ACROSS
    title = "Many reports of one value: what is proved of all of them together"
    figure, panels = frame(len(ks) * down, _ACROSS, title, tall=2.0, sharex=True, sharey=True)
    ceiling = bounds.best_provable(TRIALS)
    colours = shades(sorted(set(table.column("epsilon"))))
    for i, k in enumerate(ks):
        for axes, name in zip(panels[i * down : (i + 1) * down].ravel(), REPEATED, strict=True):
            axes.axhline(ceiling, color=THEME.truth, lw=1.4)
            for epsilon, colour in colours.items():
                rows = table.where(protocol=name, k=k, epsilon=epsilon)
                at = rows.numbers("tau")
                axes.plot(at, rows.numbers("exact"), ":", color=colour, lw=1.4)
                axes.plot(at, rows.numbers("likelihood"), "--", color=colour, lw=1.3)
                axes.plot(at, rows.numbers("attack"), "-o", color=colour, lw=1.3, ms=3)
            axes.set_ylim(-0.3, ceiling * 1.1)
            entitle(axes, f"{name}, k = {k}")
    logarithmic(panels, "x")
    for axes in panels.ravel():
        axes.set_xticks([5, 50, 500], labels=["5", "50", "500"])
    label(panels, "number of reports τ", "proved ε")
    styles = [
        mark("attack", THEME.faint, marker="o", ms=4, lw=1.3),
        mark("likelihood ratio", THEME.faint, ls="--", lw=1.3),
        mark("exact loss", THEME.faint, ls=":", lw=1.5),
        mark(f"most provable, {ceiling:.3f}", THEME.truth, lw=1.4),
    ]
    below(figure, [*(mark(f"ε = {epsilon:g}", colour, lw=3) for epsilon, colour in colours.items()), *styles])
    return figure


def tuples(table: Table) -> Figure:
    """Figures 7 and 12."""
    groups = [(k, d) for k in sorted(set(table.column("k"))) for d in sorted(set(table.column("d")))]
    title = "RS+FD: proved, claimed and true loss of a report about d attributes of k values"
    figure, panels = frame(len(groups), len(TUPLES), title, tall=2.0, sharex=True, sharey=True)
    for line, (k, d) in zip(panels, groups, strict=True):
        for axes, name in zip(line, TUPLES, strict=True):
            rows = table.where(protocol=name, k=k, d=d)
            at = rows.numbers("epsilon")
            axes.fill_between(at, at, 100, color=THEME.series[1], alpha=0.07, lw=0)
            axes.plot(at, at, "--", color=THEME.ink, lw=1.0)
            axes.plot(at, rows.numbers("exact"), ":", color=THEME.series[2], lw=1.8)
            axes.plot(at, positive(rows.numbers("likelihood")), "-s", color=THEME.series[1], lw=1.3, ms=3)
            axes.plot(at, positive(rows.numbers("attack")), "-o", color=THEME.series[0], lw=1.3, ms=3)
            axes.set_ylim(0.02, 15)
            entitle(axes, f"{name}, k = {k}, d = {d}")
    logarithmic(panels, "x", "y")
    for axes in panels.ravel():
        axes.set_xticks([0.25, 1, 4, 10], labels=["¼", "1", "4", "10"])
    label(panels, "claimed ε", "proved ε")
    below(
        figure,
        [
            mark("the paper's attack", THEME.series[0], marker="o", ms=4, lw=1.3),
            mark("likelihood ratio", THEME.series[1], marker="s", ms=4, lw=1.3),
            mark("true loss ε′", THEME.series[2], ls=":", lw=1.8),
            mark("claimed; above it the claim is false", THEME.ink, ls="--", lw=1.0),
        ],
    )
    return figure
