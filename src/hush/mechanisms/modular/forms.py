"""Closed forms of modular subset selection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hush.analysis import totals
from hush.mechanisms.forms import Forms
from hush.mechanisms.modular.totals import first_order_adds
from hush.types import Floats, Ints

if TYPE_CHECKING:
    from hush.mechanisms.modular.mechanism import MSS


@dataclass(frozen=True, eq=False)
class ModularForms(Forms):
    """Of modular subset selection."""

    m: MSS

    # What fakes gain, what tells values apart, and what guesses are worth.

    # What estimates are like: errors, information, work, many collections at once, the normal law, what to tune.

    # The law of a total.

    def total_law(self, amounts: Floats, counts: Ints) -> totals.Law:
        """That of a first-order term, right but for one part in n; with a single modulus, nothing is left out."""
        kind = "exact" if len(self.m.moduli) == 1 else "near"
        return self._summed(amounts, counts, first_order_adds(self.m, amounts, counts), kind=kind)

    def collection_work(self, n: int) -> float:
        """Sets of residues, walked residue by residue."""
        return totals.COLLECTION + 1000.0 * self.m.k
