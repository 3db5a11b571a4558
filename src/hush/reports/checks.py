"""An audit for the tools of continuous integration: as a JUnit report, and as a SARIF 2.1.0 log."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from hush import __version__
from hush.audit import AuditResult

_OUTCOMES = {"violation": "failure", "inconclusive": "error"}
_KINDS = {"violation": "fail", "inconclusive": "open", "consistent": "pass", "measured": "informational"}
_RULE = "privacy-loss"
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(results: Sequence[AuditResult]) -> str:
    """One suite with a case for each method: a violation is a failure, an inconclusive audit an error."""
    counts = {
        "tests": str(len(results)),
        "failures": str(sum(result.verdict == "violation" for result in results)),
        "errors": str(sum(result.verdict == "inconclusive" for result in results)),
        "time": f"{sum(result.seconds for result in results):.3f}",
    }
    root = ElementTree.Element("testsuites", {"name": "hush audit", **counts})
    suite = ElementTree.SubElement(root, "testsuite", {"name": _xml(f"audit of {results[0].target}"), **counts})
    for result in results:
        named = {"classname": _xml(result.target), "name": result.method, "time": f"{result.seconds:.3f}"}
        case = ElementTree.SubElement(suite, "testcase", named)
        outcome = _OUTCOMES.get(result.verdict)
        if outcome is not None:
            said = {"type": result.verdict, "message": _xml(result.statement)}
            ElementTree.SubElement(case, outcome, said).text = _xml("\n".join(_lines(result)))
        ElementTree.SubElement(case, "system-out").text = _xml("\n".join([result.statement, *_lines(result)]))
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def sarif(results: Sequence[AuditResult]) -> str:
    """One run with a result for each method: a violation fails, an inconclusive audit is open, another passes."""
    rule = {
        "id": _RULE,
        "name": "PrivacyLoss",
        "shortDescription": {"text": "The privacy loss exceeds the claim."},
        "fullDescription": {
            "text": "Fresh reports of two values (or numbers, tuples, histories) prove a lower bound of the loss with "
            "the stated confidence. The result is open where the audit saw too little to tell."
        },
        "defaultConfiguration": {"level": "error"},
    }
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "hush audit", "version": __version__, "rules": [rule]}},
        "results": [_result(result) for result in results],
    }
    command = results[0].about.get("command")
    if command:
        run["invocations"] = [{"commandLine": command, "executionSuccessful": True}]
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2, allow_nan=False) + "\n"


def _result(result: AuditResult) -> dict[str, Any]:
    kind = _KINDS[result.verdict]
    finite = result.epsilon_lower if result.epsilon_lower < float("inf") else "infinite"
    return {
        "ruleId": _RULE,
        "ruleIndex": 0,
        "kind": kind,
        "level": "error" if kind == "fail" else "none",  # only what fails has a level
        "message": {"text": " ".join([f"{result.method}:", result.statement, *_lines(result)])},
        "locations": [_location(result)],
        "partialFingerprints": {"audit/v1": f"{result.target}/{result.method}"},
        "properties": {"proved": finite, "claimed": result.claimed, "confidence": result.confidence},
    }


def _location(result: AuditResult) -> dict[str, Any]:
    """The code's name, and its file and line where they are known."""
    found: dict[str, Any] = {"logicalLocations": [{"fullyQualifiedName": result.target, "kind": "function"}]}
    path, colon, line = str(result.about.get("source", "")).rpartition(":")
    if colon:
        place = {"artifactLocation": {"uri": path}, "region": {"startLine": int(line)}}
        found["physicalLocation"] = place
    return found


def _lines(result: AuditResult) -> list[str]:
    """What else to say of it."""
    return [*(said for said in (result.shown, result.looked) if said is not None), *result.notes]


def _xml(text: str) -> str:
    """Text without the characters that XML cannot hold."""
    return _FORBIDDEN.sub("\ufffd", text)
