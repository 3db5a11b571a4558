"""The cache of compiled kernels never stops a collection: as a user who may write nowhere, full, torn, or stale."""

from __future__ import annotations

import compileall
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hush
from tests.system.support import write_csv

pytestmark = pytest.mark.xdist_group("kernel_cache")  # one copy of the library

SOURCES = Path(hush.__file__).parent
WARNING = "Warning: compiled kernels cannot be kept on disk or read from there"
ORDERED = "Warning: the rows of r.parquet are in the input's order"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
READING = [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
"""May read what root alone may read, such as an interpreter in its home, and still write nothing."""

TINY = "mount -t tmpfs -o size=8k tmpfs kept"


@pytest.fixture(scope="module")
def library() -> Iterator[Path]:
    """The library, its Python code compiled, in a folder that nobody may write."""
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        made.chmod(0o755)
        shutil.copytree(SOURCES, made / "hush", ignore=shutil.ignore_patterns("*.nbi", "*.nbc"))
        compileall.compile_dir(made / "hush", quiet=2)  # what was not compiled before the copy
        inner = [made, *(path for path in made.rglob("*") if path.is_dir())]
        for each in inner:
            each.chmod(0o555)
        yield made
        for each in inner:
            each.chmod(0o755)


@pytest.fixture
def folder(library: Path) -> Iterator[Path]:
    """A folder that everybody may use, with a link to the library and people's values."""
    with tempfile.TemporaryDirectory() as name:
        made = Path(name)
        made.chmod(0o777)
        (made / "locked").symlink_to(library)
        write_csv(made / "d.csv", {"v": [0, 1, 2] * 10})
        yield made


@pytest.fixture(scope="module")
def compiled(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the kernels that `collect` calls."""
    folder = tmp_path_factory.mktemp("compiled")
    (folder / "locked").symlink_to(library)
    write_csv(folder / "d.csv", {"v": [0, 1, 2] * 10})
    quiet(collect(folder, folder / "kept"))
    return folder / "kept"


@pytest.fixture
def cache(folder: Path, compiled: Path) -> Path:
    """A copy of that cache."""
    return shutil.copytree(compiled, folder / "kept")


def collect(
    folder: Path, cache: Path | None, *, user: list[str] | None = None, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    """Randomize the values in a process of its own, with the locked library and no home.

    The rows keep their order, so that the process compiles one small kernel and not the one that shuffles.
    """
    chosen = ["--column", "v", "--k", "3", "--epsilon", "1", "--mechanism", "GRR", "--keep-order", "-o", "r.parquet"]
    kept = {name: value for name, value in os.environ.items() if name not in {"NUMBA_CACHE_DIR", "XDG_CACHE_HOME"}}
    locked = str((folder / "locked").resolve())
    env = {**kept, "PYTHONPATH": locked, "HOME": locked, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [*(user or []), sys.executable, "-m", "hush", "privatize", "d.csv", *chosen],
        cwd=folder,
        env=env if cache is None else {**env, "NUMBA_CACHE_DIR": str(cache)},
        preexec_fn=before,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = done.stderr.splitlines(keepends=True)
    done.stderr = "".join(line for line in lines if not line.startswith(ORDERED))
    return done


def warned(done: subprocess.CompletedProcess[str], reason: str) -> None:
    """The reports are there, and one warning says why and what to do."""
    assert done.returncode == 0, done.stderr
    assert "30 reports of 1 byte each" in done.stdout
    assert done.stderr.count("Warning:") == 1
    said = next(line for line in done.stderr.splitlines() if line.startswith(WARNING))
    assert reason in said
    assert "NUMBA_CACHE_DIR" in said


def quiet(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr


def files(cache: Path, ending: str) -> list[Path]:
    found = sorted(cache.rglob(f"*.{ending}"))
    assert found
    return found


def somebody() -> list[str]:
    """What makes a process another user's than root's: nothing, where we are not root."""
    if os.geteuid() != 0:
        return []
    for way in (NOBODY, [*NOBODY, *READING]):
        if (
            subprocess.run([*way, sys.executable, "-c", "import numba"], capture_output=True, check=False).returncode
            == 0
        ):
            return way
    pytest.skip("root's interpreter is for root alone")


def test_a_user_who_may_write_nowhere(folder: Path) -> None:
    user = somebody()
    warned(collect(folder, None, user=user), "RuntimeError: cannot cache function")
    kept = folder / "kept"
    kept.mkdir()
    kept.chmod(0o777)
    quiet(collect(folder, kept, user=user))
    assert files(kept, "nbc")


def test_a_full_disk(folder: Path) -> None:
    (folder / "kept").mkdir()
    mounted = ["unshare", "--map-root-user", "--mount", "sh", "-c", f'{TINY} && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*mounted, "true"], cwd=folder, check=False).returncode != 0:
        pytest.skip("no disk can be mounted here")
    warned(collect(folder, folder / "kept", user=mounted), "No space left on device")


def test_files_that_cannot_grow(folder: Path) -> None:
    cache, most = folder / "kept", 4096  # enough for the reports
    done = collect(folder, cache, before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
    warned(done, "File too large")
    quiet(collect(folder, cache))


@pytest.mark.parametrize("size", [0, 40, 1000])
@pytest.mark.parametrize("ending", ["nbi", "nbc"])
def test_a_torn_file_is_made_anew(folder: Path, cache: Path, ending: str, size: int) -> None:
    for path in files(cache, ending):
        whole = path.read_bytes()
        path.write_bytes(whole[: min(size, len(whole) - 1)])
    warned(collect(folder, cache), "Error")
    quiet(collect(folder, cache))


def test_damaged_code_is_not_run(folder: Path, cache: Path) -> None:
    """Pages that never reached the disk are zero."""
    for path in files(cache, "nbc"):
        whole = bytearray(path.read_bytes())
        middle = len(whole) // 2
        whole[middle : middle + 512] = bytes(512)
        path.write_bytes(whole)
    warned(collect(folder, cache), "damaged")
    quiet(collect(folder, cache))


def test_code_from_other_sources_is_not_run(folder: Path, library: Path) -> None:
    """A part in another file changed: numba itself would go on with the old code."""
    cache = folder / "kept"
    (folder / "locked").unlink()
    shutil.copytree(library, folder / "locked")
    quiet(collect(folder, cache))
    before = {path: path.read_bytes() for path in files(cache, "nbc")}
    words = folder / "locked" / "hush" / "kernels" / "words.py"
    words.write_text(words.read_text() + "\n# changed\n")
    quiet(collect(folder, cache))
    assert all(path.read_bytes() != old for path, old in before.items())


def test_there_is_one_way_to_declare_a_kernel() -> None:
    paths = [*SOURCES.rglob("*.py")]
    assert len(paths) > 500
    wrong = [str(path) for path in paths if "cache=True" in path.read_text(encoding="utf-8")]
    assert not wrong, f"declare kernels by @kernel in {wrong}"
