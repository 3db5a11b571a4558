"""What `hush audit` is asked to audit, from its options: exactly one thing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hush.audit import Claim, MechanismTarget, Target, adapters
from hush.audit.foreign import PATIENCE, from_name
from hush.audit.pipe import PipeTarget
from hush.cli._choose import MechanismOptions
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.randomness import CHUNK

_MECHANISM = "--mechanism or --spec"


@dataclass(frozen=True)
class Asked:
    """The options that say what to audit, as they were given."""

    mechanism: str | None
    k: int | None
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
        k = int(self._needed("--k", self.k, way))
        promised = Claim(self._needed("--claim", self.claim, way), self.delta or 0.0)
        patience = PATIENCE if self.timeout is None else self.timeout
        if self.pipe is not None:
            chunk = CHUNK if self.chunk is None else self.chunk
            return PipeTarget(self.pipe, k=k, claim=promised, timeout=patience, chunk=chunk)
        return from_name(str(self.target), k=k, claim=promised, timeout=patience)

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
            self.mechanism, self.k, self.epsilon, self.delta, self.settings, self.spec, self.sensitive
        )
        return MechanismTarget(choice.build().mechanism)

    def _adapted(self) -> Target:
        self._out("--delta", self.delta, "--adapter", "its clients claim none")
        k = int(self._needed("--k", self.k, "--adapter"))
        return adapters.from_name(str(self.adapter), k, self._needed("--epsilon", self.epsilon, "--adapter"))

    @staticmethod
    def _out(option: str, given: object, way: str, remedy: str) -> None:
        if given is not None and given != []:
            raise ParameterError(message(option, f"must be left out beside {way}", given, remedy))

    @staticmethod
    def _needed(option: str, given: float | None, way: str) -> float:
        if given is None:
            raise ParameterError(message(option, f"must be given beside {way}", NOTHING, f"add {option}"))
        return float(given)
