"""Type, colours and spacing: one scale, one palette, the one of figures, for light and dark."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files

from hush.reports.theme import DARK, LIGHT, Theme

__all__ = ["CARD", "DARK", "FAINT", "GRID", "GROUND", "INK", "LIGHT", "SERIES", "TRUTH", "address", "stylesheet"]

SERIES = tuple(f"var(--series-{i})" for i in range(len(LIGHT.series)))
"""Colours of series in charts, in order; they stay apart for colour-blind eyes, and follow light and dark."""
INK, FAINT, GRID, GROUND, TRUTH, CARD = (
    f"var(--{name})" for name in ("ink", "faint", "grid", "ground", "truth", "card")
)
_MORE = {
    "light": {
        "card": "#f6f7fa",
        "bad": "#b3261e",
        "bad-ground": "#fdeceb",
        "on-accent": "#ffffff",
        "shade": "#0b132414",
    },
    "dark": {
        "card": "#1f232c",
        "bad": "#ff8a80",
        "bad-ground": "#3a2422",
        "on-accent": "#10141b",
        "shade": "#00000066",
    },
}


def variables(name: str, theme: Theme) -> str:
    """The colours of a theme, as CSS has them."""
    plain = {each: getattr(theme, each) for each in ("ground", "ink", "faint", "grid", "truth")}
    series = {f"series-{i}": colour for i, colour in enumerate(theme.series)}
    named = {**plain, **series, "accent": theme.series[0], **_MORE[name]}
    return " ".join(f"--{key}: {value};" for key, value in named.items())


@cache
def stylesheet() -> str:
    """The whole sheet."""
    own = files("hush.workbench").joinpath("theme.css").read_text("utf-8")
    return f":root {{ {variables('light', LIGHT)} }}\n.body--dark {{ {variables('dark', DARK)} }}\n{own}"


@cache
def address() -> str:
    """Where the sheet is served; another sheet has another address."""
    return f"/theme-{hashlib.sha256(stylesheet().encode()).hexdigest()[:16]}.css"
