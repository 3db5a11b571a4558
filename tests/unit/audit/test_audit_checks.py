"""An audit as a JUnit report, a SARIF log and a page: what tools of continuous integration and people are told."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

import hush
from hush.audit import AuditResult, CallableTarget, run
from hush.reports.checks import junit, sarif


def told(value: int) -> str:
    """Says everything, and a character that XML cannot hold."""
    return f"\x00{value}"


@pytest.fixture(scope="module")
def results() -> list[AuditResult]:
    """A violation, an inconclusive audit, a consistent one, and one without a claim."""
    m = hush.GRR(k=4, epsilon=1.0)
    return [
        run(CallableTarget(told, 4, 1.0, "client \x00 <&>"), "classifier", trials=1000, rng=hush.seeded(1)),
        run(m, require=0.999, trials=2000, rng=hush.seeded(1)),
        run(m, trials=20_000, rng=hush.seeded(1)),
        run(hush.LHO(k=4, g=2), "exact"),
    ]


def test_a_junit_report(results: list[AuditResult]) -> None:
    root = ElementTree.fromstring(junit(results))
    assert root.tag == "testsuites"
    (suite,) = root
    assert (suite.tag, suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("testsuite", "4", "1", "1")
    assert all(each.get(name) for each in (root, suite) for name in ("name", "tests", "failures", "errors", "time"))
    cases = list(suite)
    assert [case.get("name") for case in cases] == ["classifier", "likelihood", "likelihood", "exact"]
    assert all(case.get("classname") and float(case.get("time", "-1")) >= 0 for case in cases)
    assert [[each.tag for each in case] for case in cases] == [
        ["failure", "system-out"], ["error", "system-out"], ["system-out"], ["system-out"],
    ]  # fmt: skip
    failure, error = cases[0][0], cases[1][0]
    assert (failure.get("type"), error.get("type")) == ("violation", "inconclusive")
    assert "the claim of 1-LDP is false" in str(failure.get("message"))
    assert "Witness: values" in str(failure.text)


def test_a_sarif_log(results: list[AuditResult]) -> None:
    """What SARIF 2.1.0 requires of a log, and of each object in it that this one has."""
    log = json.loads(sarif(results))
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-schema-2.1.0.json")
    (only,) = log["runs"]
    driver = only["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("hush audit", hush.__version__)
    (rule,) = driver["rules"]
    assert rule["id"]
    assert rule["shortDescription"]["text"]
    assert len(only["results"]) == 4
    assert [each["kind"] for each in only["results"]] == ["fail", "open", "pass", "informational"]
    for each in only["results"]:
        assert each["message"]["text"]
        assert driver["rules"][each["ruleIndex"]]["id"] == each["ruleId"]
        assert each["level"] == ("error" if each["kind"] == "fail" else "none")  # section 3.27.10
        (place,) = each["locations"]
        assert place["logicalLocations"][0]["fullyQualifiedName"]
    physical = only["results"][0]["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"]["uri"] == "tests/unit/audit/test_audit_checks.py"
    line = Path(__file__).read_text().splitlines()[physical["region"]["startLine"] - 1]
    assert line.startswith("def told")


def test_a_page_from_python_speaks_of_what_was_run(results: list[AuditResult], tmp_path: Path) -> None:
    path = tmp_path / "audit.html"
    page = results[1].to_html(path)
    assert path.read_text(encoding="utf-8") == page
    assert "The audit is inconclusive." in page
    assert "Tried: values 0 and 1 of 4, and no others" in page
    assert "<dt>likelihood</dt>" in page
    for absent in ("attack", "classifier", "exact", "violation", "consistent"):
        assert f"<dt>{absent}</dt>" not in page
    leaking = results[0].to_html()
    assert "<dt>classifier</dt>" in leaking
    assert '<th scope="col">values compared</th>' in leaking
    assert "&lt;&amp;&gt;" in leaking
