"""What is decided of a workbench when it is started."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from hush.collect.addresses import beside, parts_of
from hush.collect.settings import SpokenSettings, said
from hush.errors import ParameterError, Unsaid, message

_LOOPBACK_NAMES = ("localhost",)


@dataclass(frozen=True, kw_only=True)
class WorkbenchSettings(SpokenSettings):
    """All settings of a workbench; each is an option of `hush workbench`, or a variable `HUSH_WORKBENCH_…`."""

    prefix: ClassVar[str] = "HUSH_WORKBENCH_"

    host: str = field(default="127.0.0.1", metadata=said("the address to listen at"))
    port: int = field(default=8480, metadata=said("the port to listen at; 0 takes a free one", least=0, most=65535))
    collector: str = field(default="", metadata=said("the address of a collector, http://127.0.0.1:8470, say"))
    plaintext: bool = field(
        default=False,
        metadata=said("let tokens go to a collector on another machine without TLS: who is between can take them"),
    )
    names: str = field(
        default="", metadata=said("further names under which browsers reach it, by commas, behind a proxy, say")
    )
    certificate: Path | None = field(
        default=None, metadata=said("a file with the certificate for TLS, and those that vouch for it")
    )
    certificate_key: Path | None = field(default=None, metadata=said("a file with the private key of the certificate"))
    allow_code: bool = field(
        default=False,
        metadata=said("let Audit run Python code of yours; only on this machine, and for who has the printed link"),
    )
    most_upload: int = field(
        default=1 << 26, metadata=said("bytes of the longest file that can be uploaded", least=1024, most=1 << 32)
    )
    most_jobs: int = field(default=2, metadata=said("jobs that run at once; others wait", least=1, most=64))
    most_waiting: int = field(default=16, metadata=said("jobs that wait at once", least=0, most=1000))
    most_each: int = field(
        default=4, metadata=said("jobs that one visitor has at once, running or waiting", least=1, most=1000)
    )
    job_seconds: float = field(
        default=3600.0, metadata=said("seconds after which a job is ended", least=1, most=86_400.0)
    )
    keep_seconds: float = field(
        default=3600.0, metadata=said("seconds that the result of a job is kept", least=1, most=86_400.0)
    )
    session_seconds: float = field(
        default=43_200.0, metadata=said("seconds after which an idle session is forgotten", least=60, most=864_000.0)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.allow_code and not self.loopback:
            rule = "must be left out where others reach the workbench"
            raise ParameterError(
                message("allow_code", rule, Unsaid(f"host {self.host}"), "leave out the host, or the code")
            )
        if self.collector:
            _check_address(self.collector)
        if (self.certificate is None) != (self.certificate_key is None):
            lacking, given = ("certificate", "certificate_key")[:: 1 if self.certificate is None else -1]
            raise ParameterError(
                message(lacking, f"must come with {given}", Unsaid("nothing"), "give both, or neither")
            )

    @property
    def loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host in _LOOPBACK_NAMES or _is_loopback(self.host)

    @property
    def further_names(self) -> frozenset[str]:
        """The names that were added, in lower case."""
        return frozenset(each.strip().lower() for each in self.names.split(",") if each.strip())


def _check_address(url: str) -> None:
    parts = parts_of(url)
    if parts is None or parts.query or parts.fragment:
        rule, remedy = "must be an address: http:// or https://, and a host", "use e.g. http://127.0.0.1:8470"
        raise ParameterError(message("collector", rule, Unsaid("another one"), remedy))
    if (alone := beside(url)) is not None:
        rule, got = "must be the address of the server alone", Unsaid("one with a path of its interface")
        raise ParameterError(message("collector", rule, got, f"leave out the path: {alone}"))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
