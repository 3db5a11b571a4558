"""Public names are known by the path that people import them from."""

from __future__ import annotations

import doctest
import inspect
import pickle
from types import ModuleType

import pytest

import hush
from hush import longitudinal, utility
from hush.mechanisms.collected import from_outside
from hush.planning import capri, optimus
from tests.conftest import example

OURS = [name for name in hush.__all__ if inspect.isclass(getattr(hush, name)) or inspect.isroutine(getattr(hush, name))]
LATER = ["budget", "capacity", "survey", "uldp"]


@pytest.mark.parametrize("name", OURS)
def test_a_public_name_has_a_public_path(name: str) -> None:
    thing = getattr(hush, name)
    assert thing.__module__ == "hush"
    assert pickle.loads(pickle.dumps(thing)) is thing


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


@pytest.mark.parametrize("name", LATER)
def test_examples_of_what_is_imported_later(name: str) -> None:
    """Doctests are found by the module that a name is in, and these are in none until they are asked for."""
    thing = getattr(hush, name)
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    for test in doctest.DocTestFinder().find(thing, name, module=False, globs=dict(thing.__globals__)):  # type: ignore[arg-type]
        runner.run(test)
    tried = runner.summarize(verbose=False)
    assert tried.attempted > 0
    assert tried.failed == 0


@pytest.mark.parametrize(("package", "new"), [(optimus, "BudgetAnswer"), (capri, "CapacityAnswer")])
def test_the_answers_of_both_searches_have_their_old_names_for_a_version(package: ModuleType, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{package.__name__}.Answer is now {new}"):
        assert package.Answer is getattr(package, new)
