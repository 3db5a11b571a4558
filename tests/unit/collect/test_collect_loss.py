"""What a stranger's spec loses is computed, never believed: of every registered mechanism."""

from __future__ import annotations

import contextlib
import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import hush
import hush.longitudinal
import hush.multidim
from hush.collect import Collector
from hush.collect.client.book import offered
from hush.collect.client.limits import Limits
from hush.collect.loss import loss, parsed
from hush.errors import HushError, ParameterError, SpecError
from hush.mechanisms.collected import Collected
from hush.testing import museum
from tests.conftest import APPROXIMATE, UTILITY, example
from tests.unit.collect.scripted import ID, URL, Scripted

NAMES = sorted(name for name in hush.registry(kind=None) if ":" not in name)
NONE = {"LHO"}
"""Those without a guarantee."""


def made(name: str, epsilon: float) -> Collected:
    """A small mechanism of any kind, with a budget."""
    cls = hush.registry(kind=None)[name]
    epsilon *= min(1.0, cls.largest_epsilon / 20)
    if cls.kind == "frequency":
        return example(name, 6, epsilon)
    if cls.kind == "numeric":
        return cls(epsilon=epsilon, low=0.0, high=1.0)
    if cls.kind == "multidim":
        priors = {"priors": ((0.5, 0.25, 0.25), (0.5, 0.5))} if name == "RSRFD" else {}
        return cls(sizes=(3, 2), epsilon=epsilon, **priors)
    if name == "Memoized":
        return cls(mechanism=hush.OUE(k=6, epsilon=epsilon))
    if name == "dBitFlipPM":
        return cls(k=6, epsilon_permanent=epsilon, d=2)
    sizes = {"sizes": (3, 2)} if hasattr(cls, "samples") else {"k": 6}
    more = {"g": 3} if name == "LOLOHA" else {}
    return cls(**sizes, epsilon_permanent=epsilon, epsilon_report=epsilon / 2, **more)


def entries(plain: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Every entry of plain data, and where it stands."""
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for name, item in items:
        yield (*path, name), item
        yield from entries(item, (*path, name))


def changed(plain: Any, path: tuple[Any, ...], item: Any) -> Any:
    copy = json.loads(json.dumps(plain))
    inner = copy
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = item
    return copy


def answering(tmp_path: Path, plain: Any, **more: Any) -> Any:
    server = Scripted(plain)
    try:
        server.view["spec_hash"] = hush.Spec.from_dict(plain).hash
    except (HushError, TypeError, ValueError):
        server.view["spec_hash"] = "0" * 64
    options: dict[str, Any] = {
        "maximum": 100,
        "maximum_total": 1000,
        "maximum_chain": 1000,
        "delta": 0.5,
        "most_values": 10**8,
    }
    collector = Collector(URL, home=tmp_path, transport=server, unprotected=True, **{**options, **more})
    with pytest.raises(SpecError) as caught:
        collector.person("ann").answer((0, 0) if "sizes" in str(plain) else 0)
    assert server.sent == []
    return caught.value


@pytest.mark.parametrize("name", NAMES)
def test_the_loss_is_at_most_what_is_declared(name: str) -> None:
    m = made(name, 1.5)
    if name in NONE:
        with pytest.raises(SpecError, match="guarantees nothing"):
            loss(hush.Spec(m))
        return
    found = loss(hush.Spec(m))
    assert 0 < found.epsilon <= found.declared < math.inf
    assert (found.delta > 0) == (name in APPROXIMATE)
    assert found.unprotected == (3 if name in UTILITY else 0)
    assert (found.lasting is not None) == (m.kind == "longitudinal")


@pytest.mark.parametrize("name", sorted(set(NAMES) - NONE))
def test_thresholds_of_twenty_under_an_epsilon_of_one_are_refused(name: str, tmp_path: Path) -> None:
    """A hostile server declares epsilon 1 and sends the thresholds of 20: all of them, or any one alone."""
    honest = json.loads(hush.Spec(made(name, 1.0)).to_json())
    hostile = json.loads(hush.Spec(made(name, 20.0)).to_json())
    theirs = dict(entries(hostile))
    whole = honest
    for path, item in entries(honest):
        if "thresholds" in path and theirs.get(path, item) != item:
            answering(tmp_path / "one", changed(honest, path, theirs[path]))
            whole = changed(whole, path, theirs[path])
    assert whole != honest, f"{name} has no thresholds that depend on epsilon"
    answering(tmp_path / "all", whole)


@pytest.mark.parametrize("name", sorted(set(NAMES) - NONE))
def test_an_epsilon_of_one_over_all_else_of_twenty_is_refused(name: str, tmp_path: Path) -> None:
    """Whatever else a spec tells, it fits what it declares: parameters that a mechanism chooses, and thresholds."""
    honest = dict(entries(json.loads(hush.Spec(made(name, 1.0)).to_json())))
    hostile = json.loads(hush.Spec(made(name, 20.0)).to_json())
    declared = [path for path, _ in entries(hostile) if str(path[-1]).startswith("eps") and "thresholds" not in path]
    assert declared
    whole = hostile
    for path in declared:
        answering(tmp_path / "one", changed(hostile, path, honest[path]))
        whole = changed(whole, path, honest[path])
    answering(tmp_path / "all", whole)


@pytest.mark.parametrize("name", sorted(set(NAMES) - NONE))
def test_an_honest_spec_beyond_the_maximum_is_refused(name: str, tmp_path: Path) -> None:
    plain = json.loads(hush.Spec(made(name, 20.0)).to_json())
    assert "maximum" in str(answering(tmp_path, plain, maximum=0.9))


class Louder(hush.GRR):
    """Declares an epsilon, and has the threshold of 20."""

    @property
    def keep(self) -> int:
        return hush.GRR(k=self.k, epsilon=20.0).keep


@pytest.mark.parametrize("m", [Louder(k=4, epsilon=1.0), museum.RoundedUpCoin(low=0.0, high=1.0, epsilon=1.0)], ids=str)
def test_a_law_that_loses_more_than_is_declared_is_refused(m: Any) -> None:
    """Of mechanisms of others, too, whose thresholds are their own: by twenty times, and by a hair."""
    hush.register(type(m))
    spec = hush.Spec(m)
    assert parsed(spec.to_dict(), spec.hash) == spec
    with pytest.raises(SpecError, match="epsilon must be the most that the spec's own law loses"):
        loss(spec)


def test_printed_parameters_that_lose_more_than_epsilon_are_refused() -> None:
    """Where the paper's z spends more than its epsilon, the mechanism says so, and epsilon is what a spec declares."""
    m = hush.utility.uLH(k=25, epsilon=1.0, sensitive=range(10), g=4, z="paper")
    assert m.exact_epsilon() > 1.0
    with pytest.raises(SpecError, match="epsilon must be the most"):
        loss(hush.Spec(m))


@pytest.mark.parametrize(
    "plain",
    [None, [], {}, {"mechanism": "OUE"}, {"hush": 1, "mechanism": {"mechanism": 7}, "domain": {}}, {"hush": 99}],
)
def test_what_is_no_spec_is_refused(plain: Any) -> None:
    with pytest.raises(SpecError):
        parsed(plain, "0" * 64)


ODD: list[Any] = [
    None, True, 0, -1, 2, 7.5, 1e308, 1e-300, math.inf, math.nan, 2**64, 10**400,
    "", "x", "1" * 5000, [], {}, [[]], [1, 2],
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_server_tells_is_refused_or_within_what_it_declares(name: str) -> None:
    """Any entry of what it tells is left out, or becomes something odd; nothing but an error of ours comes of it."""
    view = Scripted(hush.Spec(made(name, 1.0))).view
    rng = random.Random(name)
    paths = [path for path, _ in entries(view)]
    for _ in range(60):
        told = view
        for path in rng.sample(paths, rng.choice([1, 1, 2])):
            with contextlib.suppress(LookupError, TypeError):
                told = changed(told, path, rng.choice(ODD))
        with contextlib.suppress(HushError, TypeError, ValueError, AttributeError, KeyError, ArithmeticError):
            told["spec_hash"] = hush.Spec.from_dict(told["spec"]).hash
        with contextlib.suppress(HushError):
            offer = offered(ID, "https://collector.example", told)
            assert offer.loss.epsilon <= offer.loss.declared


def test_another_hash_is_refused() -> None:
    spec = hush.Spec(hush.OUE(k=4, epsilon=1.0))
    assert parsed(spec.to_dict(), spec.hash) == spec
    with pytest.raises(SpecError, match="spec_hash"):
        parsed(spec.to_dict(), "0" * 64)


def test_consent() -> None:
    limits = {"maximum": 1.0, "maximum_chain": 5, "maximum_total": 10}
    approximate = loss(hush.Spec(hush.AGRR(k=4, epsilon=1.0, delta=1e-6)))
    disguised = loss(hush.Spec(example("uRR", 6, 1.0)))
    with pytest.raises(SpecError, match="delta"):
        Limits.of(**limits, delta=0, unprotected=True).consent(approximate)
    with pytest.raises(SpecError, match="unprotected"):
        Limits.of(**limits, delta=0.1, unprotected=False).consent(disguised)
    with pytest.raises(SpecError, match="maximum"):
        Limits.of(**{**limits, "maximum": "0.999"}, delta=0.1, unprotected=True).consent(approximate)
    Limits.of(**limits, delta=1e-6, unprotected=False).consent(approximate)
    Limits.of(**limits, delta=0, unprotected=True).consent(disguised)


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "much", None, True])
def test_limits_must_be_numbers(value: Any) -> None:
    with pytest.raises(ParameterError, match="maximum"):
        Limits.of(maximum=value, maximum_chain=1, maximum_total=1, delta=0, unprotected=False)


# Size.


def huge(name: str, k: int) -> dict[str, Any]:
    """A small spec, that says it has k values."""
    plain = json.loads(hush.Spec(made(name, 1.0)).to_json())
    for path, item in entries(plain):
        if path[-1] in ("k", "size"):
            plain = changed(plain, path, k)
        elif path[-1] == "sizes":
            plain = changed(plain, path, [k // len(item)] * len(item))
    return plain


@pytest.mark.parametrize("name", [name for name in NAMES if made(name, 1.0).kind != "numeric"])
def test_a_spec_that_would_stop_the_device_is_refused_before_it_is_made(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made_of: list[Any] = []
    monkeypatch.setattr(hush.Spec, "from_dict", classmethod(lambda cls, plain: made_of.append(plain)))
    server = Scripted(huge(name, 10**9))
    with pytest.raises(SpecError, match="most_values"):
        Collector(URL, home=tmp_path, transport=server).person("ann").answer(0)
    assert made_of == []


@pytest.mark.parametrize(
    "plain", [{"sizes": [2] * 1001}, {"sizes": [600_000, 600_000]}, {"mechanism": {"k": 10**8}}, {"g": -(10**30)}]
)
def test_parameters_have_bounds(plain: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match="most_values"):
        parsed(plain, "0" * 64)


def test_bounds_are_options(tmp_path: Path) -> None:
    spec = hush.Spec(hush.OUE(k=4000, epsilon=1.0))
    for option in ({"most_values": 3999}, {"most_record": 499}):
        with pytest.raises(SpecError, match=next(iter(option))):
            _ = Collector(URL, home=tmp_path, transport=Scripted(spec), **option).loss
    with pytest.raises(HushError, match="answer-too-long"):
        _ = Collector(URL, home=tmp_path, transport=Scripted(spec), most_view=100).loss
    assert (
        Collector(URL, home=tmp_path, transport=Scripted(spec), most_values=4000, most_record=500).loss.epsilon == 1.0
    )
    with pytest.raises(SpecError, match="most_record"):
        parsed((wide := hush.Spec(hush.OUE(k=9_000_000, epsilon=1.0))).to_dict(), wide.hash)


@pytest.mark.parametrize("of", ["from_dict", "exact_epsilon"])
def test_a_device_without_memory_refuses(of: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = hush.Spec(hush.OUE(k=4, epsilon=1.0))

    def none(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr(hush.Spec if of == "from_dict" else hush.OUE, of, none)
    with pytest.raises(SpecError):
        loss(parsed(spec.to_dict(), spec.hash))


def test_numbers_of_a_domain_need_no_room() -> None:
    """Labels and ends of an interval may be any numbers, and many values may be sensitive."""
    wide = hush.Spec(hush.Duchi(low=-1e12, high=1e12, epsilon=1.0))
    labels = hush.Spec(hush.GRR(k=2, epsilon=1.0), hush.Domain(labels=[10**12, 2 * 10**12]))
    many = hush.Spec(hush.utility.uRR(k=5000, epsilon=1.0, sensitive=range(4000)))
    for spec in (wide, labels, many):
        assert parsed(json.loads(spec.to_json()), spec.hash) == spec
