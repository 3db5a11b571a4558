"""Devices and a real collector, over real HTTP: every kind of spec, periods, chains, refusals, TLS, many people."""

from __future__ import annotations

import multiprocessing
import shutil
import ssl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from fractions import Fraction
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

import hush
import hush.longitudinal
import hush.multidim
from hush.collect import Collector
from hush.collect.client import Unreachable, spool
from hush.collect.client.home import FILE
from hush.errors import ParameterError
from hush.estimation import Aggregate
from hush.statistics import mixed_count_alarm
from tests.certificates import certified
from tests.collectors import Opened, Served, in_thread, opened
from tests.relays import in_thread as relay_in_thread
from tests.waiting import held_port, wait_until

SPECS = {
    "frequencies": (hush.Spec(hush.OLH(k=266, epsilon=1.0)), list(range(40))),
    "numbers": (hush.Spec(hush.Piecewise(low=0.0, high=10.0, epsilon=1.0)), [i / 4 for i in range(40)]),
    "tuples": (hush.Spec(hush.multidim.SMP(sizes=(3, 2), epsilon=1.0)), [(i % 3, i % 2) for i in range(40)]),
    "over time": (
        hush.Spec(hush.longitudinal.OLOLOHA(k=10, epsilon_permanent=2.0, epsilon_report=1.0)),
        [i % 10 for i in range(40)],
    ),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with in_thread(tmp_path_factory.mktemp("server")) as made:
        yield made


def address(one: Opened) -> str:
    return f"{one.url}{one.path}"


Device = Callable[..., Collector]


@pytest.fixture
def device() -> Iterator[Device]:
    """Makes devices, and lets go of their connections in the end."""
    with ExitStack() as made:
        yield lambda one, home, **more: made.enter_context(
            Collector(address(one), home=home, **{"key": one.key, "fresh": 0.0, "maximum": 2.0, **more})
        )


def shown(served: Served, one: Opened) -> dict[str, Any]:
    return dict(served.ask("GET", one.path).json())


@pytest.mark.parametrize("kind", list(SPECS))
def test_every_kind_arrives(kind: str, served: Served, device: Device, tmp_path: Path) -> None:
    spec, values = SPECS[kind]
    one = opened(served, spec=spec)
    with device(one, tmp_path) as collector:
        first = collector.person("ann").answer(values[0])
        assert first.state == "accepted"
        assert collector.person("ann").answer(values[0]) == first
        many = collector.people(range(len(values))).answer(values)
        assert [receipt.state for receipt in many.receipts] == ["accepted"]
    assert shown(served, one)["n"] == len(values) + 1
    assert shown(served, one)["builds"] == {f"hush-python/{hush.__version__}": len(values) + 1}


def test_what_arrives_is_what_was_randomized(served: Served, device: Device, tmp_path: Path) -> None:
    """100,000 people of an organisation: counts follow the law; an alarm of the four is false once in 10^9 runs."""
    m = hush.GRR(k=4, epsilon=2.0)
    one = opened(served, spec=hush.Spec(m))
    values = np.repeat(np.arange(4), [10_000, 20_000, 30_000, 40_000])
    collector = device(one, tmp_path)
    told = collector.people(range(100_000)).answer(values)
    assert [receipt.state for receipt in told.receipts] == ["accepted"]
    assert collector.people(range(100_000)).answer(values).again.all()
    assert served.server is not None
    wait_until(lambda: not shown(served, one)["pending"])
    aggregate = Aggregate.from_bytes(served.server.service.aggregate(one.id))
    assert aggregate.n == 100_000
    law = [[m.weight(y, v) / m.denominator for v in range(4)] for y in m.outputs()]
    for seen, chances in zip(aggregate.tally.tolist(), np.array(law), strict=True):
        assert not mixed_count_alarm(seen, chances[values], comparisons=4)


def test_a_key_can_be_renewed_and_the_same_bytes_go(
    served: Served, device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)
    one = opened(served)
    collector = device(one, tmp_path, key="hush-ingest-00000000-wrong")
    told = collector.person("ann").answer(1)
    assert (told.state, told.reason) == ("waiting", "token")
    collector.key = one.key
    assert collector.flush().accepted == 1
    assert shown(served, one)["n"] == 1
    assert shown(served, one)["refusals"] == {"token": 1}


def test_a_collection_that_closes_drops_what_waits(
    served: Served, device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.0)
    one = opened(served)
    offline = device(one, tmp_path, key="hush-ingest-00000000-wrong", fresh=60)
    offline.person("ann").answer(1)
    assert served.ask("POST", f"{one.path}/close").status_code == 200
    offline.key = one.key
    assert offline.flush().dropped == {"status": 1}
    with pytest.raises(ParameterError, match="open"):
        device(one, tmp_path).person("bob").answer(1)
    assert offline.person("ann").spent.total == 2  # the epsilon of the spec


def test_a_collection_that_follows_another_adds_up(served: Served, device: Device, tmp_path: Path) -> None:
    one = opened(served, spec=hush.Spec(hush.OUE(k=4, epsilon=1.0)))
    device(one, tmp_path, maximum_chain=1.5).person("ann").answer(1)
    after = succeeded(served, one, hush.Spec(hush.OUE(k=4, epsilon=0.5)))
    ann = device(after, tmp_path, maximum_chain=1.5).person("ann")
    ann.answer(1)
    assert (ann.spent.collection, ann.spent.chain) == (Fraction(1, 2), Fraction(3, 2))
    last = succeeded(served, after, hush.Spec(hush.OUE(k=4, epsilon=0.25)))
    with pytest.raises(ParameterError, match="maximum_chain"):
        device(last, tmp_path, maximum_chain=1.5).person("ann").answer(1)


def succeeded(served: Served, one: Opened, spec: hush.Spec) -> Opened:
    """The collection that follows another, open."""
    made = served.ask("POST", f"{one.path}/succeed", json={"spec": spec.to_dict(), "name": "next"})
    assert made.status_code == 201, made.text
    after = Opened(made.json()["id"], served.token("ingest", collection=made.json()["id"]), served.url, spec)
    assert served.ask("POST", f"{after.path}/open", json={"force": True}).status_code == 200
    return after


def answer_all(url: str, key: str, home: str, start: int) -> list[str]:
    """One of several processes that answer for the same people."""
    with Collector(url, home=home, key=key, maximum=2.0) as collector:
        return [collector.person(i % 20).answer(i % 20 % 4).batch for i in range(start, start + 20)]


def test_processes_share_a_home(served: Served, device: Device, tmp_path: Path) -> None:
    one = opened(served)
    context = multiprocessing.get_context("spawn")
    with context.Pool(2) as pool:
        asked = [(address(one), one.key, str(tmp_path), 7 * i) for i in range(2)]
        found = pool.starmap(answer_all, asked)
    assert len({batch for each in found for batch in each}) == 20
    with device(one, tmp_path) as collector:
        assert collector.flush().waiting == 0
    assert shown(served, one)["n"] == 20


def test_a_server_that_goes_and_comes_back(device: Device, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "FIRST_WAIT", 0.01)
    folder = tmp_path / "server"
    folder.mkdir()
    with held_port() as port:
        with in_thread(folder, port=port) as served:
            one = opened(served)
            collector = device(one, tmp_path / "home", timeout=60.0)
            assert collector.person("ann").answer(1).state == "accepted"
        told = collector.person("bob").answer(2)
        assert (told.state, told.reason) == ("waiting", "unreachable")
        assert collector.flush(wait=0.2).waiting == 1
        with in_thread(folder, port=port) as served:
            assert collector.flush(wait=60).accepted == 1
            assert shown(served, one)["n"] == 2


def test_devices_answer_through_a_relay(served: Served, tmp_path: Path) -> None:
    """A relay looks like a collector to a device: the spec is its, the loss is computed, and the answers pass."""
    one = opened(served, relayed_only=True)
    (tmp_path / "relay").mkdir()
    with relay_in_thread(tmp_path / "relay", served, [one.id], least=40) as relayed:
        url = relayed.address(one).removesuffix("/batches")
        with Collector(url, home=tmp_path / "home", key=relayed.key, spec=one.spec.hash) as collector:
            assert collector.person("ann").answer(1).state == "accepted"
            assert collector.people(range(39)).answer([2] * 39).receipts[0].state == "accepted"
        assert relayed.send(one, [0] * 40).status_code == 200  # as many as stay behind
        wait_until(lambda: shown(served, one)["n"] == 40)
    with Collector(address(one), home=tmp_path / "direct", key=one.key) as direct:
        told = direct.person("bob").answer(1)
    assert (told.state, told.reason) == ("waiting", "token")


# TLS.


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for this machine, signed by itself, and its key."""
    return certified(tmp_path_factory.mktemp("tls"), "localhost")


def test_certificates_and_names_are_checked(authority: tuple[Path, Path], tmp_path: Path) -> None:
    certificate, key = authority
    with in_thread(tmp_path, certificate=certificate, certificate_key=key) as served:
        assert served.server is not None
        service = served.server.service
        spec = hush.Spec(hush.OUE(k=4, epsilon=1.0))
        id = service.create(spec=spec.to_dict(), name="visits", target_n=1000, anyone_submits=True, who="test")["id"]
        service.open(id, force=True, who="test")
        port = served.url.rpartition(":")[2]
        named, numbered = (f"https://{host}:{port}/v1/collections/{id}" for host in ("localhost", "127.0.0.1"))
        trusting = ssl.create_default_context(cafile=str(certificate))
        with Collector(named, home=tmp_path / "home", tls=trusting) as collector:
            assert collector.person("ann").answer(1).state == "accepted"
        for url, context in ((named, None), (numbered, trusting)):
            with (
                Collector(url, home=tmp_path / "other", tls=context) as stranger,
                pytest.raises(Unreachable, match="tls"),
            ):
                stranger.person("ann").answer(1)


def test_a_plain_answer_is_no_redirect(served: Served, tmp_path: Path) -> None:
    """An address with a path before it, behind a proxy that does not know it: nothing is sent elsewhere."""
    one = opened(served)
    url = f"{one.url}/prefix/v1/collections/{one.id}"
    with Collector(url, home=tmp_path) as collector, pytest.raises(Unreachable, match="unknown"):
        collector.person("ann").answer(1)
    assert httpx.get(f"{one.url}/healthz").status_code == 200


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_the_disk_has_the_bytes_before_the_first_of_them_leaves(served: Served, tmp_path: Path) -> None:
    """By the system calls: the database's file and its folder are synced after the last write, and before the batch."""
    one = opened(served)
    code = (
        "import sys; from hush.collect import Collector; url, key, home = sys.argv[1:]\n"
        "print(Collector(url, home=home, key=key).person('ann').answer(1).state)"
    )
    calls = tmp_path / "calls.txt"
    traced = ["strace", "-f", "-y", "-s", "64", "-o", str(calls), "-e", "trace=pwrite64,fsync,fdatasync,sendto,unlink"]
    command = [*traced, sys.executable, "-c", code, address(one), one.key, str(tmp_path / "home")]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    assert told.stdout == "accepted\n"
    lines = calls.read_text(encoding="utf-8", errors="replace").splitlines()
    (sent,) = [at for at, line in enumerate(lines) if "sendto(" in line and "POST /v1" in line]
    before = lines[:sent]
    written = max(at for at, line in enumerate(before) if "pwrite64(" in line and f"{FILE}>" in line)
    synced = [at for at, line in enumerate(before) if "sync(" in line and f"{FILE}>" in line]
    assert max(synced) > written
    journal = max(at for at, line in enumerate(before) if "unlink(" in line and "-journal" in line)
    folder = [at for at, line in enumerate(before) if "sync(" in line and f"{tmp_path / 'home'}>" in line]
    assert max(synced) < journal < max(folder)
