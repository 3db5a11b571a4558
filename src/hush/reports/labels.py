"""Names beside points, placed so that none covers another name, a point or the edge of the panel; lines may pass."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from hush.reports.theme import Theme

_NEAR = 7.0
"""Points that are closer than this, in pixels, share one name."""

_MARK = 6.0
_STRONG = 13.0
"""Half the size of a mark, and of one that stands out."""

_STEPS = (3.0, 9.0, 17.0, 29.0, 45.0, 65.0, 89.0, 117.0)
_LED = 9.0
"""Pixels from a mark to its name; from so many on, a thin line leads from one to the other."""

_TURNS = tuple(math.radians(turn) for turn in (0, 30, -30, 180, 150, -150, 60, -60, 120, -120, 90, -90))


@dataclass(frozen=True)
class Spot:
    """A point, and what stands there.

    Args:
        x: Where it is.
        y: Where it is.
        name: What it is called.
        strong: Whether its mark is a large one, and its name in bold.
    """

    x: float
    y: float
    name: str
    strong: bool = False


@dataclass(frozen=True)
class _Group:
    """Points that look like one, and where that is, in pixels."""

    centre: npt.NDArray[np.float64]
    spots: list[Spot]

    @property
    def reach(self) -> float:
        return _STRONG if self.spots[0].strong else _MARK

    @property
    def box(self) -> Bbox:
        return Bbox(np.stack([self.centre - self.reach, self.centre + self.reach]))

    def text(self, most: int) -> str:
        names = list(dict.fromkeys(spot.name for spot in self.spots))
        rest = len(names) - most
        if rest > 1:
            names = [*names[: most - 1], f"{names[most - 1]} and {rest} more"]
        if self.spots[0].strong and len(names) > 1:
            return f"{names[0]} (with {', '.join(names[1:])})"
        return ", ".join(names)


def place(axes: Axes, spots: Sequence[Spot], theme: Theme, *, most: int = 3) -> list[Annotation]:
    """Name points; those that lie on one another get one name together.

    Call it last: it lays out the figure, measures every name as it will be drawn, and tries places around its point,
    from near to far. A name for which there is no place is left out.

    Args:
        axes: A panel that is otherwise complete.
        spots: The points, the most important first.
        theme: Colours.
        most: Names that a group of points shows; of more, the number is told.
    """
    figure = axes.get_figure(root=True)
    assert figure is not None
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    groups = _together(axes, spots)
    marks, names = [group.box for group in groups], list[Bbox]()
    window, drawn = axes.get_window_extent(renderer), []
    for group in groups:
        strong = group.spots[0].strong
        how: dict[str, Any] = {
            "fontsize": 9, "fontweight": "bold" if strong else "normal", "color": theme.ink, "ha": "left",
            "va": "bottom", "in_layout": False, "zorder": 6, "parse_math": False, "annotation_clip": False,
            "path_effects": [withStroke(linewidth=3, foreground=theme.ground)],
        }  # fmt: skip
        at, text = (group.spots[0].x, group.spots[0].y), group.text(most)
        trial = axes.annotate(text, at, (0, 0), textcoords="offset points", **how)
        size = trial.get_window_extent(renderer)
        trial.remove()
        found = _free(group, size, marks, names, window)
        if found is None:
            continue
        box, lead = found
        offset = (np.array([box.x0, box.y0]) - group.centre) * 72 / figure.dpi
        start = (_nearest(group.centre, box) - [box.x0, box.y0]) / [box.width, box.height]
        line = {"arrowstyle": "-", "color": theme.faint, "lw": 0.7, "shrinkA": 1, "shrinkB": 3, "relpos": tuple(start)}
        note = axes.annotate(
            text, at, tuple(offset), textcoords="offset points", arrowprops=line if lead else None, **how
        )
        names += [box, *lead]
        drawn.append(note)
    return drawn


def _together(axes: Axes, spots: Sequence[Spot]) -> list[_Group]:
    groups: list[_Group] = []
    for spot in spots:
        at = np.asarray(axes.transData.transform((spot.x, spot.y)), np.float64)
        near = next((group for group in groups if np.hypot(*(at - group.centre)) < _NEAR), None)
        if near is None:
            groups.append(_Group(at, [spot]))
        else:
            near.spots.append(spot)
    return groups


def _free(
    group: _Group, size: Bbox, marks: Sequence[Bbox], names: Sequence[Bbox], window: Bbox
) -> tuple[Bbox, list[Bbox]] | None:
    """The nearest place for a name of this size, and what the line to it covers, if there is one.

    A name keeps clear of marks, names and their lines; its line of names and lines, where there is such a place.
    """
    crossing = None
    for step in _STEPS:
        for turn in _TURNS:
            box = _beside(group, size, group.reach + step, turn)
            inside = box.x0 >= window.x0 and box.x1 <= window.x1 and box.y0 >= window.y0 and box.y1 <= window.y1
            if not inside or any(box.overlaps(other) for other in (*marks, *names)):
                continue
            covered = _line(group.centre, box) if step >= _LED else []
            if not any(mine.overlaps(name) for mine in covered for name in names):
                return box, covered
            crossing = crossing or (box, covered)
    return crossing


def _beside(group: _Group, size: Bbox, away: float, turn: float) -> Bbox:
    """A box of this size, so many pixels away in a direction."""
    across, up = math.cos(turn), math.sin(turn)
    left = away * across - (0.0 if across > 0.2 else size.width if across < -0.2 else size.width / 2)
    corner = group.centre + np.array([left, away * up - size.height / 2])
    return Bbox(np.stack([corner, corner + np.array([size.width, size.height])]))


def _nearest(centre: npt.NDArray[np.float64], box: Bbox) -> npt.NDArray[np.float64]:
    """Where the line to a name ends: on its edge, as near as can be."""
    return np.clip(centre, [box.x0, box.y0], [box.x1, box.y1])


def _line(centre: npt.NDArray[np.float64], box: Bbox) -> list[Bbox]:
    """Small boxes along the line from a point to its name."""
    end = _nearest(centre, box)
    steps = np.linspace(0, 0.95, max(int(np.hypot(*(end - centre)) / 3), 2))
    return [Bbox(np.stack([at - 1, at + 1])) for at in centre + steps[:, None] * (end - centre)]
