"""Figures of the attack, 3, 6, 8 and 9, and of running times, table 2."""

from __future__ import annotations

from typing import Any

from matplotlib.figure import Figure

from hush_studies.frame import THEME, below, entitle, frame, label, logarithmic, mark
from hush_studies.modular.settings import PEOPLE
from hush_studies.modular.strokes import BUDGET, CALLED, COLOURS, SIGNS, beside, legend, lines, points, ticks
from hush_studies.study import Table


def zipf(table: Table) -> Figure:
    """Figure 3."""
    return _attacked(table, "k", "zipf", knowing=True)


def spike(table: Table) -> Figure:
    """Figure 8."""
    return _attacked(table, "k", "spike", knowing=False)


def aligned(table: Table) -> Figure:
    """Figure 9."""
    return _attacked(table, "base", "spike", knowing=False)


def _attacked(table: Table, by: str, crowd: str, *, knowing: bool) -> Figure:
    """A row a domain: these people, beside SS, all values equally often, and an attacker who knows frequencies."""
    groups = list(dict.fromkeys(table.column(by)))
    where = "k = K(ε)" if by == "base" else "Zipf" if crowd == "zipf" else "everybody holds value 0"
    title = f"Success of one guess from one report (DRA), {where}; points are real reports"
    figure, panels = frame(len(groups), 4 if knowing else 3, title, tall=2.7, sharex=True)
    for line, group in zip(panels, groups, strict=True):
        rows = table.where(**{by: group})
        lines(line[0], rows, "dra_expected")
        points(line[0], rows, "dra")
        entitle(line[0], f"k = {group:,}" if by == "k" else f"k = K(ε) ≥ {group:,}")
        line[2].sharey(line[1])
        beside(line[1], rows, "dra_expected", "dra")
        entitle(line[1], "DRA over that of SS")
        beside(line[2], rows, "dra_mean")
        beside(line[2], rows, "dra_mean", drawn="dra_printed", names=("PGR", "MSS"), ls=":", lw=1.6)
        entitle(line[2], "... mean over all values")
        if knowing:
            lines(line[3], rows, "dra_knowing")
            entitle(line[3], "frequencies known")
    logarithmic(panels[:, :3], "y")
    for axes in panels[:, 1:3].ravel():
        shown = [tick for tick in (0.5, 0.7, 1, 1.5, 2, 3, 5, 10) if axes.get_ylim()[0] <= tick <= axes.get_ylim()[1]]
        axes.set_yticks(shown, labels=[f"{tick:g}" for tick in shown])
    ticks(panels, table.column("epsilon"))
    label(panels, BUDGET, "DRA")
    legend(figure, mark("equations 7 and 15 as printed", THEME.faint, ls=":", lw=1.6))
    return figure


def bounds(table: Table) -> Figure:
    """Figure 6: what formulas say over what is measured."""
    sizes = list(dict.fromkeys(table.column("k")))
    title = "Formulas of the attack on MSS and SS over what is measured"
    figure, panels = frame(len(sizes), 2, title, tall=2.5, sharex=True, sharey=True)
    for line, k in zip(panels, sizes, strict=True):
        for axes, crowd in zip(line, PEOPLE, strict=True):
            axes.axhline(1, color=THEME.truth, lw=2.0, zorder=0)
            for name, column, look in (
                ("SS", "dra_printed", "-"), ("MSS", "dra_expected", "-"), ("MSS", "dra_printed", ":"),
                ("MSS", "dra_mean", "--"),
            ):  # fmt: skip
                rows = table.where(k=k, people=crowd, protocol=name)
                ratio = rows.numbers(column) / rows.numbers("dra")
                noise = 2 * ratio * rows.numbers("dra_stderr") / rows.numbers("dra")
                fill = COLOURS[name] if look == "-" else THEME.ground
                style: dict[str, Any] = {
                    "color": COLOURS[name],
                    "ls": look,
                    "lw": 1.3,
                    "marker": SIGNS[name],
                    "mfc": fill,
                    "ms": 4,
                }
                axes.errorbar(rows.numbers("epsilon"), ratio, yerr=noise, elinewidth=0.8, **style)
            entitle(axes, f"{CALLED[crowd]}, k = {k:,}")
    ticks(panels, table.column("epsilon"))
    label(panels, BUDGET, "formula / measured")
    below(
        figure,
        [
            mark("SS, table 1", COLOURS["SS"], marker="o", ms=5),
            mark("MSS, exact for these people", COLOURS["MSS"], marker="D", ms=5),
            mark("MSS, table 1 and equation 13", COLOURS["MSS"], marker="D", mfc=THEME.ground, ms=5, ls="--"),
            mark("MSS, equation 7", COLOURS["MSS"], marker="D", mfc=THEME.ground, ms=5, ls=":"),
        ],
    )
    return figure


def runtimes(table: Table) -> Figure:
    """Table 2."""
    k = table.column("k")[0]
    figure, panels = frame(1, 2, f"Seconds to estimate from 10,000 reports, k = {k:,}", tall=3.4)
    left, right = panels[0]
    for name, colour, look in (("MSS", COLOURS["MSS"], "D"), ("PGR", COLOURS["PGR"], "^")):
        rows = table.where(protocol=name)
        at = rows.numbers("epsilon")
        left.plot(at, rows.numbers("seconds_printed"), ":", marker=look, mfc=THEME.ground, color=colour, ms=5, lw=1.2)
        left.plot(at, rows.numbers("seconds"), "-", marker=look, color=colour, ms=5, lw=1.4)
        left.plot(at, rows.numbers("seconds_decoding"), "-", color=colour, lw=1.0)
    rows = table.where(protocol="PGR, best q")
    left.plot(rows.numbers("epsilon"), rows.numbers("seconds"), "--", marker="^", color=THEME.ink, ms=4, lw=1.2)
    entitle(left, "seconds")
    for name, colour, dash in (("PGR", COLOURS["PGR"], "-"), ("PGR, best q", THEME.ink, "--")):
        rows = table.where(protocol=name)
        right.plot(rows.numbers("epsilon"), rows.numbers("messages"), dash, marker="^", color=colour, ms=5, lw=1.4)
    entitle(right, "messages of PGR, K")
    logarithmic(panels, "y")
    for axes in panels.ravel():
        axes.set_xticks([2, 3, 4, 5])
    label(panels, BUDGET, "")
    below(
        figure,
        [
            mark("MSS", COLOURS["MSS"], marker="D", ms=5),
            mark("PGR", COLOURS["PGR"], marker="^", ms=5),
            mark("PGR, best q", THEME.ink, marker="^", ms=4, ls="--"),
            mark("without counting reports", THEME.faint, lw=1.0),
            mark("hollow: as printed", THEME.faint, marker="o", mfc=THEME.ground, ms=5, ls=":"),
        ],
    )
    return figure
