"""Questions about the budget: the range to search, the bar while it is searched, and errors that name the options."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from hush import rules
from hush.cli import _console, _progress
from hush.cli._choose import mechanism_class, parsed
from hush.errors import NOTHING, ParameterError, message
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.settings import takes

Found = TypeVar("Found")


def asked(work: Callable[[], Found], options: Mapping[str, str]) -> Found:
    """What the work gives; a parameter that breaks its rule is named as the option that said it."""
    try:
        return work()
    except ParameterError as error:
        if error.parameter is None or error.parameter not in options:
            raise
        raise error.naming(options[error.parameter]) from None


def with_budget(mechanism: str | None, settings: list[str] | None) -> type[FrequencyOracle]:
    """A mechanism by name that takes a budget, none being set."""
    if mechanism is None:
        raise ParameterError(message("--mechanism", "must be given", NOTHING, "use e.g. OUE"))
    cls = mechanism_class(mechanism)
    if "epsilon" not in takes(cls):
        rule = "must have a budget, epsilon, that can be chosen"
        raise ParameterError(message("--mechanism", rule, mechanism, "use e.g. OUE"))
    for name in ("epsilon", "k"):
        if name in parsed(settings):
            rule = "must be left out, since the budget is looked for and the people have their values"
            raise ParameterError(message(f"--set {name}", rule, parsed(settings)[name], "leave it out"))
    return cls


def budgets(least: float, most: float) -> tuple[float, float]:
    """The range of budgets to search, checked."""
    asked(lambda: rules.epsilon(least), {"epsilon": "--min-epsilon"})
    asked(lambda: rules.epsilon(most), {"epsilon": "--max-epsilon"})
    if least >= most:
        rule = f"must be below --max-epsilon, {most:g}"
        raise ParameterError(message("--min-epsilon", rule, least, "use e.g. 0.01 and 10"))
    return least, most


@contextmanager
def bar(title: str, *, quiet: bool) -> Iterator[Callable[[float], None]]:
    """A bar with the time left; gives the function that is told how far the search has come, from 0 to 1."""
    with _progress.progress(title, 1.0, quiet=quiet) as advance:
        reached = 0.0

        def tell(share: float) -> None:
            nonlocal reached
            advance(max(share - reached, 0.0))
            reached = max(share, reached)

        yield tell


def say_written(made: object, spec_out: Path | None, png: Path | None, *, read: bool) -> None:
    """Tell which files were written, or that a spec can be, where other commands would read it."""
    if png is not None:
        _console.note(f"wrote the picture, {png}")
    if spec_out is not None and made is None:
        _console.warn(f"no spec was written, and {spec_out} is as it was")
    elif spec_out is not None:
        _console.note(f"wrote the spec, {spec_out}")
    elif read:
        _console.note("Write the spec with --spec-out FILE.json; privatize and simulate read it with --spec.")
