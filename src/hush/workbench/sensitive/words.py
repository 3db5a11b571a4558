"""What remains protected, and what a report may reveal, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from hush.mechanisms.names import full_name
from hush.reports.statements import lay
from hush.reports.statements.promise import Promise, known
from hush.reports.words import many
from hush.utility import UtilityOracle
from hush.workbench.explore.words import margin, points
from hush.workbench.sensitive.gains import Distinction, Margins, SensitiveOption


def headline(found: Distinction) -> str:
    """What it gains, in one sentence or two."""
    best, plain = found.best, found.plain_margins
    some = many(len(found.domain.sensitive or ()), "sensitive answer", "sensitive answers")
    if found.fewer < 1.005:
        return (
            f"Here the distinction gains nothing: {best.name} errs by {margin(best.distinct.overall)} points, and "
            f"{found.plain.name()}, which protects every answer, by {margin(plain.overall)}."
        )
    return (
        f"Protecting only the {some}, {best.name} knows a percentage to {margin(best.distinct.overall)} points. "
        f"{found.plain.name()}, the best that protects every answer, knows it to {margin(plain.overall)}: it would "
        f"need {found.fewer:.3g} times as many people for the same."
    )


def parts(option: SensitiveOption) -> str:
    """Whom it helps: sensitive answers, or the others."""
    with_, without = option.distinct, option.same
    return (
        f"{option.name}: a sensitive answer {margin(with_.sensitive)} points instead of "
        f"{margin(without.sensitive)}; another one {margin(with_.other)} instead of {margin(without.other)}."
    )


def option_in_words(option: SensitiveOption) -> str:
    """A mechanism in a list to choose from."""
    full = full_name(type(option.mechanism))
    return f"{option.name}: {full}, {margin(option.distinct.overall)} points"


def margins(found: Distinction) -> tuple[list[Margins], list[Margins]]:
    """Errors of all mechanisms with the distinction, and without."""
    return [option.distinct for option in found.options], [option.same for option in found.options]


def table(found: Distinction) -> tuple[Sequence[str], list[Sequence[str]]]:
    """All errors, in points: a header, and a row for each mechanism."""
    header = ("Mechanism", "Sensitive", "Others", "All", "All, protecting everything", "Fewer people", "Told", "Bits")
    rows: list[Sequence[str]] = []
    for option in found.options:
        errors = [points(part) for part in (option.distinct.sensitive, option.distinct.other, option.distinct.overall)]
        told = lay.share(option.mechanism.z_star)
        rest = (points(option.same.overall), f"{option.fewer:.3g} times", told, f"{option.mechanism.bits:,}")
        rows.append((option.name, *errors, *rest))
    return header, rows


def protected(u: UtilityOracle) -> list[str]:
    """What people who hold a sensitive answer are promised."""
    return Promise(u.guarantee, known(u.exact_epsilon)).sentences()


def revealed(u: UtilityOracle, theta: float) -> list[str]:
    """What a report of another answer may reveal, and what one says that reveals nothing.

    Args:
        u: The mechanism.
        theta: Share of people whose answer is not sensitive.
    """
    shown = u.z_star
    hidden = (1 - theta) + theta * (1 - shown)
    said = [
        f"Whoever holds an answer that is not sensitive has it sent as it is with a chance of {lay.share(shown)}. "
        "Such a report names the answer for certain, to whoever sees it. Otherwise the report looks like that of a "
        "sensitive answer.",
        "A person with a sensitive answer never sends such a report. So a report that names no answer hints a little "
        f"at a sensitive one: if {lay.share(1 - theta)} of people hold one, then {lay.share((1 - theta) / hidden)} of "
        "those do whose report names none. The promise above bounds this too.",
    ]
    if u.reveal == "pair" and u.z_mean > 0:
        said.append("Some of these reports have a disguise beside the answer, which says nothing more.")
    return said
