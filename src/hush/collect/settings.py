"""What an operator decides of a server: where it listens, what it keeps, and how much it lets anyone ask of it.

Each setting is a flag of `hush serve`, and where there is no flag, a variable of the environment: `HUSH_MOST_BODY`.
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self

from hush.collect import peers
from hush.errors import ParameterError, Unsaid, message

PREFIX = "HUSH_"
_BYTES, _DAY, _MANY = 1 << 40, 86_400, 10**7
"""The most of a setting: beyond them a number is a slip, and would switch a limit off."""
_WORDS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}


def said(help: str, *, least: float | None = None, most: float | None = None) -> dict[str, Any]:
    """What is known of a setting beside its type: what it is for, and of a number, the least and the most."""
    return {"help": help, "least": least, "most": most}


@dataclass(frozen=True, kw_only=True)
class SpokenSettings:
    """Settings that say in their metadata what they are for, and can be variables of the environment."""

    prefix: ClassVar[str] = PREFIX

    def __post_init__(self) -> None:
        for each in fields(self):
            if each.metadata["least"] is not None:
                _check_bounds(each, getattr(self, each.name))

    @classmethod
    def variable(cls, name: str) -> str:
        """What a setting is called in the environment."""
        return cls.prefix + name.upper()

    @classmethod
    def from_environment(cls, environment: Mapping[str, str], **given: Any) -> Self:
        """Settings from variables, but for those that are given."""
        kinds = typing.get_type_hints(cls)
        read = {
            each.name: _read(cls.variable(each.name), kinds[each.name], environment[cls.variable(each.name)])
            for each in fields(cls)
            if each.name not in given and environment.get(cls.variable(each.name), "") != ""
        }
        return cls(**read, **given)


@dataclass(frozen=True, kw_only=True)
class ServerSettings(SpokenSettings):
    """All settings of a server."""

    store: str = field(
        default="hush-collector.db", metadata=said("a file for SQLite, or postgresql://USER:PASSWORD@HOST/NAME")
    )
    host: str = field(default="127.0.0.1", metadata=said("the address to listen at"))
    port: int = field(default=8470, metadata=said("the port to listen at; 0 takes a free one", least=0, most=65535))
    certificate: Path | None = field(
        default=None, metadata=said("a file with the certificate for TLS, and those that vouch for it")
    )
    certificate_key: Path | None = field(default=None, metadata=said("a file with the private key of the certificate"))
    trusted_proxies: str = field(
        default="", metadata=said("addresses of proxies, by commas, whose X-Forwarded-For and -Proto are believed")
    )
    origins: str = field(
        default="*",
        metadata=said("web origins whose scripts may submit and fetch specs, by commas; * for all of them"),
    )
    backups: Path | None = field(
        default=None, metadata=said("the folder that backups asked for over HTTP may be written to")
    )
    first_token: bool = field(
        default=True, metadata=said("print a token for administrators where the store has none; not into a log")
    )
    access_log: bool = field(
        default=True, metadata=said("log each request: method, route, status and time, never an address")
    )
    most_body: int = field(default=1 << 26, metadata=said("bytes of the longest batch", least=1024, most=_BYTES))
    most_request: int = field(
        default=1 << 22, metadata=said("bytes of the longest other request", least=1024, most=_BYTES)
    )
    body_seconds: float = field(
        default=30.0, metadata=said("seconds in which a body must have arrived", least=0.01, most=_DAY)
    )
    answer_seconds: float = field(
        default=30.0, metadata=said("seconds in which a client must have read what waits for it", least=0.01, most=_DAY)
    )
    header_seconds: float = field(
        default=10.0, metadata=said("seconds in which the head of a request must have arrived", least=0.01, most=_DAY)
    )
    keep_alive_seconds: float = field(
        default=15.0, metadata=said("seconds that a connection may be idle between requests", least=0, most=_DAY)
    )
    stop_seconds: float = field(
        default=20.0, metadata=said("seconds that requests under way have when the server stops", least=0, most=_DAY)
    )
    most_in_flight: int = field(
        default=1 << 28,
        metadata=said("bytes of all bodies that are arriving or being answered", least=1024, most=_BYTES),
    )
    most_waiting: int = field(
        default=1 << 26, metadata=said("bytes of batches that wait for the store", least=1024, most=_BYTES)
    )
    most_unread: int = field(
        default=1 << 28, metadata=said("bytes of all answers that clients have not read yet", least=1024, most=_BYTES)
    )
    most_requests: int = field(default=2000, metadata=said("requests that are answered at once", least=1, most=_MANY))
    most_connections: int = field(default=5000, metadata=said("connections that are open at once", least=1, most=_MANY))
    most_listeners: int = field(default=200, metadata=said("listeners to live estimates at once", least=0, most=_MANY))
    address_rate: float = field(
        default=200.0, metadata=said("requests a second from one address; 0 for as many as come", least=0, most=_MANY)
    )
    address_burst: float = field(
        default=400.0, metadata=said("requests that one address may send at once", least=1, most=_MANY)
    )
    key_rate: float = field(
        default=5000.0, metadata=said("batches a second with one key; 0 for as many as come", least=0, most=_MANY)
    )
    key_burst: float = field(
        default=10_000.0, metadata=said("batches that may come with one key at once", least=1, most=_MANY)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        peers.check_proxies("trusted_proxies", self.trusted_proxies)
        peers.check_origins("origins", self.origins)
        if (self.certificate is None) != (self.certificate_key is None):
            name, other = "certificate", "certificate_key"
            missing, given = (name, other) if self.certificate is None else (other, name)
            raise ParameterError(
                message(missing, f"must come with {given}", Unsaid("nothing"), "give both, or neither")
            )

    @property
    def allowed_origins(self) -> frozenset[str] | None:
        """The origins that are let in; None for all of them."""
        return peers.origins_in(self.origins)


def _check_bounds(setting: dataclasses.Field[Any], value: object) -> None:
    least, most, example = setting.metadata["least"], setting.metadata["most"], setting.default
    kind, told = (int, "a whole number") if isinstance(example, int) else ((int, float), "a finite number")
    if not isinstance(value, kind) or not (math.isfinite(value) and least <= value <= most):
        rule = f"must be {told} from {least:.12g} to {most:.12g}"
        raise ParameterError(message(setting.name, rule, value, f"use e.g. {example:.12g}"))


def _read(variable: str, kind: Any, text: str) -> Any:
    if isinstance(kind, types.UnionType):
        (kind,) = (each for each in typing.get_args(kind) if each is not type(None))
    try:
        return _WORDS[text.strip().lower()] if kind is bool else kind(text)
    except (ValueError, KeyError):
        rule = f"must be {'yes or no' if kind is bool else 'a whole number' if kind is int else 'a number'}"
        raise ParameterError(message(variable, rule, text, "mend the variable, or leave it out")) from None
