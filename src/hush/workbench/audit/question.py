"""What is asked of an audit: what to audit, by which methods, and how surely. Checked before any work begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from hush import rules
from hush.audit.run import METHODS
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.workbench.audit import choices
from hush.workbench.audit.reading import needed, read

WAYS = ("mechanism", "spec", "bug", "code")
"""A mechanism of Hush by name, the text of a spec, a bug of the museum, or the name of Python code."""

MOST_TRIALS = 10**8
"""Reports of each value: what one core makes in minutes or an hour, by the mechanism."""

MOST_SPEC = 1 << 20
"""Bytes of a spec."""

_NO_CODE = "must be left out, for this workbench was started without --allow-code"


@dataclass(frozen=True, kw_only=True)
class AuditQuestion:
    """One audit, as it was asked.

    Args:
        way: One of `WAYS`.
        name: Of the mechanism, the bug, or the code (module:function).
        parameters: Of the mechanism; of code, what it is asked about (k, or low and high, or sizes), and delta.
        spec: The text of a spec.
        rounds: Reports of one person, where all of them are audited.
        methods: Names of methods; none for those that fit.
        trials: Reports of each of two values.
        alpha: Probability that what is proved is wrong, at most.
        claim: The promised loss, if another than its own; code has none of its own.
        seed: Repeats an audit of a mechanism.
    """

    way: str
    name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    spec: str = ""
    rounds: int | None = None
    methods: tuple[str, ...] = ()
    trials: int = 100_000
    alpha: float = 0.01
    claim: float | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
        rules.named("way", self.way, WAYS, "choose what to audit")
        for method in self.methods:
            rules.named("methods", method, METHODS, "choose some of these")
        rules.integer("trials", self.trials, 1000, MOST_TRIALS, "write e.g. 100000; the command line takes more")
        rules.number("alpha", self.alpha, 0.0, 1.0, "write e.g. 0.01")
        if self.seed is not None:
            rules.integer("seed", self.seed, 0, 2**63, "write e.g. 7, or leave it empty")

    def allowed(self, code: bool) -> AuditQuestion:
        """The question itself; refused if it names code where none may be run, whatever a browser sent."""
        if self.way == "code" and not code:
            remedy = "start it again with --allow-code on a machine of your own, or use `hush audit --target`"
            raise ParameterError(message("target", _NO_CODE, Unsaid(self.name or "code"), remedy))
        return self

    def to_dict(self) -> dict[str, Any]:
        """Plain data, as it goes to the process that does the work."""
        return asdict(self)

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> AuditQuestion:
        """The question that `to_dict` wrote."""
        known = {each.name: plain[each.name] for each in fields(cls) if each.name in plain}
        return cls(**{**known, "methods": tuple(plain.get("methods", ()))})


def from_fields(way: str, said: Mapping[str, object], methods: Sequence[str] = (), *, name: str = "") -> AuditQuestion:
    """The question that the fields of the page ask.

    Args:
        way: One of `WAYS`.
        said: What each field holds, by name.
        methods: Those that were ticked.
        name: Of the mechanism or the bug that was chosen.
    """
    rules.named("way", way, WAYS, "choose what to audit")
    terms: dict[str, Any] = {
        "methods": tuple(methods),
        "trials": needed("trials", said.get("trials"), "whole", example="100000"),
        "alpha": needed("alpha", said.get("alpha"), "real", example="0.01"),
        "claim": read("claim", said.get("claim"), "real"),
        "seed": read("seed", said.get("seed"), "whole", example="7"),
    }
    if way in ("mechanism", "bug"):
        parameters = _parameters(_offered(way, name), said)
        return AuditQuestion(way=way, name=name, rounds=parameters.pop("rounds", None), parameters=parameters, **terms)
    rounds = read("rounds", said.get("rounds"), "whole", example="12")
    if way == "spec":
        return AuditQuestion(way=way, spec=_spec(said.get("spec")), rounds=rounds, **terms)
    about = {each: read(each, said.get(each), kind) for each, kind in _ASKED.items()}
    terms["claim"] = needed("claim", said.get("claim"), "real")
    target = needed("target", said.get("target"), "text", example="mypackage.client:randomize")
    given = {each: value for each, value in about.items() if value is not None}
    return AuditQuestion(way=way, name=target, parameters=given, rounds=rounds, **terms)


_ASKED = {"k": "whole", "low": "real", "high": "real", "sizes": "list", "delta": "real"}
"""What code is asked about."""


def _offered(way: str, name: str) -> choices.AuditChoice:
    known = choices.mechanisms() if way == "mechanism" else choices.bugs()
    if name not in known:
        rule = f"must be one of {', '.join(known)}"
        raise ParameterError(message(way, rule, name or NOTHING, "choose one of the list"))
    return known[name]


def _parameters(choice: choices.AuditChoice, said: Mapping[str, object]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in choice.fields:
        ask = needed if each.needed else read
        value = ask(each.name, said.get(each.name), each.kind, example=each.first)
        if value is not None:
            found[each.name] = value
    return found


def _spec(said: object) -> str:
    text = str(needed("spec", said, "text", example="what Spec.to_json or --spec-out wrote"))
    if len(text.encode()) > MOST_SPEC:
        rule = f"must be at most {MOST_SPEC:,} bytes"
        remedy = "a spec with many labels is audited at the command line: `hush audit --spec`"
        raise ParameterError(message("spec", rule, Unsaid(f"{len(text.encode()):,}"), remedy))
    return text
