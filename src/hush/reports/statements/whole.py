"""One page about a collection for a data-protection officer: what leaves the device, what is promised, what is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import hush
from hush import rules
from hush.errors import SpecError, Unsaid, message
from hush.mechanisms.names import full_name
from hush.mechanisms.spec import Spec
from hush.reports import page
from hush.reports.statements.blocks import (
    Block,
    Bullets,
    Commands,
    Facts,
    Paragraph,
    Section,
    escaped,
    label,
    paragraphs,
)
from hush.reports.statements.frequencies import Frequencies
from hush.reports.statements.histories import Histories
from hush.reports.statements.means import Means
from hush.reports.statements.subject import Subject
from hush.reports.statements.tuple_histories import TupleHistories
from hush.reports.statements.tuples import Tuples

_KINDS = {"frequency": Frequencies, "numeric": Means, "multidim": Tuples, "longitudinal": Histories}
_TITLE = "Privacy statement of a data collection"
_LEAD = (
    "What leaves a person's device in this collection, what is promised about it, and what is not. Every number is "
    "computed: from the collection's spec, whose hash stands at the end, and from the number of people where that is "
    "known."
)
_RANDOMNESS = (
    "Chance comes from a cryptographically secure generator (AES in counter mode, with fresh keys from the operating "
    "system), unless a program passes another one for a simulation."
)
_ALWAYS_OPEN = (
    "The values themselves, wherever they are held: a device, or a file that is randomized after it was collected, "
    "stays as sensitive as it was.",
    "Groups: the collection is made to tell how frequent values are. What it tells of a group, also of people who "
    "did not take part, may be held against its members, the more so the smaller and the more alike the group is.",
    "That somebody took part, and whatever arrives with a report or can be joined to it: network addresses, times, "
    "accounts, order. Whoever links reports to people or to each other by such means reads them together.",
)


@dataclass(frozen=True)
class Statement:
    """A statement, as data: write it with `to_markdown`, `to_html` or `to_pdf`.

    Args:
        title: Its title.
        lead: What it is, in a sentence or two.
        sections: What it says.
        version: The version of Hush that wrote it.
    """

    title: str
    lead: str
    sections: tuple[Section, ...]
    version: str

    def to_markdown(self) -> str:
        """As Markdown, as GitHub and others show it."""
        parts = [f"# {escaped(self.title)}", escaped(self.lead)]
        for section in self.sections:
            parts += [f"## {escaped(section.heading)}", *(block.markdown() for block in section.blocks)]
        return "\n\n".join(parts) + "\n"

    def to_html(self) -> str:
        """As one HTML page, which loads nothing and prints well."""
        body = [page.paragraph(self.lead, "lead")]
        for section in self.sections:
            body += [page.heading(section.heading), *(block.html() for block in section.blocks)]
        return page.page(self.title, body, f"Written by hush {self.version}.")

    def to_pdf(self) -> bytes:
        """As a PDF for printing, of one page where that leaves letters large enough to read.

        Its font has the letters of Europe's languages; `hush.reports.statements.paper.unspellable` tells what it lacks.
        """
        from hush.reports.statements.paper import pdf

        return pdf(self)


def statement(
    spec: Spec,
    *,
    n: int | None = None,
    reports: int | None = None,
    kept: Sequence[str] = (),
    caveats: Sequence[str] = (),
    asked: Sequence[str] = (),
    found: Sequence[str] = (),
    date: str | None = None,
) -> Statement:
    """What a collection promises, in words and numbers for people who have to answer for it.

    It depends on nothing but what is passed, so that it can be written again and compared.

    Args:
        spec: A spec of any kind.
        n: How many people report, where that is known.
        reports: How many reports one person sends, at most, where that is known.
        kept: Names of columns that stand beside the reports in the clear.
        caveats: More that is not protected, a sentence each.
        asked: What was asked of the collection, a sentence each.
        found: What its estimates turned out to be worth, a sentence each.
        date: A date to write on it.

    >>> from hush import GRR
    >>> made = statement(Spec(GRR(k=4, epsilon=1.0)), n=10_000)
    >>> print(made.sections[1].blocks[0].text[:88])
    Whatever a person holds, any report is at most 2.72 times likelier than if they held any
    """
    if not isinstance(spec, Spec):
        got = Unsaid(f"a {type(spec).__name__}")
        raise SpecError(message("spec", "must be a Spec", got, "write hush.Spec(mechanism, domain)"))
    people = None if n is None else rules.integer("n", n, 0, 10**18, "count the people who report")
    each = None if reports is None else rules.integer("reports", reports, 1, 10**9, "count the reports of one person")
    kind = _KINDS.get(spec.mechanism.kind, Subject)
    if kind is Histories and hasattr(spec.domain, "domains"):
        kind = TupleHistories
    subject = kind(spec, people, each)
    sections: dict[str, list[Block]] = {
        "What leaves the device": [*subject.leaves(), Paragraph(_RANDOMNESS)],
        "What is promised": paragraphs(subject.promise.sentences()),
        "How well somebody can guess": subject.guess(),
        "What adds up over time": subject.adds_up(),
        "What is not protected": [_open(subject, kept, caveats)],
        "What the estimates are worth": [*subject.worth(), *paragraphs(found), *paragraphs(asked)],
        "Which collection this is, and how to check it": _identity(subject, date),
    }
    listed = tuple(Section(heading, tuple(blocks)) for heading, blocks in sections.items())
    return Statement(_TITLE, _LEAD, listed, hush.__version__)


def _open(subject: Subject, kept: Sequence[str], caveats: Sequence[str]) -> Bullets:
    """What is in the open."""
    named = [f"Columns kept beside the reports in the clear: {', '.join(map(label, kept))}."] if kept else []
    return Bullets((*_ALWAYS_OPEN, *subject.not_protected(), *named, *caveats))


def _identity(subject: Subject, date: str | None) -> list[Block]:
    """What it is, letter by letter, and how to check that."""
    m, name = subject.m, subject.m.name()
    long = full_name(type(m)) if subject.m.full_name else ""
    carried = subject.spec.one_round.hash
    promise = "no guarantee" if subject.one.guarantee is None else str(subject.one.guarantee)
    facts = {
        "mechanism": f"{name}, {long}" if long else name,
        "about": subject.over,
        "one report": f"{promise}, {subject.size}",
        "hash of the spec (SHA-256)": subject.spec.hash,
        **({} if carried == subject.spec.hash else {"hash that reports carry": carried}),
        "written with": f"hush {hush.__version__}",
        **({} if date is None else {"date": date}),
    }
    lines = [
        "python -c \"import hush; print(hush.read('spec.json').hash)\"",
        f"python -c \"import hush; print(hush.read('spec.json').mechanism.{_ASKED.get(m.kind, 'exact_epsilon()')})\"",
        *([subject.audit()] if subject.audit() else []),
    ]
    tried = " The third draws reports and looks for a loss above what is promised." if subject.audit() else ""
    which = "the same" if carried == subject.spec.hash else "the other"
    how = (
        "With the collection's spec in the file spec.json (commands write it with --spec-out), the first line must "
        f"print the hash of the spec, and the second the exact loss of one report.{tried} Reports and "
        f"saved counts carry {which} "
        "hash, so that those of another collection are refused."
    )
    return [Facts(tuple(facts.items())), Paragraph(how), Commands(tuple(lines))]


_ASKED = {"longitudinal": "first_report.exact_epsilon()"}
"""Where the exact loss of one report is asked for."""
