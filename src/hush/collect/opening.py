"""Whether a collection can give what it is opened for: asked before anybody reports, when it can still be mended.

What counts is the margin: half of the 95 % interval of a frequency, at the target number of people, for a value that
nobody holds, the others being equally frequent. A value that some hold has about the same margin, or a wider one, so
what drowns here drowns. Of numbers it is that of their mean, where all hold the number that is told worst. Of several
attributes each counts by itself, over time one round does, and of mechanisms that protect some values only, these: the
others are hardly randomized at all.

A margin drowns what was asked for where it is above the wished error; where none was stated, above the uniform share, a
kth: a value that is as frequent as the average could then not be told from one that nobody holds. For a mean that is
half of the range. A collection is refused if in any of its attributes the margin of every value drowns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from hush import rules
from hush.errors import NOTHING, HushError, Message, Unsaid, message
from hush.guarantee import ULDP
from hush.mechanisms.collected import Collected
from hush.mechanisms.settings import takes
from hush.mechanisms.spec import Spec
from hush.planning.budgets import FINEST, budget, first, rounded
from hush.planning.groups import least_number
from hush.planning.objectives import Z95
from hush.planning.wishes import MOST_PEOPLE

_EXAMPLES = 8
"""Values that are looked at, where not all are alike."""


@dataclass(frozen=True)
class Margin:
    """What is expected of one attribute, or of the only one.

    Args:
        attribute: Its name; None where there is one alone.
        margin: The least of its values, half of a 95 % interval.
        limit: What it must not exceed.
    """

    attribute: str | None
    margin: float
    limit: float

    @property
    def drowns(self) -> bool:
        """Whether the margin is above what was asked for, by more than the last digits of a computation."""
        return self.margin > self.limit * (1 + 1e-12)


@dataclass(frozen=True)
class OpeningVerdict:
    """What the planner says.

    Args:
        fits: Whether the collection can give what was asked for.
        said: That, in the four parts of a message.
        target_n: How many people were to report.
        wished_error: The largest margin that was asked for.
        margins: What to expect, of each attribute; none without a target.
        enough_n: From how many people on it would fit, with the same budget; None where no number is enough.
        enough_epsilon: From which budget on it would fit, with as many people and the same mechanism; None where none
            is, or there is no target. Over time it is the permanent one, and that of a report keeps its share.
    """

    fits: bool
    said: Message
    target_n: int | None
    wished_error: float | None
    margins: tuple[Margin, ...]
    enough_n: int | None
    enough_epsilon: float | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "fits": self.fits,
            "said": str(self.said),
            "target_n": self.target_n,
            "wished_error": self.wished_error,
            "margins": [asdict(each) for each in self.margins],
            "enough_n": self.enough_n,
            "enough_epsilon": self.enough_epsilon,
        }


def verdict(spec: Spec, *, target_n: int | None, wished_error: float | None) -> OpeningVerdict:
    """Whether so many people give what was asked for; if not, how many would, and which budget.

    Args:
        spec: The collection's, of any kind.
        target_n: How many people are expected to report; over time, in a round.
        wished_error: The largest margin; of a mean, in the unit of its numbers.

    >>> import hush
    >>> print(verdict(Spec(hush.OUE(k=100, epsilon=1.0)), target_n=2_000, wished_error=0.02).said)
    target_n must be at least 35,368 for a margin of 0.02, got 2,000 with one of 0.0841; expect 35,368 people, or use \
epsilon = 3.06
    """
    if target_n is not None:
        rules.integer("target_n", target_n, 1, MOST_PEOPLE, "say how many people are expected to report")
    if wished_error is not None:
        wished_error = rules.number("wished_error", wished_error, 0.0, 1e300, "use e.g. 0.01")
    if target_n is None:
        enough = _enough_people(spec, 10_000, wished_error)
        rule = "must be given, so that the expected error is known before anybody reports"
        remedy = "say how many people are expected" + ("" if enough is None else f"; {enough:,} are enough")
        return OpeningVerdict(False, message("target_n", rule, NOTHING, remedy), None, wished_error, (), enough, None)
    margins = expected(spec, target_n, wished_error)
    worst = max(margins, key=lambda each: each.margin / each.limit)
    if not worst.drowns:
        rule = f"must be enough for a margin of {worst.limit:.3g}{_of(worst)}"
        got = Unsaid(f"{target_n:,} with one of {worst.margin:.3g}")
        said = message("target_n", rule, got, "it fits")
        return OpeningVerdict(True, said, target_n, wished_error, margins, None, None)
    enough, epsilon = _enough_people(spec, target_n, wished_error), _enough_epsilon(spec, target_n, wished_error)
    needed = "must be enough" if enough is None else f"must be at least {enough:,}"
    rule = f"{needed} for a margin of {worst.limit:.3g}{_of(worst)}"
    remedy = _ways(spec.mechanism, enough, epsilon)
    said = message("target_n", rule, Unsaid(f"{target_n:,} with one of {worst.margin:.3g}"), remedy)
    return OpeningVerdict(False, said, target_n, wished_error, margins, enough, epsilon)


def expected(spec: Spec, n: int, wished_error: float | None = None) -> tuple[Margin, ...]:
    """The margins at n people, and what each must not exceed."""
    m = spec.one_round.mechanism
    if m.kind == "numeric":
        half = (m.high - m.low) / 2
        return (Margin(None, Z95 * math.sqrt(m.variance(n)), half if wished_error is None else wished_error),)
    if m.kind == "multidim":
        names = [spec.domain.word(j) for j in range(m.d)]
        parts = zip(names, _of_tuples(m, n), m.sizes, strict=True)
        return tuple(Margin(name, Z95 * root, wished_error or 1 / k) for name, root, k in parts)
    return (Margin(None, Z95 * _of_values(m, n), wished_error or 1 / m.k),)


def _of_values(m: Any, n: int) -> float:
    """The least standard error of a protected value that nobody holds."""
    if m.alike:
        return math.sqrt(m.variance(n, 0.0))
    protected = m.guarantee.sensitive if isinstance(m.guarantee, ULDP) else range(m.k)
    found = []
    for value in _spread(protected):
        shares = np.full(m.k, 1 / (m.k - 1))
        shares[value] = 0.0
        found.append(float(m.variances(shares, n)[value]))
    return math.sqrt(min(found))


def _of_tuples(m: Any, n: int) -> list[float]:
    """The least standard error of a value that nobody holds, of each attribute."""
    found = []
    for j, (k, component) in enumerate(zip(m.sizes, m.components, strict=True)):
        values = [0] if component.alike else _spread(range(k))
        found.append(math.sqrt(min(m.variance(j, n=n, frequency=0.0, value=v) for v in values)))
    return found


def _spread(values: Sequence[int]) -> list[int]:
    """Some of them, the first and the last included."""
    if len(values) <= _EXAMPLES:
        return list(values)
    return [values[i] for i in np.linspace(0, len(values) - 1, _EXAMPLES).astype(int)]


def _of(worst: Margin) -> str:
    return "" if worst.attribute is None else f" of {worst.attribute}"


# What would do.


def _ways(m: Collected, people: int | None, epsilon: float | None) -> str:
    ways = [] if people is None else [f"expect {people:,} people"]
    if epsilon is not None:
        told = budgets_of(with_budget(m, epsilon))
        ways.append("use " + " with ".join(f"{name} = {value:g}" for name, value in told.items()))
    return ", or ".join(ways) or "ask for less, or choose another mechanism"


def _excess(spec: Spec, n: int, wished_error: float | None) -> float:
    """By how much the worst margin drowns what was asked for; the logarithm of their ratio."""
    return max(-math.inf if e.margin == 0 else math.log(e.margin / e.limit) for e in expected(spec, n, wished_error))


def _enough_people(spec: Spec, n: int, wished_error: float | None) -> int | None:
    """The fewest people that are enough: margins fall as one over the root of n, or nearly."""

    def holds(people: int) -> bool:
        return not any(each.drowns for each in expected(spec, people, wished_error))

    excess = _excess(spec, n, wished_error)
    guess = 1 if excess == -math.inf else n * math.exp(min(2 * excess, 80.0)) * (1 - 1e-9)
    return least_number(holds, int(min(max(math.ceil(guess), 1), MOST_PEOPLE)))


def _enough_epsilon(spec: Spec, n: int, wished_error: float | None) -> float | None:
    """The least budget, of few digits, that is enough for n people."""
    m = spec.mechanism
    start = budget_of(m)
    if start is None:
        return None

    def excess(epsilon: float) -> float:
        try:
            return _excess(Spec(with_budget(m, epsilon), spec.domain), n, wished_error)
        except HushError:  # too little to divide, or more than the mechanism takes
            return math.inf if epsilon < start else -math.inf

    place = first(excess, start)
    if place is None:
        return None
    found = budget(place)
    try:
        enough = not any(e.drowns for e in expected(Spec(with_budget(m, found), spec.domain), n, wished_error))
    except HushError:
        return None
    return found if enough else None


def budget_of(m: Collected) -> float | None:
    """The budget that a mechanism of any kind was given; over time, the permanent one; None where it has none."""
    given = m.parameters
    if isinstance(given.get("mechanism"), Collected):
        return budget_of(given["mechanism"])
    found = given.get("epsilon_permanent", given.get("epsilon"))
    return None if found is None else float(found)


def budgets_of(m: Collected) -> dict[str, float]:
    """All budgets that a mechanism of any kind was given, by name; over time there may be one of a single report, too.

    What repeats the reports of another mechanism has that one's, as its permanent one.

    >>> from hush.longitudinal import LGRR
    >>> budgets_of(LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0))
    {'epsilon_permanent': 2.0, 'epsilon_report': 1.0}
    """
    given = m.parameters
    if isinstance(given.get("mechanism"), Collected):
        (inner,) = budgets_of(given["mechanism"]).values()
        return {"epsilon_permanent": inner}
    every = ("epsilon_permanent", "epsilon_report", "epsilon")
    return {name: float(given[name]) for name in every if given.get(name) is not None}


def with_budget(m: Collected, epsilon: float) -> Any:
    """The same mechanism with another budget; what it had chosen for itself, it chooses anew."""
    given = _told(m)
    if isinstance(given.get("mechanism"), Collected):
        return type(m)(**{**given, "mechanism": with_budget(given["mechanism"], epsilon)})
    if "epsilon_report" in given:
        share = given["epsilon_report"] / given["epsilon_permanent"]
        given["epsilon_report"] = rounded(share * epsilon, math.floor, FINEST)
    name = "epsilon" if "epsilon" in given else "epsilon_permanent"
    return type(m)(**{**given, name: epsilon})


def _told(m: Collected) -> dict[str, Any]:
    """The parameters without which it would be another mechanism: not those that it chose."""
    known = takes(type(m))
    given = {name: value for name, value in m.parameters.items() if name in known}
    for name in [name for name in given if not known[name]]:
        fewer = {other: value for other, value in given.items() if other != name}
        try:
            if type(m)(**fewer) == m:
                given = fewer
        except HushError:
            continue
    return given
