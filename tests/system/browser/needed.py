"""What tests of the client for web pages need beside Python: a browser, Node, and the packages that build it.

A stranger who lacks one gets a test skipped, with a line that says what to install; where CI is true, a failure.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NoReturn

import pytest

from tests.javascript import CLIENT, node

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """Where the browser is."""
    found = next((path for name in _BROWSERS if (path := shutil.which(name))), None)
    return found or missing("Chromium", "apt-get install chromium")


def packages() -> Path:
    """Where what builds the client is."""
    node()
    found = CLIENT / "node_modules"
    return found if found.is_dir() else missing("the packages of clients/javascript", "npm ci, in that folder")


def missing(what: str, remedy: str) -> NoReturn:
    """Leave a test out, or fail it."""
    told = f"{what} is missing: {remedy}"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(told)
    pytest.skip(told)
