"""What reports of the same people again and again cost and show, in sentences."""

from __future__ import annotations

from fractions import Fraction
from itertools import takewhile

from hush.files.clients import StoreRun
from hush.files.clients.account import account
from hush.mechanisms.spec import Spec
from hush.reports.words import many


def of_protocol(spec: Spec) -> list[str]:
    """What people should know of a collection that keeps answers; nothing of other collections.

    >>> from hush.longitudinal import LGRR
    >>> of_protocol(Spec(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)))[0]
    "A person's reports show one of few answers, behind fresh noise, again and again: that may link them to each other."
    """
    m = spec.mechanism
    if m.kind != "longitudinal":
        return []
    return [
        f"A person's reports show {m.pseudonym}, again and again: that may link them to each other.",
        "Who did not report in a period shows where reports are linked.",
    ]


def of_rounds(spec: Spec) -> list[str]:
    """What to know when periods are compared."""
    if spec.mechanism.kind == "longitudinal":
        return [
            "People keep their answers, so periods are not independent: a part of the error is the same in all of them."
        ]
    return ["Every period has fresh noise, so their errors are independent."]


def of_account(spec: Spec, made: StoreRun, limit: Fraction | None, *, stored: bool) -> list[str]:
    """What the people of a run have spent in all."""
    if not made.people:
        return []
    totals, kept = made.totals, spec.mechanism.kind == "longitudinal"
    several = f"{totals.most}" if totals.fewest == totals.most else f"{totals.fewest} to {totals.most}"
    what = f"Reports of one person so far: {several}."
    least, most = _loss(totals.least_spent), _loss(totals.most_spent)
    spent = f"ε of one person in all: {most}" if least == most else f"ε of one person in all: {least} to {most}"
    if kept:
        stays = _loss(account(spec, totals.most).unchanging)
        spent += f" for values that change at known times, {stays} here for one that stays"
    spent += f"; the limit is {_loss(limit)}." if limit is not None else "; there is no limit."
    forgot = [] if stored else ["Nothing is kept: another run knows nothing of this one, and adds to it."]
    return [f"{what} {spent}", *forgot]


def of_refused(spec: Spec, made: StoreRun, limit: Fraction) -> str:
    """Who did not report, and why: how many reports the limit is enough for, and what more of them would ask for."""
    wished = max(len(made.periods), made.totals.most + 1)
    losses = (account(spec, reports).spent for reports in range(1, wished))
    enough = sum(1 for _ in takewhile(lambda loss: loss is not None and loss <= limit, losses))
    asks = account(spec, wished).spent
    why = ", since values may change" if spec.mechanism.kind == "longitudinal" else ""
    return (
        f"{many(made.refused, 'row', 'rows')} of {many(made.refused_people, 'person', 'people')} would exceed the "
        f"limit and did not report. Whoever counts a person's reports sees that. A limit of {_loss(limit)} is "
        f"enough for {many(enough, 'report', 'reports')} of one person here; {wished:,} ask for {_loss(asks)}{why}."
    )


def of_several(spec: Spec, made: StoreRun, *, periods: bool) -> str:
    """What it costs to report several times at once."""
    each, most = account(spec, 1), account(spec, made.totals.most)
    when = " in one period" if periods else ""
    return (
        f"people have several rows{when}: {made.again:,} beyond the first of each. Every row is a report and is "
        f"charged: {_loss(each.spent)} for one, {_loss(most.spent)} for {many(made.totals.most, 'report', 'reports')}."
    )


def _loss(amount: Fraction | None) -> str:
    return "without bound" if amount is None else f"{float(amount):.6g}"
