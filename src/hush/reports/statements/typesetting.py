"""Text on a page of paper: measured, broken into lines, and placed from the top down.

Matplotlib draws it, which Hush needs anyway; letters stay letters, so that a reader can search and copy them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import Rectangle
from matplotlib.textpath import TextToPath

WIDTH, HEIGHT = 595.28, 841.89
"""A4, in points."""
MARGIN = 52.0
ROOM = WIDTH - 2 * MARGIN

_MEASURE = TextToPath()


@dataclass(frozen=True)
class Face:
    """A kind of type.

    Args:
        size: In points.
        bold: Whether it is.
        mono: Whether all letters are equally wide.
        colour: Of the letters.
        leading: From line to line, in sizes.
    """

    size: float
    bold: bool = False
    mono: bool = False
    colour: str = "#1d2330"
    leading: float = 1.38

    @property
    def font(self) -> FontProperties:
        """As Matplotlib knows it."""
        family = "DejaVu Sans Mono" if self.mono else "DejaVu Sans"
        return FontProperties(family=family, size=self.size, weight="bold" if self.bold else "normal")

    @property
    def line(self) -> float:
        """The height of a line."""
        return self.size * self.leading

    def wide(self, text: str) -> float:
        """How wide a text is, in points."""
        return _wide(text, self.size, self.bold, self.mono)

    def broken(self, text: str, room: float) -> list[str]:
        """A text in lines that have room; a word that has none by itself is cut."""
        lines: list[str] = []
        line, used, space = "", 0.0, self.wide("a a") - self.wide("aa")
        for word in text.split(" "):
            for part in self._parts(word, room):
                wide = self.wide(part)
                if line and used + space + wide > room:
                    lines.append(line)
                    line, used = part, wide
                else:
                    line, used = (f"{line} {part}", used + space + wide) if line else (part, wide)
        return [*lines, line]

    def _parts(self, word: str, room: float) -> Iterator[str]:
        while self.wide(word) > room and len(word) > 1:
            cut = next((i for i in range(len(word) - 1, 0, -1) if self.wide(word[:i]) <= room), 1)
            yield word[:cut]
            word = word[cut:]
        yield word


@lru_cache(maxsize=1 << 14)
def _wide(text: str, size: float, bold: bool, mono: bool) -> float:
    font = Face(size, bold, mono).font
    return float(_MEASURE.get_text_width_height_descent(text, font, False)[0])


@dataclass
class Sheets:
    """Pages that are filled from the top down; a new one begins where there is no room left.

    Args:
        gap: Between paragraphs, in points.
    """

    gap: float
    pages: list[Figure] = field(default_factory=list)
    at: float = 0.0

    def __post_init__(self) -> None:
        self._turn()

    def _turn(self) -> None:
        figure = Figure(figsize=(WIDTH / 72, HEIGHT / 72), facecolor="white")
        figure.add_artist(Rectangle((0, 0), 0, 0))  # a page without anything would not be written
        self.pages.append(figure)
        self.at = MARGIN

    def needs(self, height: float) -> None:
        """Begin a new page, unless so much is left of this one."""
        if self.at + height > HEIGHT - MARGIN - 14:
            self._turn()

    def skip(self, height: float) -> None:
        """Leave some room."""
        self.at += height

    def text(self, words: str, face: Face, *, left: float = 0.0, room: float = 0.0) -> None:
        """A paragraph."""
        for line in face.broken(words, room or ROOM - left):
            self.needs(face.line)
            self.at += face.line
            self.put(line, face, left, self.at - 0.32 * face.size)

    def put(self, line: str, face: Face, left: float, baseline: float) -> None:
        """One line, so far from the left and from the top of the page."""
        x, y = (MARGIN + left) / WIDTH, 1 - baseline / HEIGHT
        how: dict[str, Any] = {"fontproperties": face.font, "color": face.colour, "va": "baseline", "parse_math": False}
        self.pages[-1].text(x, y, line, **how)

    def ground(self, height: float, colour: str) -> None:
        """A coloured ground below what comes next."""
        x, y = MARGIN / WIDTH, 1 - (self.at + height) / HEIGHT
        box = Rectangle((x, y), ROOM / WIDTH, height / HEIGHT, color=colour, linewidth=0, zorder=-1)
        box.set_transform(self.pages[-1].transSubfigure)
        self.pages[-1].add_artist(box)
