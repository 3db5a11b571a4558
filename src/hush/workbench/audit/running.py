"""The work of one audit, from a question in plain data to an answer in plain data: what a process of its own runs."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from hush import strict_json
from hush.audit import AuditResult, Target
from hush.audit.several import reports_in_all, run_all, usual
from hush.files.specs import OPTIONS
from hush.workbench.audit import choices
from hush.workbench.audit.question import AuditQuestion
from hush.workbench.audit.said import said
from hush.workbench.audit.targets import target_of

Progress = Callable[[float, str], None]
"""Called with the share of the work that is done, and what is being done."""


def work(progress: Progress, plain: Mapping[str, Any], *, code: bool = False) -> dict[str, Any]:
    """Run an audit.

    Args:
        progress: Told how far it is.
        plain: A question, as `AuditQuestion.to_dict` wrote it.
        code: Whether code that the question names may be imported.

    Returns:
        What the page says, the results as `hush audit --json` prints them, and the page for the files.
    """
    asked = AuditQuestion.from_dict(plain)
    progress(0.0, "Looking at what is to be audited")
    results = audited(asked, target_of(asked, code=code), progress)
    progress(1.0, "Writing the report")
    return {"said": said(results).to_dict(), "results": as_json(results), "page": page_of(results)}


def audited(asked: AuditQuestion, target: Target, progress: Progress) -> list[AuditResult]:
    """One result for each method."""
    methods = list(asked.methods or usual(target))
    total = reports_in_all(target, methods, asked.trials)
    what = f"Asking {target.name}" if total else f"Computing the law of {target.name}"
    done = 0.0

    def advance(amount: float) -> None:
        nonlocal done
        done += amount
        progress(min(done / total, 1.0) if total else 0.0, f"{what}: {min(done, total):,.0f} of {total:,} reports")

    progress(0.0, what)
    found = run_all(
        target,
        methods,
        trials=asked.trials,
        alpha=asked.alpha,
        seed=asked.seed,
        progress=advance,
        claim=asked.claim,
    )
    command = command_of(asked, methods)
    return [replace(each, about={**each.about, "seed": asked.seed, "command": command}) for each in found]


def as_json(results: Sequence[AuditResult]) -> dict[str, Any]:
    """Plain data for programs, of the same shape as the command prints."""
    verdicts = {each.verdict for each in results}
    plain: dict[str, Any] = strict_json.plain(
        {
            "violation": "violation" in verdicts,
            "inconclusive": "inconclusive" in verdicts,
            "audits": [each.to_dict() for each in results],
        }
    )
    return plain


def page_of(results: Sequence[AuditResult]) -> str:
    """The self-contained page for the files."""
    from hush.reports import audited as pages  # draws a figure: heavy, and for this process only

    return pages.page_of(results)


def command_of(asked: AuditQuestion, methods: Sequence[str]) -> str:
    """The command that asks the same."""
    words = ["hush", "audit"]
    if asked.way == "spec":
        words += ["--spec", "spec.json"]
    elif asked.way == "code":
        words += ["--target", asked.name]
    else:
        words += ["--mechanism", asked.name if asked.way == "mechanism" else choices.module_of(asked.name)]
    for name, value in asked.parameters.items():
        text = ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        if name == "sensitive":
            words += ["--sensitive", text]
        else:
            words += [OPTIONS[name], text] if name in OPTIONS else ["--set", f"{name}={text}"]
    for option, given in (("--rounds", asked.rounds), ("--claim", asked.claim)):
        words += [] if given is None else [option, str(given)]
    for method in methods:
        words += ["--method", method]
    words += ["--trials", str(asked.trials), "--alpha", str(asked.alpha)]
    words += [] if asked.seed is None else ["--seed", str(asked.seed)]
    return shlex.join(words)
