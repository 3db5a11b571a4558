"""The words of the page, section by section; every number in them is computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from hush.reports.statements import lay
from hush.workbench.learn import coins, limits
from hush.workbench.learn.crowd import reported
from hush.workbench.learn.odds import moved, of_hundred

TITLE = "An answer that stays yours"
LEAD = "Five minutes, two coins and a crowd: what local differential privacy is, and what it is not."


@dataclass(frozen=True)
class Lesson:
    """A part of the page.

    Args:
        id: Its place in the address, and in the page.
        title: Its heading.
        before: Paragraphs before what is to be tried.
        after: Paragraphs after it.
    """

    id: str
    title: str
    before: tuple[str, ...]
    after: tuple[str, ...] = ()


@cache
def sections() -> tuple[Lesson, ...]:
    """All parts, in order."""
    return (_question(), _coins(), _report(), _crowd(), _epsilon(), _limits(), _quiz())


def _question() -> Lesson:
    return Lesson(
        "question",
        "A question that people lie about",
        (
            "“Have you ever taken something from a shop without paying?” Asked openly, many say no. And whoever keeps "
            "the answers may lose them, sell them, or be made to hand them over.",
            "Local differential privacy changes what is handed over. An answer is mixed with chance where the person "
            "is, before it leaves. What leaves can be denied by everybody, and still the crowd can be counted.",
        ),
    )


def _coins() -> Lesson:
    rows = coins.law()
    honest = rows["yes"]["yes"]
    return Lesson(
        "coins",
        "Flip two coins",
        (
            "Keep your true answer to that question in mind. Flip a coin. Heads: say the truth. Tails: flip again, and "
            "say what the second coin says, yes for heads and no for tails.",
        ),
        (
            f"Of the four ways in which two coins fall, {honest.numerator} in {honest.denominator} end with the truth, "
            f"whatever it is. So every yes may be the coins', and every no, too. Nobody can tell, and you need not "
            "trust anybody not to look.",
        ),
    )


def _report() -> Lesson:
    m = coins.mechanism()
    return Lesson(
        "report",
        "What one report tells",
        ("Somebody who sees your report learns a little. How much depends on what they thought before.",),
        (
            f"However sure they were, the report moves their odds by a factor of {coins.factor()}, and by no more. "
            f"The logarithm of that factor is the privacy loss, ε (epsilon): here {m.epsilon:.3f}. A promise of ε "
            "holds whatever anybody knew before, whatever they learn later, and however well they compute.",
        ),
    )


def _crowd() -> Lesson:
    m = coins.mechanism()
    none, all_ = reported(m, 0.0), reported(m, 1.0)
    return Lesson(
        "crowd",
        "Why the crowd still answers",
        (
            f"Coins are fair. If nobody held yes, {lay.share(none)} of all reports would say it; if everybody did, "
            f"{lay.share(all_)}. What is counted lies between the two, and where it lies is the share of people. "
            "Chance adds an error that is known, and that shrinks as more people answer.",
        ),
        (
            "Four times as many people halve the error. That is the price: a private survey asks more people than an "
            "open one.",
        ),
    )


def _epsilon() -> Lesson:
    return Lesson(
        "epsilon",
        "What ε buys",
        (
            "Coins can be weighted, and a question can have more than two answers: say the truth with a certain "
            "chance, and else one of the other answers, drawn at random. ε says how much the truth is favoured. It is "
            "chosen before anybody is asked, and everybody may know it.",
        ),
        (
            "For more answers there are better ways to report than to name one. Plan finds them for a collection, and "
            "Explore compares them all.",
        ),
    )


def _limits() -> Lesson:
    return Lesson(
        "limits",
        "What it does not protect from",
        ("A promise about one report is a promise about one report.",),
    )


def limits_said(times: int) -> tuple[tuple[str, str], ...]:
    """What is left open: a name, and what it means, for somebody who is asked so often."""
    m = limits.example()
    known = moved(m, 0.9)
    return (
        (
            "Being asked again",
            f"{limits.repeating(coins.mechanism(), times)} Ask who keeps the account, and where it ends.",
        ),
        ("People who are not there", limits.sybils(m, 0.02, 0.1)),
        (
            "What others know already",
            f"Somebody who thought it {of_hundred(known.before)} in 100 likely that you hold an answer thinks it "
            f"{of_hundred(known.after)} in 100 likely after a report that agrees, at ε = {m.epsilon:g}. And what the "
            "crowd shows is true of you as well: if nine in ten of your neighbours answer yes, a stranger will guess "
            "yes, whether you took part or not.",
        ),
        (
            "That you took part",
            "A report hides what you answered, not that you did, when, or from where. A relay that mixes many people's "
            "reports helps with that.",
        ),
    )


def _quiz() -> Lesson:
    return Lesson("quiz", "Four questions, and one for the crowd", ("Nothing is graded, and nothing is kept.",))
