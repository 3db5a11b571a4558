"""How to reach a Ray cluster, or to start one on this machine, without a word that nobody asked for.

A Ray of our own listens on the loopback alone, wants a token that only this process and its children know, sends no
usage statistics and has no dashboard; its folder is gone when it is.
"""

from __future__ import annotations

import fcntl
import logging
import os
import secrets
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

from hush.engine.ray.cluster import RayCluster
from hush.errors import NOTHING, ParameterError, Unsaid, cause, message, missing
from hush.kernels import chunks

_PATIENCE = 5.0  # seconds until a server must have answered
_LONGEST = 40  # of a folder's path, since those of sockets in it may have 107 bytes on Linux, 103 elsewhere
_GREETING = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes([0, 0, 0, 4, 0, 0, 0, 0, 0])
_SETTINGS = 4  # the kind of frame that begins every answer in HTTP/2, which Ray's servers speak
_CLIENT = "ray://"
_PREFIX, _DRIVER = "hush-ray-", "driver"
_AUTH = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN")
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}


@contextmanager
def connect(address: str | None = None) -> Iterator[RayCluster]:
    """A Ray cluster, for as long as it is needed.

    Args:
        address: Left out, Ray starts on this machine, with a worker for each core (see HUSH_THREADS). "auto" finds the
            cluster that this machine is part of, "host:port" is that of a cluster's head, "ray://host:port" that of its
            client server. Where this process is connected to Ray already, that connection is used, and stays.
    """
    ray = _imported()
    if ray.is_initialized():
        yield _checked(RayCluster(ray))
        return
    with _unheard(), _started(ray) if address is None else _joined(ray, address):
        yield _checked(RayCluster(ray))


def _imported() -> Any:
    """Ray itself, which reads some of its settings when it is imported."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    try:
        import ray
    except ImportError:
        raise missing("ray", "ray", "--engine ray") from None
    logging.getLogger("ray").setLevel(logging.ERROR)
    return ray


@contextmanager
def _unheard() -> Iterator[None]:
    """Keep what Ray says of workers that died from where answers are printed: their tasks are done again."""
    from ray._private import worker

    printing: Any = getattr(worker, "print_to_stdstream", None)
    worker.print_to_stdstream = lambda *said, **more: None
    try:
        yield
    finally:
        worker.print_to_stdstream = printing


@contextmanager
def _started(ray: Any) -> Iterator[None]:
    """A Ray of this process alone."""
    from ray._private import ray_constants

    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=_short_folder()))
    held = _held(folder)
    _remove_stale(folder.parent)
    known = {name: os.environ.get(name) for name in _AUTH}
    many = getattr(ray_constants, "ENABLE_RAY_CLUSTER", None)
    try:
        _authenticate(dict(zip(_AUTH, ("token", secrets.token_hex(32)), strict=True)))
        ray_constants.ENABLE_RAY_CLUSTER = False  # one machine: then Ray listens on the loopback, and nowhere else
        how: dict[str, Any] = {"num_cpus": chunks.threads(), "include_dashboard": False, "_temp_dir": str(folder)}
        _init(ray, "--engine ray", "this machine", address="local", **how)
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = many
        try:
            _surely(ray.shutdown)
        finally:
            _authenticate(known)
            _surely(partial(shutil.rmtree, folder, ignore_errors=True))
            os.close(held)


def _surely(work: Callable[[], Any]) -> None:
    """Clear something away, and once more where an interrupt came between."""
    try:
        work()
    except KeyboardInterrupt:
        work()
        raise


def _held(folder: Path) -> int:
    """Lock a file in a folder for as long as this process lives; it is there when it is locked, and not before."""
    file = os.open(folder / f"{_DRIVER}.new", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    (folder / f"{_DRIVER}.new").rename(folder / _DRIVER)
    return file


def _remove_stale(above: Path) -> None:
    """Delete what drivers that were killed left here, with all that their Ray had spilled."""
    for path in above.glob(f"{_PREFIX}*/{_DRIVER}"):
        with suppress(OSError):  # it is locked, or another person's
            file = os.open(path, os.O_RDWR)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path.parent, ignore_errors=True)
            finally:
                os.close(file)


def _authenticate(settings: Mapping[str, str | None]) -> None:
    """Let servers that are started, and this process, ask for a token, or not; Ray remembers what it read of that."""
    for name, value in settings.items():
        os.environ.pop(name, None)
        os.environ |= {} if value is None else {name: value}
    with suppress(ImportError, AttributeError):  # versions that know no tokens
        from ray import _raylet

        remembered: Any = _raylet
        remembered.Config.initialize("")
        remembered.AuthenticationTokenLoader.instance().reset_cache()


@contextmanager
def _joined(ray: Any, address: str) -> Iterator[None]:
    """A cluster that is there already."""
    _answers(address, address.removeprefix(_CLIENT) if address.startswith(_CLIENT) else _head(address))
    try:
        _init(ray, "--address", address, address=address)
        yield
    finally:
        ray.shutdown()


def _short_folder() -> str | None:
    """Where a folder's path is short enough; None is the system's own choice."""
    return None if len(tempfile.gettempdir()) <= _LONGEST or not Path("/tmp").is_dir() else "/tmp"


def _head(address: str) -> str:
    """Where the head of a cluster is, by what Ray knows of this machine; it says where it knows nothing."""
    from ray._private import services

    try:
        found = services.canonicalize_bootstrap_address(address)
    except (AttributeError, TypeError):  # Ray's own affair, and not the same in all versions
        found = address
    except Exception as error:
        raise _unreachable(address, cause(error)) from None
    if found is None:
        raise _unreachable(address, "no Ray runs on this machine")
    return str(found)


def _answers(address: str, server: str) -> None:
    """Refuse a place where no server of that kind answers: Ray itself would try for minutes, and then end the process.

    Args:
        address: As it was given.
        server: Its host and port.
    """
    host, _, port = server.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 1 << 16:
        raise _unreachable(address, "it has no port")
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _PATIENCE) as connection:
            if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
                return  # only Ray knows the certificates, and it speaks to nobody without them
            connection.settimeout(_PATIENCE)
            connection.sendall(_GREETING)
            frame = connection.recv(9)
    except OSError as error:
        raise _unreachable(address, f"{_where(address, server)} says: {error.strerror or error}") from None
    if len(frame) < 4 or frame[3] != _SETTINGS:
        raise _unreachable(address, f"what answers at {server} is no Ray")


def _where(address: str, server: str) -> str:
    """A place as it was given, or as Ray knows it, where that is another one."""
    return server if address.removeprefix(_CLIENT) == server else f"{server}, where Ray looks for it,"


def _unreachable(address: str, reason: str) -> ParameterError:
    rule = "must be that of a running Ray: auto, host:port or ray://host:port"
    remedy = f"start one with `ray start --head`, or leave it out; {reason}"
    return ParameterError(message("--address", rule, Unsaid(repr(address)), remedy))


def _init(ray: Any, option: str, place: str, **how: Any) -> None:
    """Connect; what this process does on a signal stays its own, and Ray's errors become a sentence."""
    main = threading.current_thread() is threading.main_thread()
    known = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)} if main else {}
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **how)
    except KeyboardInterrupt:
        raise
    except (Exception, SystemExit) as error:  # where it finds nobody, Ray ends the process
        rule = "must be a Ray that can be started or reached"
        raise ParameterError(message(option, rule, Unsaid(repr(place)), f"Ray says: {cause(error)[:300]}")) from None
    finally:
        for number, handler in known.items():
            if handler is not None:  # else it was not set from Python
                signal.signal(number, handler)


def _checked(cluster: RayCluster) -> RayCluster:
    """Refuse a cluster in which nothing could run: one would wait for ever."""
    if cluster.cores < 1:
        rule = "must be a Ray with processors"
        raise ParameterError(message("--address", rule, NOTHING, "start nodes with --num-cpus of 1 or more"))
    return cluster
