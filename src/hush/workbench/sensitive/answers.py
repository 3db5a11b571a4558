"""Answers that somebody types or pastes, one a line, and those among them that are sensitive."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from hush.errors import ParameterError, Unsaid, message
from hush.people import Domain

MOST_ANSWERS = 1000
LONGEST_ANSWER = 200
MARK = "*"
"""A line that begins with it is sensitive."""


@dataclass(frozen=True)
class MarkedAnswers:
    """Possible answers, in their order.

    Args:
        labels: What they are called.
        sensitive: Those that need protection.
    """

    labels: tuple[str, ...]
    sensitive: frozenset[str] = frozenset()

    def marking(self, sensitive: Iterable[str]) -> MarkedAnswers:
        """The same answers with others sensitive; those that are no answers any more are forgotten."""
        return MarkedAnswers(self.labels, frozenset(sensitive) & frozenset(self.labels))

    @property
    def text(self) -> str:
        r"""As somebody would type them.

        >>> MarkedAnswers(("tea", "beer"), frozenset({"beer"})).text
        'tea\n* beer'
        """
        return "\n".join(f"{MARK} {label}" if label in self.sensitive else label for label in self.labels)

    @property
    def lacking(self) -> tuple[str, str] | None:
        """What has to be done before anything can be gained: that, and why; None where nothing has."""
        if not self.sensitive:
            return "Nothing is marked yet", "Mark the answers that are sensitive: what it gains appears here."
        if len(self.sensitive) == len(self.labels):
            why = "Where every answer is sensitive there is nothing to gain: leave one unmarked, or use the page Plan."
            return "All answers are marked", why
        return None

    @property
    def domain(self) -> Domain:
        """As a mechanism takes them; refused unless some, but not all, are sensitive."""
        marked = [label for label in self.labels if label in self.sensitive]
        if not marked:
            rule, remedy = "must be marked where they are sensitive", "mark at least one"
            raise ParameterError(message("Answers", rule, Unsaid("none that is"), remedy))
        if len(marked) == len(self.labels):
            rule, got = "must not all be sensitive, since nothing is gained then", Unsaid(f"all {len(marked)} marked")
            raise ParameterError(message("Answers", rule, got, "leave one unmarked, or use the page Plan"))
        return Domain(labels=list(self.labels), sensitive=marked)


def answers_in(text: str) -> MarkedAnswers:
    r"""The answers in a text: one a line; blank lines are skipped, and an asterisk in front marks a sensitive one.

    >>> answers_in("tea\n* cannabis\n\ncoffee")
    MarkedAnswers(labels=('tea', 'cannabis', 'coffee'), sensitive=frozenset({'cannabis'}))
    """
    places: dict[str, int] = {}
    marked: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        is_marked = line.strip().startswith(MARK)
        label = line.strip().removeprefix(MARK).strip() if is_marked else line.strip()
        if not label:
            if is_marked:
                rule, got = "must name an answer after the asterisk", Unsaid(f"line {number}")
                raise ParameterError(message("Answers", rule, got, "write it, or remove the line"))
            continue
        if label in places:
            got = Unsaid(f"the same on lines {places[label]} and {number}")
            raise ParameterError(message("Answers", "must all be different", got, "remove one of them"))
        if len(label) > LONGEST_ANSWER:
            rule, got = f"must have at most {LONGEST_ANSWER} letters", Unsaid(f"{len(label):,} on line {number}")
            raise ParameterError(message("Answers", rule, got, "shorten it"))
        places[label] = number
        if is_marked:
            marked.add(label)
    if not 2 <= len(places) <= MOST_ANSWERS:
        rule, remedy = (
            f"must be from 2 to {MOST_ANSWERS:,}, one a line",
            "add some" if len(places) < 2 else "merge some",
        )
        raise ParameterError(message("Answers", rule, Unsaid(f"{len(places):,}"), remedy))
    return MarkedAnswers(tuple(places), frozenset(marked))
