"""Closed forms of randomized Bloom filters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from hush.analysis import totals
from hush.analysis.manipulation import Targets
from hush.mechanisms.forms import PairKind
from hush.mechanisms.shape import bit_counts
from hush.mechanisms.sketch.drawn import DrawnForms
from hush.types import Floats, Ints, Reports, Values

if TYPE_CHECKING:
    from hush.mechanisms.sketch.bloom import RAPPOR

_CELLS = 1 << 22  # numbers held at a time
_SAME = 1e-9  # what bits say, that is nothing but rounding


@dataclass(frozen=True, eq=False)
class BloomForms(DrawnForms):
    """Of randomized Bloom filters."""

    m: RAPPOR

    about: ClassVar[str] = "Bloom filters: sets a few bits for the category, by one of several rules; all bits noisy."

    # What fakes gain, what tells values apart, and what guesses are worth.

    def maximal_sum(self, targets: Targets) -> float:
        """Every bit of the best cohort as it suits the targets; of so many targets, as far as a climb gets."""
        if isinstance(targets, int):
            return super().maximal_sum(targets) if self.listed is not None else self._climbed(targets)
        return float(self._gains(self._says(targets)).max())

    def _says(self, targets: Values) -> Floats:
        """What each bit of each cohort adds to the targets, in units of the gap."""
        return np.stack([self.m.filters.decoder(c)[targets].sum(axis=0) for c in range(self.m.cohorts)])

    def _gains(self, says: Floats) -> Floats:
        """The largest sum of a report of each cohort."""
        p, q = self.m.bit_chances
        return np.asarray((np.maximum(says, 0).sum(axis=-1) - q * says.sum(axis=-1)) / (p - q), np.float64)

    def _climbed(self, number: int) -> float:
        """In each cohort, from the value that gains most: the bits that suit the targets, and the targets they suit."""
        (_, q), best = self.m.bit_chances, -np.inf
        for cohort in range(self.m.cohorts):
            bits = self.m.filters.decoder(cohort)
            chosen, found = np.argsort(-self._gains(bits))[:number], -np.inf
            while (gain := float(self._gains(bits[chosen].sum(axis=0)))) > found + _SAME:
                found = gain
                row = (bits[chosen].sum(axis=0) > 0) - q
                chosen = np.argsort(-(bits @ row))[:number]
            best = max(best, found)
        return best

    def maximal_reports(self, targets: Values, size: int, rng: np.random.Generator) -> Reports:
        """Of the best cohorts; a bit that says nothing of the targets is one or zero."""
        says = self._says(targets)
        gains = self._gains(says)
        cohort = rng.choice(np.flatnonzero(gains >= gains.max() - _SAME * abs(gains.max())), size)
        fair = rng.random((size, self.m.width)) < 0.5
        return self.m.packed(cohort, np.where(np.abs(says[cohort]) < _SAME, fair, says[cohort] > 0))

    def random_reports(self, size: int, rng: np.random.Generator) -> Reports:
        """Any cohort, and fair bits."""
        return self.m.packed(rng.integers(0, self.m.cohorts, size), rng.random((size, self.m.width)) < 0.5)

    def decoded_means(self) -> Floats:
        """Half a one in every bit."""
        return self.m.filters.fit(np.full((self.m.cohorts, self.m.width), 0.5))

    def variation(self, first: int, second: int) -> float:
        """The mean over cohorts; in each, the bits in which the two values differ agree with one or the other."""
        apart = [int(abs(part[:, [first]] - part[:, [second]]).sum()) for part in self.m.filters.parts]
        return float(np.mean([self._variation(bits) for bits in apart]))

    def _variation(self, bits: int) -> float:
        """Of so many bits that differ: how many agree with the one value is binomial under both."""
        p, q = self.m.bit_chances
        return float(np.maximum(bit_counts(bits, p) - bit_counts(bits, q), 0.0).sum())

    def pair_kinds(self) -> list[PairKind]:
        """Where pairs are too many to look at, one whose filters differ most in every cohort."""
        if self.listed is not None:
            return super().pair_kinds()
        return [(Fraction(min(self._variation(self.m.differing) + _SAME, 1.0)), None)]

    @property
    def number_of_outputs(self) -> int:
        """Cohorts, and rows of bits."""
        return self.m.cohorts << self.m.width

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    def worst_variance(self, n: int) -> float:
        """All people hold one value."""
        return float(self.m._moments.max()) / n

    def single_absolute_error(self, counts: Ints) -> float:
        """In the mean over which value it is; where outputs are many, the normal one of the mean variance."""
        if self.listed is None:
            n = int(counts.sum())
            return math.sqrt(2 / math.pi * self.m.variance(n, counts[0] / n))
        return float(np.mean([self.absolute_errors(np.roll(counts, v), [v])[0] for v in range(self.m.k)]))

    @property
    def server_work(self) -> float:
        """One for each bit that is one, on average; least squares wait until the end."""
        (p, q), size = self.m.bit_chances, float(self.m.filters.sizes.mean())
        return min(float(self.m.k), max(1.0, size * p + (self.m.width - size) * q))

    def tallies(self, people: Ints, runs: int, rng: np.random.Generator) -> Ints:
        """Everybody draws a cohort; then its bits are independent."""
        m, split = self.m, self.m.cohorts * self.m.width
        p, q = m.bit_chances
        out = np.empty((runs, split + m.cohorts), np.int64)
        rows = max(1, _CELLS // (m.cohorts * max(m.k, m.width)))
        for start in range(0, runs, rows):
            stop = min(start + rows, runs)
            here = people[start:stop] if len(people) > 1 else np.broadcast_to(people, (stop - start, m.k))
            joined = rng.multinomial(here, np.full(m.cohorts, 1 / m.cohorts))
            members = joined.sum(axis=1)
            held = np.stack([(part @ joined[:, :, c].T).T for c, part in enumerate(m.filters.parts)], axis=1)
            setting = np.rint(held).astype(np.int64)
            ones = rng.binomial(setting, p) + rng.binomial(members[:, :, None] - setting, q)
            out[start:stop] = np.concatenate([ones.reshape(len(ones), split), members], axis=1)
        return out

    # The law of a total.

    def collection_work(self, n: int) -> float:
        """A cohort for the people of each value, and a number or two for each bit."""
        return totals.COLLECTION + 40.0 * self.m.cohorts * (self.m.k + 2 * self.m.width)
