"""Who does the work: this machine, or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from hush.errors import ParameterError, message
from hush.kernels.workers import THREADS, Workers

if TYPE_CHECKING:
    from hush.engine.ray import RayCluster

_LOCAL, _RAY = "local", "ray"
_PANEL = "Engine"

EngineName = Annotated[
    str,
    typer.Option(
        "--engine", metavar="NAME", help="Who works: local, this machine; or ray, a cluster.", rich_help_panel=_PANEL
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="ADDRESS",
        help="Of a running Ray: auto, host:port or ray://host:port; left out, Ray starts on this machine.",
        rich_help_panel=_PANEL,
    ),
]


def is_far(engine: str, address: str | None) -> bool:
    """Whether a cluster was asked for, and not this machine."""
    if engine not in (_LOCAL, _RAY):
        raise ParameterError(message("--engine", "must be local or ray", engine, "leave it out for this machine"))
    if engine == _LOCAL and address is not None:
        raise ParameterError(message("--address", "must stand with --engine ray", address, "leave it out"))
    return engine == _RAY


@contextmanager
def cluster(engine: str, address: str | None) -> Iterator[RayCluster | None]:
    """The cluster that was asked for, connected; None is this machine."""
    if not is_far(engine, address):
        yield None
        return
    from hush.engine.ray import connect

    with connect(address) as found:
        yield found


@contextmanager
def workers(engine: str, address: str | None) -> Iterator[Workers]:
    """Who does tasks: the threads of this machine, or the cluster that was asked for."""
    with cluster(engine, address) as found:
        yield THREADS if found is None else found
