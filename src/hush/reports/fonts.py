"""What the figures' font can spell."""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.font_manager import FontProperties, findfont, get_font


def unprintable(texts: Iterable[str]) -> list[str]:
    """The texts with signs that the font lacks; those draw as boxes.

    >>> unprintable(["news", "café", "日本"])
    ['日本']
    """
    known = get_font(findfont(FontProperties())).get_charmap()
    return [text for text in texts if any(ord(sign) not in known for sign in text if sign.isprintable())]
