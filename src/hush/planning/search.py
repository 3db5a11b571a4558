"""Everything that can be planned with, and of each the one that serves the wishes best, if any does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from hush.errors import HushError
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.forms import companion_of
from hush.mechanisms.registry import registry
from hush.mechanisms.settings import takes
from hush.planning import balance
from hush.planning.balance import beats
from hush.planning.families import companions, tunable
from hush.planning.improvement import Maker, balanced_budget, find_better, likely_better, lower_budget
from hush.planning.measures import number_of, numbers_of
from hush.planning.named import Named, Usual
from hush.planning.objectives import OBJECTIVES
from hush.planning.protection_verdicts import max_useful_mse
from hush.planning.shortlist import alike
from hush.planning.tuning import Anchored, ListedParameter, Tuned, tuned
from hush.planning.wishes import Wishes

_SAME = 1e-9
"""Numbers that differ by no more than rounding."""
_EXCHANGES = 50
"""How many exchanges there may be; each halves a number, so that few happen."""


Candidate = Named | Usual | Tuned | ListedParameter | Anchored


def candidates(wishes: Wishes) -> Iterator[Candidate]:
    """All that can be planned with: registered mechanisms that promise something, and what they offer to tune."""
    for cls in registry().values():
        wanted = takes(cls)
        required = {name for name, needed in wanted.items() if needed}
        if not required <= {"k", "epsilon", "delta"} or "epsilon" not in wanted:
            continue
        if ("delta" in wanted and wishes.delta is None) or not companion_of(cls).planned(wishes.k):
            continue
        yield Usual(cls, wishes)
    for cls, fixed in dict.fromkeys(variant for forms in companions() for variant in forms.variants(wishes.k)):
        yield Named(cls, wishes, fixed)
    for offer in tunable(wishes.k):
        yield tuned(offer, wishes.for_tuning())


@dataclass(frozen=True)
class Found:
    """A mechanism that meets the wishes, whether its parameter was tuned for them, and its numbers."""

    mechanism: FrequencyOracle
    tuned: bool
    numbers: dict[str, float]

    @property
    def name(self) -> str:
        """What it is called in the table."""
        family = " family" if getattr(self.mechanism, "hash", "") == "family" else ""
        return f"{'tuned ' if self.tuned else ''}{self.mechanism.name()}{family}"


def found(wishes: Wishes) -> list[Found]:
    """Everything that meets the wishes; what tuning finds again is left out."""
    return distinct(served(wishes))


def distinct(rows: Iterable[Found]) -> list[Found]:
    """Without what was tuned and came out as a row before it: BLH is LH with two buckets."""
    kept: list[Found] = []
    for row in rows:
        if not (row.tuned and any(alike(row.numbers, other.numbers, _SAME) for other in kept)):
            kept.append(row)
    return kept


def served(wishes: Wishes, progress: Callable[[float], None] | None = None) -> Iterator[Found]:
    """Of each candidate the one that serves best, where one does; told how far the search has come, from 0 to 1."""
    every = list(candidates(wishes))
    for i, each in enumerate(every):
        if progress is not None:
            progress(i / len(every))
        row = _served(each, wishes)
        if row is not None:
            yield row


@dataclass(frozen=True)
class SearchOutcome:
    """What a search found: of each candidate the row that is kept, and the row at the largest budget."""

    rows: list[Found]
    largest: list[Found]


def find_choices(wishes: Wishes, progress: Callable[[float], None] | None = None) -> SearchOutcome:
    """Find what meets the wishes, each candidate at the least ε that gives nearly the same.

    Where several budgets are searched, a candidate is tuned at each of them, and the budget with the best balance is
    chosen in small steps. If nothing meets the wishes at these budgets, the stated bounds alone apply.
    """
    tuning = wishes.for_tuning()
    kept: dict[int, Found] = {}
    largest: list[Found] = []
    rungs = wishes.at_budgets()
    every = [list(candidates(each)) for each in rungs]
    for i, same in enumerate(zip(*every, strict=True)):
        if progress is not None:
            progress(i / len(every[0]))
        served_rows = [_served(each, wishes) for each in same]
        largest += [row for row in served_rows[:1] if row is not None]
        rows = useful([row for row in served_rows if row is not None], wishes)
        if rows:
            best = rows[tuning.order([row.numbers for row in rows])[0]]
            kept[i] = _at_best_budget(best, same[0], wishes, balances=len(rungs) > 1)
    return SearchOutcome(list(kept.values()) or list(served(wishes)), largest)


def _at_best_budget(row: Found, candidate: Candidate, wishes: Wishes, *, balances: bool) -> Found:
    """Return a row at the budget with the best balance, where budgets are balanced, and then at the least as good one.

    What is not tuned takes the parameters that it chooses for each budget. If those of a larger budget are as good at a
    clearly smaller one, it takes them and counts as tuned.
    """
    make = candidate.make if isinstance(candidate, Named | Usual) else None
    m = row.mechanism
    if balances and all(OBJECTIVES[name].quick for name in wishes.more):
        m = balanced_budget(m, wishes, make)
    lowered = lower_budget(m, wishes)
    usual = lowered if make is None else lower_budget(m, wishes, make)
    if number_of(usual, "epsilon", wishes) <= balance.NEAR * number_of(lowered, "epsilon", wishes):
        lowered = usual
    tuned_now = row.tuned or lowered is not usual
    return row if lowered is row.mechanism else Found(lowered, tuned_now, numbers_of(lowered, wishes))


def _served(each: Candidate, wishes: Wishes) -> Found | None:
    try:
        m = each.search()
    except HushError:  # a limit of this mechanism's own
        return None
    return None if m is None else Found(m, each.tuned, numbers_of(m, wishes))


def replace_dominated(rows: list[Found], wishes: Wishes) -> list[Found]:
    """Replace the first row while another choice is within 5 % of it in everything compared and halves something.

    What replaces it takes the least ε that gives nearly the same.
    """
    for _ in range(_EXCHANGES):
        best = _better(rows, wishes)
        if best is None:
            break
        rows = [best, *(row for row in rows if row.name != best.name)]
    return rows


def _better(rows: list[Found], wishes: Wishes) -> Found | None:
    """Return the best of all that is within 5 % of the first in everything and better by half in something."""
    own = rows[0].numbers

    def sound(row: Found) -> bool:
        informs = tells(row.mechanism, wishes) or not tells(rows[0].mechanism, wishes)
        return informs and wishes.may_replace(row.numbers, own)

    listed = [row for row in rows[1:] if beats(wishes, row.numbers, own)]
    made = [Found(m, is_tuned, numbers_of(m, wishes)) for m, is_tuned in find_better(own, _makers(own, wishes), wishes)]
    able = [row for row in (*listed, *made) if sound(row)]
    if not able:
        return None
    best = able[wishes.order([row.numbers for row in able])[0]]
    if best in listed:
        return best
    m = lower_budget(best.mechanism, wishes)
    lowered = Found(m, best.tuned or not _is_textbook(m, wishes), numbers_of(m, wishes))
    return lowered if sound(lowered) else best


def _is_textbook(m: FrequencyOracle, wishes: Wishes) -> bool:
    """Return whether a mechanism has the parameters that it takes for its budget where nothing is tuned."""
    usual = (each for each in candidates(wishes) if isinstance(each, Named | Usual) and isinstance(m, each.mechanism))
    return any(each.make(m.parameters["epsilon"]) == m for each in usual)


def _makers(own: Mapping[str, float], wishes: Wishes) -> Iterator[Maker]:
    """Yield everything that can be planned with at fixed parameters: those for the first row's budget, and others."""
    top = min(own["epsilon"] * balance.NEAR, wishes.largest_epsilon)
    near = replace(wishes, max_epsilon=top, error=None, matters="balance", objectives=())
    for each in candidates(near):
        if isinstance(each, Tuned):
            yield from likely_better(each.family, own, wishes)
        elif isinstance(each, ListedParameter):
            offer = each.choices
            yield from (Maker(offer.mechanism, ((offer.parameter, value),), tuned=True) for value in offer.values)
        elif isinstance(each, Anchored):
            bound = each.offer
            value = bound.choose(wishes.k, own["epsilon"], wishes.matters)
            yield Maker(bound.mechanism, ((bound.parameter, value),), tuned=True)
        elif isinstance(each, Usual):
            try:
                settled = companion_of(each.mechanism).settled(wishes.k, own["epsilon"])
            except HushError:
                continue
            yield Maker(each.mechanism, tuple(settled.items()), tuned=False)
        else:
            yield Maker(each.mechanism, each.fixed, tuned=False)


def useful(rows: list[Found], wishes: Wishes) -> list[Found]:
    """Those that tell more than no report would, if there are any; all where the error was asked for.

    An estimate with a margin above 50 points tells nothing, however little it errs for one that holds all people.
    """
    if wishes.error is not None:
        return rows
    return [row for row in rows if tells(row.mechanism, wishes)] or rows


def tells(m: FrequencyOracle, wishes: Wishes) -> bool:
    """Whether it does better than answering 1/k for every value, with a margin of 50 points at most."""
    return number_of(m, "mse", wishes) < max_useful_mse(wishes.k, worst=wishes.worst)
