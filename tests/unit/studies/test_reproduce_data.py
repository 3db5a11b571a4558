"""Data that are not part of Hush, given as files: what is read, what is refused, and what verdicts then say."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hush.cli import app
from hush.errors import ParameterError
from hush_studies import Settings, Table, studies
from hush_studies.budget.people import called as client_called
from hush_studies.budget.people import clients, crowd
from hush_studies.check import Check, OfPeople, Verdict
from hush_studies.folder import Made, _recorded
from hush_studies.given import DATA_SETS, asked, given, read, using
from hush_studies.rule import digits
from hush_studies.uldp.people import called, people

DRUG = "value,count,sensitive\n1,30,1\n2,20,0\n3,50,no\n"
Written = Callable[..., Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(content: str | bytes, name: str = "data.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def stand_in(name: str) -> str:
    """The made-up people, as a file would have them."""
    crowd, rows = people(name), ["value,count,sensitive"]
    rows += [f"{v},{count},{int(v in crowd.sensitive)}" for v, count in enumerate(crowd.counts.tolist())]
    return "\n".join(rows) + "\n"


def test_rows_of_values_and_of_people_are_the_same(written: Written) -> None:
    counted = read(DATA_SETS["Drug"], written(DRUG))
    rows = ["b,VALUE , sensitive"] + ["x, 1,yes"] * 30 + ["x,2,0"] * 20 + ["x,3,False"] * 50
    single = read(DATA_SETS["Drug"], written("\ufeff" + "\r\n".join(rows), "people.csv"))
    for found in (counted, single):
        assert (found.labels, found.counts) == (("1", "2", "3"), (30, 20, 50))
        assert found.sensitive == (True, False, False)
        assert found.found == {"n": 100, "d": 3, "s": 1, "theta": 0.7}
        assert found.differences[0] == "n is 100 where the paper has 215,063"
        assert len(found.differences) == 4
    assert counted.digest != single.digest


def test_amounts_are_cut_and_have_no_gaps(written: Written) -> None:
    found = read(DATA_SETS["AguaH"], written("value,count\n3,2\n0,1\n41.2,4\n1e6,1\n2.6,0\n"))
    assert len(found.counts) == 41
    assert (found.counts[0], found.counts[3], found.counts[40], sum(found.counts)) == (1, 2, 5, 8)
    assert found.found == {"n": 8, "total": 206}


BAD: list[tuple[str, str | bytes, str]] = [
    ("Drug", "", "must have the columns value, count, sensitive .*got nothing"),
    ("Drug", "value,count\n1,2\n", "must have the columns value, count, sensitive .*got 2 columns without sensitive"),
    ("Drug", "value,value,sensitive\n1,1,1\n", "must have the columns .*got 3 columns of which two have the same name"),
    ("Drug", "value,count,sensitive\n", "must have rows"),
    ("Drug", "value,count,sensitive\n1,2\n", "must have 3 cells in every row, got 2 in line 2"),
    ("Drug", "value,count,sensitive\n1,2,1\n2,two,0\n", "whole numbers .* in the column count, got another in line 3"),
    ("Drug", "value,count,sensitive\n1,-2,1\n2,2,0\n", "whole numbers .* in the column count"),
    ("Drug", "value,count,sensitive\n1,2.5,1\n2,2,0\n", "whole numbers .* in the column count"),
    ("Drug", "value,count,sensitive\n1,nan,1\n2,2,0\n", "whole numbers .* in the column count"),
    ("Drug", "value,count,sensitive\n1,inf,1\n2,2,0\n", "whole numbers .* in the column count"),
    ("Drug", "value,count,sensitive\n1,1e10,1\n2,2,0\n", "whole numbers .* in the column count"),
    ("Drug", "value,count,sensitive\n1,2,maybe\n", "1 or 0 in the column sensitive, got another in line 2"),
    ("Drug", "value,count,sensitive\n1,2,1\n1,2,0\n", "the same of a value in all rows"),
    ("Drug", "value,count,sensitive\n,2,1\n", "a value in every row, got none in line 2"),
    ("Drug", "value,count,sensitive\n1,2,1\n", "two values or more"),
    ("Drug", "value,count,sensitive\n1,2,1\n2,2,1\n", "some sensitive values, and others, got 2 of 2"),
    ("Drug", "value,count,sensitive\n1,2,0\n2,2,0\n", "some sensitive values, and others, got 0 of 2"),
    ("Drug", "value,count,sensitive\n1,0,1\n2,0,0\n", "must be of 1..1000000000 people"),
    ("Drug", "valeur,n\xe9\n".encode("latin-1"), "must be text in UTF-8, got other bytes at position 8"),
    ("Drug", 'value,count,sensitive\n"1,2,1\n', "must be CSV"),
    ("AguaH", "value,count\n1,2\nwater,3\n", "numbers of at least 0 in the column value, got another in line 3"),
    ("AguaH", "value,count\n-1,2\n", "numbers of at least 0 in the column value"),
    ("Emoji", "value\n" + "\n".join(map(str, range(100_001))), "must have at most 100,000 values"),
]


@pytest.mark.parametrize(("name", "content", "said"), BAD, ids=range(len(BAD)))
def test_bad_files(name: str, content: str | bytes, said: str, written: Written) -> None:
    with pytest.raises(ParameterError, match=said) as caught:
        read(DATA_SETS[name], written(content))
    assert str(caught.value).startswith(f"--data {name} must")
    assert "data.csv" in str(caught.value)


def test_a_first_row_that_is_a_persons_is_not_told(written: Written) -> None:
    with pytest.raises(ParameterError, match="got 2 columns without value, sensitive") as caught:
        read(DATA_SETS["Drug"], written("Ann Smith,clinic\nBob Jones,park\n"))
    assert not any(cell in str(caught.value) for cell in ("Ann", "Smith", "clinic", "Bob"))


def test_files_that_are_none(tmp_path: Path, written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ParameterError, match="must be a file, got a folder"):
        read(DATA_SETS["Drug"], tmp_path)
    with pytest.raises(ParameterError, match="must be a file that can be read, got No such file"):
        read(DATA_SETS["Drug"], tmp_path / "none.csv")
    monkeypatch.setattr("hush_studies.given.MOST_BYTES", 10)
    with pytest.raises(ParameterError, match="must be at most"):
        read(DATA_SETS["Drug"], written(DRUG))


@pytest.mark.parametrize(
    ("words", "study", "said"),
    [
        (["Drug"], "uldp", "must be NAME=FILE"),
        (["Drug="], "uldp", "must be NAME=FILE"),
        (["Kosarak=x.csv"], "uldp", "must name data of uldp .*; use one of Foursquare, Census, Drug"),
        (["Drug=x.csv"], "budget", "use one of Emoji, AguaH"),
        (["Drug=x.csv"], "modular", "must be left out: modular has no such data"),
    ],
)
def test_bad_options(words: list[str], study: str, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        asked(words, study)


def test_a_data_set_is_given_once(written: Written) -> None:
    path = written(DRUG)
    with pytest.raises(ParameterError, match="must name each data set once"):
        asked([f"Drug={path}", f"drug={path}"], "uldp")


def test_people_are_those_of_the_file_while_it_is_used(written: Written) -> None:
    before = people("Drug")
    with using(asked([f"drug={written(DRUG)}"], "uldp")):
        assert people("Drug").counts.tolist() == [30, 20, 50]
        assert people("Drug").sensitive == (0,)
        assert people("Drug").theta == pytest.approx(0.7)
        assert (called("Drug"), called("Census")) == ("Drug", "Census-like")
    assert given("Drug") is None
    assert np.array_equal(people("Drug").counts, before.counts)
    assert called("Drug") == "Drug-like"


def test_emojis_and_water_meters(written: Written) -> None:
    emojis = written("value,count\n" + "\n".join(f"{v},{10 * v}" for v in range(1, 31)), "emoji.csv")
    water = written("value\n" + "\n".join(["0", "2", "2", "40"]), "water.csv")
    with using(asked([f"Emoji={emojis}", f"AguaH={water}"], "budget")):
        assert (crowd("Emoji").k, crowd("Emoji").n, crowd("Few emojis").n) == (30, 400_000, 60_000)
        assert crowd("Emoji").frequencies[0] == pytest.approx(30 / 465)
        assert (clients("Water").n, clients("Water").total) == (4, 44)
        assert clients("Few").n == 963
        assert (client_called("Water"), client_called("Few emojis")) == ("AguaH", "Emoji")
    assert (crowd("Emoji").k, clients("Water").n) == (200, 98_511)


def test_a_file_of_the_stand_in_gives_its_numbers_and_another_gives_others(written: Written) -> None:
    part = studies()["uldp"].part("true-loss")
    assert part is not None
    settings = Settings(quick=True)
    plain = part.compute(settings, lambda share: None)
    same = [f"Foursquare={written(stand_in('Foursquare'), 'f.csv')}", f"Drug={written(stand_in('Drug'), 'd.csv')}"]
    with using(asked(same, "uldp")):
        assert part.compute(settings, lambda share: None) == plain
    with using(asked([f"Drug={written(DRUG)}"], "uldp")):
        other = part.compute(settings, lambda share: None)
    assert other.where(people="Drug") != plain.where(people="Drug")
    assert other.where(people="Foursquare") == plain.where(people="Foursquare")


def test_verdicts_say_of_whom_they_are(written: Written) -> None:
    study = studies()["uldp"]
    part = study.part("figure-8")
    assert part is not None
    made = Made(part, Table(("people",), [("Drug",), ("Adult age",)]), 1.0, kept=False)
    why = OfPeople("people are not printed")
    check = Check("a claim", "1", digits("1"), (2.0,), "2", "6", untold=why)
    told = made._told(check)
    assert (told.verdict, told.passed, told.people) == (Verdict.UNTOLD, False, "Drug: stand-in")
    with using(asked([f"Drug={written(DRUG)}"], "uldp")):
        told = made._told(check)
        assert told.verdict == Verdict.DIFFERS
        assert told.passed  # nothing is known beforehand of people in a file
        assert told.people.startswith("Drug: data.csv, SHA-256 ")
        other = made._told(Check("a claim", "2", digits("2"), (2.0,), "2", "6", untold="it is not defined"))
        assert other.verdict == Verdict.UNTOLD
        assert _recorded(study, part, Settings())["data"] == {"Drug": given("Drug").digest}  # type: ignore[union-attr]
    assert "data" not in _recorded(study, part, Settings())


def test_every_data_set_is_used_by_a_part_of_its_study() -> None:
    for name, data in DATA_SETS.items():
        assert any(name in part.data for part in studies()[data.study].parts)
    assert {name for study in studies().values() for part in study.parts for name in part.data} == set(DATA_SETS)


def test_the_command_makes_a_study_of_a_file(written: Written, tmp_path: Path) -> None:
    words = ["reproduce", "uldp", "--quick", "--only", "true-loss", "--output", str(tmp_path / "out"), "--json"]
    result = CliRunner().invoke(app, [*words, "--data", f"Drug={written(DRUG)}"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["data"][0]["name"] == "Drug"
    assert told["data"][0]["n"] == 100
    assert "Foursquare: stand-in" in told["parts"][0]["people"]
    assert "Drug: data.csv, SHA-256" in told["parts"][0]["people"]
    again = json.loads(CliRunner().invoke(app, words).stdout)
    assert again["parts"][0]["kept"] is False  # what was made of the file is not the stand-in's
    for bad in (["--data", "Drug=none.csv"], ["--data", f"Drug={written(DRUG)}", "--engine", "ray"]):
        assert CliRunner().invoke(app, [*words, *bad]).exit_code == 2
