"""Colours of figures, for light and dark pages. The series colours stay apart for colour-blind readers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theme:
    """Colours of one figure."""

    ground: str
    ink: str
    faint: str
    grid: str
    truth: str
    series: tuple[str, ...]


LIGHT = Theme(
    ground="#ffffff",
    ink="#1d2330",
    faint="#5d6678",
    grid="#e3e6ec",
    truth="#d3d8e2",
    series=("#0a66b0", "#c8501e", "#13836a", "#8a4fa3"),
)
DARK = Theme(
    ground="#171a21",
    ink="#e8eaf0",
    faint="#a3abbb",
    grid="#2c313c",
    truth="#3d4454",
    series=("#6cb4ee", "#f0915f", "#4fc7a8", "#c79be0"),
)

MARKERS = ("o", "s", "D", "^")
