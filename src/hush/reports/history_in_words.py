"""What came of collections over time, each planning the budget of the next, in a sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hush.planning.capri import Step
from hush.reports.capacity_in_words import WHO

_MOST_NAMED = 5
WRONG = {"fp": "false alarm", "fn": "missed exceedance"}


def unplanned(step: Step) -> bool:
    """Whether the collection before showed no budget that is enough, so that the largest was used."""
    return step.planned is not None and not step.planned.feasible


def told(steps: Sequence[Step], times: Sequence[str], mechanism: str) -> str:
    """What was decided, what it cost, and where no budget was enough."""
    outcomes = Counter(step.outcome for step in steps)
    right = outcomes["tp"] + outcomes["tn"]
    wrong = [f"{outcomes[kind]} {name}{'s' * (outcomes[kind] > 1)}" for kind, name in WRONG.items() if outcomes[kind]]
    mistakes = f" ({' and '.join(wrong)})" if wrong else ""
    said = f"{mechanism} decided rightly at {right} of {len(steps)} times{mistakes}, the capacity being "
    caps = sorted({step.cap for step in steps})
    said += f"{caps[0]:,.12g}" if len(caps) == 1 else f"{caps[0]:,.12g} to {caps[-1]:,.12g}"
    said += f". The first collection used ε = {steps[0].epsilon:.12g}"
    planned = [step.epsilon for step in steps[1:]]
    if planned:
        least, most = f"{min(planned):.12g}", f"{max(planned):.12g}"
        said += f"; what each estimated planned the next, with ε = {least}"
        said += "" if least == most else f" to {most}"
    said += f". Who took part every time spent {steps[-1].spent:.12g} in all."
    said += _planned_for(steps, times)
    clipped = sorted({step.clipped for step in steps})
    if clipped[-1]:
        some = f"{clipped[0]:,}" if len(clipped) == 1 else f"{clipped[0]:,} to {clipped[-1]:,}"
        said += (
            f" At each time {some} {'person was' if some == '1' else 'people were'} clipped, for whom the estimates "
        )
        said += "fall short of the total."
    failed = [time for time, step in zip(times, steps, strict=True) if unplanned(step)]
    if failed:
        at = _listed(failed)
        most = f"{max(step.epsilon for step in steps if unplanned(step)):.12g}"
        said += f" For {at} the collection before showed no budget that is enough, so the largest was used, ε = {most}."
    return said


def _planned_for(steps: Sequence[Step], times: Sequence[str]) -> str:
    """For whom each collection was planned, where the one before told a mean alone."""
    planned = [(time, step.planned.spread) for time, step in zip(times, steps, strict=True) if step.planned is not None]
    for_whom = Counter(spread for _, spread in planned if spread in WHO)
    if not for_whom:
        return ""
    if len(for_whom) == 1 and for_whom.total() == len(planned):
        whom = WHO[next(iter(for_whom))]
    else:
        whom = ", or ".join(
            f"{WHO[spread]} ({_listed([time for time, each in planned if each == spread])})" for spread in for_whom
        )
    return f" Each told a mean, and not who holds what: the next was planned for people who are {whom}."


def _listed(times: Sequence[str]) -> str:
    return ", ".join(times[:_MOST_NAMED]) + (f" and {len(times) - _MOST_NAMED} more" * (len(times) > _MOST_NAMED))
