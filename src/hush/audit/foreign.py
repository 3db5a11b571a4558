"""Python code from anywhere as a target: a function of a value, or of an array of values.

What an audit proves needs reports that are independent of each other. Code that answers from memory (a client that
keeps its first answer, say) must be given a fresh client for every call.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import random
import sys
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np

from hush import rules
from hush.audit import guard
from hush.audit.columns import all_columns
from hush.audit.inputs import Inputs, Positions, Values, countable
from hush.audit.reading import ReportTable, Unreadable, compact, joined, pack, table, vectors
from hush.audit.target import Claim, Target
from hush.audit.targets import as_target
from hush.errors import ParameterError, Unsaid, message
from hush.mechanisms.collected import Collected
from hush.types import Floats, Reports

PATIENCE = 60.0
"""Seconds without a report, after which foreign code is taken to hang."""

_BATCH = 8192  # reports that are made at a time, so that long ones do not fill the memory before they are packed

_PROBED, _PATIENT = 1000, 2.0  # values that are tried again one by one where code fails, and seconds for each

METHODS = ("privatize", "privatise", "randomize", "randomise", "perturb", "report")
"""What an object is asked to do with a value, the first that it has; else it is called itself."""


class ForeignTarget(Target):
    """Code that was not written for Hush, known by what comes out of it.

    Args:
        name: What to call it.
        inputs: What it is asked about.
        claim: The promised epsilon, or a Claim.
        timeout: Seconds without a report, after which it is taken to hang.
    """

    def __init__(self, name: str, inputs: Inputs, claim: float | Claim | None, timeout: float) -> None:
        self.name = name
        self._inputs = countable(inputs)
        self.claim = claimed(claim)
        self.timeout = rules.number("timeout", timeout, 0.0, 1e6, "use seconds, e.g. 60")

    @property
    def k(self) -> int:  # type: ignore[override]
        """How many inputs there are."""
        return self._inputs.size

    @property
    def inputs(self) -> Inputs:
        """What it is asked about."""
        return self._inputs

    @property
    def first_pair(self) -> tuple[int, int]:  # type: ignore[override]
        """The first two values; of anything else the first and the last, which differ most."""
        return (0, 1) if isinstance(self.inputs, Values) else (0, self.k - 1)

    def including(self, pair: Sequence[Any]) -> Target:
        """The same code, which can be asked about these two inputs as well."""
        more = self._inputs.including(pair)
        if more is self._inputs:
            return self
        found = copy(self)
        found._inputs = more
        return found

    mixed = True
    screened = True

    def draw(self, value: int, size: int, rng: np.random.Generator | None) -> Reports:
        """So many reports of one value."""
        checked = rules.integer("value", value, 0, self.k - 1, "use a value of the domain")
        return self.draws(np.full(size, checked, np.int64), rng)

    @abstractmethod
    def draws(self, values: Positions, rng: np.random.Generator | None) -> Reports:
        """One report of each value, in order."""

    def table(self, reports: Reports) -> ReportTable:
        """Reports, to be read number by number."""
        try:
            return table(reports, self.inputs.labels)
        except Unreadable as error:
            remedy = "have it return numbers, text, bytes, or lists, sets and dictionaries of them"
            raise self.fault("must give reports that can be read", str(error), remedy) from None

    def features(self, reports: Reports) -> Floats:
        """All the numbers that move in these reports; which those are depends on the reports."""
        whole = self.table(reports)
        return np.stack([column.read(whole) for column in all_columns([whole])] or [np.zeros(whole.size)], axis=1)

    def fault(self, rule: str, got: str, remedy: str) -> ParameterError:
        """What the code did wrong."""
        return ParameterError(message(f"target {self.name}", rule, Unsaid(got), remedy))


class CallableTarget(ForeignTarget):
    """A function that turns a value 0..k-1 into a report of any kind, or an array of values into as many reports.

    Args:
        function: Called with a Python integer for every report, or with an array of integers; with other `inputs` with
            a number, or with a tuple of integers. If it has a parameter `rng`, it is given the audit's generator there.
        k: Number of values.
        claim: The promised epsilon, or a Claim.
        name: What to call it in messages and results.
        batched: Whether it takes arrays. Left out, it is called value by value, unless it only takes arrays. An array
            is not tried on a function that takes a value, since it might toss one coin for the whole array.
        inputs: What it is asked about in place of values: `NumberInputs`, `TupleInputs` or `HistoryInputs`.
        timeout: Seconds without a report, after which it is taken to hang.
        seed: Called with an integer when an audit is to be repeatable, for randomness other than that of Python and
            of numpy's global generator, which are seeded anyway (and put back afterwards).
    """

    def __init__(
        self,
        function: Callable[..., Any],
        k: int | None = None,
        claim: float | Claim | None = None,
        name: str | None = None,
        batched: bool | None = None,
        *,
        inputs: Inputs | None = None,
        timeout: float = PATIENCE,
        seed: Callable[[int], object] | None = None,
    ) -> None:
        if not callable(function):
            rule = "must be callable with a value"
            raise ParameterError(message("function", rule, function, "pass a function, not what it returns"))
        super().__init__(name or _called(function), asked_about(k, inputs), claim, timeout)
        self._function, self._batched, self._seed = function, batched, seed
        self._takes_rng = _has_parameter(function, "rng")
        self._shape: tuple[int, ...] | None = None

    def draws(self, values: Positions, rng: np.random.Generator | None) -> Reports:
        """One report of each value, in order."""
        call = self._with(rng)
        first = None if rng is None else _big(rng)  # drawn in every call, so that the first is like the others
        if self._batched is None:
            self._batched = self._only_arrays(call, values, first)
        draw = self._array if self._batched else self._each
        parts = [values[at : at + _BATCH] for at in range(0, values.size, _BATCH)]
        return joined([draw(call, part, None if rng is None else _big(rng)) for part in parts])

    @property
    def identity(self) -> dict[str, Any]:
        """Its name, the number of values, and where it is defined, if that is below the current folder."""
        try:
            function = inspect.unwrap(self._function)
            path = Path(inspect.getsourcefile(function) or "").resolve().relative_to(Path.cwd().resolve())
            line = inspect.getsourcelines(function)[1]
        except (OSError, TypeError, ValueError):  # no file, no function, or another folder
            return super().identity
        return {**super().identity, "source": f"{path.as_posix()}:{max(line, 1)}"}

    def _with(self, rng: np.random.Generator | None) -> Callable[[Any], Any]:
        if self._takes_rng and rng is not None:
            return lambda value: self._function(value, rng=rng)
        return self._function

    def _only_arrays(self, call: Callable[[Any], Any], values: Positions, seed: int | None) -> bool:
        """Whether it fails on a value, and takes arrays of two different sizes."""
        one = values[:1]
        try:
            self._watched(lambda steps: call(self.inputs.each(one)[0]), lambda again: one, seed)
            return False
        except ParameterError as single:
            try:
                for size in (3, 5):
                    self._array(call, np.repeat(one, size), seed)
            except ParameterError:
                raise single from None
        return True

    def _each(self, call: Callable[[Any], Any], values: Positions, seed: int | None) -> Reports:
        found: list[Any] = []

        def work(steps: list[int]) -> None:
            for value in self.inputs.each(values):
                found.append(call(value))
                steps[0] += 1

        def asked(again: bool) -> Positions:
            at = values[len(found) : len(found) + 1]
            return np.union1d(at, self._failing(call, values, self.inputs.each)) if again else at

        self._watched(work, asked, seed)
        return self._packed(found)

    def _array(self, call: Callable[[Any], Any], values: Positions, seed: int | None) -> Reports:
        size = values.size

        def asked(again: bool) -> Positions:
            alone = self._failing(call, values, self._twice) if again else values[:0]
            return alone if alone.size else values

        found = self._watched(lambda steps: call(self.inputs.given(values)), asked, seed)
        if isinstance(found, (str, bytes, dict)) or not hasattr(found, "__len__"):
            got = f"a {type(found).__name__} for {size} values"
            raise self.fault("must turn an array of values into as many reports", got, "or say batched=False")
        if len(found) != size:
            got = f"{len(found)} for {size} values"
            raise self.fault("must give one report for each value", got, "return them in a list or an array")
        if isinstance(found, np.ndarray) and found.dtype != object:
            self._same_shape(found.shape[1:])
            return vectors(compact(found))
        return self._packed(list(found))

    def _packed(self, reports: list[Any]) -> Reports:
        arrays = {report.shape for report in reports if isinstance(report, np.ndarray)}
        for shape in sorted(arrays):
            self._same_shape(shape)
        return pack(reports)

    def _same_shape(self, shape: tuple[int, ...]) -> None:
        if self._shape is None:
            self._shape = shape
        if shape != self._shape:
            got = f"shape {shape} after {self._shape}"
            raise self.fault("must give arrays of one shape", got, "return a list or a set if its length is free")

    def _twice(self, values: Positions) -> list[Any]:
        """An array of two of each."""
        return [self.inputs.given(np.full(2, value, np.int64)) for value in values.tolist()]

    def _failing(
        self, call: Callable[[Any], Any], values: Positions, made: Callable[[Positions], list[Any]]
    ) -> Positions:
        """The values on which the code fails again, each asked for once more; none if that takes long."""
        failed: list[int] = []
        different = np.unique(values)[:_PROBED]

        def work(steps: list[int]) -> None:
            for value, given in zip(different.tolist(), made(different), strict=True):
                try:
                    call(given)
                except Exception:  # whatever foreign code raises
                    failed.append(value)
                steps[0] += 1

        with contextlib.suppress(guard.Hung, SystemExit):
            guard.watched(work, min(self.timeout, _PATIENT))
        return np.array(failed, np.int64)

    def _watched(self, work: Callable[[list[int]], Any], asked: Callable[[bool], Positions], seed: int | None) -> Any:
        """What the work gives; `asked` says which values are at fault, by trying them again where that ends."""

        def seeded(steps: list[int]) -> Any:
            with _seeded(seed, self._seed):  # on the same thread, since some generators belong to one
                return work(steps)

        try:
            return guard.watched(seeded, self.timeout)
        except guard.Hung:
            got = f"none for {self.inputs.named(asked(False))} in {self.timeout:g} seconds"
            raise self.fault("must give a report in time", got, "mend it, or allow it more time (timeout)") from None
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever foreign code raises
            remedy, got = f"it failed with {guard.cause(error)}", f"an error for {self.inputs.named(asked(True))}"
            raise self.fault(f"must turn every {self.inputs.one} into a report", got, remedy) from error


def asked_about(k: int | None, inputs: Inputs | None) -> Inputs:
    """What code is asked about: values 0..k-1, or something else."""
    if (k is None) == (inputs is None):
        rule = "must be given, or else inputs, but not both"
        raise ParameterError(message("k", rule, k, "say how many values there are, e.g. k=16"))
    return Values(rules.domain_size(k)) if inputs is None else inputs


def from_name(
    name: str,
    k: int | None = None,
    claim: float | Claim | None = None,
    *,
    inputs: Inputs | None = None,
    batched: bool | None = None,
    timeout: float = PATIENCE,
) -> Target:
    """The target that "module:function" names, imported with the current directory on the path.

    It may also name an object with one of the methods in `METHODS`, a class of such objects (made anew here, with the
    arguments epsilon and k, or low and high, or sizes, if it has parameters of these names), or a mechanism of Hush.

    Args:
        name: A module, a colon and a name in it.
        k: Number of values.
        claim: The promised epsilon, or a Claim; a mechanism or a target that is named makes its own.
        inputs: What it is asked about in place of values: `NumberInputs`, `TupleInputs` or `HistoryInputs`.
        batched: Whether it takes arrays (see `CallableTarget`).
        timeout: Seconds without a report, after which it is taken to hang.
    """
    promise, asked = claimed(claim), asked_about(k, inputs)
    found = _imported(name)
    if isinstance(found, type):
        found = _made(found, name, asked, promise)
    if isinstance(found, (Collected, Target)):
        return _taking(found, name, asked)
    methods = [getattr(found, method) for method in METHODS if callable(getattr(found, method, None))]
    function = methods[0] if methods and not inspect.isfunction(found) else found
    if not callable(function):
        rule = f"must name a function, or an object that has {', '.join(METHODS)}"
        raise ParameterError(message("target", rule, name, "check the name after the colon"))
    return CallableTarget(function, None, promise, name, batched, inputs=asked, timeout=timeout)


def claimed(claim: float | Claim | None) -> Claim | None:
    """A promise, however it was given."""
    if claim is None or isinstance(claim, Claim):
        return claim
    return Claim(claim)


def _imported(name: str) -> Any:
    module, colon, path = str(name).partition(":")
    parts = (*module.split("."), *path.split("."))
    if not colon or module.endswith(".py") or not all(part.isidentifier() for part in parts):
        rule = "must look like module:function"
        remedy = "name a module, a colon and a function in it"
        raise ParameterError(
            message("target", rule, name, f"write {module[:-3]}:{path}" if module.endswith(".py") else remedy)
        )
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        found: Any = importlib.import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # whatever a module raises at import
        remedy = f"it failed with {guard.cause(error)}; be where {module.split('.')[0]} can be imported"
        raise ParameterError(message("target", "must be importable", name, remedy)) from error
    for part in path.split("."):
        if not hasattr(found, part):
            rule = f"must name something that {module} has"
            raise ParameterError(message("target", rule, name, "check the name after the colon"))
        found = getattr(found, part)
    return found


def _made(cls: type, name: str, inputs: Inputs, claim: Claim | None) -> Any:
    given = inputs.parameters | ({} if claim is None else {"epsilon": claim.epsilon})
    try:
        return cls(**{each: value for each, value in given.items() if _has_parameter(cls, each)})
    except Exception as error:
        remedy = f"it failed with {guard.cause(error)}; name a function that makes one and uses it"
        raise ParameterError(
            message(
                "target", f"must be a class that {', '.join(inputs.parameters)} and epsilon suffice for", name, remedy
            )
        ) from error


def _taking(found: Collected | Target, name: str, inputs: Inputs) -> Target:
    """The target of a mechanism, which must take what it is to be asked about."""
    what = found if isinstance(found, Target) else as_target(found, **inputs.terms)
    given, taken = inputs.parameters, what.inputs.parameters
    if any(given.get(each) != value for each, value in taken.items()):
        rule = f"must take {inputs.many} {inputs.rule}"
        got = Unsaid(f"{name}, which takes {what.inputs.many} {what.inputs.rule}")
        raise ParameterError(message("target", rule, got, "ask about those"))
    return what


def _has_parameter(function: Callable[..., Any], name: str) -> bool:
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # compiled code that does not tell
        return False


def _called(function: Callable[..., Any]) -> str:
    named = getattr(function, "__qualname__", None)
    return f"{function.__module__}:{named}" if named else type(function).__qualname__


def _big(rng: np.random.Generator) -> int:
    """A seed so large that none is drawn twice."""
    return int.from_bytes(rng.bytes(16), "little")


@contextlib.contextmanager
def _seeded(seed: int | None, more: Callable[[int], object] | None) -> Iterator[None]:
    """The global generators seeded for a while, so that code that draws from them repeats itself."""
    if seed is None:
        yield
        return
    python, arrays = random.getstate(), np.random.get_state()
    own = np.random.SeedSequence(seed).generate_state(12).tolist()  # generators of one kind must not run in step
    try:
        random.seed(str(own[:4]))
        np.random.seed(own[4:8])
        if more is not None:
            more(own[8])
        yield
    finally:
        random.setstate(python)
        np.random.set_state(arrays)
