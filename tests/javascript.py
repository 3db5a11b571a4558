"""What tests of the JavaScript client share: Node, or one line that says what to install."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

CLIENT = Path(__file__).parents[1] / "clients" / "javascript"
_LEAST = 20
_MISSING = f"needs Node {_LEAST} or later: install it from your system's packages, as nodejs"


def node() -> str:
    """Where Node is. Without it the test is skipped; but where CI is set to true, it fails."""
    found = shutil.which("node")
    if found is not None:
        said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
        version = re.match(r"v(\d+)\.", said)
        if version and int(version[1]) >= _LEAST:
            return found
    if os.environ.get("CI") == "true":
        pytest.fail(_MISSING, pytrace=False)
    pytest.skip(_MISSING)


def said(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """What Node says, run in the client's folder."""
    return subprocess.run([node(), *arguments], cwd=CLIENT, capture_output=True, text=True, check=False)
