"""What methods of an audit do and verdicts mean, in sentences, and which of several verdicts counts."""

from __future__ import annotations

from collections.abc import Sequence

from hush.audit import AuditResult

LEADS = {
    "violation": "",
    "inconclusive": "The audit is inconclusive. ",
    "consistent": "No violation was found. ",
    "measured": "",
}
"""What stands before the statement of each verdict; the gravest verdict first."""

METHODS = {
    "likelihood": "The event that the likelihood ratio favours: chosen on a tenth of the reports, counted on others.",
    "attack": "How often the best guess of the value from its report names the first of two values.",
    "classifier": "Events learned from reports alone, counted on fresh ones, each with its part of the error rate.",
    "exact": "The loss computed from the law that the mechanism states, in rational arithmetic.",
}
"""What each method counts."""

GAMES = {
    "pools": "How often an attacker names the class of values that a person favours, from fresh reports.",
    "changes": "How often an attacker says rightly whether a person's value changed, from all reports.",
    "attributes": "How often an attacker names the value of one attribute, from a report about the whole tuple.",
    "reidentification": "How often an attacker points at the right person of a table, from reports about the tuple.",
}
"""What an attacker guesses in each game, whose right and wrong guesses are counted."""

VERDICTS = {
    "violation": "The proved loss exceeds the claim.",
    "inconclusive": "No violation was found, but little would have been: too small a share of the claim was proved, a "
    "rare leak might have been missed, some values were not tried, or reports were not independent of each other.",
    "consistent": "A lower bound below the claim does not prove the claim. It says that nothing was found by an audit "
    "that would have found much.",
    "measured": "Nothing was claimed.",
}
"""What each verdict means."""


def gravest(results: Sequence[AuditResult]) -> AuditResult:
    """The result that speaks for all: of the gravest verdict, the one that proves most."""
    ranks = tuple(LEADS)
    return min(results, key=lambda each: (ranks.index(each.verdict), -each.epsilon_lower))


def meanings(results: Sequence[AuditResult]) -> dict[str, str]:
    """What the methods that were run do, and what the verdicts that they came to mean."""
    found = {name: said for name, said in {**METHODS, **GAMES}.items() if any(r.method == name for r in results)}
    found |= {name: said for name, said in VERDICTS.items() if any(r.verdict == name for r in results)}
    if "exact" in found:
        found["exact"] += " It proves the claim of the law that the code states, not of the code."
    return found
