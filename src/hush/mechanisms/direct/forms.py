"""Closed forms of randomized response."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import adds, capacity, information, most_support, totals, waves
from hush.analysis.crowd import CrowdLaw
from hush.analysis.manipulation import Targets, how_many
from hush.mechanisms.forms import PairKind, PureForms, TwoLevelForms
from hush.mechanisms.shape import Seen, Shape, fixed
from hush.simulation import batches
from hush.simulation.normals import Normals
from hush.types import Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.direct.mechanism import GRR


@dataclass(frozen=True, eq=False)
class DirectForms(TwoLevelForms, PureForms):
    """Of randomized response."""

    m: GRR

    about: ClassVar[str] = "Randomized response: the true category with some luck, else any other."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """A report supports one value."""
        return self.supported_sum(targets, 1)

    def random_sum(self, targets: Targets) -> float:
        """Any value is as likely."""
        return self.supported_sum(targets, how_many(targets) / self.m.k)

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Any target."""
        return rng.choice(targets, size).astype(self.m.report_dtype)

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any value."""
        return rng.integers(0, self.m.k, size, dtype=self.m.report_dtype)

    def telling(self, first: int, second: int) -> tuple[float, float]:
        """The value itself, and the other."""
        return self.m.p_star, self.m.q_star

    def pair_kinds(self) -> list[PairKind]:
        """No report favours two values."""
        low, high = (Fraction(weight, self.m.denominator) for weight in self.m._weights)
        return [(high - low, Fraction(0))]

    def crowds(self) -> list[CrowdLaw]:
        """A report supports one of a few values, or none of them."""
        low, high = (Fraction(weight, self.m.denominator) for weight in self.m._weights)
        if not 0 < low < high:
            return []
        k, few = self.m.k, min(self.m.k, 3)
        patterns = {tuple(it == at for it in range(few)): Fraction(1, k) for at in range(few)}
        if k > few:
            patterns[(False,) * few] = Fraction(k - few, k)
        return [CrowdLaw.of_levels(patterns, high * k, low * k)]

    def guess_chance(self, reports: Reports, values: Values) -> Floats:
        """The report itself is guessed."""
        return (reports == values).astype(np.float64)

    def most_voted(self, tau: int) -> float | None:
        """Votes add up to tau."""
        return most_support.direct(self.m.k, self.m.p_star, tau)

    @property
    def shape(self) -> Shape:
        """A report supports one value."""
        low, high = self.m._weights
        return fixed(self.m.k, 1, high, low, lambda: [Seen([(1, True, 1), (1, False, self.m.k - 1)])])

    @property
    def number_of_outputs(self) -> int:
        """One for each value."""
        return self.m.k

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    one_by_one: ClassVar[bool] = False

    def even_information(self) -> float:
        return information.subset(self.m.k, 1, self.m.p_star)

    @property
    def server_work(self) -> float:
        return 1

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        return batches.direct(people, self.m.p_star, self.m.q_star, runs, rng)

    def estimates(self, tallies: Ints, n: int) -> Floats:
        return self.m.decode(tallies, n)

    def normal_noise(self, normals: Normals, frequencies: Floats, n: int) -> Floats:
        """Those who keep their value, and the rest over all values."""
        gap = self.m.p_star - self.m.q_star
        kept = normals.numbers(self.m.k) * np.sqrt(frequencies * gap * (1 - gap))
        spread = normals.numbers(self.m.k, 1) * np.sqrt((1 - gap) / self.m.k)
        others = spread - (spread.sum(axis=1, keepdims=True) + kept.sum(axis=1, keepdims=True)) / self.m.k
        return np.asarray((kept + others) / (gap * np.sqrt(n)), np.float64)

    # The law of a total.

    def report_adds(self, amounts: Floats) -> adds.Adds:
        """The amount of the value that it says."""
        return adds.direct(amounts, self.m.p_star, self.m.q_star)

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a multinomial number for each value that people hold."""
        p, q = self.m.p_star, self.m.q_star
        return totals.scaled(
            amounts,
            counts,
            p - q,
            capacity.direct(amounts, counts, p, q),
            waves.direct_wave(amounts, counts, p, q),
            waves.direct_swings(amounts, counts, p, q),
            shift=int(counts.sum()) * float(amounts[0] - q * amounts.sum()),
            step=capacity.lattice(amounts.tolist(), from_first=True),
            draw=self.total_draw(amounts, counts),
            work=2.0 * amounts.size,
        )

    def total_draw(self, amounts: Floats, counts: Ints) -> totals.Draw:
        """From the numbers of reports: some say the true value for good, the others any value at all."""
        p, q, n, k = self.m.p_star, self.m.q_star, int(counts.sum()), amounts.size

        def draw(runs: int, rng: np.random.Generator) -> Floats:
            kept = rng.binomial(counts, p - q, (runs, k))
            spread = rng.multinomial(n - kept.sum(axis=1), np.full(k, 1 / k))
            return np.asarray(((kept + spread) @ amounts - n * q * amounts.sum()) / (p - q))

        return totals.in_parts(draw, k)

    def collection_work(self, n: int) -> float:
        """A binomial and a multinomial number for each value."""
        return totals.COLLECTION + 40.0 * self.m.k

    def wrong_guesses_alike(self) -> bool:
        """What a report says is the guess, and all that is not true is equally likely."""
        return True
