"""Figures of the three proposed mechanisms: 6, 7, table 2, and what the printed z spends."""

from __future__ import annotations

from matplotlib.figure import Figure

from hush_studies.frame import THEME, below, entitle, frame, label, mark
from hush_studies.study import Table
from hush_studies.uldp.checks_together import PRINTED
from hush_studies.uldp.people import SYNTHETIC, called
from hush_studies.uldp.readings import PROPOSED
from hush_studies.uldp.strokes import COLOURS, SIGNS

_BUDGET = "budget ε"
_OURS = THEME.ink


def estimated(table: Table) -> Figure:
    """Figure 6."""
    names = list(dict.fromkeys(table.column("people")))
    title = "Error when 5 % of the people tell θ first, over the exact error when θ is known"
    figure, panels = frame(len(names), len(PROPOSED), title, tall=2.0, sharex=True, sharey="row")
    for line, name in zip(panels, names, strict=True):
        for axes, each in zip(line, PROPOSED, strict=True):
            axes.axhline(1, color=THEME.truth, lw=2.0, zorder=0)
            for reading, column, shift in (("paper", "mse", -0.12), ("paper", "mse_rest", 0.0), ("ours", "mse", 0.12)):
                rows = table.where(people=name, mechanism=each, reading=reading)
                known = rows.numbers("mse_known")
                colour, fill = (_OURS, _OURS) if reading == "ours" else (COLOURS[each], "none")
                axes.errorbar(
                    rows.numbers("epsilon") + shift,
                    rows.numbers(column) / known,
                    yerr=2 * rows.numbers(f"{column}_stderr") / known,
                    fmt="D-" if reading == "ours" else "o-" if column == "mse" else "s:",
                    color=colour,
                    mfc=colour if column == "mse" else fill,
                    ms=3.5,
                    lw=1.1,
                    elinewidth=0.8,
                )
            entitle(axes, f"{called(name)}, {each}")
        low, high = line[0].get_ylim()
        line[0].set_ylim(min(low, 0.88), max(high, 1.22))
    label(panels, _BUDGET, "ratio")
    below(
        figure,
        [
            mark("as in the paper: everybody's frequencies from 95 %", THEME.faint, marker="o", ms=4),
            mark("… the frequencies of these 95 %", THEME.faint, marker="s", ms=4, ls=":", mfc="none"),
            mark("ours: all reports", _OURS, marker="D", ms=4),
        ],
    )
    return figure


def without_z(table: Table) -> Figure:
    """Figure 7."""
    names = list(dict.fromkeys(table.column("people")))
    title = "How much of the error z saves, at the same parameter"
    figure, panels = frame(len(names), len(PROPOSED), title, tall=1.9, sharex=True, sharey=True)
    for line, name in zip(panels, names, strict=True):
        for axes, each in zip(line, PROPOSED, strict=True):
            rows = table.where(people=name, mechanism=each)
            at = rows.numbers("epsilon")
            axes.axhline(0, color=THEME.truth, lw=1.5, zorder=0)
            axes.plot(at, 100 * rows.numbers("saved_expected"), color=COLOURS[each], lw=1.4)
            seen, noise = 100 * rows.numbers("saved"), 200 * rows.numbers("saved_stderr")
            axes.errorbar(at, seen, yerr=noise, fmt=SIGNS[each], color=COLOURS[each], ms=4, elinewidth=0.8)
            axes.plot(at, 100 * rows.numbers("saved_ours"), "--", color=_OURS, lw=1.2)
            entitle(axes, f"{called(name)}, {each}")
            axes.set_ylim(-40, 100)
    label(panels, _BUDGET, "saved, %")
    below(
        figure,
        [
            mark("the paper's z: exact", THEME.faint, lw=1.4),
            mark(
                f"measured in {table.column('runs')[0]} runs, ± 2 standard errors", THEME.faint, marker="o", ms=4, lw=0
            ),
            mark("ours: exact z, best parameter, values sent alone where that is better", _OURS, ls="--", lw=1.2),
        ],
    )
    return figure


def off(table: Table) -> Figure:
    """Table 2."""
    figure, panels = frame(
        1, len(PROPOSED), "Table 2: how far θ is off as 5 % of the people tell it", tall=3.3, sharey=True
    )
    names = list(dict.fromkeys(table.column("people")))
    for axes, each in zip(panels[0], PROPOSED, strict=True):
        for place, name in enumerate(names):
            rows = table.where(people=name, mechanism=each, reading="paper")
            found, colour = 100 * rows.numbers("off"), COLOURS[each]
            axes.plot([place, place], [found.min(), found.max()], color=colour, lw=1.0, alpha=0.5)
            axes.plot(place, found.mean(), "o", color=colour, ms=6)
            axes.plot(place, found[0], "^", color=colour, ms=6)
            ours = table.where(people=name, mechanism=each, reading="ours")
            axes.plot(place + 0.22, 100 * ours.numbers("off").mean(), "o", color=_OURS, ms=4.5)
            if name in SYNTHETIC:
                printed = float(PRINTED[each][SYNTHETIC.index(name)])
                axes.plot(place - 0.22, printed, "_", color=_OURS, ms=13, mew=2.0)
        axes.set_yscale("log")
        axes.set_xticks(range(len(names)), labels=names, rotation=30, ha="right")
        axes.tick_params(axis="x", labelsize=9)
        axes.set_yticks([0.1, 0.3, 1, 3, 10, 30], labels=["0.1", "0.3", "1", "3", "10", "30"])
        axes.minorticks_off()
        entitle(axes, each)
    label(panels, "", "|θ̂ − θ| / θ, %")
    below(
        figure,
        [
            mark("printed", _OURS, marker="_", ms=13, mew=2.0, lw=0),
            mark("the paper's reading, average over ε", THEME.faint, marker="o", ms=6, lw=0),
            mark("at ε = 0.5", THEME.faint, marker="^", ms=6, lw=0),
            mark("from the least to the most over ε", THEME.faint, lw=1.0),
            mark("ours, average over ε", _OURS, marker="o", ms=4.5, lw=0),
        ],
    )
    return figure


def losses(table: Table) -> Figure:
    """What uLH and uWheel spend with the printed z."""
    figure, panels = frame(1, 2, "What the printed z really spends", tall=3.3, sharey=True)
    shades = dict(zip(dict.fromkeys(table.column("people")), COLOURS.values(), strict=False))
    for axes, each in zip(panels[0], ("uLH", "uWheel"), strict=True):
        rows = table.where(mechanism=each, reading="paper")
        top = float(table.numbers("epsilon").max())
        axes.axhspan(0, 1, color=THEME.series[1], alpha=0.06, lw=0)
        axes.axhline(0, color=THEME.ink, ls="--", lw=1.2)
        for name, colour in shades.items():
            mine = rows.where(people=name)
            at = mine.numbers("epsilon")
            axes.plot(at, mine.numbers("true_epsilon") - at, "-o", color=colour, ms=4, lw=1.4)
        axes.set(ylim=(-0.05, 0.75), xlim=(0, top + 0.2))
        entitle(axes, each)
    label(panels, "claimed ε", "true ε − claimed ε")
    marks = [mark(name, colour, marker="o", ms=4, lw=1.4) for name, colour in shades.items()]
    below(figure, [*marks, mark("claimed, and ours", THEME.ink, ls="--", lw=1.2)])
    return figure
