"""Several methods on one target: one pair of values for all, and one error rate that they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hush.audit.foreign import ForeignTarget
from hush.audit.result import AuditResult
from hush.audit.run import run
from hush.audit.screening import Screening, reports_for, screen
from hush.audit.stream import Progress
from hush.audit.target import Target
from hush.randomness import seeded


def usual(target: Target) -> list[str]:
    """The methods that fit a target, but for the attack, which sees less than the likelihood ratio."""
    if isinstance(target, ForeignTarget):
        return ["classifier"]
    return ["likelihood", "classifier", "exact"] if target.screened else ["likelihood", "exact"]


def reports_in_all(target: Target, methods: Sequence[str], trials: int, *, screening: bool = True) -> int:
    """How many reports the methods make together, about; none for the exact one."""
    sampled = _sampled(methods)
    return 2 * trials * sampled + (reports_for(target, trials) if screening and sampled else 0)


def run_all(
    target: Target,
    methods: Sequence[str],
    *,
    trials: int = 10**6,
    alpha: float = 0.01,
    pair: tuple[Any, Any] | None = None,
    seed: int | None = None,
    checkpoint: Path | None = None,
    progress: Progress | None = None,
    **rules: Any,
) -> list[AuditResult]:
    """One result for each method; together they are wrong with probability alpha, at most.

    Args:
        target: What is audited.
        methods: The names of methods, each once.
        trials: Reports of each of the two values, for each method.
        alpha: Divided among the methods that count reports.
        pair: The two values; left out, the target is screened once for all methods.
        seed: Repeats an audit of a mechanism exactly.
        checkpoint: A file that keeps where the audit stands; with several methods, a file beside it for each.
        progress: Called with the number of reports made since it was last called.
        rules: What else `run` takes.
    """
    sampled = _sampled(methods)
    chosen: tuple[Any, Any] | Screening | None = pair
    if pair is None and sampled and reports_for(target, trials):
        fixed = seed if seed is not None else 0 if target.seedable else None  # so that a checkpoint finds the same
        rng = None if fixed is None else seeded([fixed, 1])
        chosen = screen(target, trials=trials, rng=rng, progress=progress)
    return [
        run(
            target,
            method,
            trials=trials,
            alpha=alpha / max(sampled, 1),
            pair=chosen,
            rng=None if seed is None else seeded(seed),
            checkpoint=checkpoint if sampled == 1 else _beside(checkpoint, method),
            progress=progress,
            **rules,
        )
        for method in methods
    ]


def _sampled(methods: Sequence[str]) -> int:
    return sum(method != "exact" for method in methods)


def _beside(checkpoint: Path | None, method: str) -> Path | None:
    """Each method keeps its own standing."""
    return None if checkpoint is None else checkpoint.with_name(f"{checkpoint.stem}.{method}{checkpoint.suffix}")
