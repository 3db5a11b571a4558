"""An audit from a question to what the page says, in one go."""

from __future__ import annotations

import json
import math
import shlex

import pytest
from typer.testing import CliRunner

import hush
from hush import strict_json
from hush.cli import app
from hush.workbench.audit.finding import AuditSaid, told
from hush.workbench.audit.question import from_fields
from hush.workbench.audit.running import command_of, work
from hush.workbench.audit.said import said

TERMS = {"trials": "20000", "alpha": "0.01", "seed": "7"}


def quiet(fraction: float, note: str) -> None:
    assert 0 <= fraction <= 1
    assert note


def test_an_honest_mechanism_is_not_accused_and_its_law_is_told() -> None:
    asked = from_fields("mechanism", {"k": "16", "epsilon": "1", **TERMS}, name="OUE")
    found = work(quiet, asked.to_dict())
    told = found["said"]
    assert (told["verdict"], told["headline"], told["speaker"]) == (
        "consistent",
        "No violation was found.",
        "likelihood",
    )
    assert [row["method"] for row in told["rows"]] == ["likelihood", "exact"]
    assert told["rows"][1]["proved"] == hush.OUE(k=16, epsilon=1.0).exact_epsilon()
    assert told["lead"].endswith("By the law that the code states, it is 1.")
    assert 0.5 < told["rows"][0]["proved"] < 1.0 == told["claimed"]
    assert "<title>Audit of OUE</title>" in found["page"]
    assert json.loads(json.dumps(found["results"])) == found["results"]


def test_what_the_page_offers_is_what_the_library_finds() -> None:
    asked = from_fields("mechanism", {"k": "8", "epsilon": "1", **TERMS}, ["likelihood"], name="GRR")
    told = work(quiet, asked.to_dict())["results"]["audits"][0]
    screening = hush.audit.screen(hush.GRR(k=8, epsilon=1.0), trials=20_000, rng=hush.seeded([7, 1]))
    same = hush.audit.run(hush.GRR(k=8, epsilon=1.0), trials=20_000, pair=screening, rng=hush.seeded(7))
    assert told["epsilon_lower"] == same.epsilon_lower
    assert told["counts"] == strict_json.plain(same.to_dict())["counts"]


def test_a_bug_is_found_with_its_values_and_its_event() -> None:
    found = work(quiet, from_fields("bug", {"k": "8", "epsilon": "1", **TERMS}, name="ShiftByOne").to_dict())["said"]
    assert (found["verdict"], found["headline"]) == ("violation", "The claim is false.")
    best = next(row for row in found["rows"] if row["method"] == found["speaker"])
    assert best["proved"] > 5
    assert found["lead"].endswith("it would be 1: the code does not follow its law.")
    assert best["pair"].startswith("values ")
    assert best["event"].startswith("the report is ")
    assert "and in 0 of " in best["counted"]
    assert "odds that moved by a factor of at least" in found["odds"]


def test_the_line_passes_through_what_was_proved_and_rises() -> None:
    asked = from_fields("mechanism", {"k": "4", "epsilon": "1", **TERMS}, ["likelihood"], name="GRR")
    row = work(quiet, asked.to_dict())["said"]["rows"][0]
    line = dict(row["line"])
    assert line[row["trials"]] == pytest.approx(row["proved"], abs=1e-12)
    assert list(line.values()) == sorted(line.values())


def test_an_infinite_loss_is_said_and_written() -> None:
    found = work(quiet, from_fields("mechanism", {"k": "4", "g": "2", **TERMS}, ["exact"], name="LHO").to_dict())
    assert found["said"]["rows"][0]["proved"] == math.inf
    assert (
        found["said"]["odds"]
        == f"Some reports tell {found['said']['rows'][0]['pair'].removeprefix('values ')} apart for certain."
    )
    assert found["results"]["audits"][0]["epsilon_lower"] == "inf"


def test_an_exact_audit_alone_says_what_it_did_not_look_at() -> None:
    asked = from_fields("mechanism", {"k": "4", "epsilon": "1", **TERMS}, ["exact"], name="GRR")
    found = work(quiet, asked.to_dict())["said"]
    assert found["headline"] == "By its law, the claim is kept."
    assert "Whether the code follows its law was not looked at." in found["lead"]
    assert "not of the code" in found["meaning"]


def test_code_is_audited_where_it_is_allowed() -> None:
    fields = {**TERMS, "target": "tests.unit.workbench.audited_code:telling", "k": "4", "claim": "1"}
    found = work(quiet, from_fields("code", fields).to_dict(), code=True)["said"]
    assert found["verdict"] == "violation"
    assert found["rows"][0]["proved"] < math.log(5)


def test_several_methods_share_alpha() -> None:
    asked = from_fields("mechanism", {"k": "4", "epsilon": "1", **TERMS}, ["likelihood", "attack"], name="GRR")
    audits = work(quiet, asked.to_dict())["results"]["audits"]
    assert [each["alpha"] for each in audits] == [0.005, 0.005]


@pytest.mark.parametrize(
    ("way", "name", "fields"),
    [
        ("mechanism", "LH", {"k": "8", "epsilon": "1", "g": "4"}),
        ("mechanism", "uSS", {"k": "8", "epsilon": "1", "sensitive": "0, 1, 2"}),
        ("mechanism", "Piecewise", {"low": "0", "high": "10", "epsilon": "1"}),
        ("mechanism", "RSFD", {"sizes": "2, 5", "epsilon": "1", "variant": "GRR", "claim": "1"}),
        ("mechanism", "LGRR", {"k": "5", "epsilon_permanent": "2", "epsilon_report": "1", "rounds": "3"}),
        ("mechanism", "AGRR", {"k": "5", "epsilon": "1", "delta": "0.001"}),
        ("bug", "ShiftByOne", {"k": "8", "epsilon": "1"}),
    ],
)
def test_the_command_asks_the_same(way: str, name: str, fields: dict[str, str]) -> None:
    asked = from_fields(way, {**fields, **TERMS, "trials": "2000"}, ["likelihood"], name=name)
    wanted = work(quiet, asked.to_dict())["results"]["audits"][0]
    ran = CliRunner().invoke(app, [*shlex.split(command_of(asked, ["likelihood"]))[1:], "--json"])
    told = json.loads(ran.stdout)["audits"][0]
    assert {key: told[key] for key in ("epsilon_lower", "counts", "verdict")} == {
        key: wanted[key] for key in ("epsilon_lower", "counts", "verdict")
    }


def test_what_is_said_sums_itself_up() -> None:
    found = said([hush.audit.run(hush.GRR(k=4, epsilon=1.0), "exact")])
    assert isinstance(found, AuditSaid)
    assert found.summary == "The claim is 1. Proved privacy loss of one report, by method: exact: 1.000."
    assert found.best.method == "exact"
    assert found.outlook == ""
    assert told(found.to_dict()) == found


def test_bars_stand_beside_the_claim_and_name_what_is_infinite() -> None:
    target = hush.LHO(k=4, g=2)
    proved, *others = said([hush.audit.run(target, "exact")]).bars()[0]
    assert (proved.labels, others) == (["exact (∞)"], [])
    series, end = said([hush.audit.run(hush.GRR(k=4, epsilon=1.0), "exact")]).bars()
    assert [(bar.name, bar.values, bar.quiet) for bar in series] == [("proved", [1.0], False), ("claimed", [1.0], True)]
    assert end == 1.2


def test_the_outlook_names_reports_that_suffice_or_what_more_would_prove() -> None:
    false = work(
        quiet, from_fields("bug", {"k": "8", "epsilon": "1", **TERMS}, ["classifier"], name="ShiftByOne").to_dict()
    )
    assert "reports of each value suffice to see that the claim is false" in told(false["said"]).outlook
    fair = work(quiet, from_fields("mechanism", {"k": "8", "epsilon": "1", **TERMS}, name="GRR").to_dict())
    assert "100,000,000 reports of each value, would prove" in told(fair["said"]).outlook
    assert told(fair["said"]).best.facts()[0][0] == "Told apart"
