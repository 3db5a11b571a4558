"""One self-contained HTML page: every text escaped, every picture inside, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files


class Html(str):
    """Text that is HTML already; every other text is escaped."""

    __slots__ = ()


def text(content: object) -> Html:
    """Content as HTML, escaped unless it is HTML already.

    >>> text("<b>")
    '&lt;b&gt;'
    """
    return content if isinstance(content, Html) else Html(escape(str(content)))


def tag(name: str, *content: object, **attributes: str) -> Html:
    """An element; a trailing underscore in an attribute's name is dropped.

    >>> tag("td", "1 < 2", class_="miss")
    '<td class="miss">1 &lt; 2</td>'
    """
    written = "".join(f' {key.rstrip("_")}="{escape(value)}"' for key, value in attributes.items() if value)
    return Html(f"<{name}{written}>{''.join(text(each) for each in content)}</{name}>")


def heading(content: str) -> Html:
    """The heading of a section."""
    return tag("h2", content)


def paragraph(content: object, class_: str = "") -> Html:
    """A paragraph."""
    return tag("p", content, class_=class_)


def picture(light: bytes, dark: bytes, alternative: str, caption: str) -> Html:
    """A PNG in two versions, the dark one for readers in dark mode."""
    source = Html(f'<source media="(prefers-color-scheme: dark)" srcset="{_data(dark)}">')
    image = Html(f'<img src="{_data(light)}" alt="{escape(alternative)}">')
    pan = tag("div", tag("picture", source, image), class_="scroll", tabindex="0")
    return tag("figure", pan, tag("figcaption", caption))


def _data(png: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(png).decode()


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> Html:
    """A table; a cell may be a whole `td` already."""
    top = tag("thead", tag("tr", *(tag("th", each, scope="col") for each in head)))
    lines = [tag("tr", *(_cell(each) for each in row)) for row in rows]
    return tag("div", tag("table", top, tag("tbody", *lines)), class_="scroll")


def _cell(content: object) -> Html:
    ready = isinstance(content, Html) and content.startswith("<td")
    return content if ready else tag("td", content)  # type: ignore[return-value]


def definitions(entries: Mapping[str, object]) -> Html:
    """Words and what they mean."""
    return tag("dl", *(part for word, said in entries.items() for part in (tag("dt", word), tag("dd", said))))


def cards(entries: Iterable[tuple[str, str, Mapping[str, object]]]) -> Html:
    """Boxes side by side, each with a name, a line about it, and some numbers."""
    return tag(
        "div",
        *(
            tag("section", tag("h3", name), tag("p", line), definitions(facts), class_="card")
            for name, line, facts in entries
        ),
        class_="cards",
    )


def page(title: str, body: Iterable[Html], footer: object) -> str:
    """The whole document."""
    style = files("hush.reports").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"{tag('title', title)}\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{tag('h1', title)}\n" + "\n".join(body) + f"\n{tag('footer', footer)}\n</body>\n</html>\n"
    )
