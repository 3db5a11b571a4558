"""A Ray of the command's own: nobody else reaches it, nothing of it is left; and addresses at which there is none."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import hush
from hush.engine.ray import connect
from tests.system.support import heard, refused, words, write_csv
from tests.waiting import wait_until

pytest.importorskip("ray")
pytestmark = [pytest.mark.nightly, pytest.mark.xdist_group("ray")]
LISTENING = "0A"
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def belonging(folder: str) -> list[int]:
    """Processes that were started with this folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if folder.encode() in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


def listening(pids: list[int]) -> set[str]:
    """The addresses at which these processes listen, as the kernel writes them."""
    inodes = set()
    for pid in pids:
        for path in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                inodes |= set(re.findall(r"socket:\[(\d+)\]", os.readlink(path)))
            except OSError:
                continue
    rows = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    return {row[1].partition(":")[0] for row in rows if row[3] == LISTENING and row[9] in inodes}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="looks at /proc")
def test_a_ray_of_our_own_listens_on_the_loopback_and_leaves_nothing_when_it_is_interrupted(tmp_path: Path) -> None:
    """Ctrl-C while it works."""
    values = [str(i % 5) for i in range(400_000)]
    source, home = write_csv(tmp_path / "people.csv", {"value": values}), tmp_path / "h"
    home.mkdir()
    choice = ["--column", "value", "--k", "5", "--mechanism", "OUE", "--epsilon", "1", "--engine", "ray"]
    env = {**os.environ, "HOME": str(home), "TMPDIR": "/tmp"}
    process = subprocess.Popen(
        words("privatize", source, *choice, "-o", tmp_path / "out"),
        cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard,
    )  # fmt: skip
    try:
        wait_until(lambda: any(tmp_path.glob(".hush-out-*.parts")) or process.poll() is not None)
        assert process.poll() is None, process.communicate()
        folder = own_folder(process.pid)
        pids = belonging(folder)
        assert len(pids) >= 3
        found = listening(pids)
        assert found
        assert found <= LOOPBACK
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert said[0] == ""
    assert "interrupted; no half-written file is left" in said[1]
    assert [path.name for path in tmp_path.iterdir() if path.name != "h"] == ["people.csv"]
    assert not [*home.rglob("*")]  # neither a token nor a log
    wait_until(lambda: not belonging(folder))
    assert not Path(folder).exists()


def own_folder(pid: int) -> str:
    """The folder of the Ray that a process started."""
    for path in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        found = re.search(rb"/tmp/hush-ray-\w+", Path(f"/proc/{path}/cmdline").read_bytes())
        if found:
            return found.group().decode()
    raise AssertionError("it started no Ray")


@pytest.fixture
def silent() -> Iterator[int]:
    """A port at which somebody listens, and says nothing."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(5)
        yield int(server.getsockname()[1])


@pytest.fixture
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hush.engine.ray.connecting._PATIENCE", 0.3)


def test_addresses_where_no_ray_is(silent: int, patience: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setattr("hush.engine.ray.connecting._init", lambda *_, **__: pytest.fail("Ray itself would wait long"))
    bad = [
        "127.0.0.1:1",
        f"127.0.0.1:{silent}",
        f"ray://127.0.0.1:{silent}",
        "nonsense",
        "a.invalid:6379",
        "ray://",
        "",
    ]
    for address in bad:
        said = refused("audit", "--mechanism", "GRR", "--k", 4, "--epsilon", 1, "--engine", "ray", "--address", address)
        assert "--address must be that of a running Ray: auto, host:port or ray://host:port" in said
        assert repr(address) in said
        assert "start one with `ray start --head`, or leave it out" in said


def test_another_server_is_no_ray(patience: None) -> None:
    import http.server
    import threading

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with (
            pytest.raises(hush.errors.ParameterError, match=r"what answers at .* is no Ray"),
            connect(f"ray://127.0.0.1:{server.server_port}"),
        ):
            pass
        server.shutdown()


def test_options_that_do_not_fit() -> None:
    words = ["audit", "--mechanism", "GRR", "--k", 4, "--epsilon", 1]
    assert "--engine must be local or ray, got 'spark'" in refused(*words, "--engine", "spark")
    assert "--address must stand with --engine ray" in refused(*words, "--address", "auto")


def test_without_ray_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    said = refused("audit", "--mechanism", "GRR", "--k", 4, "--epsilon", 1, "--engine", "ray")
    assert "--engine ray needs the package ray, which cannot be imported" in said
    assert "pip install '.[ray]'" in said
