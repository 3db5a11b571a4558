"""What `hush audit` is asked to audit, from its options: exactly one thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hush.audit import Claim, HistoryInputs, Inputs, NumberInputs, Target, TupleInputs, adapters
from hush.audit.foreign import PATIENCE, from_name
from hush.audit.games import GAMES, Game
from hush.audit.inputs import Values, whole_number
from hush.audit.metrics import METRICS
from hush.audit.pipe import PipeTarget
from hush.audit.targets import as_target
from hush.cli.asked.mechanism import MechanismOptions, protocol_class
from hush.cli.asked.reading import merged, parsed
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.files.saved import read_spec
from hush.files.specs import OPTIONS, construct
from hush.mechanisms.collected import Collected
from hush.mechanisms.registry import registry
from hush.randomness import CHUNK
from hush.rules import domain_size

_MECHANISM = "--mechanism or --spec"
_OTHER = ("multidim", "longitudinal")  # kinds besides those of one value or one number


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options that say what to audit, as they were given."""

    mechanism: str | None
    k: int | None
    low: float | None
    high: float | None
    attributes: str | None
    epsilon: float | None
    epsilon_permanent: float | None
    epsilon_report: float | None
    delta: float | None
    settings: list[str] | None
    sensitive: list[str] | None
    spec: Path | None
    target: str | None
    pipe: str | None
    adapter: str | None
    rounds: int | None
    histories: str | None
    changed: int | None
    claim: float | None
    metric: str | None
    timeout: float | None
    chunk: int | None

    def build(self) -> Target:
        """The target that they name."""
        way = self._way()
        if way == _MECHANISM:
            return self._mechanism()
        budgets = (("--epsilon-permanent", self.epsilon_permanent), ("--epsilon-report", self.epsilon_report))
        for option, given in (("--set", self.settings), ("--sensitive", self.sensitive), *budgets):
            self._out(option, given, way, "foreign code has its own")
        if way == "--adapter":
            return self._adapted()
        self._out("--epsilon", self.epsilon, way, "foreign code has its own")
        inputs = self._inputs(way)
        promised = Claim(self._needed("--claim", self.claim, way), self.delta or 0.0, metric=self._metric)
        patience = PATIENCE if self.timeout is None else self.timeout
        if self.pipe is not None:
            chunk = CHUNK if self.chunk is None else self.chunk
            return PipeTarget(self.pipe, inputs=inputs, claim=promised, timeout=patience, chunk=chunk)
        return from_name(str(self.target), inputs=inputs, claim=promised, timeout=patience)

    def promised(self, target: Target) -> float | Claim | None:
        """What is claimed: an epsilon, or one for each unit of a distance; None for the target's own."""
        if self.metric is None:
            return self.claim
        given = Claim(self._needed("--claim", self.claim, "--metric"), metric=self._metric)
        if (
            target.claim is not None
            and target.claim.metric is None
            and (target.claim.delta or target.claim.kind != "LDP")
        ):
            rule = (
                f"must be left out for {target.name}, which promises {target.claim}: a distance has no delta, nor ULDP"
            )
            raise ParameterError(message("--metric", rule, self.metric, "leave it out, or audit another mechanism"))
        return given

    @property
    def _metric(self) -> str | None:
        if self.metric is not None and self.metric not in METRICS:
            rule = f"must be one of {', '.join(METRICS)}"
            raise ParameterError(message("--metric", rule, self.metric, "use e.g. --metric absolute"))
        return self.metric

    def _inputs(self, way: str) -> Inputs:
        """What foreign code is asked about: one kind of thing."""
        if self.attributes is not None:
            for option, given in (*self._range, *self._time, ("--k", self.k)):
                self._out(option, given, "--attributes", "they say which tuples there are")
            return TupleInputs(sizes_of(self.attributes), self.changed)
        self._out("--changed", self.changed, way, "it is for tuples; add --attributes")
        if self.low is None and self.high is None:
            also = "or --low and --high for numbers, or --attributes for tuples"
            k = domain_size(int(self._needed("--k", self.k, way, also)))
            if self.histories is not None:
                return self._of_length(HistoryInputs(histories_of(self.histories), k))
            return Values(k) if self.rounds is None else HistoryInputs.unchanging(k, self.rounds)
        for option, given in (*self._time, ("--k", self.k)):
            self._out(option, given, "--low and --high", "say which numbers there are, or how many values")
        return NumberInputs(self._needed("--low", self.low, "--high"), self._needed("--high", self.high, "--low"))

    def _of_length(self, found: HistoryInputs) -> HistoryInputs:
        if self.rounds not in (None, found.rounds):
            rule = f"must be {found.rounds}, as the histories are long"
            raise ParameterError(message("--rounds", rule, self.rounds, "leave it out"))
        return found

    @property
    def _range(self) -> list[tuple[str, object]]:
        return [("--low", self.low), ("--high", self.high)]

    @property
    def _time(self) -> list[tuple[str, object]]:
        return [("--rounds", self.rounds), ("--histories", self.histories)]

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
        m = self._of_any_kind()
        histories = None if self.histories is None else histories_of(self.histories)
        single = not hasattr(m, "sizes")  # tuples over time are refused as a whole, whatever else was said
        if m.kind == "longitudinal" and single and histories is None:
            self._needed("--rounds", self.rounds, m.name(), "how many reports one person sends")
        return as_target(m, rounds=self.rounds, histories=histories, changed=self.changed)

    def _of_any_kind(self) -> Collected:
        """The mechanism, of whatever kind."""
        given: dict[str, Any] = {
            "k": self.k,
            "low": self.low,
            "high": self.high,
            "epsilon": self.epsilon,
            "delta": self.delta,
        }
        more: dict[str, Any] = {
            "sizes": None if self.attributes is None else sizes_of(self.attributes),
            "epsilon_permanent": self.epsilon_permanent,
            "epsilon_report": self.epsilon_report,
        }
        other = self._other_kind({**given, **more})
        if other is not None:
            return other
        for name, value in more.items():
            way = "a mechanism of frequencies or of a mean"
            self._out(OPTIONS[name], value, way, "it is for tuples, or for values over time")
        options = MechanismOptions(
            mechanism=self.mechanism, settings=self.settings, spec=self.spec, sensitive=self.sensitive, **given
        )
        return options.build_any().mechanism

    def _other_kind(self, given: dict[str, Any]) -> Collected | None:
        """A collection of tuples, or a protocol over time, by name or in a file; None if it is neither."""
        if self.spec is not None and self.mechanism is None:
            found = read_spec(self.spec).mechanism
            if found.kind not in _OTHER:
                return None
            said = {OPTIONS[name]: value for name, value in given.items()}
            for option, value in {**said, "--set": self.settings, "--sensitive": self.sensitive}.items():
                self._out(option, value, "--spec", "the spec says so")
            return found
        known = {name.lower(): cls for kind in _OTHER for name, cls in registry(kind).items()}
        cls = known.get((self.mechanism or "").lower())
        if cls is None:
            return None
        self._out("--spec", self.spec, f"--mechanism {self.mechanism}", "leave one of them out")
        self._out("--sensitive", self.sensitive, f"--mechanism {self.mechanism}", "it protects all values alike")
        if protocol_class(self.mechanism) is cls:
            for option, value in (*self._range, ("--attributes", self.attributes)):
                self._out(option, value, f"--mechanism {self.mechanism}", "it is for values 0..k-1")
            return self._over_time()
        set_ = {name: value for name, value in given.items() if value is not None}
        return construct(cls, merged(set_, parsed(self.settings)))

    def _over_time(self) -> Collected:
        """A protocol of one value over time, by name."""
        spec = MechanismOptions(
            mechanism=self.mechanism,
            k=self.k,
            epsilon=self.epsilon,
            delta=self.delta,
            settings=self.settings,
            permanent=self.epsilon_permanent,
            report=self.epsilon_report,
        ).of_values()
        found: Collected = spec.mechanism
        return found

    def _adapted(self) -> Target:
        others = (*self._range, *self._time, ("--attributes", self.attributes), ("--changed", self.changed))
        for option, given in (("--delta", self.delta), *others):
            self._out(option, given, "--adapter", "its clients take single values, without a delta")
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


def played_by(methods: Sequence[str], settings: Mapping[str, Mapping[str, Any]]) -> list[str | Game]:
    """The methods, games with their settings; a setting of a game that is not played is refused."""
    for name, given in settings.items():
        for option, value in given.items():
            if value is not None and name not in methods:
                rule = f"must stand beside --method {name}"
                raise ParameterError(message(f"--{option}", rule, value, "leave it out, or add the method"))
    chosen: list[str | Game] = []
    for method in methods:
        said = {option: value for option, value in settings.get(method, {}).items() if value is not None}
        chosen.append(GAMES[method](**said) if method in GAMES else method)
    return chosen


def named(method: str | Game) -> str:
    """The name of a method."""
    return method if isinstance(method, str) else method.method


def pair_of(text: str | None, inputs: Inputs) -> tuple[Any, Any] | None:
    """The two inputs that --pair names: values or numbers with a comma between, tuples or histories with a colon."""
    if text is None:
        return None
    between = inputs.between
    try:
        first, second = (inputs.read(part.strip()) for part in text.split(between))
    except ValueError:
        rule = f"must be two {inputs.many} and a {'comma' if between == ',' else 'colon'}"
        remedy = f"write e.g. --pair {inputs.line(0)}{between}{inputs.line(inputs.farthest)}"
        raise ParameterError(message("--pair", rule, text, remedy)) from None
    return first, second


def sizes_of(text: str) -> tuple[int, ...]:
    """The numbers of values that --attributes lists."""
    try:
        return tuple(whole_number(part) for part in text.split(","))
    except ValueError:
        rule = "must be whole numbers with commas between them, the number of values of each attribute"
        raise ParameterError(message("--attributes", rule, text, "write e.g. --attributes 2,5")) from None


def histories_of(text: str) -> tuple[tuple[int, ...], ...]:
    """The two histories that --histories lists."""
    try:
        first, second = (tuple(whole_number(value) for value in row.split(",")) for row in text.split(":"))
    except ValueError:
        rule = "must be two lists of values with commas, and a colon between them"
        raise ParameterError(message("--histories", rule, text, "write e.g. --histories 0,0,0:0,0,1")) from None
    return first, second
