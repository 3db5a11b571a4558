"""Every error that Hush raises on purpose.

    HushError
    ├── ParameterError (ValueError)     a parameter, value or option breaks its rule
    │   └── CallError (TypeError)       a parameter is unknown, missing, or given without its name
    ├── DomainError (ValueError)        a value lies outside the domain
    ├── ReportError (ValueError)        a report is malformed for its mechanism
    ├── SpecError (ValueError)          a spec, aggregate or file does not belong to this one
    ├── ProjectedError (ValueError)     error bars asked of a post-processed estimate
    ├── ConvergenceError (RuntimeError) an iteration did not settle in the steps allowed
    └── MissingDependency (ImportError) an optional package is needed

A message has four parts: the parameter, the rule, the value received, the remedy. Errors have them as fields.
"""

from __future__ import annotations

import reprlib
from typing import Self


class _Short(reprlib.Repr):
    """Long things, shortened."""

    def repr_int(self, x: int, level: int) -> str:
        """Python itself refuses to write integers of thousands of digits."""
        return super().repr_int(x, level) if x.bit_length() < 10_000 else f"an integer of {x.bit_length()} bits"


_short = _Short()
_short.maxstring = _short.maxother = 60


class Message(str):
    """What an error says, and its four parts.

    Args:
        parameter: What breaks the rule.
        rule: Begins with "must", as a rule.
        value: What was received, as it may be shown: a person's own is not repeated.
        remedy: What to do.
    """

    parameter: str
    rule: str
    value: str
    remedy: str

    def __new__(cls, parameter: str, rule: str, value: str, remedy: str) -> Message:
        """The sentence."""
        made = super().__new__(cls, f"{parameter} {rule}, got {value}; {remedy}")
        made.parameter, made.rule, made.value, made.remedy = parameter, rule, value, remedy
        return made

    def __getnewargs__(self) -> tuple[str, str, str, str]:  # type: ignore[override]
        return self.parameter, self.rule, self.value, self.remedy


class HushError(Exception):
    """Root of all errors raised by Hush."""

    @property
    def _told(self) -> Message | None:
        said = self.args[0] if self.args else None
        return said if isinstance(said, Message) else None

    @property
    def parameter(self) -> str | None:
        """What breaks a rule; None where the message has no such parts."""
        return None if self._told is None else self._told.parameter

    @property
    def rule(self) -> str | None:
        """The rule that is broken."""
        return None if self._told is None else self._told.rule

    @property
    def value(self) -> str | None:
        """What was received, as it may be shown."""
        return None if self._told is None else self._told.value

    @property
    def remedy(self) -> str | None:
        """What to do."""
        return None if self._told is None else self._told.remedy

    def naming(self, parameter: str) -> Self:
        """The same error, of a parameter that has another name where it was said."""
        said = self._told
        return self if said is None else type(self)(Message(parameter, said.rule, said.value, said.remedy))


class ParameterError(HushError, ValueError):
    """A parameter breaks its rule."""


class CallError(ParameterError, TypeError):
    """A parameter is unknown, missing, or given without its name."""


class DomainError(HushError, ValueError):
    """A value lies outside the domain."""


class ReportError(HushError, ValueError):
    """A report is malformed for its mechanism."""


class SpecError(HushError, ValueError):
    """A spec, aggregate or file does not belong to this collection."""


class ProjectedError(HushError, ValueError):
    """Error bars were asked of an estimate that is no longer unbiased."""


class ConvergenceError(HushError, RuntimeError):
    """An iteration did not settle in the steps allowed."""


class MissingDependency(HushError, ImportError):
    """An optional package is needed for this feature."""


class Unsaid(str):
    """Words in place of a value that must not be repeated: a person's own, which would end up in a log."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


NOTHING = Unsaid("nothing")
"""What a message says it got where something was left out."""


def message(name: str, rule: str, value: object, remedy: str) -> Message:
    """The one shape of an error message.

    >>> message("k", "must be an integer of at least 2", 1, "count the values of your domain")
    'k must be an integer of at least 2, got 1; count the values of your domain'
    """
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # type: ignore[attr-defined]  # a number of NumPy's, as the plain one that it is
    shown = str(value) if isinstance(value, Unsaid) else _short.repr(value)
    return Message(name, rule, shown, remedy)


def cause(error: BaseException) -> str:
    """The kind of an error and what it says, in one line.

    >>> cause(ValueError("no  way")), cause(ValueError())
    ('ValueError: no way', 'ValueError')
    """
    said = " ".join(str(error).split())
    return type(error).__name__ + (f": {said}" if said else "")


def missing(package: str, extra: str, purpose: str) -> MissingDependency:
    """The error for an optional package that cannot be imported.

    >>> print(missing("pandas", "pandas", "to_frame"))
    to_frame needs the package pandas, which cannot be imported; in a clone of Hush, run: pip install '.[pandas]'
    """
    return MissingDependency(
        f"{purpose} needs the package {package}, which cannot be imported; "
        f"in a clone of Hush, run: pip install '.[{extra}]'"
    )
