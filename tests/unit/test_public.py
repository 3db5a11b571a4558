"""Public names are known by the path that people import them from."""

from __future__ import annotations

import inspect
import pickle
from types import ModuleType

import pytest

import hush
from hush import longitudinal, utility
from hush.mechanisms.collected import from_outside
from hush.planning import capri, optimus
from tests.conftest import example

THINGS = {name: getattr(hush, name, None) for name in hush.__all__}
OURS = [name for name, thing in THINGS.items() if inspect.isclass(thing) or inspect.isroutine(thing)]


def test_public_names_exist_and_are_sorted() -> None:
    """As ruff sorts them: constants, then classes, then the rest."""

    def key(name: str) -> tuple[int, str]:
        return (0 if name.isupper() else 1 if name[0].isupper() else 2), name

    assert sorted(hush.__all__, key=key) == list(hush.__all__)
    assert len(set(hush.__all__)) == len(hush.__all__)
    missing = [name for name, thing in THINGS.items() if thing is None]
    assert not missing, f"hush has no {missing}"


def test_public_names_have_a_public_path() -> None:
    elsewhere = [
        f"{name} is of {thing.__module__}, or its pickle is of something else"
        for name, thing in THINGS.items()
        if name in OURS and (thing.__module__ != "hush" or pickle.loads(pickle.dumps(thing)) is not thing)
    ]
    assert not elsewhere, "\n".join(elsewhere)


def test_almost_every_public_name_is_a_class_or_a_function() -> None:
    assert {*hush.__all__} - {*OURS} == {"datasets", "errors"}


def test_mechanisms_keep_their_names() -> None:
    for name, cls in hush.registry(kind=None).items():
        assert cls.name() == name == cls.__name__
        assert not from_outside(cls)
    assert hush.FrequencyOracle.name() == "FrequencyOracle"
    assert longitudinal.FirstLGRR.name() == "hush.longitudinal:FirstLGRR"
    assert longitudinal.FirstBitFlip.name() == "hush.longitudinal:FirstBitFlip"
    assert utility.UtilityOracle.name() == "UtilityOracle"


class Own(hush.GRR):
    """A user's own."""


def test_a_mechanism_from_outside_is_known_by_its_module() -> None:
    assert from_outside(Own)
    assert Own.name() == f"{__name__}:Own"


@pytest.mark.parametrize("name", ["OUE", "AUE", "uSS"])
def test_mechanisms_are_pickled_by_their_public_path(name: str) -> None:
    m = example(name, 5, 1.0)
    assert f"chush\n{name}\n".encode() in pickle.dumps(m, protocol=0)
    assert pickle.loads(pickle.dumps(m)) == m


@pytest.mark.parametrize(("package", "new"), [(optimus, "BudgetAnswer"), (capri, "CapacityAnswer")])
def test_the_answers_of_both_searches_have_their_old_names_for_a_version(package: ModuleType, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{package.__name__}.Answer is now {new}"):
        assert package.Answer is getattr(package, new)
