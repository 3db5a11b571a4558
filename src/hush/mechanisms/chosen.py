"""Parameters that a mechanism chooses for itself are part of its spec; specs of version 0.1 left some of them unsaid.

Such a spec is still read. What it left unsaid is found from the thresholds that it has, which must then follow from it
exactly; and the mechanism leaves it unsaid again, so that the hash stays that of the reports and aggregates there are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from hush import exact
from hush.errors import SpecError, Unsaid, message

Entries = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """Stands before the other bases of a mechanism, or of a protocol, whose choice went unsaid in version 0.1."""

    unsaid: bool = field(init=False, default=False, repr=False)
    """Whether it was read from a spec that leaves the choice out."""

    choice: ClassVar[str]
    """The parameter that it chooses."""

    designs: ClassVar[tuple[str, ...]] = ()
    """Names of what it can choose by, which specs do not tell: the default first, that of version 0.1 last."""

    if TYPE_CHECKING:

        @classmethod
        def recovered(cls, entries: Entries, thresholds: Entries) -> Any:
            """The choice behind the thresholds of a spec that does not tell it."""

    else:

        @property
        def parameters(self) -> dict[str, Any]:
            """What the constructor takes, but for what a spec of version 0.1 left unsaid."""
            return {n: value for n, value in super().parameters.items() if not (self.unsaid and n == self.choice)}


def unsaid(cls: type[Any], entries: Entries, thresholds: object) -> dict[str, Any]:
    """What a spec of version 0.1 leaves out, by name; nothing for other specs."""
    return recovered(cls, entries, thresholds) if issubclass(cls, Chosen) else {}


def recovered(cls: type[Any], entries: Entries, thresholds: object) -> dict[str, Any]:
    """What a class can find from its thresholds where it was left out, by name; nothing where they make no sense."""
    if not hasattr(cls, "recovered") or cls.choice in entries or not isinstance(thresholds, Mapping):
        return {}
    try:
        return {cls.choice: cls.recovered(entries, thresholds)}
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return {}


def choices(made: Any) -> dict[str, Any]:
    """Parameters of a mechanism that it chooses if they are left out, which is what a default of None says.

    One that its spec never tells, since another tells it (as moduli tell their number), is not among them, nor one that
    makes no difference where a spec leaves it out (`reveal`, where all values are sensitive).
    """
    fields = (f for f in dataclasses.fields(made) if f.init and f.default is None)
    names = [f.name for f in fields if f.compare and f.metadata.get("chosen", True)]
    return {name: getattr(made, name) for name in names if getattr(made, name) is not None}


def freed(made: Any) -> dict[str, Any]:
    """Parameters of a mechanism without what it chose for itself, for one like it at another budget."""
    whole = made.parameters
    if not isinstance(made, Chosen):
        return dict(whole)
    free = {name: value for name, value in whole.items() if name != made.choice}
    ways = [{**free, "design": design} for design in made.designs] or [free]
    if made.unsaid:
        return ways[-1]
    return next((way for way in ways if type(made)(**way) == made), dict(whole))


def rebuilt(cls: Any, kind: str, what: str, entries: Entries, thresholds: object) -> Any:
    """What plain data describe: an object of this class, that chose nothing, and has the thresholds that are written.

    Args:
        cls: The class.
        kind: Its name in specs.
        what: What the entries are of, for messages.
        entries: Its parameters.
        thresholds: Those of the spec. They are what a changed parameter is known by, so it must have them.
    """
    more = unsaid(cls, entries, thresholds)
    try:
        made = cls(**entries, **more)
    except TypeError as error:
        raise SpecError(message(what, f"must have the parameters of {kind}", entries, str(error))) from None
    if more.keys() & made.parameters.keys():
        made._set(unsaid=True)
    _complete(made, kind, entries)
    if thresholds is None:
        rule, remedy = f"must be written out in a spec of {kind}", "take the original, or write a new one"
        raise SpecError(message("thresholds", rule, Unsaid("nothing"), remedy))
    due = made.to_dict()["thresholds"]
    if thresholds != due:
        remedy = "read the spec with the version that wrote it"
        raise SpecError(message("thresholds", f"must be {due}", thresholds, remedy))
    return made


def _complete(made: Any, kind: str, entries: Entries) -> None:
    """Refuse data that leave a parameter to be chosen anew: two versions, or two machines, might choose differently."""
    said = {name for name, value in entries.items() if value is not None}
    left = [name for name, value in made.parameters.items() if value not in (None, {}) and name not in said]
    if left:
        rule = f"must be written out in a spec of {kind}"
        remedy = "take the original, or write a new one"
        raise SpecError(message(" and ".join(left), rule, Unsaid("nothing"), remedy))


def others_for_each(entries: Entries, keep: object, epsilon: str = "epsilon") -> Fraction:
    """How many outputs there are beside each favoured one, from the threshold of `_thresholds.keep`."""
    chance, slack = Fraction(int(keep), exact.SCALE), Fraction(entries.get("delta", 0))  # type: ignore[call-overload]
    return exact.exp_below(float(entries[epsilon])) * (1 - chance) / (chance - slack)
