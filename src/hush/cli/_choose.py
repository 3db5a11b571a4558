"""From options to a spec: what the shared options say, or a file that holds one."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from hush.cli._classes import NOTHING, construct, mechanism_class, merged, parsed
from hush.domain import Domain
from hush.errors import HushError, ParameterError, SpecError, message
from hush.mechanisms.registry import registry
from hush.mechanisms.spec import Spec


@dataclass(frozen=True)
class Choice:
    """What the shared options said."""

    mechanism: str | None = None
    k: int | None = None
    epsilon: float | None = None
    delta: float | None = None
    settings: list[str] | None = None
    spec: Path | None = None

    def build(self, domain: Domain | None = None) -> Spec:
        """The spec that the options describe, over a domain where one is given."""
        if self.spec is not None:
            return self._from_file(self.spec, domain)
        if self.mechanism is None:
            raise ParameterError(
                message("--mechanism", "must be given", NOTHING, "use e.g. OUE, or --spec with a spec's file")
            )
        k = self.k if domain is None or self.k is not None else domain.size
        given = {"k": k, "epsilon": self.epsilon, "delta": self.delta}
        cls = mechanism_class(self.mechanism)
        parameters = merged({n: v for n, v in given.items() if v is not None}, parsed(self.settings))
        return Spec(construct(cls, parameters), domain)

    def _from_file(self, path: Path, domain: Domain | None) -> Spec:
        given = {"--k": self.k, "--epsilon": self.epsilon, "--delta": self.delta, "--set": self.settings or None}
        for name, value in given.items():
            if value is not None:
                raise ParameterError(message(name, "must not stand beside --spec", value, "leave one of the two out"))
        if domain is not None:
            raise ParameterError(
                message("--domain", "must not stand beside --spec", "both", "the spec has its own domain")
            )
        allow(self.mechanism)
        return read_spec(path)


def allow(mechanism: str | None) -> None:
    """Import a mechanism of the user's own, so that a spec may name it."""
    if mechanism is not None:
        mechanism_class(mechanism)


def read_spec(path: Path) -> Spec:
    """The spec in a JSON file, or in the metadata of a report file."""
    if path.suffix == ".parquet":
        from hush.cli._reports import spec_in

        return spec_in(path)
    return spec_from(path.read_bytes(), str(path))


def spec_from(text: bytes, where: str) -> Spec:
    """The spec in some JSON; a mechanism of the user's own must have been allowed before."""
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise SpecError(
            message("spec", f"must be JSON in {where}", text[:40], f"write it with Spec.to_json ({error})")
        ) from None
    inner = plain.get("mechanism") if isinstance(plain, dict) else None
    name = inner.get("mechanism") if isinstance(inner, dict) else None
    if isinstance(name, str) and ":" in name and name not in registry():
        rule = f"must be named on the command line before {where} may use it, since hush runs no code a file names"
        raise SpecError(message("mechanism", rule, name, f"if you trust it, add --mechanism {name}"))
    try:
        return Spec.from_dict(plain)
    except HushError:
        raise
    except (TypeError, ValueError, AttributeError) as error:  # data of the wrong shape
        raise SpecError(message("spec", f"must be well formed in {where}", plain, str(error))) from None
