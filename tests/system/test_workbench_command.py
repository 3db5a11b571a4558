"""The command without what it needs, and what others cost because of it: nothing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.system.support import refused

REMEDY = (
    "the workbench needs the package nicegui, which cannot be imported; "
    "in a clone of Hush, run: pip install '.[workbench]'"
)


def test_what_is_missing_is_said_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [each for each in sys.modules if each.startswith(("nicegui", "hush.workbench.serving"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nicegui", None)
    assert REMEDY in refused("workbench", "--port", 0)


def test_a_server_is_not_begun_where_its_workbench_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hush.cli.serve.find_spec", lambda name: None)
    assert REMEDY in refused("serve", "--workbench", "--port", 0)


def test_nobody_else_imports_it() -> None:
    code = (
        "import sys, hush; from hush.cli import _app, plan, serve, workbench; import hush.workbench.settings;"
        "print([each for each in ('nicegui', 'fastapi', 'uvicorn', 'httpx') if each in sys.modules])"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"
