"""Who of a run is charged, who is passed over and who is refused: by how many reports there were, and nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hush.files.clients.account import cost
from hush.files.clients.staging import Staged, pairs
from hush.files.periods import in_order
from hush.mechanisms.spec import Spec
from hush.types import Ints

_NOBODY = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Totals:
    """What people have spent, all collections of the store together; None where nothing bounds it.

    Args:
        fewest: The least number of reports of one person in the collection.
        most: The greatest.
        least_spent: The least that one of them has spent.
        most_spent: The most.
    """

    fewest: int
    most: int
    least_spent: Fraction | None
    most_spent: Fraction | None


@dataclass(frozen=True)
class Charged:
    """Who was charged: see `StoreRun`, and which periods of whom are skipped."""

    people: int
    passed_over: int
    refused: int
    refused_people: int
    again: int
    skipped: Staged


class Charges:
    """Charges the people of a run, period by period in their order.

    Args:
        connection: Of the store, within a transaction; those who ask are in the table `asked`.
        collection: Its number.
        limit: The most that one person may spend.
    """

    def __init__(self, connection: sqlite3.Connection, collection: int, limit: Fraction | None) -> None:
        self._sql, self._collection, self._limit = connection, collection, limit
        known = connection.execute("SELECT id, spec FROM collection ORDER BY id = ?, id", [collection]).fetchall()
        self._numbers = [number for number, _ in known]  # this one comes last
        self._costs: list[Callable[[int], Fraction | None]] = [cost(Spec.from_json(text)) for _, text in known]

    def charge(self, periods: Mapping[str, int]) -> Charged:
        """Charge everybody who asks and may report."""
        skipped, refused, refused_people = [_NOBODY], 0, [_NOBODY]
        passed_over = again = 0
        for name in in_order(periods):
            people, times, before = self._asking(periods[name])
            fresh = before == 0
            passed_over += int(times[~fresh].sum())
            may = fresh.copy()
            may &= self._within(periods[name], times)
            no = fresh & ~may
            refused += int(times[no].sum())
            refused_people.append(people[no])
            again += int((times[may] - 1).sum())
            skipped.append(pairs(np.full(int((~may).sum()), periods[name]), people[~may]))
            self._enter(periods[name], people[may], times[may])
        (number,) = self._sql.execute("SELECT COUNT(DISTINCT person) FROM asked").fetchone()
        whose = np.unique(np.concatenate(refused_people)).size
        return Charged(int(number), passed_over, refused, whose, again, np.sort(np.concatenate(skipped)))

    def _asking(self, period: int) -> tuple[Ints, Ints, Ints]:
        """Who asks in a period, how often, and how often they reported in it in earlier runs."""
        found = self._sql.execute(
            "SELECT a.person, a.times, COALESCE(r.times, 0) FROM asked a LEFT JOIN reported r "
            "ON r.collection = ? AND r.period = a.period AND r.person = a.person WHERE a.period = ? ORDER BY a.person",
            (self._collection, period),
        ).fetchall()
        people, times, before = np.array(found, np.int64).reshape(-1, 3).T
        return people, times, before

    def _within(self, period: int, times: Ints) -> npt.NDArray[np.bool_]:
        """Who of those who ask in a period stays within the limit with so many reports more."""
        if self._limit is None or not times.size:
            return np.ones(times.size, np.bool_)
        counts = self._counts("SELECT person FROM asked WHERE period = ?", period)
        counts[:, -1] += times
        different, back = np.unique(counts, axis=0, return_inverse=True)
        spent = [self._spent(each) for each in different.tolist()]
        fits = np.array([each is not None and each <= self._limit for each in spent], np.bool_)
        return fits[back.ravel()]

    def _counts(self, whose: str, *given: object) -> Ints:
        """How many reports each person has in each collection, this one last; in the order of the people."""
        columns = []
        for number in self._numbers:
            found = self._sql.execute(
                f"SELECT COALESCE(a.reports, 0) FROM ({whose}) w LEFT JOIN account a "
                "ON a.collection = ? AND a.person = w.person ORDER BY w.person",
                (*given, number),
            )
            columns.append(np.array([reports for (reports,) in found], np.int64))
        return np.stack(columns, axis=1)

    def _spent(self, counts: list[int]) -> Fraction | None:
        parts = [of(reports) for of, reports in zip(self._costs, counts, strict=True)]
        return None if None in parts else sum((part for part in parts if part is not None), start=Fraction(0))

    def _enter(self, period: int, people: Ints, times: Ints) -> None:
        both = list(zip(people.tolist(), times.tolist(), strict=True))
        self._sql.executemany(
            "INSERT INTO account VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET reports = reports + excluded.reports",
            ((self._collection, person, number) for person, number in both),
        )
        self._sql.executemany(
            "INSERT INTO reported VALUES (?, ?, ?, ?)",
            ((self._collection, period, person, number) for person, number in both),
        )

    def totals(self) -> Totals:
        """What the people of this run have spent."""
        counts = self._counts("SELECT DISTINCT person FROM asked")
        if not len(counts):
            return Totals(0, 0, Fraction(0), Fraction(0))
        spent = [self._spent(each) for each in np.unique(counts, axis=0).tolist()]
        known = [each for each in spent if each is not None]
        most = None if len(known) < len(spent) else max(known)
        return Totals(int(counts[:, -1].min()), int(counts[:, -1].max()), min(known, default=None), most)
