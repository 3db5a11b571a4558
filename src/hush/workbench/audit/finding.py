"""What an audit found, as the page says it: the verdict first, then what proves it, in plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from hush.reports.words import number


class ScaleBars(NamedTuple):
    """Bars of one colour: a name, labels, lengths, and whether they stand behind the others."""

    name: str
    labels: list[str]
    values: list[float]
    quiet: bool


@dataclass(frozen=True)
class MethodRow:
    """What one method found.

    Args:
        method: Its name.
        verdict: One of violation, inconclusive, consistent, measured.
        proved: The loss that is proved; infinite where it is.
        statement: What is proved, in a few sentences.
        confidence: How surely, as text.
        trials: Reports of each value that the proof counts; 0 for an exact one.
        pair: The two values, as text; "" where no pair is at hand.
        event: What reports show that tells the two apart.
        example: A report that shows it, and its bytes.
        counted: How often it came with each of the two, in a sentence.
        looked: What was tried, and what would have been found.
        notes: What else one should know.
        line: What so many trials prove, if events come as often as they did: numbers of trials, and losses.
    """

    method: str
    verdict: str
    proved: float
    statement: str
    confidence: str
    trials: int
    pair: str = ""
    event: str = ""
    example: str = ""
    counted: str = ""
    looked: str = ""
    notes: tuple[str, ...] = ()
    line: tuple[tuple[int, float], ...] = ()

    def facts(self) -> list[tuple[str, str]]:
        """What proves it, item by item."""
        found = [
            ("Told apart", self.pair),
            ("What shows it", self.event),
            ("How often", self.counted),
            ("For example", self.example),
        ]
        return [(title, words) for title, words in found if words]


@dataclass(frozen=True)
class AuditSaid:
    """All of an audit, for people.

    Args:
        target: What was audited.
        verdict: The gravest of all methods.
        headline: It in a few words.
        lead: What is proved, in a few sentences.
        speaker: The method whose finding speaks for all.
        meaning: What such a verdict means.
        odds: What the proved loss does to somebody's odds; "" where nothing is proved.
        claimed: The promised loss, or None.
        claim: The promise as text.
        unit: What the loss is of.
        rows: What each method found.
        words: What methods and verdicts mean, by name.
        command: What repeats it.
    """

    target: str
    verdict: str
    headline: str
    lead: str
    speaker: str
    meaning: str
    odds: str
    claimed: float | None
    claim: str
    unit: str
    rows: tuple[MethodRow, ...]
    words: Mapping[str, str]
    command: str

    @property
    def best(self) -> MethodRow:
        """The method whose finding speaks for all."""
        return next(row for row in self.rows if row.method == self.speaker)

    @property
    def summary(self) -> str:
        """What the picture shows, in a sentence."""
        proved = "; ".join(f"{row.method}: {number(row.proved)}" for row in self.rows)
        claim = "Nothing was claimed" if self.claimed is None else f"The claim is {self.claimed:g}"
        return f"{claim}. Proved privacy loss of {self.unit}, by method: {proved}."

    @property
    def outlook(self) -> str:
        """What more reports would prove, or fewer, in a sentence; "" where none were counted."""
        row = max((each for each in self.rows if each.line), key=lambda each: each.proved, default=None)
        if row is None:
            return ""
        (most, end), claimed = row.line[-1], self.claimed
        enough = next((trials for trials, proved in row.line if claimed is not None and proved > claimed), None)
        if enough is not None and self.verdict == "violation":
            return f"About {enough:,} reports of each value suffice to see that the claim is false, by {row.method}."
        return f"The same event, counted in {most:,} reports of each value, would prove {number(end)}, by {row.method}."

    def bars(self) -> tuple[list[ScaleBars], float]:
        """Series of bars, and where their axis ends: what is infinite reaches the end, and is named so."""
        finite = [row.proved for row in self.rows if math.isfinite(row.proved)]
        longest = max([*finite, self.claimed or 0.0, 1e-3])
        end = _round_end(1.1 * longest)
        labels = [row.method if math.isfinite(row.proved) else f"{row.method} (∞)" for row in self.rows]
        series = [ScaleBars("proved", labels, [min(row.proved, end) for row in self.rows], False)]
        if self.claimed is not None:
            series.append(ScaleBars("claimed", labels, [self.claimed] * len(labels), True))
        return series, end

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


def _round_end(least: float) -> float:
    """The next number at which an axis ends well.

    >>> _round_end(1.1), _round_end(8.7), _round_end(0.13)
    (1.2, 10.0, 0.15)
    """
    scale = 10.0 ** math.floor(math.log10(least))
    return round(next(each for each in _ENDS if each * scale >= least) * scale, 12)


_ENDS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)


def told(plain: Mapping[str, Any]) -> AuditSaid:
    """What `AuditSaid.to_dict` wrote."""
    rows = [
        MethodRow(**{**row, "notes": tuple(row["notes"]), "line": tuple(map(tuple, row["line"]))})
        for row in plain["rows"]
    ]
    return AuditSaid(**{**plain, "rows": tuple(rows)})
