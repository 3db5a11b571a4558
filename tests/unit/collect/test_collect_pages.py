"""The scripts and the page that a collector serves: to any page, with hashes, for ever; and nothing else."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import hush
from tests.collectors import Served, in_thread
from tests.unit.collect.test_collect_api import SAFE, refused

SCRIPT = f"/client/{hush.__version__}/hush.js"


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with in_thread(tmp_path_factory.mktemp("pages"), origins="https://page.example") as made:
        yield made


def test_the_script_may_be_loaded_by_any_page_and_never_changes(served: Served) -> None:
    """Whichever origins may submit."""
    answer = served.ask("GET", SCRIPT, token="", headers={"Origin": "https://other.example"})
    assert answer.status_code == 200
    due = {
        **SAFE,
        "content-type": "text/javascript; charset=utf-8",
        "cache-control": "public, max-age=31536000, immutable",
        "access-control-allow-origin": "*",
        "cross-origin-resource-policy": "cross-origin",
    }
    assert due.items() <= dict(answer.headers).items()
    assert "set-cookie" not in answer.headers
    assert answer.text.startswith(f"/* hush-ldp {hush.__version__}, Apache-2.0 */")
    assert answer.content == (Path(hush.__file__).parent / "collect" / "pages" / "hush.js").read_bytes()


def test_the_list_has_the_hash_of_each_script(served: Served) -> None:
    told = served.ask("GET", "/client", token="").json()
    assert told["version"] == hush.__version__
    assert SCRIPT in [each["path"] for each in told["scripts"]]
    for each in told["scripts"]:
        answer = served.ask("GET", each["path"], token="")
        digest = base64.b64encode(hashlib.sha384(answer.content).digest()).decode()
        assert each["integrity"] == f"sha384-{digest}"
        assert answer.headers["etag"] == f'"{each["integrity"]}"'
        assert each["bytes"] == len(answer.content)


def test_other_versions_and_files_are_unknown(served: Served) -> None:
    for path in ("/client/0.0.1/hush.js", f"/client/{hush.__version__}/other.js", f"/client/{hush.__version__}/demo"):
        answer = served.ask("GET", path, token="")
        assert refused(answer, "unknown")["parameter"] == "version"
        assert answer.headers["cache-control"] == "no-store"
    for file in ("other.js", "%2e%2e%2fhush.js", "..%2f..%2fsettings.py"):
        refused(served.ask("GET", f"/demo/{file}", token=""), "unknown")


def test_the_page_runs_its_own_scripts_alone(served: Served) -> None:
    page = served.ask("GET", "/demo", token="")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    policy = page.headers.get_list("content-security-policy")
    assert len(policy) == 1
    rules = dict(rule.split(" ", 1) for rule in policy[0].split("; "))
    assert (rules["default-src"], rules["script-src"], rules["connect-src"]) == ("'none'", "'self'", "'self'")
    assert "unsafe" not in policy[0]
    assert page.headers["x-content-type-options"] == "nosniff"
    parts = re.findall(r'(?:src|href)="(/[^"]*)"', page.text)
    assert parts
    for part in parts:
        answer = served.ask("GET", part, token="")
        assert answer.status_code == 200, part
        assert "{{" not in answer.text


def test_a_page_that_may_submit_hears_how_long_to_wait(served: Served) -> None:
    """Browsers hide that header from scripts, unless it is named."""
    path = f"/v1/collections/{'0' * 32}/batches"
    answer = served.ask("POST", path, token="", content=b"\0", headers={"Origin": "https://page.example"})
    assert answer.headers["access-control-expose-headers"] == "Retry-After"
