"""`hush audit`: verdicts, exit codes, files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

import hush
from tests.system.support import answer, refused, run

OUE = ("audit", "--mechanism", "OUE", "--k", 20, "--epsilon", 1, "--trials", 100_000, "--seed", 7)


def test_an_honest_mechanism_leaves_with_zero() -> None:
    told = answer(*OUE)
    assert told["violation"] is False
    likelihood, exact = told["audits"]
    assert (likelihood["method"], exact["method"]) == ("likelihood", "exact")
    assert 0.9 < likelihood["epsilon_lower"] < 1
    assert exact["epsilon_lower"] == hush.OUE(k=20, epsilon=1.0).exact_epsilon()
    assert run(*OUE).exit_code == 0


def test_a_false_claim_leaves_with_one_and_a_witness() -> None:
    told = run(*OUE, "--claim", 0.5)
    assert told.exit_code == 1
    assert "the claim of 0.5-LDP is false" in told.stdout
    assert "Witness: values 0 and 1" in told.stdout


def test_every_method_can_be_asked_for() -> None:
    told = answer(*OUE, "--method", "attack", "--method", "classifier", "--method", "exact", "--method", "attack")
    assert [each["method"] for each in told["audits"]] == ["attack", "classifier", "exact"]


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, again, other = (answer(*OUE[:-1], seed)["audits"][0]["counts"] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_page_and_a_picture_for_the_files(tmp_path: Path) -> None:
    page, picture = tmp_path / "audit.html", tmp_path / "audit.png"
    told = run(*OUE, "--claim", 0.5, "--html", page, "--png", picture)
    assert told.exit_code == 1
    text = page.read_text()
    assert "the claim of 0.5-LDP is false" in text
    assert "spec hash" in text
    assert "thresholds" in text
    assert "http" not in text.replace("http-equiv", "")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_checkpoint_is_kept_for_each_method(tmp_path: Path) -> None:
    file = tmp_path / "standing.json"
    first = answer(*OUE, "--checkpoint", file)
    assert json.loads(file.read_text())["streams"]["2"][0] == 90_000
    again = answer(*OUE, "--checkpoint", file)
    answer(*OUE, "--checkpoint", tmp_path / "both.json", "--method", "attack", "--method", "likelihood")
    assert {path.name for path in tmp_path.glob("both*")} == {"both.attack.json", "both.likelihood.json"}
    assert again["audits"][0]["counts"] == first["audits"][0]["counts"]


def test_a_spec_is_audited(tmp_path: Path) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(hush.Spec(hush.GRR(k=4, epsilon=1.0)).to_json())
    assert answer("audit", "--spec", spec, "--trials", 20_000, "--seed", 1)["audits"][0]["claimed"] == 1.0


HONEST = """
import random

def respond(value):
    return value if random.random() < 0.5 else random.choice([v for v in range(4) if v != value])

def leaks(value):
    return value if random.random() < 0.9 else random.choice([v for v in range(4) if v != value])

def seldom(value):
    return value if random.random() < 0.05 else -1

def crashes(value):
    raise RuntimeError("no luck")

def tells_two(value):
    return value if value == 2 else respond(value)

def hashed(value):
    seed = random.getrandbits(32)
    return seed, (hash((seed, value)) + (random.random() < 0.5)) % 2
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    name = f"foreign_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(HONEST)
    return name


def test_a_foreign_function(module: str) -> None:
    """Randomized response with 1/2 for one of four values loses ln 3 = 1.0986; false alarm 1e-6."""
    asked = ("audit", "--k", 4, "--claim", 1.1, "--trials", 40_000, "--alpha", 1e-6, "--seed", 3)
    honest = answer(*asked, "--target", f"{module}:respond")["audits"][0]
    assert honest["verdict"] == "consistent"
    assert honest["epsilon_lower"] > 0.8
    told = run(*asked, "--target", f"{module}:leaks")
    assert told.exit_code == 1
    assert "is false" in told.stdout
    assert "no luck" in refused(*asked, "--target", f"{module}:crashes")
    assert "must be importable" in refused(*asked, "--target", "nowhere_at_all:f")


def test_a_value_that_is_told_is_found_without_a_hint(module: str) -> None:
    """Of the four, only the third. False alarm 1e-6."""
    asked = ("audit", "--k", 4, "--claim", 1.1, "--trials", 5000, "--alpha", 1e-6, "--seed", 3)
    told = run(*asked, "--target", f"{module}:tells_two")
    assert told.exit_code == 1
    assert "Tried: all 4 values, 2,000 reports each" in told.stdout


def test_an_audit_that_cannot_see_leaves_with_three_and_says_what_it_tried(module: str, tmp_path: Path) -> None:
    page, suite, log = (tmp_path / name for name in ("audit.html", "audit.xml", "audit.sarif"))
    asked = ("audit", "--k", 4, "--claim", 1.1, "--trials", 5000, "--seed", 3, "--target", f"{module}:hashed")
    told = run(*asked, "--html", page, "--junit", suite, "--sarif", log)
    assert told.exit_code == 3
    for text in (told.stdout, page.read_text(), suite.read_text(), log.read_text()):
        assert "inconclusive" in text or '"open"' in text
        assert "Tried: all 4 values, 2,000 reports each" in text
        assert "would have been found with probability 90%" in text
    plain = json.loads(run(*asked, "--json").stdout)
    assert (plain["violation"], plain["inconclusive"]) == (False, True)
    assert ElementTree.parse(suite).getroot().get("errors") == "1"
    found = json.loads(log.read_text())["runs"][0]["results"][0]
    assert found["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == f"{module}.py"


def test_a_share_of_the_claim_can_be_required() -> None:
    """OUE of 20 values proves 0.9 to 1 of its claim of 1."""
    assert run(*OUE, "--require", 0.5).exit_code == 0
    told = run(*OUE, "--require", "99.9%")
    assert told.exit_code == 3
    assert "of the claim, where 99.9% must be proved" in told.stdout
    assert "require must be a number above 0 and at most 1" in refused(*OUE, "--require", 0)


def test_a_client_of_another_library_is_audited_by_its_name() -> None:
    """multi-freq-ldpy's SS lists the true value first. False alarm 1e-6."""
    asked = ("audit", "--k", 6, "--epsilon", 1, "--trials", 20_000, "--alpha", 1e-6, "--seed", 7)
    told = run(*asked, "--adapter", "multi-freq-ldpy:SS")
    assert told.exit_code == 1
    assert "Audit of multi-freq-ldpy SS" in told.stdout
    assert "mechanism must be one of GRR, RR, SUE" in refused(*asked, "--adapter", "opendp:OUE")
    assert "adapter must be a library and a mechanism" in refused(*asked, "--adapter", "nowhere")


@pytest.mark.parametrize("name", ["LastBitUnprotected", "TrueValueFirst", "LastNeverFake", "SeedTellsValue"])
def test_broken_mechanisms_are_found_without_a_hint(name: str) -> None:
    """No pair and no method is named."""
    asked = ("--k", 16, "--epsilon", 1, "--trials", 20_000, "--alpha", 1e-6, "--seed", 3)
    told = run("audit", "--mechanism", f"hush.testing.museum:{name}", *asked)
    assert told.exit_code == 1
    assert "is false" in told.stdout


def test_a_claim_has_its_delta(module: str) -> None:
    """Tells its value once in twenty times, else nothing: (0, 0.05)-LDP. False alarm 1e-6."""
    asked = ("audit", "--k", 4, "--target", f"{module}:seldom", "--trials", 20_000, "--alpha", 1e-6, "--seed", 3)
    assert run(*asked, "--claim", 0.5).exit_code == 1
    told = run(*asked, "--claim", 0.5, "--delta", 0.1, "--json")
    assert told.exit_code == 3  # the claim is so loose that nothing of it can be seen
    found = json.loads(told.stdout)["audits"][0]
    assert (found["delta"], found["verdict"]) == (0.1, "inconclusive")


def test_a_program_that_remembers_is_told_apart(tmp_path: Path) -> None:
    """A process keeps its first answer; with a process for each value, it is an honest 1.0986-LDP client."""
    program = tmp_path / "memory.py"
    program.write_text(
        "import random, sys\n"
        "kept = None\n"
        "for line in sys.stdin:\n"
        "    kept = (int(line) if random.random() < 0.5 else random.randrange(4)) if kept is None else kept\n"
        "    print(kept)\n"
    )
    asked = ("audit", "--pipe", f"{sys.executable} {program}", "--k", 4, "--claim", 2, "--trials", 1000)
    assert "must answer every line afresh" in refused(*asked)
    assert "--chunk must be a whole number" in refused(*asked, "--chunk", 0)


def test_a_program_over_a_pipe(tmp_path: Path) -> None:
    """The same loss, by a program in JavaScript."""
    program = tmp_path / "client.js"
    program.write_text(
        "const lines = require('fs').readFileSync(0, 'utf8').trim().split('\\n').map(Number);\n"
        "const other = v => (v + 1 + Math.floor(Math.random() * 3)) % 4;\n"
        "console.log(lines.map(v => Math.random() < 0.9 ? v : other(v)).join('\\n'));\n"
    )
    asked = ("audit", "--pipe", f"node {program}", "--k", 4, "--alpha", 1e-6)
    assert run(*asked, "--trials", 20_000, "--claim", 1.0).exit_code == 1
    assert run(*asked, "--trials", 20_000, "--claim", 3.5).exit_code == 3  # its loss is ln 27 = 3.3; a rare leak might
    assert run(*asked, "--trials", 200_000, "--claim", 3.5).exit_code == 0  # be missed by so few, not by so many
    assert "program that can be found" in refused("audit", "--pipe", "no-such-program-here", "--k", 4, "--claim", 1)


def test_a_program_that_hangs_is_given_up() -> None:
    asked = ("audit", "--pipe", "sleep 60", "--k", 4, "--claim", 1, "--trials", 1000)
    assert "silence for 0.2 seconds" in refused(*asked, "--timeout", 0.2)
    assert "timeout must be a number above 0" in refused(*asked, "--timeout", 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ((), "what to audit must be given"),
        (("--mechanism", "OUE", "--target", "m:f"), "what to audit must be given, one of"),
        (("--target", "m:f", "--claim", 1), "--k must be given beside --target"),
        (("--target", "m:f", "--k", 4), "--claim must be given beside --target"),
        ((*OUE[1:5], "--epsilon", 1, "--method", "guess"), "method must be one of"),
        ((*OUE[1:5], "--epsilon", 1, "--trials", 10), "--trials must be a whole number of at least 1000"),
        ((*OUE[1:5], "--epsilon", 1, "--alpha", 0), "alpha must be"),
        ((*OUE[1:5], "--epsilon", 1, "--pair", "0"), "--pair must be two values"),
        ((*OUE[1:5], "--epsilon", 1, "--pair", "0,99"), "pair must be two different values"),
        ((*OUE[1:5], "--epsilon", 1, "--bound", "x"), "bound must be one of"),
        ((*OUE[1:5], "--epsilon", 1, "--html", "a.txt"), "--html must end in .html"),
        ((*OUE[1:5], "--epsilon", 1, "--timeout", 3), "--timeout must be left out beside --mechanism"),
        ((*OUE[1:5], "--epsilon", 1, "--chunk", 3), "--chunk must be left out beside --mechanism"),
        (("--target", "m:f", "--k", 4, "--claim", 1, "--epsilon", 1), "--epsilon must be left out beside --target"),
        (("--target", "m.py:f", "--k", 4, "--claim", 1), "write m:f"),
        (("--adapter", "pure-ldp:OLH", "--k", 4), "--epsilon must be given beside --adapter"),
        (("--adapter", "pure-ldp:OLH", "--k", 4, "--epsilon", 1, "--timeout", 3), "--timeout must be left out beside"),
        ((*OUE[1:5], "--epsilon", 1, "--junit", "a.txt"), "--junit must end in .xml"),
        ((*OUE[1:5], "--epsilon", 1, "--sarif", "a.json"), "--sarif must end in .sarif"),
    ],
)
def test_bad_usage_leaves_with_two(options: tuple[object, ...], words: str) -> None:
    assert words in refused("audit", *options)


def test_the_printed_hashing_under_uldp_is_caught_with_a_witness() -> None:
    """Its true loss is 1.2851. False alarm 1e-6."""
    asked = ("audit", "--mechanism", "uLH", "--k", 25, "--sensitive", "0-9", "--epsilon", 1, "--set", "g=4")
    sampled = ("--claim", 1, "--trials", 200_000, "--alpha", 1e-6, "--seed", 7)
    told = run(*asked, "--set", "z=paper", *sampled)
    assert told.exit_code == 1
    assert "the claim of 1-ULDP is false" in told.stdout
    assert "exactly 1.28512" in told.stdout
    assert run(*asked, *sampled).exit_code == 0


MEAN = ("audit", "--mechanism", "Piecewise", "--low", 0, "--high", 10, "--epsilon", 1, "--trials", 20_000, "--seed", 7)


def test_a_mean_is_audited_between_its_ends(tmp_path: Path) -> None:
    told = answer(*MEAN)
    likelihood, exact = told["audits"]
    assert {likelihood["witness"]["first"], likelihood["witness"]["second"]} == {0.0, 10.0}
    assert 0.9 < likelihood["epsilon_lower"] < 1
    assert exact["epsilon_lower"] == hush.Piecewise(low=0.0, high=10.0, epsilon=1.0).exact_epsilon()
    assert run(*MEAN).exit_code == 0
    spec = tmp_path / "spec.json"
    spec.write_text(hush.Spec(hush.Piecewise(low=0.0, high=10.0, epsilon=1.0)).to_json())
    again = answer("audit", "--spec", spec, "--trials", 20_000, "--seed", 7)
    assert again["audits"][0]["counts"] == likelihood["counts"]


def test_a_mean_in_all_files(tmp_path: Path) -> None:
    files = {end: tmp_path / f"audit.{end}" for end in ("html", "png", "xml", "sarif", "json")}
    options = ("--html", files["html"], "--png", files["png"], "--junit", files["xml"], "--sarif", files["sarif"])
    told = run(*MEAN, "--claim", 0.5, "--pair", "2.5,7", *options, "--checkpoint", files["json"])
    assert told.exit_code == 1
    assert "Witness: numbers 2.5 and 7: " in told.stdout
    assert "numbers 2.5 and 7: " in files["html"].read_text()
    assert "trials of each number" in files["html"].read_text()
    assert "numbers 2.5 and 7" in files["sarif"].read_text()
    assert ElementTree.parse(files["xml"]).getroot().attrib["failures"] == "2"
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    again = run(*MEAN, "--claim", 0.5, "--pair", "2.5,7", "--checkpoint", files["json"])
    assert "All counts come from the checkpoint" in again.stdout


def test_wrong_numbers_are_told(module: str) -> None:
    assert "--pair must be two numbers and a comma" in refused(*MEAN, "--pair", "1")
    assert "pair must be two different numbers from 0 to 10" in refused(*MEAN, "--pair", "1,11")
    foreign = ("audit", "--target", f"{module}:respond", "--claim", 1)
    assert "--high must be given beside --low" in refused(*foreign, "--low", 0)
    assert "--k must be left out beside --low and --high" in refused(*foreign, "--low", 0, "--high", 1, "--k", 4)
    assert "--k must be given beside --target" in refused(*foreign)
    assert "high must be a number above 1" in refused(*foreign, "--low", 1, "--high", 0)


MEANS = """
import random

def coin(number):
    return int(random.random() < 0.3 + 0.4 * number)

def band(number):
    return number if 0.7 < number < 0.71 else coin(number)
"""


def test_foreign_means(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A coin of 0.3 to 0.7 loses ln 7/3 = 0.847; a band of numbers is told. False alarm 1e-6."""
    monkeypatch.chdir(tmp_path)
    name = f"means_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MEANS)
    asked = ("audit", "--low", 0, "--high", 1, "--claim", 0.85, "--trials", 40_000, "--alpha", 1e-6, "--seed", 3)
    assert answer(*asked, "--target", f"{name}:coin")["audits"][0]["verdict"] == "consistent"
    told = run(*asked, "--target", f"{name}:band")
    assert told.exit_code == 1
    assert "Tried: all 257 numbers" in told.stdout
    program = f"import sys, {name}\nfor line in sys.stdin: print({name}.band(float(line)))"
    (tmp_path / "client.py").write_text(program)
    assert run(*asked[:-2], "--pipe", f"{sys.executable} client.py").exit_code == 1


FAKE = ("audit", "--mechanism", "RSFD", "--attributes", "2,5", "--epsilon", 1, "--set", "variant=GRR", "--seed", 7)


def test_tuples_whole_and_by_one_attribute(tmp_path: Path) -> None:
    m = hush.multidim.RSFD(sizes=(2, 5), epsilon=1.0, variant="GRR")
    asked = ("--trials", 40_000, "--claim", 1.0, "--json")
    whole = json.loads(run(*FAKE, *asked).stdout)
    assert [each["verdict"] for each in whole["audits"]] == ["violation", "violation"]
    assert whole["audits"][0]["witness"]["first"] == [0, 0]
    assert whole["audits"][1]["epsilon_lower"] == m.exact_epsilon()
    files = {end: tmp_path / f"audit.{end}" for end in ("html", "png", "xml", "sarif", "json")}
    options = ("--html", files["html"], "--png", files["png"], "--junit", files["xml"], "--sarif", files["sarif"])
    one = (*FAKE, "--trials", 40_000, "--changed", 1, "--pair", "0,0:0,3", "--checkpoint", files["json"])
    told = run(*one, *options)
    assert told.exit_code == 0
    assert "tuples (0, 0) and (0, 3): " in told.stdout
    assert "trials of each tuple" in files["html"].read_text()
    assert all(file.stat().st_size > 100 for file in files.values())
    assert "All counts come from the checkpoint" in run(*one).stdout
    spec = tmp_path / "spec.json"
    spec.write_text(hush.Spec(m).to_json())
    again = json.loads(run("audit", "--spec", spec, "--seed", 7, *asked).stdout)
    assert again["audits"][0]["counts"] == whole["audits"][0]["counts"]


def test_reports_over_time(tmp_path: Path) -> None:
    kept = ("--k", 5, "--epsilon-permanent", 2, "--epsilon-report", 1)
    rules = ("--trials", 20_000, "--seed", 7)
    told = run("audit", "--mechanism", "losue", *kept, "--rounds", 12, *rules)
    assert told.exit_code == 0
    assert "the privacy loss of 12 reports of one person is at least 1." in told.stdout
    fresh = answer("audit", "--mechanism", "GRR", "--k", 4, "--epsilon", 0.5, "--rounds", 3, *rules)["audits"]
    assert [each["claimed"] for each in fresh] == [1.5, 1.5]
    histories = ("--histories", "0,0,0:0,0,1", "--html", tmp_path / "audit.html")
    moved = run("audit", "--mechanism", "LGRR", *kept, *histories, *rules)
    assert moved.exit_code == 0
    assert "histories 0,0,1 and 0,0,0: " in moved.stdout.replace("0,0,0 and 0,0,1", "0,0,1 and 0,0,0")
    assert "trials of each history" in (tmp_path / "audit.html").read_text()
    protocol = hush.longitudinal.LOSUE(k=5, epsilon_permanent=2.0, epsilon_report=1.0)
    spec = tmp_path / "spec.json"
    spec.write_text(hush.Spec(protocol).to_json())
    exact = answer("audit", "--spec", spec, "--rounds", 12, "--method", "exact")["audits"][0]
    assert exact["epsilon_lower"] == protocol.sequence_epsilon(12)


KINDS = """
import math, random

def split(values):
    return [v if random.random() < math.e / (math.e + 1) else 1 - v for v in values]
"""


def test_foreign_tuples_and_histories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One attribute, or one report, loses 1; two lose 2. False alarm 1e-6."""
    monkeypatch.chdir(tmp_path)
    name = f"kinds_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(KINDS)
    asked = ("audit", "--target", f"{name}:split", "--claim", 1, "--trials", 40_000, "--alpha", 1e-6, "--seed", 3)
    assert run(*asked, "--attributes", "2,2").exit_code == 1
    assert run(*asked, "--attributes", "2,2", "--changed", 1).exit_code == 0
    assert run(*asked, "--k", 2, "--rounds", 2).exit_code == 1
    assert run(*asked, "--k", 2, "--histories", "0,0:0,1").exit_code == 0


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--mechanism", "RSFD", "--epsilon", 1), "sizes must be given for RSFD, got nothing; add --attributes"),
        (("--mechanism", "RSFD", "--epsilon", 1, "--attributes", "2;5"), "--attributes must be whole numbers"),
        (("--mechanism", "RSFD", "--epsilon", 1, "--attributes", "2,1"), "sizes"),
        (("--mechanism", "RSFD", "--epsilon", 1, "--attributes", "2,5", "--k", 3), "k is no parameter of RSFD"),
        (("--mechanism", "RSFD", "--epsilon", 1, "--attributes", "2,5", "--rounds", 3), "rounds must be left out"),
        (("--mechanism", "RSFD", "--epsilon", 1, "--attributes", "2,5", "--changed", 3), "changed must be an integer"),
        (
            ("--mechanism", "RSFD", "--epsilon", 1, "--attributes", "2,5", "--pair", "0,1"),
            "--pair must be two tuples and",
        ),
        (("--mechanism", "OUE", "--k", 4, "--epsilon", 1, "--changed", 1), "changed must be left out but for tuples"),
        (("--mechanism", "OUE", "--k", 4, "--epsilon", 1, "--attributes", "2,5"), "--attributes must be left out"),
        (("--mechanism", "LOSUE", "--k", 4, "--epsilon-permanent", 2, "--epsilon-report", 1), "--rounds must be given"),
        (("--mechanism", "LOSUE", "--k", 4, "--rounds", 3), "add --epsilon-permanent"),
        (("--mechanism", "OUE", "--k", 4, "--epsilon", 1, "--histories", "0,0"), "--histories must be two lists"),
        (("--mechanism", "OUE", "--k", 4, "--epsilon", 1, "--histories", "0,0:0,9"), "histories must hold values in"),
        (("--target", "os:urandom", "--attributes", "2,5", "--k", 3, "--claim", 1), "--k must be left out beside"),
        (("--target", "os:urandom", "--k", 3, "--changed", 1, "--claim", 1), "--changed must be left out beside"),
        (("--adapter", "pure-ldp:OLH", "--k", 3, "--epsilon", 1, "--rounds", 3), "--rounds must be left out beside"),
    ],
)
def test_options_of_another_kind_are_refused(options: tuple[object, ...], complaint: str) -> None:
    assert complaint in refused("audit", *options)


def test_games_at_the_command_line() -> None:
    asked = ("audit", "--mechanism", "GRR", "--k", 4, "--epsilon", 1, "--trials", 20_000, "--seed", 7)
    told = answer(*asked, "--method", "pools", "--pools", 4, "--loyalty", 0.9)
    (found,) = told["audits"]
    assert found["method"] == "pools"
    assert 0.5 < found["epsilon_lower"] < 1.0
    assert found["about"]["game"]["loyalty"] == 0.9
    assert "--people" in refused(*asked, "--method", "pools", "--people", 5)
    assert "--rounds" in refused(*asked, "--method", "changes")
    tuples = ("audit", "--mechanism", "SMP", "--attributes", "2,3", "--epsilon", 1, "--trials", 20_000, "--seed", 7)
    told = answer(*tuples, "--method", "attributes", "--attribute", 1, "--method", "reidentification", "--people", 4)
    assert [each["verdict"] for each in told["audits"]] == ["consistent", "consistent"]


@pytest.mark.parametrize("beside", [(), ("--method", "likelihood")])
def test_games_are_reported_in_files(beside: tuple[object, ...], tmp_path: Path) -> None:
    asked = ("audit", "--mechanism", "GRR", "--k", 4, "--epsilon", 1, "--trials", 20_000, "--seed", 7)
    files = {end: tmp_path / f"audit.{end}" for end in ("html", "png", "xml", "sarif")}
    options = ("--html", files["html"], "--png", files["png"], "--junit", files["xml"], "--sarif", files["sarif"])
    told = run(*asked, "--method", "pools", *beside, *options)
    assert told.exit_code == 0
    assert all(file.stat().st_size > 100 for file in files.values())
    page = files["html"].read_text()
    assert ">trials</th>" in page
    assert "the right one and the others" in page
    assert "How often an attacker names the class of values" in page


POOLS = ("--mechanism", "GRR", "--epsilon", "1", "--method", "pools")
TUPLES = ("--mechanism", "SMP", "--attributes", "2,3", "--epsilon", "1")
REIDENTIFIED = (*TUPLES, "--method", "reidentification")


@pytest.mark.parametrize(
    ("asked", "option", "words"),
    [
        *(((*POOLS, "--k", 4), "--pools", word) for word in ("0", "1", "-1", "5", "1000000000", "nan", "many")),
        ((*POOLS, "--k", 100_000), "--pools", "100000"),
        (POOLS, "--k", "100000000"),
        *(((*POOLS, "--k", 4), "--loyalty", word) for word in ("-0.1", "1.5", "nan", "inf", "much")),
        *(((*POOLS, "--k", 4), "--rounds", word) for word in ("0", "1000000000", "nan")),
        ((*POOLS[:4], "--k", 4, "--method", "changes"), "--rounds", "1000000000"),
        *(((*TUPLES, "--method", "attributes"), "--attribute", word) for word in ("-1", "2", "1000000000", "nan")),
        ((*POOLS[:1], "SMP", "--epsilon", "1", "--method", "attributes"), "--attributes", "2,100000000"),
        *((REIDENTIFIED, "--people", word) for word in ("0", "1", "-1", "1000000000", "nan", "all")),
        *((REIDENTIFIED, "--collections", word) for word in ("0", "-1", "1000000000", "nan")),
        ((*REIDENTIFIED, "--people", 100_000), "--collections", "1000"),
    ],
)
def test_settings_of_games_have_bounds(asked: tuple[object, ...], option: str, words: str) -> None:
    """Before anything is drawn: none of these takes long, or much memory."""
    assert f"{option} must" in refused("audit", *asked, option, words)


def test_a_game_is_refused_before_other_methods_begin() -> None:
    asked = ("audit", "--mechanism", "GRR", "--k", 4, "--epsilon", 1, "--trials", 10**9)
    assert "--pools must be" in refused(*asked, "--method", "likelihood", "--method", "pools", "--pools", 9)


def test_a_claim_for_each_unit_of_distance() -> None:
    asked = ("audit", "--mechanism", "GRR", "--k", 6, "--epsilon", 1, "--trials", 20_000, "--seed", 7)
    told = answer(*asked, "--claim", 1.0, "--metric", "absolute")
    assert [each["method"] for each in told["audits"]] == ["likelihood", "exact"]
    for found in told["audits"]:
        assert found["metric"] == "absolute"
        assert found["witness"]["distance"] == 1.0
        assert found["verdict"] == "consistent"
    broken = run(*asked, "--claim", 0.5, "--metric", "cyclic")
    assert broken.exit_code == 1
    assert "for each unit of cyclic distance" in broken.stdout
    assert "--claim" in refused(*asked, "--metric", "absolute")
    assert "--metric" in refused(*asked, "--claim", 1.0, "--metric", "nonsense")


def test_a_distance_without_an_exact_loss_is_audited_by_the_others() -> None:
    """False alarm 0.01: the loss of tuples that differ by one in one attribute is 1.138."""
    asked = ("audit", "--mechanism", "RSFD", "--attributes", "2,5", "--epsilon", 1, "--set", "variant=GRR")
    rest = ("--claim", 1.2, "--metric", "absolute", "--trials", 5000, "--seed", 7)
    assert [found["method"] for found in answer(*asked, *rest)["audits"]] == ["likelihood"]
    assert "no exact loss" in refused(*asked, *rest, "--method", "exact")


def test_a_distance_beside_a_delta_or_uldp_is_refused() -> None:
    """The claim has neither, so that a mechanism which keeps its own promise would seem to break it."""
    beside = ("--k", 4, "--epsilon", 1, "--trials", 5000, "--claim", 1.0, "--metric", "absolute")
    assert "which promises (1, 0.1)-LDP" in refused("audit", "--mechanism", "AGRR", "--delta", 0.1, *beside)
    assert "which promises 1-ULDP" in refused("audit", "--mechanism", "uSS", "--sensitive", "0-1", *beside)
