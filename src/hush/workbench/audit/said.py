"""From the results of an audit to what the page says of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

from hush.audit import AuditResult, bounds
from hush.reports.audit_in_words import GAMES, VERDICTS, gravest, meanings
from hush.reports.statements import lay
from hush.workbench.audit.finding import AuditSaid, MethodRow

_HEADLINES = {
    "violation": "The claim is false.",
    "inconclusive": "This audit cannot tell.",
    "consistent": "No violation was found.",
    "measured": "Nothing was claimed; this much is lost.",
}
_KEPT = "By its law, the claim is kept."


def said(results: Sequence[AuditResult]) -> AuditSaid:
    """An audit by one method or several, for people."""
    speaks = _speaker(results)
    claim = speaks.claim
    kept = speaks.method == "exact" and speaks.verdict == "consistent"
    exact = [each for each in results if each.method == "exact" and each is not speaks]
    return AuditSaid(
        target=speaks.target,
        verdict=speaks.verdict,
        headline=_KEPT if kept else _HEADLINES[speaks.verdict],
        lead=" ".join([speaks.statement, *(_by_law(each, speaks) for each in exact)]),
        speaker=speaks.method,
        meaning=meanings([speaks])["exact"] if kept else VERDICTS[speaks.verdict],
        odds=_odds(speaks),
        claimed=speaks.claimed,
        claim="" if claim is None else str(claim),
        unit=speaks.unit,
        rows=tuple(map(_row, results)),
        words=meanings(results),
        command=str(speaks.about.get("command", "")),
    )


def _speaker(results: Sequence[AuditResult]) -> AuditResult:
    """The result of the gravest verdict; where nothing was found, one that looked at reports."""
    found = gravest(results)
    looked = [each for each in results if each.method != "exact" and each.verdict == found.verdict]
    return max(looked, key=lambda each: each.epsilon_lower) if looked and not found.violated else found


def _by_law(result: AuditResult, speaks: AuditResult) -> str:
    """What the law says, beside what reports prove."""
    lost = "infinite" if math.isinf(result.epsilon_lower) else f"{result.epsilon_lower:.6g}"
    if speaks.epsilon_lower > result.epsilon_lower * (1 + 1e-9):
        return f"By the law that the code states, it would be {lost}: the code does not follow its law."
    return f"By the law that the code states, it is {lost}."


def _row(result: AuditResult) -> MethodRow:
    witness = result.witness
    shown = {}
    if witness is not None:
        record = f" (bytes {witness.record})" if witness.record else ""
        example = f"{witness.report}{record}" if witness.report else ""
        shown = {"pair": f"{witness.many} {witness.two}", "event": witness.event, "example": example}
    return MethodRow(
        method=result.method,
        verdict=result.verdict,
        proved=result.epsilon_lower,
        statement=result.statement,
        confidence=result.confidence,
        trials=result.trials,
        **shown,
        counted=_counted(result),
        looked=result.looked or "",
        notes=result.notes,
        line=_line(result),
    )


def _counted(result: AuditResult) -> str:
    """How often the event came, of each of the two values."""
    if result.counts is None or result.witness is None or not result.trials:
        return ""
    if result.method in GAMES:
        right, guesses = result.counts[0], sum(result.counts)
        blind = lay.share(1 / result.about["secrets"])
        said = f"It guessed in {guesses:,} of {result.trials:,} games, and was right in {right:,} of those"
        part = f" ({lay.share(right / guesses)})" if guesses else ""
        return f"{said}{part}; a blind guess is right in {blind}.".replace(" %", "\N{NO-BREAK SPACE}%")
    names = result.witness.names or (str(result.witness.first), str(result.witness.second))
    one = result.screening.asked.one if result.screening is not None else "value"
    parts = [
        f"{count:,} of {result.trials:,} reports of {one} {name} ({lay.share(count / result.trials)})"
        for name, count in zip(names, result.counts, strict=True)
    ]
    return f"It came in {parts[0]}, and in {parts[1]}.".replace(" %", "\N{NO-BREAK SPACE}%")


def _odds(result: AuditResult) -> str:
    """What the proved loss does to somebody's odds, in a sentence; rounded down, for it is a lower bound."""
    proved = result.epsilon_lower
    if not proved > 0 or result.dependence is not None or result.witness is None or result.method in GAMES:
        return ""
    two = result.witness.two
    slack = " but for events of probability δ" if result.claim is not None and result.claim.delta else ""
    if math.isinf(proved):
        return f"Some reports tell {two} apart for certain{slack}."
    factor = lay.plain(lay.down(Decimal(math.exp(proved) if proved < 700 else math.inf)))
    moved = f"has odds that moved by a factor of at least {factor}{slack}"
    return f"Whoever wonders between {two} and sees such a report {moved}."


_GRID = tuple(round(10 ** (3 + step / 4)) for step in range(21))
"""Numbers of trials, from a thousand to a hundred million."""


def _line(result: AuditResult) -> tuple[tuple[int, float], ...]:
    """What so many trials would prove, if both values gave the event as often as they did; not said of games."""
    if result.counts is None or not result.trials or result.method in GAMES:
        return ()
    shares = [count / result.trials for count in result.counts]
    terms = {"alpha": result.alpha / max(1, len(result.tried)), "bound": result.about.get("bound", "paper")}
    delta = 0.0 if result.claim is None else result.claim.delta

    def proved(trials: int) -> float:
        hits, false_hits = (round(share * trials) for share in shares)
        return bounds.epsilon_lower(hits, trials, false_hits, trials, delta=delta, **terms)

    return tuple((trials, proved(trials)) for trials in sorted({*_GRID, result.trials}))
