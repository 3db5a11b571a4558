"""What an error asks to install is what is missing, and what pyproject.toml offers."""

from __future__ import annotations

import random
import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import hush
from hush.audit import adapters
from hush.audit.foreign import CallableTarget
from hush.errors import MissingDependency

ROOT = Path(__file__).resolve().parents[2]
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def frame() -> object:
    m = hush.GRR(k=2, epsilon=1.0)
    return m.estimate(m.aggregate(m.privatize([0, 1]))).to_frame()


def foreign() -> object:
    def client(value: int) -> list[bool]:
        return [random.random() < (0.6 if each == value else 0.4) for each in range(16)]

    return hush.audit.run(CallableTarget(client, 16, 1.0), "classifier", trials=4000, rng=hush.seeded(7))


CASES: list[tuple[str, str, str, Callable[[], object]]] = [
    ("pandas", "pandas", "pandas", frame),
    ("sklearn.ensemble", "scikit-learn", "audit", foreign),
    ("pure_ldp", "pure-ldp", "peers", lambda: adapters.pure_ldp("GRR", 4, 1.0)),
    ("multi_freq_ldpy", "multi-freq-ldpy", "peers", lambda: adapters.multi_freq_ldpy("GRR", 4, 1.0)),
    ("opendp", "opendp", "peers", lambda: adapters.opendp("GRR", 4, 1.0)),
    ("statsmodels", "statsmodels", "peers", lambda: adapters.pure_ldp("GRR", 4, 1.0)),
    ("xxhash", "xxhash", "peers", lambda: adapters.multi_freq_ldpy("GRR", 4, 1.0)),
]


@pytest.mark.parametrize(("module", "package", "extra", "ask"), CASES, ids=[case[0] for case in CASES])
def test_the_error_names_the_package_that_is_missing(
    module: str, package: str, extra: str, ask: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    if module in ("statsmodels", "xxhash"):
        pytest.importorskip("pure_ldp")
    loaded = [name for name in sys.modules if name.split(".")[0] in {module, "pure_ldp", "multi_freq_ldpy", "opendp"}]
    for name in loaded:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependency) as caught:
        ask()
    assert f"needs the package {package}, which cannot be imported" in str(caught.value)
    assert f"pip install '.[{extra}]'" in str(caught.value)


def test_every_error_names_an_extra_that_brings_the_package() -> None:
    """From the source: what is asked for stands in pyproject.toml, under the extra that the error names."""
    called = re.compile(r'missing\("([\w-]+)", "(\w+)", ')
    found = {pair for path in (ROOT / "src").rglob("*.py") for pair in called.findall(path.read_text("utf-8"))}
    assert {("pandas", "pandas"), ("scikit-learn", "audit"), ("scikit-learn", "budget")} <= found
    for package, extra in found:
        assert any(re.match(rf"{package}\b", asked) for asked in EXTRAS[extra]), (package, extra)


def test_adapters_need_nothing_beyond_their_extra() -> None:
    """pure-ldp imports statsmodels without naming it, and audits of code without a law need scikit-learn."""
    names = {re.split(r"[<>=~!\[ ]", asked)[0] for asked in EXTRAS["peers"]}
    assert {"pure-ldp", "multi-freq-ldpy", "opendp", "xxhash", "statsmodels", "scikit-learn"} <= names
