"""Numbers as sentences say them. What bounds a risk or an error is rounded up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal

from hush.errors import ParameterError, Unsaid, message
from hush.mechanisms.names import full_name
from hush.mechanisms.spec import Spec
from hush.reports import statement
from hush.reports.statements import lay
from hush.reports.statements.blocks import Bullets, Paragraph
from hush.workbench.plan.answer import Paragraphs, PlanOption
from hush.workbench.plan.question import Question

MOSTLY = "19\u00a0times\u00a0in\u00a020"
"""How sure an error is, in a line that is not broken."""
MUCH = 4.0
"""One is warned of an ε above this."""
_HALF, _GUESSED = 0.5, 1.5
"""And of so many right guesses, if they are so many times what luck gives."""
_TOLD = ("What is promised", "How well somebody can guess", "What adds up over time", "What the estimates are worth")


def epsilon(value: float) -> str:
    """A loss, as it is declared where that is short.

    >>> epsilon(2.64), epsilon(1.4898801256)
    ('2.64', '1.48989')
    """
    return lay.declared(value)


def hundred(share: float) -> str:
    """A share in hundredths, rounded up to three digits.

    >>> hundred(0.23371), hundred(1.2e-16)
    ('23.4', '0.000000000000012')
    """
    return lay.plain(lay.up(Decimal(f"{100 * share:.12g}")))


def people(count: int) -> str:
    """So many people.

    >>> people(1), people(20_000)
    ('1 person', '20,000 people')
    """
    return f"{count:,} {'person' if count == 1 else 'people'}"


def up(value: float) -> float:
    """Three digits, rounded up, so that what is said can be met.

    >>> up(8.0612), up(2.04)
    (8.07, 2.04)
    """
    return float(lay.up(Decimal(f"{value:.12g}")))  # as it is written: 2.04 is stored as slightly more


def small(chance: float) -> str:
    """A small probability in decimals.

    >>> small(1e-6)
    '0.000001'
    """
    return lay.small(chance)


def rounded_up(value: float) -> str:
    """A loss of many digits, rounded up to three.

    >>> rounded_up(0.10696)
    '0.107'
    """
    return lay.amount(value)


def points(share: float) -> str:
    """Percentage points, rounded up to three digits.

    >>> points(0.00999), points(0.01)
    ('0.999 points', '1 point')
    """
    said = hundred(share)
    return f"{said} point{'' if said == '1' else 's'}"


def within(question: Question, error: float, *, then: str = "", even: bool = False) -> str:
    """How far percentages are off, and how surely.

    Each is so by itself: that all of them are at once is rarer.

    Args:
        question: Whether it holds for each, or on average.
        error: Half a 95 % interval, as a share.
        then: A word before "within".
        even: Whether an average is that of answers that are equally frequent, where that makes a difference.
    """
    which = "each percentage by itself is"
    if not question.worst:
        which = f"percentages are, on average over the answers{' if all are equally frequent' if even else ''},"
    return f"{which} {then}within ±{points(error)} of the truth, {MOSTLY}."


def in_100(share: float) -> str:
    """How many of 100 guesses are right.

    >>> in_100(0.37968)
    '38 in 100'
    """
    return f"{hundred(share)} in 100"


def guessed(share: float, luck: float, whose: str = "a person's answer") -> str:
    """How often the best guess is right.

    >>> guessed(0.3797, 0.25)
    "the best guess of a person's answer is right 38 times in 100; 25 by luck alone"
    """
    right, blind, of = lay.guesses(share, luck)
    return f"the best guess of {whose} is right {right} times in {of}; {blind} by luck alone"


def caution(numbers: Mapping[str, float], luck: float) -> str:
    """What to think of before a promise is made that protects hardly anybody, or tells nothing; "" where it does."""
    asr, loss = numbers.get("asr", 0.0), numbers["epsilon"]
    if asr >= _HALF and asr > _GUESSED * luck:
        return (
            "More than half of all guesses are right: that protects a person little. Ask more people, or accept a "
            "larger error, before you promise privacy."
        )
    if loss > MUCH:
        return (
            f"With ε = {epsilon(loss)}, some reports are {lay.times(loss)} times likelier from one answer than from "
            "another: that is hardly a protection. Ask more people, or accept a larger error."
        )
    if numbers["error"] >= 1:
        return (
            "No percentage can be off by as much: such estimates tell nothing. Ask more people, or accept a larger ε."
        )
    return ""


def listed(names: Sequence[str]) -> str:
    """Some things in a row.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def capital(words: str) -> str:
    """With a capital letter at its beginning."""
    return words[:1].upper() + words[1:]


def named(cls: type) -> str:
    """What a mechanism's short name stands for."""
    return full_name(cls)


def told(spec: Spec, question: Question) -> tuple[tuple[str, Paragraphs], ...]:
    """What a statement says of a collection, where a person or an analyst asks first."""
    made = statement(spec, n=question.people, reports=question.rounds)
    return tuple(
        (section.heading, tuple(_paragraphs(section.blocks))) for section in made.sections if section.heading in _TOLD
    )


def _paragraphs(blocks: Iterable[object]) -> Iterable[str]:
    for block in blocks:
        if isinstance(block, Paragraph):
            yield block.text
        elif isinstance(block, Bullets):
            yield from block.items


def picked(options: Sequence[PlanOption], chosen: str) -> int:
    """The number of the row that was chosen; 0, the recommendation, where none was."""
    if not chosen:
        return 0
    for i, option in enumerate(options):
        if option.name.lower() == chosen.lower():
            return i
    rule, remedy = "must name a row of the table", "leave it out for the recommendation"
    raise ParameterError(message("chosen", rule, Unsaid(f"“{chosen[:40]}”"), remedy))
