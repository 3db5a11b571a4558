"""`hush serve --workbench`: two processes, which stop together, and of which one may fail alone."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import httpx
import pytest

from tests.certificates import certified
from tests.system.collect.serving import Running, serving
from tests.system.support import refused

pytestmark = pytest.mark.nightly

pytest.importorskip("nicegui")


def told(server: Running) -> str:
    """The address of the workbench, once it is there."""
    assert server.process.stdout is not None
    return str(json.loads(server.process.stdout.readline())["workbench"])


def workbench_of(server: Running) -> int:
    """The process of the workbench."""
    for each in Path("/proc").iterdir():
        if each.name.isdigit():
            try:
                parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
                if parent == server.process.pid and b"beside" in (each / "cmdline").read_bytes():
                    return int(each.name)
            except OSError:
                continue
    raise AssertionError("there is no workbench")


def ended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def until_ended(pid: int) -> None:
    end = time.monotonic() + 20
    while not ended(pid):
        assert time.monotonic() < end, "the workbench goes on"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_both_stop_together(tmp_path: Path, number: signal.Signals) -> None:
    with serving(tmp_path, "--workbench", HUSH_WORKBENCH_PORT="0") as server:
        url = told(server)
        answer = httpx.get(url)
        assert answer.status_code == 200
        assert "Hush workbench" in answer.text
        pid = workbench_of(server)
        assert server.stop(number) == 0
        until_ended(pid)
    assert "Traceback" not in server.log.read_text()


def test_a_workbench_that_dies_leaves_the_collector_as_it_is(tmp_path: Path) -> None:
    with serving(tmp_path, "--workbench", HUSH_WORKBENCH_PORT="0") as server:
        url, pid = told(server), workbench_of(server)
        os.kill(pid, signal.SIGKILL)
        until_ended(pid)
        with pytest.raises(httpx.ConnectError):
            httpx.get(url)
        answer = httpx.get(f"{server.url}/v1/collections", headers={"Authorization": f"Bearer {server.token}"})
        assert answer.status_code == 200
        assert server.stop() == 0
    assert "the workbench has ended with -9; the collector goes on" in server.log.read_text()


def test_a_collector_that_is_killed_takes_its_workbench_with_it(tmp_path: Path) -> None:
    with serving(tmp_path, "--workbench", HUSH_WORKBENCH_PORT="0") as server:
        told(server)
        pid = workbench_of(server)
        server.process.kill()
        server.process.wait()
        until_ended(pid)


def test_a_workbench_that_cannot_start_is_told_of_and_nothing_else_happens(tmp_path: Path) -> None:
    with serving(tmp_path, "--workbench", HUSH_WORKBENCH_PORT="many") as server:
        end = time.monotonic() + 20
        while "the collector goes on" not in server.log.read_text():
            assert time.monotonic() < end
            time.sleep(0.05)
        assert httpx.get(f"{server.url}/healthz").status_code == 200
        assert server.stop() == 0
    assert "HUSH_WORKBENCH_PORT must be a whole number" in server.log.read_text()


def test_the_store_is_no_business_of_the_workbench(tmp_path: Path) -> None:
    with serving(tmp_path, "--workbench", HUSH_WORKBENCH_PORT="0", HUSH_STORE="elsewhere.db") as server:
        told(server)
        assert b"HUSH_STORE" not in Path(f"/proc/{workbench_of(server)}/environ").read_bytes()


def test_with_tls_it_is_started_apart(tmp_path: Path) -> None:
    certificate, key = certified(tmp_path)
    words = refused("serve", "--workbench", "--certificate", certificate, "--certificate-key", key, "--port", 0)
    assert "--workbench must be left out with TLS" in words
