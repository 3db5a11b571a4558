"""`hush serve` as a person starts and stops it, and what it says where it cannot."""

from __future__ import annotations

import json
import signal
import socket
import sqlite3
import ssl
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.certificates import certified
from tests.system.collect.serving import serving
from tests.system.support import refused, run


def test_the_first_token_is_printed_once_and_kept_nowhere(tmp_path: Path) -> None:
    with serving(tmp_path) as first:
        token = first.token
        answer = httpx.get(f"{first.url}/v1/collections", headers={"Authorization": f"Bearer {token}"})
        assert (answer.status_code, answer.json()) == (200, [])
        assert httpx.get(f"{first.url}/healthz").status_code == 200
        assert first.stop() == 0
    store = tmp_path / "hush-collector.db"
    assert first.told["store"] == str(store)
    secret = token.split("-", 3)[3].encode()
    for path in tmp_path.iterdir():
        assert secret not in path.read_bytes(), path
    with serving(tmp_path) as second:
        assert second.told["admin_token"] is None
        answer = httpx.get(f"{second.url}/v1/collections", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 200
        assert second.stop(signal.SIGHUP) == 0  # as when its terminal is closed
    assert first.log.read_text().count("Stopped: all that was taken is in the store.") == 2
    assert "GET /v1/collections 200" in first.log.read_text()
    assert "127.0.0.1" not in first.log.read_text()


def test_what_a_person_sees(tmp_path: Path) -> None:
    with (tmp_path / "out").open("w") as out:
        process = subprocess.Popen(
            [sys.executable, "-m", "hush", "serve", "--port", "0"], cwd=tmp_path, stdout=out, stderr=subprocess.PIPE
        )
    while "token" not in (tmp_path / "out").read_text() and process.poll() is None:
        pass
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    lines = (tmp_path / "out").read_text().splitlines()
    assert lines[0].startswith("Hush collector at http://127.0.0.1:")
    assert lines[1] == f"Store: {tmp_path / 'hush-collector.db'}"
    assert lines[2] == f"Demo page: {lines[0].split()[-1]}/demo"
    assert lines[3].startswith("Admin token, shown only this once: hush-admin-")
    assert process.returncode == 0
    assert said.decode().splitlines()[-1] == "Stopped: all that was taken is in the store."


def test_a_flag_comes_before_the_environment_and_that_before_the_default(tmp_path: Path) -> None:
    environment = {"HUSH_STORE": "variable.db", "HUSH_PORT": "nonsense", "HUSH_ACCESS_LOG": "no"}
    with serving(tmp_path, "--store", "flag.db", **environment) as server:
        assert server.told["store"] == str(tmp_path / "flag.db")
        httpx.get(f"{server.url}/healthz")
    assert [path.name for path in tmp_path.glob("*.db")] == ["flag.db"]
    assert "healthz" not in server.log.read_text()


@pytest.mark.parametrize(
    ("options", "environment", "named"),
    [
        (["--port", "x"], {}, "--port must be a whole number"),
        (["--port", "70000"], {}, "--port must be a whole number from 0 to 65535"),
        ([], {"HUSH_PORT": "x"}, "HUSH_PORT must be a whole number"),
        ([], {"HUSH_ACCESS_LOG": "perhaps"}, "HUSH_ACCESS_LOG must be yes or no"),
        ([], {"HUSH_MOST_BODY": "1"}, "HUSH_MOST_BODY must be a whole number from 1024 to"),
        (["--most-body", "1"], {}, "--most-body must be a whole number from 1024 to"),
        (["--body-seconds", "nan"], {}, "--body-seconds must be a finite number from 0.01 to 86400, got nan; use e.g."),
        (
            [],
            {"HUSH_KEY_RATE": "inf"},
            "HUSH_KEY_RATE must be a finite number from 0 to 10000000, got inf; use e.g. 5000",
        ),
        (["--trusted-proxies", "localhost"], {}, "--trusted-proxies must be addresses or networks"),
        (["--origins", "example.org"], {}, "--origins must be origins"),
        ([], {"HUSH_ORIGINS": "example.org"}, "HUSH_ORIGINS must be origins"),
        (["--backups", "/nosuch"], {}, "--backups must be a folder that is there"),
        (["--certificate", "a.pem"], {}, "--certificate-key must come with certificate"),
        (["--certificate", "no.pem", "--certificate-key", "no.pem"], {}, "--certificate must be a certificate"),
        (["--port", "0", "--store", "mysql://a:secret@b/c"], {}, "--store must be a file"),
        (["--port", "0", "--store", "nowhere/at/all.db"], {}, "--store must be in a folder that can be written"),
        (["--host", "192.0.2.1"], {}, "--host must be an address of this machine, got '192.0.2.1'; use 127.0.0.1"),
        (["--host", "nosuch.example"], {}, "--host must be an address of this machine"),
    ],
)
def test_bad_settings_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], environment: dict[str, str], named: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said = refused("serve", *options)
    assert named in said
    assert "secret" not in said


def test_a_port_in_use_a_store_that_is_held_and_one_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        assert "--port must be free" in refused("serve", "--port", taken.getsockname()[1])
    with serving(tmp_path) as first:
        said = refused("serve", "--port", 0)
        assert f"held by {first.url}" in said
        assert "stop that server first" in said
    (tmp_path / "table.db").write_text("people,values\n" * 100)
    assert "--store must be" in refused("serve", "--port", 0, "--store", "table.db")
    assert (tmp_path / "table.db").read_text().startswith("people")
    with closing(sqlite3.connect(tmp_path / "later.db")) as later:
        later.execute("CREATE TABLE alembic_version (version_num TEXT)")
        later.execute("INSERT INTO alembic_version VALUES ('9999')")
        later.commit()
    assert "upgrade hush" in refused("serve", "--port", 0, "--store", "later.db")


def test_without_the_packages_of_the_extra_it_says_what_to_install() -> None:
    for package, command in (("fastapi", ["serve"]), ("sqlalchemy", ["collection", "list"])):
        code = f"import sys; sys.modules[{package!r}] = None; sys.argv[1:] = {command!r}\n"
        code += "from hush.cli import main; main()"
        said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert said.returncode == 2
        assert f"the collector needs the package {package}" in said.stderr
        assert "pip install '.[collect]'" in " ".join(said.stderr.split())


def test_tls_by_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate, key = certified(tmp_path)
    with serving(tmp_path, "--certificate", certificate, "--certificate-key", key) as server:
        assert server.url.startswith("https://127.0.0.1:")
        trusted = ssl.create_default_context(cafile=str(certificate))
        assert httpx.get(f"{server.url}/healthz", verify=trusted).status_code == 200
        (tmp_path / "token").write_text(server.token + "\n")
        asked = ["collection", "list", "--server", server.url, "--token-file", tmp_path / "token", "--json"]
        assert "--server must be a collector that answers" in run(*asked).stderr
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert json.loads(run(*asked).stdout) == {"collections": []}
