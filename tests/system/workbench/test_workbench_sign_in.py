"""Who is let in, as who, and what no stranger's page can do: over HTTP, over the socket, and in a browser."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.collectors import Served
from tests.system.support import refused
from tests.system.workbench.conftest import sign_in
from tests.system.workbench.running import RunningWorkbench, opened, running

pytestmark = pytest.mark.nightly

pytest.importorskip("nicegui")

SOCKET = "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"


def asked(workbench: RunningWorkbench, path: str = "/", method: str = "GET", **headers: str) -> tuple[int, str]:
    """What is answered to exactly these headers."""
    connection = http.client.HTTPConnection(urlsplit(workbench.url).netloc, timeout=10)
    connection.putrequest(method, path, skip_host=True)
    for name, value in {"Host": urlsplit(workbench.url).netloc, **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    connection.endheaders()
    answer = connection.getresponse()
    told = answer.status, answer.read().decode("utf-8", "replace")
    connection.close()
    return told


def handshake(workbench: RunningWorkbench, **headers: str) -> int:
    """What a socket is answered: 101 where it is let in."""
    wanted = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec_WebSocket_Version": "13"}
    return asked(workbench, SOCKET, Sec_WebSocket_Key="dGhlIHNhbXBsZSBub25jZQ==", **wanted, **headers)[0]


def test_a_name_that_was_rebound_to_this_machine_gets_nothing(workbench: RunningWorkbench) -> None:
    port = urlsplit(workbench.url).port
    assert asked(workbench)[0] == 200
    for name in (f"attacker.example:{port}", "attacker.example", "169.254.169.254", ""):
        status, words = asked(workbench, Host=name)
        assert (status, words) == (403, "Refused: the host that the request names is not this workbench.\n"), name
        assert asked(workbench, "/_nicegui_ws/socket.io/?EIO=4&transport=polling", Host=name)[0] == 403
        assert handshake(workbench, Host=name, Origin=f"http://{name}") == 403


def test_a_socket_is_let_in_from_the_workbenchs_own_page_alone(workbench: RunningWorkbench) -> None:
    assert handshake(workbench, Origin=workbench.url) == 101
    for origin in ("http://attacker.example", "null", f"{workbench.url}.attacker.example", "http://127.0.0.1:1"):
        assert handshake(workbench, Origin=origin) == 403, origin
    assert handshake(workbench) == 403


def test_nothing_is_changed_for_a_page_of_another_origin(workbench: RunningWorkbench) -> None:
    for path in ("/sign-in", "/sign-out", "/upload/x"):
        assert asked(workbench, path, "POST", Content_Length="0")[0] == 403
        assert asked(workbench, path, "POST", Content_Length="0", Origin="http://attacker.example")[0] == 403
    assert asked(workbench, "/upload/unknown", "POST", Content_Length="0", Origin=workbench.url)[0] == 403


@contextmanager
def another_site(content: str) -> Iterator[str]:
    """A page of another origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://localhost:{made.server_port}/"
        made.shutdown()
        thread.join()


def test_in_a_browser_a_page_of_another_origin_can_neither_frame_it_nor_speak_to_it(
    workbench: RunningWorkbench, admin_context: Any
) -> None:
    script = f"""<iframe src="{workbench.url}/"></iframe><script>
        window.told = [];
        const socket = new WebSocket("{workbench.url.replace("http", "ws")}{SOCKET}");
        socket.onopen = () => told.push("socket open");
        socket.onerror = () => told.push("socket refused");
        fetch("{workbench.url}/", {{credentials: "include"}}).then(() => told.push("read"), () => told.push("unread"));
        fetch("{workbench.url}/sign-out", {{method: "POST", mode: "no-cors", credentials: "include"}})
            .then(() => told.push("sent"), () => told.push("unsent"));
    </script>"""
    with another_site(script) as url:
        page = admin_context.new_page()
        page.goto(url)
        page.wait_for_function("told.length === 3")
        assert {"socket refused", "unread"} <= set(page.evaluate("told"))
        assert page.frames[1].url.startswith("chrome-error:")
        page.close()
    seen = opened(admin_context, workbench.url)
    assert seen.page.get_by_text("Administrator").count() == 1, "nobody was signed out"


def test_the_cookie_is_for_no_script_and_no_other_site(workbench: RunningWorkbench, admin_context: Any) -> None:
    (cookie,) = [each for each in admin_context.cookies() if each["name"] == "hush-session"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    seen = opened(admin_context, workbench.url)
    assert "hush-session" not in seen.page.evaluate("document.cookie")


def test_a_token_stays_on_the_side_of_the_server(workbench: RunningWorkbench, served: Served, browser: Any) -> None:
    context = browser.new_context()
    frames: list[str] = []
    context.on("page", lambda page: page.on("websocket", lambda it: _listened(it, frames)))
    sign_in(context, workbench, served.admin)
    seen = opened(context, workbench.url)
    secret = served.admin.rpartition("-")[2]
    kept = "JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])"
    assert secret not in seen.page.content()
    assert secret not in seen.page.evaluate(kept)
    assert secret not in str(context.cookies())
    assert secret not in " ".join(frames)
    assert secret not in workbench.logged()
    context.close()


def _listened(socket: Any, frames: list[str]) -> None:
    socket.on("framereceived", lambda data: frames.append(str(data)))
    socket.on("framesent", lambda data: frames.append(str(data)))


def test_a_reader_reads(workbench: RunningWorkbench, reader_context: Any) -> None:
    seen = opened(reader_context, workbench.url)
    assert seen.page.get_by_text("Reader", exact=True).count() == 1
    assert seen.page.get_by_text("Administrator").count() == 0


@pytest.mark.parametrize("token", ["hush-admin-00000000-AAAAAAAAAAAAAAAAAAAAAA", "nonsense", "ünicode", " "])
def test_a_token_that_nobody_issued_is_refused_in_words(workbench: RunningWorkbench, context: Any, token: str) -> None:
    page = context.new_page()
    page.goto(f"{workbench.url}/sign-in")
    page.get_by_label("Token").fill(token)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").wait_for()
    assert "This token is not one" in page.get_by_role("alert").inner_text()
    assert token.strip() == "" or token not in page.content()


def test_a_key_of_devices_signs_nobody_in(workbench: RunningWorkbench, served: Served, context: Any) -> None:
    page = context.new_page()
    page.goto(f"{workbench.url}/sign-in")
    page.get_by_label("Token").fill(served.token("ingest"))
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("alert").get_by_text("This token is not one").wait_for()


def test_a_collector_that_is_away_is_told_of(tmp_path: Path, context: Any) -> None:
    with running(tmp_path, "--collector", "http://127.0.0.1:9") as made:
        page = context.new_page()
        page.goto(f"{made.url}/sign-in")
        page.get_by_label("Token").fill("hush-admin-00000000-AAAAAAAAAAAAAAAAAAAAAA")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("alert").get_by_text("The collector does not answer").wait_for()


def test_the_printed_link_lets_in_with_the_token_of_the_command(tmp_path: Path, served: Served, context: Any) -> None:
    (tmp_path / "token").write_text(served.token("reader") + "\n")
    with running(tmp_path, "--collector", served.url, "--token-file", tmp_path / "token") as made:
        page = context.new_page()
        page.goto(made.url)
        assert page.get_by_text("Reader", exact=True).count() == 0, "only who has the link is let in"
        page.goto(f"{made.url}/enter?key=guessed")
        page.get_by_role("alert").get_by_text("This link is not of this start").wait_for()
        page.goto(made.link)
        page.wait_for_url(f"{made.url}/")
        page.get_by_text("Reader", exact=True).wait_for()
        assert made.link.rpartition("=")[2] not in made.logged()


def test_code_goes_with_this_machine_alone() -> None:
    words = refused("workbench", "--allow-code", "--host", "0.0.0.0", "--port", 0)
    assert "--allow-code must be left out where others reach the workbench" in words


def test_what_the_command_refuses() -> None:
    assert "--collector must be an address" in refused("workbench", "--collector", "ftp://x")
    assert "--most-jobs must be" in refused("workbench", "--most-jobs", 0)
    assert "--token-file" in refused("workbench", "--token-file", "nowhere")
