"""Write the files beside this one: which version of every package is installed, with the hashes of all its files.

    python requirements/lock.py [--upgrade] [core] [dev] [minimum] [spark]

pip says which versions go together; the index that pip uses says what its files, of every platform, hash to. Versions
that are in a file stay unless they no longer fit, or with --upgrade. `core` is what Hush needs, `dev` what its tests
and pages need too, `minimum` the least version that pyproject.toml allows of everything that quick tests need,
`spark` what the examples on Spark need, which is large. Each holds what builds Hush, too, so that nothing is installed
without a hash.
"""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import urllib.request
from collections.abc import Iterable
from pathlib import Path

from pip._internal.models.index import PyPI
from pip._vendor.packaging.requirements import Requirement
from pip._vendor.packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

FOLDER = Path(__file__).resolve().parent
PROJECT = tomllib.loads((FOLDER.parent / "pyproject.toml").read_text("utf-8"))
BUILD = (*PROJECT["build-system"]["requires"], "editables")
TESTED = ("pandas", "audit", "collect", "test")
"""The extras that the tests of minimum versions need."""

APART = ("dev", "spark")
"""What `dev` leaves out: itself, and half a gigabyte that one page needs."""

RUNS = ("pytest",)
"""What runs the examples on Spark."""

TOOLS = ("ruff", "mypy", "pandas-stubs", "schemathesis", "playwright")
"""What looks at the code, or at a running server or page, from outside, and is not asked for its least version."""

BESIDE = ("pyparsing<3.3",)
"""What goes with the least versions: later ones warn of matplotlib 3.10, and tests take a warning for a failure."""

HEADER = "# {about} Written by `make lock` on Python {version}.\n"
ABOUT = {
    "core": "What Hush needs, for `make demo`.",
    "dev": "What Hush, its tests and its pages need, for `make test`.",
    "minimum": "The least versions that pyproject.toml allows, for `make minimum`.",
    "spark": "What the examples on Spark need, for `make spark`.",
}


def asked(name: str) -> list[str]:
    """The requirements that a file answers."""
    core, extras = PROJECT["project"]["dependencies"], PROJECT["project"]["optional-dependencies"]
    if name == "core":
        return [*core, *BUILD]
    if name == "dev":
        return [*core, *(each for extra, some in extras.items() if extra not in APART for each in some), *BUILD]
    if name == "spark":
        return [*core, *extras["spark"], *(each for each in extras["test"] if Requirement(each).name in RUNS), *BUILD]
    some = [*core, *(each for extra in TESTED for each in extras[extra])]
    return [*(least(each) for each in dict.fromkeys(some) if Requirement(each).name not in TOOLS), *BESIDE, *BUILD]


def least(requirement: str) -> str:
    """The least version that a requirement allows.

    >>> least("numba>=0.61,<0.70")
    'numba==0.61'
    >>> least("psycopg[binary]>=3.2; python_version < '3.13'")
    'psycopg[binary]==3.2; python_version < "3.13"'
    """
    wanted = Requirement(requirement)
    (lowest,) = (each.version for each in wanted.specifier if each.operator in (">=", "=="))
    extras = f"[{','.join(sorted(wanted.extras))}]" if wanted.extras else ""
    return f"{wanted.name}{extras}=={lowest}" + (f"; {wanted.marker}" if wanted.marker else "")


def resolved(wanted: list[str], kept: Iterable[str]) -> dict[str, str]:
    """The versions that pip would install, by name; those that are kept come first, as far as they fit."""
    asked_for = {canonicalize_name(each.name): each.specifier for each in map(Requirement, wanted)}
    fitting = []
    for pin in map(Requirement, kept):
        (version,) = (each.version for each in pin.specifier)
        allowed = asked_for.get(canonicalize_name(pin.name))
        if allowed is None or allowed.contains(version):
            fitting.append(str(pin))
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--ignore-installed", "--report", "-"]
    for held in (fitting, []):
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as constraints:
            constraints.write("\n".join(held))
            constraints.flush()
            done = subprocess.run(
                [*command, "--constraint", constraints.name, *wanted], stdout=subprocess.PIPE, text=True, check=False
            )
        if done.returncode == 0:
            found = (each["metadata"] for each in json.loads(done.stdout)["install"])
            return {canonicalize_name(each["name"]): each["version"] for each in found}
    sys.exit("lock: pip finds no versions that go together")


def hashes(name: str, version: str) -> list[str]:
    """SHA-256 of every file of a version, of whatever platform, as the index says."""
    index = os.environ.get("PIP_INDEX_URL") or PyPI.simple_url
    with urllib.request.urlopen(f"{index.rstrip('/')}/{name}/", timeout=180) as page:
        links = re.findall(r'href="([^"]+)#sha256=([0-9a-f]{64})"', html.unescape(page.read().decode("utf-8")))
    found = {digest for address, digest in links if version_of(address.rsplit("/", 1)[-1]) == version}
    if not found:
        sys.exit(f"lock: the index has no files of {name} {version}")
    return sorted(found)


def version_of(file: str) -> str | None:
    """The version of a file, where it can be installed."""
    try:
        if file.endswith(".whl"):
            return str(parse_wheel_filename(file)[1])
        return str(parse_sdist_filename(file)[1]) if file.endswith((".tar.gz", ".zip")) else None
    except ValueError:
        return None  # an old file whose name follows no rule


def pins(path: Path) -> list[str]:
    """The versions that a file holds."""
    return re.findall(r"^[\w.-]+==[\w.+!]+", path.read_text("utf-8"), re.MULTILINE) if path.exists() else []


def main(arguments: list[str]) -> None:
    """Write the files."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    for name in [each for each in arguments if each != "--upgrade"] or ABOUT:
        path = FOLDER / f"{name}.txt"
        wanted = asked(name)
        found = resolved(wanted, [] if "--upgrade" in arguments else pins(path))
        markers = {
            canonicalize_name(each.name): f" ; {each.marker}" for each in map(Requirement, wanted) if each.marker
        }
        lines = [HEADER.format(about=ABOUT[name], version=version)]
        for package in sorted(found):
            joined = " \\\n".join(f"    --hash=sha256:{digest}" for digest in hashes(package, found[package]))
            lines.append(f"{package}=={found[package]}{markers.get(package, '')} \\\n{joined}\n")
        path.write_text("".join(lines), encoding="utf-8")
        print(f"{path.relative_to(FOLDER.parent)}: {len(found)} packages")


if __name__ == "__main__":
    main(sys.argv[1:])
