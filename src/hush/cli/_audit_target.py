"""What `hush audit` is asked to audit, from its options: exactly one thing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hush.audit import Claim, Inputs, Numbers, Target, adapters
from hush.audit.foreign import PATIENCE, from_name
from hush.audit.inputs import Values
from hush.audit.pipe import PipeTarget
from hush.audit.targets import as_target
from hush.cli._choose import MechanismOptions
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.randomness import CHUNK
from hush.rules import domain_size

_MECHANISM = "--mechanism or --spec"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options that say what to audit, as they were given."""

    mechanism: str | None
    k: int | None
    low: float | None
    high: float | None
    epsilon: float | None
    delta: float | None
    settings: list[str] | None
    sensitive: list[str] | None
    spec: Path | None
    target: str | None
    pipe: str | None
    adapter: str | None
    claim: float | None
    timeout: float | None
    chunk: int | None

    def build(self) -> Target:
        """The target that they name."""
        way = self._way()
        if way == _MECHANISM:
            return self._mechanism()
        for option, given in (("--set", self.settings), ("--sensitive", self.sensitive)):
            self._out(option, given, way, "foreign code has its own")
        if way == "--adapter":
            return self._adapted()
        self._out("--epsilon", self.epsilon, way, "foreign code has its own")
        inputs = self._inputs(way)
        promised = Claim(self._needed("--claim", self.claim, way), self.delta or 0.0)
        patience = PATIENCE if self.timeout is None else self.timeout
        if self.pipe is not None:
            chunk = CHUNK if self.chunk is None else self.chunk
            return PipeTarget(self.pipe, inputs=inputs, claim=promised, timeout=patience, chunk=chunk)
        return from_name(str(self.target), inputs=inputs, claim=promised, timeout=patience)

    def _inputs(self, way: str) -> Inputs:
        """What foreign code is asked about."""
        if self.low is None and self.high is None:
            return Values(domain_size(int(self._needed("--k", self.k, way, "or --low and --high for numbers"))))
        self._out("--k", self.k, "--low and --high", "say which numbers there are, or how many values")
        return Numbers(self._needed("--low", self.low, "--high"), self._needed("--high", self.high, "--low"))

    def _way(self) -> str:
        """The one way in which something is named, without options that are for another."""
        ways = {
            _MECHANISM: self.mechanism or self.spec,
            "--target": self.target,
            "--pipe": self.pipe,
            "--adapter": self.adapter,
        }
        named = [way for way, given in ways.items() if given]
        if len(named) != 1:
            rule = f"must be given, one of {', '.join(ways)}"
            got = Unsaid(" and ".join(named)) if named else NOTHING
            raise ParameterError(message("what to audit", rule, got, "e.g. --mechanism OUE --k 100 --epsilon 1"))
        if not (self.target or self.pipe):
            self._out("--timeout", self.timeout, named[0], "it is for foreign code")
        if not self.pipe:
            self._out("--chunk", self.chunk, named[0], "it is for foreign code")
        return named[0]

    def _mechanism(self) -> Target:
        choice = MechanismOptions(
            mechanism=self.mechanism,
            k=self.k,
            epsilon=self.epsilon,
            delta=self.delta,
            settings=self.settings,
            spec=self.spec,
            sensitive=self.sensitive,
            low=self.low,
            high=self.high,
        )
        return as_target(choice.build_any().mechanism)

    def _adapted(self) -> Target:
        for option, given in (("--delta", self.delta), ("--low", self.low), ("--high", self.high)):
            self._out(option, given, "--adapter", "its clients know none")
        k = int(self._needed("--k", self.k, "--adapter"))
        return adapters.from_name(str(self.adapter), k, self._needed("--epsilon", self.epsilon, "--adapter"))

    @staticmethod
    def _out(option: str, given: object, way: str, remedy: str) -> None:
        if given is not None and given != []:
            raise ParameterError(message(option, f"must be left out beside {way}", given, remedy))

    @staticmethod
    def _needed(option: str, given: float | None, way: str, also: str = "") -> float:
        if given is None:
            remedy = f"add {option}{f', {also}' if also else ''}"
            raise ParameterError(message(option, f"must be given beside {way}", NOTHING, remedy))
        return float(given)


def pair_of(text: str | None, inputs: Inputs) -> tuple[Any, Any] | None:
    """The two inputs that --pair names: values or numbers with a comma between, tuples or histories with a colon."""
    if text is None:
        return None
    between = inputs.between
    try:
        first, second = (inputs.read(part.strip()) for part in text.split(between))
    except ValueError:
        rule = f"must be two {inputs.many} and a {'comma' if between == ',' else 'colon'}"
        remedy = f"write e.g. --pair {inputs.line(0)}{between}{inputs.line(inputs.size - 1)}"
        raise ParameterError(message("--pair", rule, text, remedy)) from None
    return first, second
