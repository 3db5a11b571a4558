"""What a statement is made of, as Markdown and as HTML. Texts are plain: each form escapes them in its own way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from hush.reports import page
from hush.reports.words import shortened

_MARKS = re.compile(r"([\\`*_{}\[\]<>#|~$&])")
_LONGEST = 60


def label(text: object) -> str:
    """A label or a column's name in quotes, one printable line."""
    return f"“{shortened(text, _LONGEST)}”"


def escaped(text: str) -> str:
    r"""Text that Markdown shows as it is.

    >>> print(escaped("a*b_<c>"))
    a\*b\_\<c\>
    """
    return _MARKS.sub(r"\\\1", text)


@dataclass(frozen=True)
class Paragraph:
    """Sentences."""

    text: str

    def markdown(self) -> str:
        """As Markdown."""
        return escaped(self.text)

    def html(self) -> page.Html:
        """As HTML."""
        return page.paragraph(_unbroken(self.text))


@dataclass(frozen=True)
class Bullets:
    """Paragraphs, each on its own."""

    items: tuple[str, ...]

    def markdown(self) -> str:
        """As Markdown."""
        return "\n".join(f"- {escaped(each)}" for each in self.items)

    def html(self) -> page.Html:
        """As HTML."""
        return page.tag("ul", *(page.tag("li", _unbroken(each)) for each in self.items))


@dataclass(frozen=True)
class Tabular:
    """Rows under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """As Markdown."""
        head, *rows = (tuple(map(escaped, line)) for line in (self.head, *self.rows))
        return "\n".join(f"| {' | '.join(line)} |" for line in (head, ("---",) * len(head), *rows))

    def html(self) -> page.Html:
        """As HTML."""
        return page.table(self.head, self.rows)


@dataclass(frozen=True)
class Facts:
    """Names and what stands behind them, letter by letter: hashes, versions."""

    entries: tuple[tuple[str, str], ...]

    def markdown(self) -> str:
        """As Markdown."""
        return "\n".join(f"- {escaped(name)}: {_code(said)}" for name, said in self.entries)

    def html(self) -> page.Html:
        """As HTML."""
        return page.tag(
            "div", page.definitions({name: page.tag("code", said) for name, said in self.entries}), class_="facts"
        )


@dataclass(frozen=True)
class Commands:
    """Lines to run."""

    lines: tuple[str, ...]

    def markdown(self) -> str:
        """As Markdown."""
        return "\n".join(["```sh", *self.lines, "```"])

    def html(self) -> page.Html:
        """As HTML."""
        return page.tag("pre", page.tag("code", "\n".join(self.lines)))


Block = Paragraph | Bullets | Tabular | Facts | Commands


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: tuple[Block, ...]


def paragraphs(sentences: Sequence[str]) -> list[Block]:
    """One for each, empty ones left out."""
    return [Paragraph(each) for each in sentences if each]


def _unbroken(text: str) -> str:
    """Numbers that stay in one line with their signs."""
    return re.sub(r"(?<=ε) (?==)|(?<=ε =) (?=\d)|(?<=\d) (?=%)", "\u00a0", text)


def _code(text: str) -> str:
    """Text between more backticks than it has in a row."""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if "`" in text else f"{fence}{text}{fence}"
