"""Rules and verdicts: what a check says follows from its rule and its number alone."""

from __future__ import annotations

import ast
import math
from dataclasses import replace
from pathlib import Path

import pytest

import hush_studies
from hush_studies import Check, Rule, Verdict, rule
from hush_studies.check import ours, paper, untold
from hush_studies.rule import Kind
from tests.reproduced import unsound


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        (rule.digits("0.818"), (0.8175, 0.8185), (0.8174, 0.8186)),
        (rule.digits("13"), (12.5, 13.49), (12.4, 13.6)),
        (rule.equal(), (1 - 1e-7, 1 + 1e-7), (1 - 1e-5, 1 + 1e-5)),
        (rule.equal(0), (-1e-7, 1e-7), (-1e-5, 1e-5)),
        (rule.at_most(2), (-9.0, 2.0), (2.07, math.nan)),
        (rule.at_least(11), (11.0, 448.0), (10.9, math.nan)),
        (rule.between(1, 2.5), (1.0, 2.5), (0.99, 2.51)),
        (rule.at_most(2, stderr=0.01), (2.04,), (2.06,)),
        (rule.below(1), (0.999,), (1.0, 1.1)),
        (rule.above(1), (1.001,), (1.0, 0.9)),
        (rule.alike(), (0.9, 1.1), (0.89, 1.11)),
        (rule.alike(6), (5.4, 6.6), (5.3, 6.7)),
        (rule.roughly(0.5, 0.7), (0.45, 0.75), (0.44, 0.76)),
        (rule.no_more(), (0.1, 1.1), (1.11,)),
        (rule.drawn(high=1), (0.5, 1.01), (1.02,)),
        (rule.mostly(), (0.51, 1.0), (0.5, 0.2)),
        (rule.faster(11), (5.5, 11.0, 448.0), (5.4, 1.0)),
        (rule.by_chance(100), (0.0, 5.7), (5.8,)),
        (rule.by_chance(100, 4), (0.0, 100.0), (200.0,)),
    ],
)  # fmt: skip
def test_a_rule_holds_inside_its_ends_and_tolerance(
    wanted: Rule, inside: tuple[float, ...], outside: tuple[float, ...]
) -> None:
    assert wanted.holds(inside)
    assert all(not wanted.holds([*inside, each]) for each in outside)
    assert not wanted.holds([])
    assert wanted.tolerance <= wanted.allowed * (1 + 1e-12)


def test_chance_is_allowed_one_false_alarm_in_a_million() -> None:
    from scipy.stats import norm, t

    for count in (1, 7, 1000):
        assert 2 * count * norm.sf(rule.deviations(count)) == pytest.approx(1e-6)
        assert 2 * count * t.sf(rule.deviations(count, 9), 9) == pytest.approx(1e-6)


def test_a_wider_tolerance_than_its_kind_allows_is_seen() -> None:
    wide = replace(rule.alike(), tolerance=1.5)
    assert unsound([paper("x", "1", wide, 2.0, "2", "V")]) == ["x: more tolerance than its kind allows"]
    assert unsound([paper("x", "1", rule.alike(), 2.0, "2", "V")]) == []
    assert unsound([paper("x", "1", rule.alike(), 2.0, "2", "")]) == ["x: no words"]
    free = Rule(Kind.BOUND, "anything")
    assert "x: no end" in unsound([paper("x", "1", free, 2.0, "2", "V")])


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(("value", "holds"), [(1.0, True), (2.0, False)])
def test_verdicts(value: float, holds: bool, known: bool) -> None:
    """Only what the paper tells can match or differ; what comes out otherwise than known is never silent."""
    words = ("x", "at most 1", rule.at_most(1), value, f"{value:g}", "V")
    judged = paper(*words, known=known)
    open_ = untold(*words, "its k is not printed", known=known)
    assert judged.verdict is (Verdict.MATCHES if holds else Verdict.DIFFERS)
    assert open_.verdict is Verdict.UNTOLD
    assert open_.remark.startswith(f"{'so' if holds else 'not so'} here: its k is not printed")
    for check in (judged, open_):
        assert check.passed is (holds is known)
        assert ("UNEXPECTED" in check.remark) is (holds is not known)


@pytest.mark.parametrize(("value", "remark"), [(1.0, "agree"), (2.0, "disagree; UNEXPECTED")])
def test_ours_against_ours_is_never_a_match(value: float, remark: str) -> None:
    check = ours("x", "at most 1", rule.at_most(1), value, f"{value:g}", "ours")
    assert (check.verdict, check.remark, check.passed) == (Verdict.OURS, remark, value == 1)
    assert Check.number("x", "1.5", 1.5, "40 digits", ours=True).verdict == "ours against ours"


def test_what_a_check_tells() -> None:
    told = untold("p", "0.8", rule.digits("0.8"), 0.9, "0.9", "VI", "no reason given", known=False).told()
    assert told == {
        "claim": "p", "source": "VI", "printed": "0.8", "rule": "it rounds to 0.8",
        "tolerance": "± 0.05: half a unit of the last digit", "computed": "0.9", "least": 0.9, "largest": 0.9,
        "verdict": "not told by the paper",
        "remark": "not so here: no reason given", "people": "",
    }  # fmt: skip


def test_no_study_makes_a_rule_of_its_own() -> None:
    """Rules come from the functions of `hush_studies.rule`, which give each kind its tolerance."""
    studies = sorted(Path(hush_studies.__file__).parent.glob("*/checks*.py"))
    assert len(studies) == 14
    wrong = []
    for path in studies:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                makes = ast.unparse(node.func) in {"Rule", "rule.Rule", "replace"}
                if makes or {each.arg for each in node.keywords} & {"tolerance", "holds", "right"}:
                    wrong.append(f"{path}: {ast.unparse(node)}")
    assert not wrong, "\n".join(wrong)
