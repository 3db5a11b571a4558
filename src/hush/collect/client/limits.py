"""How much a person lets go of: limits that hold before anything is drawn, as ledgers add up."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hush.collect.client.receipts import Spent
from hush.collect.loss import Loss
from hush.errors import Message, ParameterError, SpecError, Unsaid, message
from hush.files.clients.account import Account, account
from hush.longitudinal.ledger import Ledger, amount_of, as_written
from hush.mechanisms.spec import Spec
from hush.types import Ints

Amount = float | Fraction | str
_ROW = 32  # bytes of a permanent answer beside itself, about


@dataclass(frozen=True)
class Limits:
    """What a person agrees to.

    Args:
        maximum: The most that one answer may lose, and the most that one may add to what earlier ones have lost.
        maximum_chain: The most that all answers may, in a collection and those that it follows or that follow it.
        maximum_total: The most that all answers may, in all collections.
        delta: The most that all deltas may sum up to; 0 for none.
        unprotected: Whether values may be revealed that a collection says need no protection.
        times_known: Whether it may be seen when a value changes, where answers are kept.
    """

    maximum: Fraction
    maximum_chain: Fraction
    maximum_total: Fraction
    delta: Fraction
    unprotected: bool
    times_known: bool = False

    @classmethod
    def of(
        cls,
        *,
        maximum: Amount,
        maximum_chain: Amount,
        maximum_total: Amount,
        delta: Amount,
        unprotected: bool,
        times_known: bool = False,
    ) -> Limits:
        """Checked."""
        several = {"maximum": maximum, "maximum_chain": maximum_chain, "maximum_total": maximum_total}
        one, chain, total = (amount_of(name, value) for name, value in several.items())
        try:
            slack = as_written(delta)
            if not 0 <= slack < 1:
                raise ValueError
        except (ValueError, ArithmeticError):
            rule, remedy = "must be a number of at least 0 and below 1", "leave it out to consent to none"
            raise ParameterError(message("delta", rule, delta, remedy)) from None
        return cls(one, chain, total, slack, bool(unprotected), bool(times_known))

    def consent(self, found: Loss) -> None:
        """Refuse what one answer would lose, whoever gives it."""
        if as_written(found.declared) > self.maximum:
            got = Unsaid(f"{found.declared:.12g}")
            rule = f"must be at most {float(self.maximum):.12g}, your maximum"
            raise SpecError(message("the spec's epsilon", rule, got, "report nothing; or raise maximum, if you agree"))
        if found.delta and not self.delta:
            rule, remedy = "must be 0 unless you consent", "pass delta=…, the sum that you agree to"
            raise SpecError(message("the spec's delta", rule, found.delta, remedy))
        if found.unprotected and not self.unprotected:
            rule, got = "must protect every value unless you consent", Unsaid(f"{found.unprotected} unprotected values")
            raise SpecError(message("the spec", rule, got, "pass unprotected=True if nobody minds these being known"))

    def exceeded(self, counts: Sequence[int], books: Books) -> Message | None:
        """What keeps somebody with so many answers in each collection from having given them; None where nothing does.

        Every limit is a ledger, into which the losses are entered.
        """
        chain, total = Ledger(limit=self.maximum_chain), Ledger(limit=self.maximum_total)
        slack = Fraction(0)
        for place, told in books.accounts(counts, self.times_known):
            if told.spent is None:
                rule = "must be bounded for values that change at any time"
                got = Unsaid(f"{told.reports} answers that show when a value changes")
                remedy = "answer once and no more; or pass times_known=True, if that may be seen"
                return message("loss", rule, got, remedy if not self.times_known else "answer no more to it")
            slack += told.delta
            if place == books.own:
                more = told.spent - books.spent_before(told.reports, self.times_known)
                if more > self.maximum:
                    rule = f"must be at least {float(more):.12g}, which one more answer costs"
                    return message("maximum", rule, float(self.maximum), "answer no more; or raise it, if you agree")
            for name, ledger in (("maximum_chain", chain), ("maximum_total", total)):
                if ledger is chain and place not in books.in_chain:
                    continue
                if told.spent > ledger.left:
                    rule = f"must leave {float(told.spent - ledger.left):.12g} more for one more answer"
                    got = Unsaid(f"{float(ledger.limit):.12g}")
                    return message(name, rule, got, "answer no more; or raise it, if you agree")
                if told.spent:
                    ledger.spend(told.spent, what=books.names[place])
        if slack > self.delta:
            rule = f"must be at least {float(slack):.6g} for one more answer"
            return message("delta", rule, float(self.delta), "answer no more; or raise it, if you agree")
        return None


@dataclass(frozen=True)
class Books:
    """The accounts of a home: its protocols, and how many answers people have in each.

    Where a collection follows another with the very same spec, kept answers go on, and both have one protocol.

    Args:
        numbers: The protocols' numbers in the file.
        names: The hash of each one's spec.
        specs: What makes reports.
        in_chain: The places of those in the chain of the collection that is asked about.
        own: The place of that collection's own.
    """

    numbers: tuple[int, ...]
    names: tuple[str, ...]
    specs: tuple[Spec, ...]
    in_chain: frozenset[int]
    own: int

    @classmethod
    def opened(cls, sql: sqlite3.Connection, protocol: int) -> Books:
        """Those of a file."""
        rows = sql.execute("SELECT id, chain, hash, spec FROM protocol ORDER BY id").fetchall()
        chains = {number: chain for number, chain, _, _ in rows}
        numbers = tuple(chains)
        inside = frozenset(i for i, number in enumerate(numbers) if chains[number] == chains[protocol])
        names = tuple(name for _, _, name, _ in rows)
        return cls(numbers, names, tuple(_spec(text) for *_, text in rows), inside, numbers.index(protocol))

    def accounts(self, counts: Sequence[int], times_known: bool) -> list[tuple[int, Account]]:
        """What so many answers in each protocol come to, where there are some."""
        several = ((i, number) for i, number in enumerate(counts) if number)
        return [(i, account(self.specs[i], number, times_known=times_known)) for i, number in several]

    def spent_before(self, reports: int, times_known: bool) -> Fraction:
        """What all answers but the last of so many came to, in the collection that is asked about."""
        return account(self.specs[self.own], reports - 1, times_known=times_known).spent or Fraction(0)

    def counts(self, sql: sqlite3.Connection, people: Ints) -> Ints:
        """How many answers each person has given by each protocol, shape (people, protocols)."""
        asked(sql, people)
        found = np.zeros((people.size, len(self.numbers)), np.int64)
        for place, number in enumerate(self.numbers):
            rows = sql.execute(
                "SELECT w.id, SUM(a.reports) FROM collection c CROSS JOIN whose w CROSS JOIN account a "
                "ON a.collection = c.id AND a.person = w.person WHERE c.protocol = ? GROUP BY w.id",
                [number],
            ).fetchall()
            if rows:
                at, reports = np.array(rows, np.int64).T
                found[at, place] = reports
        return found

    def kept_bytes(self, sql: sqlite3.Connection) -> int:
        """Bytes of permanent answers that are kept, at most.

        By the number of answers alone, as if all of them had been about other values: an answer that is refused because
        a value changed would tell that it did.
        """
        total = 0
        for number, spec in zip(self.numbers, self.specs, strict=True):
            states, size = _kept(spec)
            if states:
                (answers,) = sql.execute(
                    "SELECT COALESCE(SUM(MIN(reports, ?)), 0) FROM account "
                    "WHERE collection IN (SELECT id FROM collection WHERE protocol = ?)",
                    (states, number),
                ).fetchone()
                total += size * int(answers)
        return total

    def more_bytes(self, counts: Ints) -> int:
        """Bytes that one more answer of each of these people, who have given so many, may add."""
        states, size = _kept(self.specs[self.own])
        return size * int((counts[:, self.own] < states).sum())

    def within(self, limits: Limits, counts: Ints) -> tuple[npt.NDArray[np.bool_], Message | None]:
        """Who may answer once more, and why the first of the others may not."""
        after = counts.copy()
        after[:, self.own] += 1
        different, back = np.unique(after, axis=0, return_inverse=True)
        why = [limits.exceeded(row, self) for row in different.tolist()]
        may = np.array([each is None for each in why], np.bool_)[back.ravel()]
        return may, next((each for each in why if each is not None), None)

    def spent(self, counts: Sequence[int], own: int, times_known: bool) -> Spent:
        """What somebody with so many answers has spent, `own` of them in the collection that is asked about."""
        told = self.accounts(counts, times_known)
        chain = [each.spent for place, each in told if place in self.in_chain]
        delta = sum((each.delta for _, each in told), start=Fraction(0))
        here = account(self.specs[self.own], own, times_known=times_known).spent
        return Spent(here, _sum(chain), _sum([each.spent for _, each in told]), delta, own)

    def ledger(self, counts: Sequence[int], limit: Fraction, times_known: bool) -> Ledger:
        """All that somebody with so many answers has spent, an entry for each spec.

        The limit is raised to what was spent, where it has been lowered since; what nothing bounds has no entry.
        """
        told = [(self.names[place], each.spent) for place, each in self.accounts(counts, times_known) if each.spent]
        made = Ledger(limit=max([limit, sum((spent for _, spent in told), start=Fraction(0))]))
        for name, spent in told:
            made.spend(spent, what=f"spec {name[:12]}")
        return made


def asked(sql: sqlite3.Connection, people: Ints) -> None:
    """Put people into the table `whose`, for others to be joined with, by their places."""
    sql.execute("CREATE TEMP TABLE IF NOT EXISTS whose (id INTEGER PRIMARY KEY, person INT)")
    sql.execute("DELETE FROM whose")
    sql.executemany("INSERT INTO whose VALUES (?, ?)", enumerate(people.tolist()))


def _kept(spec: Spec) -> tuple[int, int]:
    """After how many answers nothing new is kept of one person, and bytes of what each one may add; 0 for never."""
    m = spec.mechanism
    if m.kind != "longitudinal":
        return 0, 0
    states = max(part.kept for part in getattr(m, "components", (m,)))
    return states, m.report_dtype.itemsize + _ROW


def _sum(parts: Sequence[Fraction | None]) -> Fraction | None:
    return None if None in parts else sum((each for each in parts if each is not None), start=Fraction(0))


@lru_cache(maxsize=64)
def _spec(text: str) -> Spec:
    return Spec.from_json(text)
