"""Every error that Hush raises on purpose.

    HushError
    ├── ParameterError (ValueError)     a parameter, value or option breaks its rule
    ├── DomainError (ValueError)        a value lies outside the domain
    ├── ReportError (ValueError)        a report is malformed for its mechanism
    ├── SpecError (ValueError)          a spec, aggregate or file does not belong to this one
    ├── ProjectedError (ValueError)     error bars asked of a post-processed estimate
    ├── ConvergenceError (RuntimeError) an iteration did not settle in the steps allowed
    └── MissingDependency (ImportError) an optional package is needed

A message has four parts: the parameter, the rule, the value received, the remedy.
"""

from __future__ import annotations

import reprlib

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60


class HushError(Exception):
    """Root of all errors raised by Hush."""


class ParameterError(HushError, ValueError):
    """A parameter breaks its rule."""


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


def message(name: str, rule: str, value: object, remedy: str) -> str:
    """The one shape of an error message.

    >>> message("k", "must be an integer of at least 2", 1, "count the values of your domain")
    'k must be an integer of at least 2, got 1; count the values of your domain'
    """
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # type: ignore[attr-defined]  # a number of NumPy's, as the plain one that it is
    shown = str(value) if isinstance(value, Unsaid) else _short.repr(value)
    return f"{name} {rule}, got {shown}; {remedy}"


def missing(package: str, extra: str, purpose: str) -> MissingDependency:
    """The error for an optional package that cannot be imported.

    >>> print(missing("pandas", "pandas", "to_frame"))
    to_frame needs the package pandas, which cannot be imported; in a clone of Hush, run: pip install '.[pandas]'
    """
    return MissingDependency(
        f"{purpose} needs the package {package}, which cannot be imported; "
        f"in a clone of Hush, run: pip install '.[{extra}]'"
    )
