"""Which two values to audit: every value is tried, those that stand out get more reports, and their pairs are compared.

Successive halving, with a bounded number of reports: a round asks for a few of every value, keeps the most telling
sixteenth, and asks again, until eight values are left. All their pairs are then compared by what a classifier finds.
What is chosen here is proved on reports of their own, so that screening costs no confidence: a pair that stood out by
chance proves less than hoped, and never too much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from hush import rules
from hush.audit.classifier import CLEAR, reader, tables_of
from hush.audit.inputs import Inputs, Values, countable
from hush.audit.pairs import TellingPair, tries
from hush.audit.standing_out import Ranking, ranked
from hush.audit.stream import Mixture, Progress
from hush.audit.target import Claim, Target
from hush.audit.targets import as_target
from hush.randomness import seeded, source

LAST = 8
"""Values whose pairs are compared."""

FIRST_ROUND, LATER_ROUND, LAST_EACH = 200_000, 20_000, 20_000
"""Reports that the first round makes, at most, unless there are more trials; each of the next ones; and the last one of
each value."""

_EACH = 8  # reports of each value in the first round, at least
_KEPT = 16  # one value of so many goes on to the next round
_SHARES = (0.1, 0.2, 0.4)  # of the audit's trials: what the first, each later and the last round make of a value
_LEAST = 1000  # reports of each value of the last round, at least
_WIDE = 1_000_000  # numbers in the reports of a value by which pairs are compared, about
_READ, _TAKEN = 5e7, 2e6  # numbers to be read in a round; from reports that are taken apart one by one
_AS_GOOD = 0.9  # of the most telling pair's promise, at which another will do as well
_CHANCE = 3.0  # promises by chance, in units of one over the root of the number of reports
_STREAMS = 100  # numbers of streams that no audit uses


@dataclass(frozen=True)
class Screening:
    """Which values were tried, how often, and which pair is most telling.

    Args:
        pair: The two values.
        k: How many values there are.
        rounds: How many values were tried in each round, and how many reports of each were made.
        pairs: The pairs that were compared, the most telling first.
        columns: How many columns of numbers the first round looked at, and how many there are.
        untried: How many values should have been tried, but were too many.
        inputs: What the values are; 0..k-1 if left out.
    """

    pair: tuple[int, int]
    k: int
    rounds: tuple[tuple[int, int], ...]
    pairs: tuple[TellingPair, ...] = ()
    columns: tuple[int, int] | None = None
    untried: int = 0
    inputs: Inputs | None = None

    @property
    def asked(self) -> Inputs:
        """What the values are."""
        return Values(self.k) if self.inputs is None else self.inputs

    @property
    def reports(self) -> int:
        """How many were made in all."""
        return sum(values * each for values, each in self.rounds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "values": self.rounds[0][0] if self.rounds else 2,
            "of": self.k,
            "rounds": [{"values": values, "reports_each": each} for values, each in self.rounds],
            "columns": None if self.columns is None else {"read": self.columns[0], "of": self.columns[1]},
            "pairs": [
                {"pair": list(map(self.asked.at, each.pair)), "promise": each.promise, "event": each.event}
                for each in self.pairs
            ],
        }

    def __str__(self) -> str:
        if not self.rounds:
            one, other = map(self.asked.said, self.pair)
            return f"{self.asked.many} {one} and {other} of {self.k:,}, and no others"
        (first, each), *later = self.rounds
        said = "all" if first == self.k else f"{first:,} of"
        more = "".join(f", then {values:,} of them, {reports:,} each" for values, reports in later)
        compared = f"; {len(self.pairs)} pair{'s'[: len(self.pairs) > 1]} compared" if self.pairs else ""
        return f"{said} {self.k:,} {self.asked.many}, {each:,} reports each{more}{compared}"


def screen(
    target: object,
    *,
    trials: int = 10**6,
    rng: np.random.Generator | None = None,
    progress: Progress | None = None,
    claim: Claim | None = None,
) -> Screening:
    """The most telling pair of values, by reports that no audit counts.

    Code from outside Hush is tried at every value. Of a mechanism of Hush, which the conformance suite has seen, the
    first two values and the last two are compared.

    Args:
        target: What is to be audited.
        trials: How many reports of each value the audit will make; a round of the screening makes a share of that.
        rng: `hush.seeded(7)` to repeat the choice.
        progress: Called with the number of reports made since it was last called.
        claim: What it will be held against, if that is another than the target's own: with a metric, pairs are compared
            by what they tell for each unit of distance.
    """
    what = as_target(target)
    rules.integer("trials", trials, 1000, 10**12, "use e.g. 10**6")
    return screened(what, trials, None if rng is None else int(rng.integers(1 << 62)), progress, claim)


def screened(
    target: Target,
    trials: int,
    root: int | None,
    progress: Progress | None = None,
    claim: Claim | None = None,
) -> Screening:
    """`screen`, with the seed of its streams."""
    tell = progress or (lambda amount: None)
    against = target.claim if claim is None else claim
    metric = against is not None and against.metric is not None
    if not target.screened:
        ends = _near(target) if metric else target.likely_pairs
        if len(ends) == 1:
            return Screening(ends[0], target.k, (), inputs=target.inputs)
        found = _compared(target, ends, 4 * _LEAST, root, tell, against)
        if target.lawful and not metric:  # those that are as telling as the first are no better
            found = tuple(sorted(found, key=lambda each: (each.hope < _AS_GOOD * found[0].hope, each.pair != ends[0])))
        tried = len({value for pair in ends for value in pair}), 4 * _LEAST
        return Screening(found[0].pair, target.k, (tried,), found, inputs=target.inputs)
    countable(target.inputs)
    budget = max(FIRST_ROUND, trials)
    values, likely = _first(target.k, budget, root), []
    rounds: list[tuple[int, int]] = []
    columns: tuple[int, int] | None = None
    while values.size > LAST:
        share, most = (_SHARES[1], LATER_ROUND) if rounds else (_SHARES[0], budget)
        size = max(_EACH, min(int(trials * share), most // values.size))
        ranking, size = _round(target, values, size, root, len(rounds), tell)
        rounds.append((values.size, size))
        columns = columns or (ranking.columns, ranking.of)
        likely = [(int(values[high]), int(values[low])) for high, low in ranking.pairs]
        values = values[ranking.values[: max(LAST, -(-values.size // _KEPT))]]
    size = _last_size(target, trials, root)
    pairs = _ordered(target.inputs, values.tolist(), likely)
    if metric:  # what is close may tell more for each unit of distance
        pairs = list(dict.fromkeys([*pairs, *_beside(target, values.tolist())]))
    told = _compared(target, pairs, size, root, tell, against)
    rounds.append((values.size, size))
    untried = target.k - rounds[0][0]
    return Screening(told[0].pair, target.k, tuple(rounds), told, columns, untried, target.inputs)


def reports_for(target: Target, trials: int) -> int:
    """How many reports a screening makes, about."""
    if not target.screened:
        likely = target.likely_pairs
        return 4 * _LEAST * len({value for pair in likely for value in pair}) if len(likely) > 1 else 0
    first = min(int(trials * _SHARES[0]) * target.k, max(FIRST_ROUND, trials)) if target.k > LAST else 0
    return first + min(max(int(trials * _SHARES[2]), _LEAST), LAST_EACH) * min(target.k, LAST)


def _first(k: int, budget: int, root: int | None) -> np.ndarray:
    """All values; of too many, the ends, those around the ends of bytes, where implementations err, and some others."""
    most = budget // _EACH
    if k <= most:
        return np.arange(k)
    edges = [1 << bits for bits in range(1, k.bit_length())]
    named = {0, k // 2, k - 2, k - 1, *(value for edge in edges for value in (edge - 1, edge) if value < k)}
    rng = source(None if root is None else seeded([root, _STREAMS, 0, 1]))
    others = rng.choice(k, most, replace=False).tolist()
    return np.array(list(dict.fromkeys([*sorted(named), *others]))[:most])


def _round(
    target: Target, values: np.ndarray, size: int, root: int | None, number: int, tell: Progress
) -> tuple[Ranking, int]:
    """How telling each value is by so many reports of each, or fewer if they are wide."""
    read = reader(target)
    probe = Mixture(target, tuple(values[:1].tolist()), root, _STREAMS + 50).labelled(_EACH)
    wide = max(1, len(read(probe[0][1]).paths()))
    most = _TAKEN if probe[0][1].dtype == object else _READ
    size = max(_EACH, min(size, int(most / (wide * values.size))))
    kept, labels = [], []
    for label, reports in Mixture(target, tuple(values.tolist()), root, _STREAMS + number).labelled(size, tell):
        inside = _inside(target, values, label, reports)
        kept.append(reports if inside is None else reports[inside])
        labels.append(label if inside is None else label[inside])
    return ranked(tables_of(read, kept), np.concatenate(labels), values.size, size), size


def _inside(target: Target, values: np.ndarray, labels: np.ndarray, reports: np.ndarray) -> np.ndarray | None:
    """Which reports the claim speaks of, whichever value each is compared with."""
    if target.spoken(reports[:1], (int(values[0]), int(values[0]))) is None:
        return None
    inside = np.zeros(labels.size, bool)
    for at, value in enumerate(values.tolist()):
        own = labels == at
        inside[own] = target.spoken(reports[own], (value, value))
    return inside


def _last_size(target: Target, trials: int, root: int | None) -> int:
    """Reports of each value by which pairs are compared: fewer if they are wide."""
    probe = target.draw(target.first_pair[0], 2, None if root is None else seeded([root, _STREAMS, 2]))
    wide = max(1, len(reader(target)(probe).paths()))
    return max(_LEAST, min(int(trials * _SHARES[2]), LAST_EACH, _WIDE // wide))


def _ordered(inputs: Inputs, values: list[int], likely: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """All pairs of these values that can be compared, those that stood out first, or of them and others."""
    stood = [(min(pair), max(pair)) for pair in likely if set(pair) <= set(values)]
    beside = [(min(one, other), max(one, other)) for one in values for other in inputs.beside(one) if one != other]
    every = list(dict.fromkeys([*stood, *combinations(sorted(values), 2)]))
    found = [pair for pair in every if inputs.comparable(*pair)]
    return found if len(found) == len(every) else list(dict.fromkeys([*found, *beside]))[: LAST * (LAST - 1) // 2]


def _near(target: Target) -> list[tuple[int, int]]:
    """Pairs of the first input and others, from the next one on, twice as far each time; and of two in the middle."""
    steps = [1 << bits for bits in range(target.k.bit_length()) if 1 << bits < target.k]
    pairs = [(0, step) for step in [*steps, target.k - 1]] + _beside(target, [target.k // 2])
    return [pair for pair in dict.fromkeys(pairs) if target.inputs.comparable(*pair)]


def _beside(target: Target, values: list[int]) -> list[tuple[int, int]]:
    """Pairs of these inputs and their neighbours."""
    pairs = [(value, value + step) for value in values for step in (-1, 1)]
    inside = [(min(pair), max(pair)) for pair in pairs if 0 <= pair[1] < target.k]
    return [pair for pair in inside if target.inputs.comparable(*pair)]


def _compared(
    target: Target,
    pairs: list[tuple[int, int]],
    size: int,
    root: int | None,
    tell: Progress,
    claim: Claim | None,
) -> tuple[TellingPair, ...]:
    """Pairs, the most telling for their distance first; where one clearly breaks the claim, no more are tried."""
    found: list[TellingPair] = []
    apart = {pair: 1.0 if claim is None else claim.between(target.inputs, *pair) for pair in pairs}
    for each in tries(target, pairs, size, root):
        found.append(each)
        if claim is not None and each.promise > claim.epsilon * apart[each.pair] + CLEAR:
            break
    tell(size * len({value for pair in pairs for value in pair}))
    if claim is None or claim.metric is None:
        return tuple(sorted(found, key=lambda each: -each.hope))
    chance = _CHANCE / math.sqrt(size)  # what few reports promise by chance would weigh most where a distance is small
    return tuple(sorted(found, key=lambda each: (-max(each.hope - chance, 0.0) / apart[each.pair], -each.hope)))
