"""A revealed value is sent alone by default, which has the least error; specs that say pairs are read as pairs."""

from __future__ import annotations

import hashlib
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hush
from hush import multidim, utility
from hush.errors import ParameterError, SpecError
from hush.files.specs import construct
from hush.utility import optimal
from hush.utility.named import NamedOracle

NAMED = [utility.uRR, utility.uRAP, utility.uHR, utility.uSS, utility.uUE, utility.uLH, utility.uWheel]
GOLDEN = Path(__file__).parents[2] / "golden"
OLD = [entry[0] if isinstance(entry, list) else entry for entry in json.loads(
    (GOLDEN / "specs-0.1.json").read_text(encoding="utf-8"))["mechanisms"]]  # fmt: skip
OLD_PAIRS = [text for text in OLD if json.loads(text)["mechanism"].get("reveal") == "pair"]


@pytest.mark.parametrize("cls", NAMED, ids=lambda c: c.__name__)
@pytest.mark.parametrize("z", ["exact", "constant", "paper", "none"])
def test_the_default_is_alone_in_python_and_in_commands(cls: type[NamedOracle], z: str) -> None:
    given: dict[str, Any] = {"k": 9, "epsilon": 1.0, "sensitive": (1, 3, 4), "z": z}
    for u in (cls(**given), cls(**given, reveal=None), construct(cls, given), cls(k=9, epsilon=1.0, sensitive=[2])):
        assert u.reveal == "alone"
        assert u.to_dict()["reveal"] == "alone"
        assert hush.from_dict(u.to_dict()) == u


@pytest.mark.parametrize("cls", NAMED, ids=lambda c: c.__name__)
def test_no_other_way_has_less_error(cls: type[NamedOracle]) -> None:
    """Each way with the parameter that is best for it, over domains, budgets, shares and choices of z."""
    sizes, budgets, thetas = ((30, 2), (30, 25), (1000, 25), (1000, 230)), (0.1, 1.0, 4.0), (0.05, 0.5, 0.95)
    gains = []
    for (k, s), epsilon, theta, z in itertools.product(sizes, budgets, thetas, ("exact", "constant", "paper", "none")):
        given: dict[str, Any] = {"k": k, "epsilon": epsilon, "sensitive": range(s), "theta": theta, "z": z}
        alone, pair = cls(**given), cls(**given, reveal="pair")
        gains.append(utility.total_error(pair, theta) / utility.total_error(alone, theta))
    assert min(gains) >= 1 - 1e-12
    assert max(gains) > 2 or cls is utility.uRR


@pytest.mark.parametrize("cls", [c for c in NAMED if c not in (utility.uLH, utility.uWheel)], ids=lambda c: c.__name__)
def test_no_population_has_less_error_in_pairs(cls: type[NamedOracle]) -> None:
    """For the same parameter, every value's variance, whoever holds what."""
    alone = cls(k=12, epsilon=1.3, sensitive=range(5))
    own = {f: getattr(alone, f) for f in ("omega", "p", "blocks") if hasattr(alone, f)}
    pair = cls(k=12, epsilon=1.3, sensitive=range(5), reveal="pair", **own)
    rng = np.random.default_rng(7)
    for people in (*np.eye(12), *rng.dirichlet(np.ones(12), 20)):
        assert (alone.variances(people) <= pair.variances(people) * (1 + 1e-9) + 1e-12).all()


def test_over_a_public_family_values_go_in_pairs_unless_z_is_constant() -> None:
    given: dict[str, Any] = {"k": 25, "epsilon": 1.0, "sensitive": range(10), "hash": "family"}
    assert utility.uLH(**given).reveal == "pair"
    assert utility.uLH(**given, z="constant").reveal == "alone"
    assert utility.uLH(**{**given, "sensitive": [3]}).reveal == "alone"
    assert utility.uLH(k=25, epsilon=1.0, hash="family").reveal == "alone"  # nothing is revealed
    with pytest.raises(ParameterError, match=r"^reveal must be 'pair'"):
        utility.uLH(**given, reveal="alone")
    with pytest.raises(ParameterError, match=r"^reveal must be one of pair, alone"):
        utility.uLH(**given, reveal="both")


@pytest.mark.parametrize(
    ("base", "due"),
    [(hush.GRR(k=5, epsilon=1.0), "alone"), (hush.SS(k=5, epsilon=1.0), "alone"), (hush.HR(k=5, epsilon=1.0), "alone"),
     (hush.OLH(k=5, epsilon=1.0), "alone"), (hush.Wheel(k=5, epsilon=1.0), "alone"), (hush.AGRR(k=5, epsilon=1.0,
      delta=1e-3), "alone"), (hush.OLH(k=5, epsilon=1.0, hash="family"), "pair"), (hush.PGR(k=7, epsilon=1.0), "pair"),
     (hush.MSS(k=5, epsilon=1.0, moduli=(3, 5)), "pair"), (hush.SHE(k=5, epsilon=1.0), "pair")],
    ids=lambda each: each if isinstance(each, str) else each.name(),
)  # fmt: skip
def test_a_transformation_sends_values_alone_where_their_law_can_be_stated(
    base: hush.FrequencyOracle, due: str
) -> None:
    domain = hush.Domain(size=9, sensitive=range(base.k))
    u = utility.transform(base, domain)
    assert u.reveal == due
    assert u == utility.transform(base, domain, reveal=due) == hush.from_dict(u.to_dict())
    if due == "pair":
        with pytest.raises(ParameterError):
            utility.transform(base, domain, reveal="alone")
    assert utility.total_error(u) <= utility.total_error(utility.transform(base, domain, reveal="pair")) * (1 + 1e-9)


def test_a_wrong_base_is_refused_for_what_is_wrong_with_it() -> None:
    with pytest.raises(ParameterError, match=r"^base must have as many values as are sensitive, 3"):
        utility.transform(hush.OUE(k=5, epsilon=1.0), hush.Domain(size=9, sensitive=range(3)))


def test_there_are_old_specs_of_all_that_sent_pairs() -> None:
    names = {json.loads(text)["mechanism"]["mechanism"] for text in OLD_PAIRS}
    assert names == {"uRR", "uRAP", "uSS", "uUE", "uLH", "uWheel", "Transformed"}


@pytest.mark.parametrize("text", OLD_PAIRS, ids=lambda text: json.loads(text)["mechanism"]["mechanism"])
def test_an_old_spec_reads_as_pairs_with_the_same_hash(text: str) -> None:
    spec = hush.Spec.from_json(text)
    assert spec.mechanism.reveal == "pair"
    assert spec.to_json() == text
    assert spec.hash == hashlib.sha256(text.encode()).hexdigest()
    reports = spec.privatize(np.arange(2000) % spec.domain.size, rng=hush.seeded(7))
    assert spec.estimate(spec.aggregate(reports)).n == 2000
    assert 2 in reports["kind"] or spec.mechanism.z_mean == 0


@pytest.mark.parametrize("text", OLD_PAIRS, ids=lambda text: json.loads(text)["mechanism"]["mechanism"])
def test_a_spec_that_does_not_say_how_values_are_revealed_is_refused(text: str) -> None:
    """No version wrote one, so no default is put in its place."""
    plain = json.loads(text)
    del plain["mechanism"]["reveal"]
    with pytest.raises(SpecError, match=r"^reveal must be written out"):
        hush.Spec.from_dict(plain)


@pytest.mark.parametrize("cls", NAMED, ids=lambda c: c.__name__)
def test_a_new_spec_has_the_entries_of_an_old_one(cls: type[NamedOracle]) -> None:
    given: dict[str, Any] = {"k": 25, "epsilon": 1.0, "sensitive": range(10), "theta": 0.77}
    old = next(json.loads(t)["mechanism"] for t in OLD if json.loads(t)["mechanism"]["mechanism"] == cls.__name__)
    new = cls(**given).to_dict()
    assert new.keys() == old.keys() | ({"omega", "p", "g", "coverage", "blocks"} & new.keys())
    assert new["thresholds"].keys() == old["thresholds"].keys()


@pytest.mark.parametrize("name", ["uRR", "uRAP", "uHR", "uSS", "uUE", "uLH", "uWheel"])
def test_tuples_whose_values_are_all_sensitive_do_not_say_how_others_are_revealed(name: str) -> None:
    made = multidim.SMP(sizes=(6,), epsilon=1.0, mechanism=name)
    plain = made.to_dict()
    assert "reveal" not in json.dumps({**plain, "thresholds": None})
    assert hush.from_dict(plain) == made
    plain.pop("chosen", None)  # as version 0.1 wrote it
    assert hush.from_dict(plain).to_dict() == plain


@pytest.mark.parametrize("reveal", ["alone", "pair"])
def test_subsets_shrink_to_one_value_where_no_noise_is_left(reveal: str) -> None:
    sizes = [optimal.subset_size(10, epsilon, 0.5, reveal=reveal) for epsilon in (0.5, 2.0, 10.0, 30.0, 38.0, 40.0)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[2:] == [1, 1, 1, 1]  # at 40, 1 - p has no digit left
