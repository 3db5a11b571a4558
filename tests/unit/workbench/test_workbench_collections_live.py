"""Estimates that change by themselves, polls and files, of a real collector that stops, comes back, and refuses."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import itertools
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow.parquet as pq
import pytest

import hush
from hush.collect.refusals import REASONS, Refused
from hush.collect.remote import NoCollector, Remote, SlowCollector
from hush.errors import ParameterError, message
from hush.workbench.collections import snippets
from hush.workbench.collections.exporting import export
from hush.workbench.collections.pictures import picture
from hush.workbench.collections.polling import poll
from hush.workbench.collections.troubles import Trouble, TroubleKind, trouble
from hush.workbench.collections.watching import watch
from tests.collectors import Opened, Served, in_process, in_thread, opened

PLACES = hush.Spec(hush.OUE(k=4, epsilon=1.0), hush.Domain(labels=["museum", "park", "pool", "home"]))
CROWD = ["park"] * 400 + ["home"] * 300 + ["pool"] * 200 + ["museum"] * 100


async def until(told: AsyncIterator[Any], wanted: Any, seconds: float = 30.0) -> list[Any]:
    """All that is told, up to what is wanted."""
    found = []
    async with asyncio.timeout(seconds):
        async for each in told:
            found.append(each)
            if wanted(each):
                return found
    raise AssertionError("it ended")


def test_estimates_come_by_themselves_and_their_error_bars_shrink(tmp_path: Path) -> None:
    async def look(served: Served, one: Opened) -> list[Any]:
        told = watch(served.url, served.token("reader"), one.id)
        first = await until(told, lambda each: each["n"] == 0)
        margins = []
        for part in range(1, 4):
            answer = await asyncio.to_thread(served.send, one, one.body(CROWD * part, seed=part))
            assert answer.status_code == 200
            n = 1000 * sum(range(part + 1))
            found = await until(told, lambda each, n=n: each["n"] == n)
            margins.append(picture(found[-1]).margin)
        await told.aclose()
        return [*first, *margins]

    with in_thread(tmp_path) as served:
        one = opened(served, spec=PLACES)
        first, *margins = asyncio.run(look(served, one))
    assert picture(first).margin is None
    assert margins == sorted(margins, reverse=True)
    assert margins[-1] < 0.6 * margins[0]


def test_a_collector_that_stops_and_comes_back_is_found_again(tmp_path: Path) -> None:
    """In a process of its own, at the same port, over the same store."""

    async def look(url: str, token: str, id: str, port: int) -> list[Any]:
        told = watch(url, token, id, first=0.1)
        polled = poll(lambda: asyncio.to_thread(shown, url, token, id), url, seconds=0.1)
        with_it = await until(told, lambda each: isinstance(each, dict)) + await until(
            polled, lambda each: isinstance(each, dict)
        )
        process = processes.pop()
        process.terminate()
        await asyncio.to_thread(process.wait, 30)
        without = await until(told, lambda each: isinstance(each, Trouble)) + await until(
            polled, lambda each: isinstance(each, Trouble)
        )
        with in_process(tmp_path, port=port):
            back = await until(told, lambda each: isinstance(each, dict)) + await until(
                polled, lambda each: isinstance(each, dict)
            )
        await told.aclose()
        await polled.aclose()
        return [with_it[-1], *[each for each in without if isinstance(each, Trouble)], back[-1]]

    def shown(url: str, token: str, id: str) -> dict[str, Any]:
        with Remote(url, token) as it:
            return it.show(id, whole=True)

    processes = []
    with in_process(tmp_path) as served:
        one = opened(served, spec=PLACES)
        assert served.send(one, one.body(CROWD)).status_code == 200
        served.settled(one, 1000)
        assert served.process is not None
        processes.append(served.process)
        port = httpx.URL(served.url).port
        assert port
        before, *troubles, after = asyncio.run(look(served.url, served.admin, one.id, port))
    assert before["n"] == after["n"] == 1000
    assert len(troubles) >= 2
    assert {each.kind for each in troubles} == {TroubleKind.GONE}
    assert "hush serve" in troubles[0].words


def test_a_token_that_is_taken_back_ends_it_in_words(tmp_path: Path) -> None:
    async def look(served: Served, one: Opened) -> Trouble:
        token = served.token("reader")
        told = watch(served.url, token, one.id, first=0.1)
        await until(told, lambda each: isinstance(each, dict))
        with Remote(served.url, served.admin) as it:
            await asyncio.to_thread(it.revoke, token.split("-")[2])
        await asyncio.to_thread(served.send, one, one.body(CROWD))
        found = await until(told, lambda each: isinstance(each, Trouble))
        await told.aclose()
        return found[-1]

    with in_thread(tmp_path) as served:
        found = asyncio.run(look(served, opened(served, spec=PLACES)))
    assert found.kind is TroubleKind.TOKEN
    assert "Sign in" in found.words


def test_where_no_more_listeners_are_admitted_the_estimate_comes_all_the_same(tmp_path: Path) -> None:
    async def look(served: Served, one: Opened) -> list[Any]:
        first = watch(served.url, served.admin, one.id)
        await until(first, lambda each: isinstance(each, dict))
        second = watch(served.url, served.admin, one.id, first=0.1)
        found = await until(second, lambda each: isinstance(each, Trouble))
        await second.aclose()
        await first.aclose()
        return found

    with in_thread(tmp_path, most_listeners=1) as served:
        one = opened(served, spec=PLACES)
        assert served.send(one, one.body(CROWD)).status_code == 200
        served.settled(one, 1000)
        told, met = asyncio.run(look(served, one))
    assert told["n"] == 1000
    assert met.kind is TroubleKind.BUSY


def test_every_refusal_has_words_and_passing_ones_are_asked_again() -> None:
    wrong = []
    for code, reason in REASONS.items():
        found = trouble(Refused(code, message("token", "must be another", "x", "use another")), "http://127.0.0.1:1")
        passing = reason.retry is not None or reason.status in (401, 403)
        again = not passing or (found.again is not None and found.again >= (reason.retry or 0))
        if not (found.title and found.words.endswith(".") and again):
            wrong.append(f"{code}: {found}")
    assert not wrong, "\n".join(wrong)


def test_a_collector_that_is_slow_is_told_from_one_that_is_gone() -> None:
    def slow(request: httpx.Request) -> httpx.Response:
        raise httpx.ReadTimeout("")

    with (
        Remote("http://127.0.0.1:1", transport=httpx.MockTransport(slow)) as it,
        pytest.raises(SlowCollector) as error,
    ):
        it.list()
    assert trouble(error.value).kind is TroubleKind.SLOW
    assert trouble(NoCollector("nobody")).kind is TroubleKind.GONE
    assert trouble(ParameterError("something else")).kind is TroubleKind.REFUSED


def test_events_of_a_stranger_do_no_harm() -> None:
    """Comments, other events, broken JSON and fields of several lines, in pieces of any size."""
    stream = (
        b"retry: 3000\n\n: still here\n\nevent: other\ndata: {}\n\nevent: estimate\ndata: {no json\n\n"
        b'event: estimate\ndata: [1]\n\ndata: {}\n\nevent: estimate\r\ndata: {\r\ndata: "n": 7}\r\n\r\n'
    )

    async def pieces() -> AsyncIterator[bytes]:
        for start in itertools.count(0, 3):
            if start >= len(stream):
                await asyncio.sleep(60)
            yield stream[start : start + 3]

    def handle(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=pieces(), headers={"content-type": "text/event-stream"})

    async def look() -> list[Any]:
        told = watch("http://127.0.0.1:1", "", "0" * 32, transport=httpx.MockTransport(handle))
        found = await until(told, lambda each: True, 5.0)
        await told.aclose()
        return found

    assert asyncio.run(look()) == [{"n": 7}]


# What is taken away, and what is copied.


def test_reports_are_passed_on_as_the_collector_sends_them(tmp_path: Path) -> None:
    async def taken(url: str, token: str, id: str, what: str) -> bytes:
        stream = await export(url, token, id, what=what)
        found = b"".join([some async for some in stream])
        assert stream.size == str(len(found))
        return found

    with in_thread(tmp_path) as served:
        one = opened(served, spec=PLACES)
        assert served.send(one, one.body(CROWD)).status_code == 200
        served.settled(one, 1000)
        file = tmp_path / "taken.parquet"
        file.write_bytes(asyncio.run(taken(served.url, served.admin, one.id, "export")))
        sums = asyncio.run(taken(served.url, served.token("reader"), one.id, "aggregate"))
        with pytest.raises(Refused, match="role admin"):
            asyncio.run(taken(served.url, served.token("reader"), one.id, "export"))
    assert pq.read_table(file).num_rows == 1000
    assert hush.Aggregate.from_bytes(sums).n == 1000
    with pytest.raises(NoCollector):
        asyncio.run(taken(served.url, served.admin, one.id, "export"))


def test_the_python_snippet_answers_as_it_stands(tmp_path: Path) -> None:
    with in_thread(tmp_path) as served:
        one = opened(served, spec=PLACES)
        view = served.ask("GET", one.path).json()
        text = snippets.python(served.url, view, one.key).text
        ran = subprocess.run([sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (ran.returncode, ran.stdout) == (0, "accepted\n"), ran.stderr
        assert served.settled(one, 1)["n"] == 1
    assert snippets.KEY in snippets.python(served.url, view).text


def test_the_snippets_for_pages_hold_scripts_to_their_hashes(tmp_path: Path) -> None:
    with in_thread(tmp_path) as served, Remote(served.url) as it:
        spec = hush.Spec(hush.GRR(k=2, epsilon=1.0), hush.Domain(labels=["</script>", '"x"']))
        one = opened(served, spec=spec, name='Cats & "dogs" <b>')
        view, scripts = served.ask("GET", one.path).json(), it.scripts()
        texts = {
            each.text
            for each in (snippets.element(served.url, view, scripts), snippets.module(served.url, view, scripts))
        }
        for each in scripts["scripts"]:
            content = served.http.get(each["path"]).content
            digest = "sha384-" + base64.b64encode(hashlib.sha384(content).digest()).decode()
            assert each["integrity"] == digest
        for text in texts:
            assert f"{served.url}/client/{scripts['version']}/hush.js" in text
            assert text.count("</script>") == 1
    element = snippets.element(served.url, view, scripts, one.key).text
    assert "Cats &amp; &quot;dogs&quot; &lt;b&gt;" in element
    assert f'key="{one.key}"' in element


def test_a_collection_that_anyone_may_submit_to_needs_no_key(tmp_path: Path) -> None:
    with in_thread(tmp_path) as served, Remote(served.url) as it:
        one = opened(served, spec=PLACES, anyone_submits=True)
        view, scripts = served.ask("GET", one.path).json(), it.scripts()
    assert "key" not in snippets.python(served.url, view).text
    assert "key" not in snippets.element(served.url, view, scripts).text
    assert "key:" not in snippets.module(served.url, view, scripts).text
