"""Studies made again: their tables, their checks, and going on where a run stopped."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import hush
from hush import atomic
from hush.mechanisms.forms import Forms
from hush_studies import Check, Part, Settings, Study, Table, frame, measure, page, studies
from hush_studies.folder import RECORD, kept, make, whole
from hush_studies.refined import checks, protocols
from hush_studies.study import rows_of
from tests.conftest import PURE_NAMES, example
from tests.reproduced import QUICK, small_tables, unsound

pytestmark = pytest.mark.xdist_group("reproduce")  # one process computes the tables for all tests of this file
REFINED = studies()["refined"]


@pytest.fixture(scope="module")
def told() -> dict[str, tuple[Table, float]]:
    return small_tables(REFINED.parts)


@pytest.fixture(scope="module")
def tables(told: dict[str, tuple[Table, float]]) -> dict[str, Table]:
    return {name: table for name, (table, _) in told.items()}


# What the study holds.


def test_the_study_has_all_figures() -> None:
    assert [part.id for part in REFINED.parts] == [f"figure-{i}" for i in range(1, 16)]
    assert [part.id for part in REFINED.parts if part.empirical] == ["figure-8", "figure-15"]
    assert REFINED.part("figure-8") is REFINED.parts[7]
    assert REFINED.part("figure-16") is None


def test_the_grids_are_those_of_the_paper() -> None:
    assert tuple(round(0.5 + 0.1 * i, 1) for i in range(16)) == protocols.HIGH
    assert tuple(2 + 0.5 * i for i in range(17)) == protocols.LOW
    assert protocols.sizes("all", quick=False) == (25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000, 7500, 10000)
    assert len(protocols.budgets("all", quick=False)) == 32
    assert max(protocols.sizes("all", quick=True)) <= 1000


@pytest.mark.parametrize("part", REFINED.parts, ids=lambda part: part.id)
def test_columns_are_tidy(part: Part, tables: dict[str, Table]) -> None:
    table = tables[part.id]
    assert {"protocol", "k", "epsilon", "parameter", "asr", "mse"} <= set(table.columns)
    assert table.rows
    assert (table.numbers("asr") >= 1 / table.numbers("k") - 2e-3).all()
    assert (table.numbers("asr") <= 1).all()
    assert (table.numbers("mse") > 0).all()
    known = {"asr_stderr", "mse_stderr"} <= set(table.columns)
    assert known is part.empirical
    assert Table.read(table.csv()) == table


def test_progress_adds_up(told: dict[str, tuple[Table, float]]) -> None:
    assert np.allclose([share for _, share in told.values()], 1.0)


@pytest.mark.parametrize("name", [name for name in protocols.PROTOCOLS if name not in protocols.ADAPTIVE.values()])
@pytest.mark.parametrize("k", [25, 1000, 10000])
def test_budget_buys_accuracy_and_costs_privacy(name: str, k: int) -> None:
    """Fixed protocols: success rises and variance falls with the budget."""
    points = [protocols.point(name, k, epsilon) for epsilon in protocols.budgets("all", quick=False)]
    assert (np.diff([each.asr for each in points]) >= -1e-15).all()
    assert (np.diff([each.mse for each in points]) < 0).all()


@pytest.mark.parametrize(("original", "adaptive"), protocols.ADAPTIVE.items())
def test_adaptive_protocols_lower_the_objective(original: str, adaptive: str) -> None:
    for k in (25, 100, 1000):
        for epsilon in (0.5, 2.0, 4.0, 7.0, 10.0):
            chosen, usual = (protocols.point(name, k, epsilon) for name in (adaptive, original))
            slack = 1e-4 if original == "THE" else 0  # the grid may miss the best threshold by half a step
            assert chosen.asr + chosen.mse <= (usual.asr + usual.mse) * (1 + slack) + 1e-12


@pytest.mark.parametrize("name", protocols.PROTOCOLS)
@pytest.mark.parametrize(("k", "epsilon"), [(25, 2.0), (100, 4.0), (100, 6.0)])
def test_closed_forms_are_those_of_the_mechanisms(name: str, k: int, epsilon: float) -> None:
    m, found = protocols.mechanism(name, k, epsilon), protocols.point(name, k, epsilon)
    if found.parameter is not None:  # a mechanism has it to six digits
        own = float(getattr(m, protocols.FAMILIES[name].parameter))
        assert found.parameter == pytest.approx(own, rel=1e-6)
        found = protocols._at(protocols.FAMILIES[name], k, epsilon, own)
    assert found.asr == pytest.approx(m.asr(), rel=1e-6)
    assert found.mse == pytest.approx(m.variance(), rel=1e-4 if name == "SHE" else 1e-8)


@pytest.mark.parametrize("part", REFINED.parts, ids=lambda part: part.id)
def test_every_figure_is_drawn(part: Part, tables: dict[str, Table]) -> None:
    figure = part.draw(tables[part.id])
    assert figure.get_suptitle()
    shown = [axes for axes in figure.axes if axes.get_title(loc="left")]
    assert len(shown) == {"figure-1": 4, "figure-3": 3, "figure-4": 2, "figure-6": 8, "figure-7": 4}.get(
        part.id, 8 if part.id == "figure-9" else 12
    )
    assert all(axes.lines or axes.collections for axes in shown)


# What the paper prints.


@pytest.mark.parametrize("part", REFINED.parts, ids=lambda part: part.id)
def test_everything_printed_comes_out_as_it_should(part: Part, tables: dict[str, Table]) -> None:
    found = part.check(tables[part.id])
    assert [check for check in found if not check.passed] == []
    assert unsound(found) == []
    expected = {1: 2, 2: 8, 3: 4, 4: 1, 6: 4, 7: 10, 8: 4, 15: 2}
    assert len(found) == expected.get(int(part.id.removeprefix("figure-")), 3)


def test_the_printed_parameters(tables: dict[str, Table]) -> None:
    found = {check.claim: check.computed for check in checks.objectives(tables["figure-7"])}
    assert [found[name] for name in ("g of ALH", "omega of ASS", "g of OLH", "omega of SS")] == ["13", "7", "56", "2"]
    assert found["p of AUE"] == "0.818182"
    assert found["theta of ATHE, off the grid"].startswith("0.782234")


def test_the_false_claims_stay_false(tables: dict[str, Table]) -> None:
    capped = next(check for check in checks.attacks(tables["figure-2"]) if "3.4" in check.claim)
    assert (capped.computed, capped.verdict, capped.passed) == ("0.2678", "differs", True)
    recovered = checks.weights(tables["figure-6"])[0]
    assert (recovered.printed, recovered.computed, recovered.verdict) == ("2", "1", "differs")


def test_a_tendency_is_held_to_more_than_half_of_the_steps(tables: dict[str, Table]) -> None:
    """Some steps to a larger budget lower the attack success of an adaptive protocol; that it tends to rise is said."""
    steps = checks.tradeoffs(tables["figure-5"])[0]
    assert 0.5 < min(steps.numbers) < max(steps.numbers) == 1
    assert steps.verdict == "matches"
    assert not steps.rule.holds([0.5, *steps.numbers])


def test_claims_of_the_clouds_of_points(tables: dict[str, Table]) -> None:
    """Figures 1, 5 and 9 to 14: what adaptive protocols cost, and where they gain nothing."""
    lower, close = checks.first(tables["figure-1"])
    assert (lower.verdict, close.verdict) == ("differs", "differs")
    assert min(lower.numbers) < 0.6
    assert max(close.numbers) > 1000
    assert [check.verdict for check in checks.strategies(tables["figure-9"])] == ["matches", "matches", "differs"]
    for name in ("figure-5", "figure-10", "figure-12"):
        found = checks.tradeoffs(tables[name])
        assert [check.verdict for check in found] == ["matches", "matches", "differs"], name
    assert checks.tradeoffs(tables["figure-5"])[0].computed == "ASS 88 %, ALH 88 %; all others 100 %"
    gained = checks.tradeoffs(tables["figure-12"])[2]
    assert max(gained.numbers) > 1  # ASS is easier to attack than SS, by 0.05 %


def test_a_curve_is_read_where_another_has_the_same_error() -> None:
    """A line through (1, 0.2) and (100, 0.02) in logarithmic axes has 0.2/√10 at 10; what lies outside is left out."""
    rows = [["SS", 1.0, 0.2], ["SS", 100.0, 0.02], ["ASS", 10.0, 0.1], ["ASS", 1000.0, 0.5]]
    table = rows_of(("protocol", "mse", "asr"), rows)
    assert checks._same_error(table, "ASS", "SS") == pytest.approx([0.1 / (0.2 / math.sqrt(10))])


@pytest.mark.parametrize(
    ("printed", "value", "holds"),
    [
        ("0.818", 0.81849, True),
        ("0.818", 0.8186, False),
        ("13", 13.0, True),
        ("13", 14.0, False),
        ("0.816129", 0.8161288, True),
        ("0.816129", 0.8161296, False),
        ("0.5", math.nan, False),
    ],
)
def test_a_number_matches_when_it_rounds_to_the_printed_one(printed: str, value: float, holds: bool) -> None:
    check = Check.number("x", printed, value, "V")
    assert (check.holds, check.passed) == (holds, holds)
    assert check.verdict == ("matches" if holds else "differs")


def test_wrong_measurements_do_not_pass(tables: dict[str, Table]) -> None:
    """Shifted by a quarter, with the standard errors of a full run."""
    table = tables["figure-15"]
    for column in ("asr", "mse"):
        at, error = table.columns.index(column), table.columns.index(f"{column}_stderr")
        rows = [list(row) for row in table.rows]
        for row in rows:
            row[at], row[error] = row[at] * 1.25, row[at] / 70  # type: ignore[operator]
        wrong = next(check for check in checks.measured(rows_of(table.columns, rows)) if column.upper() in check.claim)
        assert not wrong.passed


# Measuring.


@pytest.mark.parametrize("name", PURE_NAMES)
def test_success_is_that_of_the_scores(name: str) -> None:
    """Report by report, the fast way and the general one agree, empty supports and ties included."""
    m = example(name, 9, 1.5)
    values = np.arange(3000) % 9
    reports = m.privatize(values, rng=hush.seeded(7))
    by_scores = Forms(m).guess_chance(reports, values)
    assert np.allclose(m.forms.guess_chance(reports, values), by_scores, atol=1e-15)


@pytest.mark.parametrize("name", ["OUE", "OLH", "SS", "SHE", "GRR"])
def test_success_is_what_the_attack_gives_on_average(name: str) -> None:
    """Five standard errors: a false alarm in 10^6 for each mechanism."""
    m = hush.registry()[name](k=70, epsilon=3.0)
    values = np.arange(70_000) % 70
    reports = m.privatize(values, rng=hush.seeded(7))
    found = m.forms.guess_chance(reports, values)
    guessed = (m.attack(reports, rng=hush.seeded(8)) == values).mean()
    spread = math.sqrt((found * (1 - found)).sum()) / values.size
    assert abs(guessed - found.mean()) <= 5 * spread + 1e-12
    assert abs(found.mean() - m.asr()) <= 5 * found.std() / math.sqrt(values.size)


def test_one_block_more_changes_nothing_but_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    """People in blocks: their numbers add up, and threads do not matter."""
    m, counts = hush.OUE(k=5, epsilon=1.0), np.array([50_000, 20_000, 10_000, 500, 0])
    found = measure.repeated(m, counts, 4, [7])
    monkeypatch.setenv("HUSH_THREADS", "1")
    assert measure.repeated(m, counts, 4, [7]) == found
    assert abs(found.asr - m.asr()) < 6 * found.asr_stderr
    expected = m.variances(counts / counts.sum(), int(counts.sum())).mean()
    assert 0.05 < found.mse / expected < 6


# A folder that remembers.


def counted(study: Study = REFINED) -> tuple[Study, list[str]]:
    """Two small parts that tell when they are computed."""
    made: list[str] = []

    def telling(part: Part) -> Part:
        def compute(settings: Settings, advance: Callable[[float], None]) -> Table:
            made.append(part.id)
            return rows_of(("protocol", "x"), [["a", 0.1 + settings.seed], ["b", None]])

        def draw(table: Table) -> object:
            from hush.reports.panels import figure_of

            return figure_of(1, 1, frame.THEME)

        return replace(part, compute=compute, draw=draw, check=lambda table: [Check.number("x", "7.1", 7.1, "V")])

    parts = (telling(study.parts[0]), telling(study.parts[7]))
    return replace(study, parts=parts), made


def made_in(study: Study, folder: Path, settings: Settings = QUICK, fresh: bool = False) -> list[bool]:
    there = {} if fresh else kept(study, study.parts, settings, folder)
    return [each.kept for each in make(study, study.parts, settings, folder, write=atomic.write, there=there)]


def test_what_is_there_is_kept(tmp_path: Path) -> None:
    study, made = counted()
    assert made_in(study, tmp_path) == [False, False]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "figure-1.csv", "figure-1.png", "figure-8.csv", "figure-8.png", RECORD,
    ]  # fmt: skip
    assert made_in(study, tmp_path) == [True, True]
    assert made == ["figure-1", "figure-8"]
    again = kept(study, study.parts, QUICK, tmp_path)["figure-8"]
    assert again.table == Table(("protocol", "x"), [("a", 7.1), ("b", None)])
    assert again.checks[0].passed
    assert made_in(study, tmp_path, fresh=True) == [False, False]


def test_what_was_made_otherwise_is_made_again(tmp_path: Path) -> None:
    study, _ = counted()
    made_in(study, tmp_path)
    assert made_in(study, tmp_path, Settings(quick=True, seed=8)) == [True, False]  # chance plays in figure 8 only
    assert made_in(study, tmp_path, Settings(quick=False, seed=8)) == [False, False]
    assert made_in(replace(study, version=study.version + 1), tmp_path, Settings(quick=False, seed=8)) == [False, False]


@pytest.mark.parametrize("harm", ["csv", "png", "csv missing", "record", "record of another kind"])
def test_what_was_changed_is_made_again(tmp_path: Path, harm: str) -> None:
    study, _ = counted()
    made_in(study, tmp_path)
    if harm == "csv missing":
        (tmp_path / "figure-1.csv").unlink()
    elif harm.startswith("record"):
        (tmp_path / RECORD).write_text("{" if harm == "record" else json.dumps({"figure-1": 3, "figure-8": []}))
    else:
        with (tmp_path / f"figure-1.{harm}").open("ab") as file:
            file.write(b"x")
    assert made_in(study, tmp_path) == ([False, False] if harm.startswith("record") else [False, True])
    assert made_in(study, tmp_path) == [True, True]


@pytest.mark.parametrize("when", ["computing", "drawing", "writing"])
def test_an_interrupt_leaves_no_half_file(tmp_path: Path, when: str) -> None:
    study, _ = counted()

    def stop(*_: object) -> Table:
        raise KeyboardInterrupt

    last = study.parts[1]
    halted = {"computing": replace(last, compute=stop), "drawing": replace(last, draw=stop)}.get(when, last)

    def write(path: Path, content: str | bytes) -> None:
        if when == "writing" and path.name == "figure-8.png":
            with atomic.replacing(path) as part:
                part.write_bytes(content[:10] if isinstance(content, bytes) else b"")
                raise KeyboardInterrupt
        atomic.write(path, content)

    broken = replace(study, parts=(study.parts[0], halted))
    with pytest.raises(KeyboardInterrupt):
        make(broken, broken.parts, QUICK, tmp_path, write=write)
    left = {path.name for path in tmp_path.iterdir()}
    assert left - {"figure-8.csv"} == {"figure-1.csv", "figure-1.png", RECORD}
    assert made_in(study, tmp_path) == [True, False]  # it goes on where it was


def test_a_full_run_is_told_from_a_quick_one(tmp_path: Path) -> None:
    study, _ = counted()
    assert whole(tmp_path) == []
    made_in(study, tmp_path)
    assert whole(tmp_path) == []
    make(study, study.parts[:1], Settings(), tmp_path, write=atomic.write)
    assert whole(tmp_path) == ["figure-1"]
    (tmp_path / RECORD).write_text(json.dumps({"figure-1": 3, "figure-8": {"settings": []}}))
    assert whole(tmp_path) == []


def test_what_is_made_is_told_before_and_after(tmp_path: Path) -> None:
    study, _ = counted()
    make(study, study.parts[:1], QUICK, tmp_path, write=atomic.write)
    heard: list[str] = []
    make(
        study, study.parts, QUICK, tmp_path, write=atomic.write, there=kept(study, study.parts, QUICK, tmp_path),
        begin=lambda part: heard.append(f"begin {part.id}"), end=lambda made: heard.append(f"end {made.part.id}"),
    )  # fmt: skip
    assert heard == ["begin figure-8", "end figure-8"]


def test_the_bar_moves_by_what_a_part_costs(tmp_path: Path) -> None:
    study, _ = counted()
    heard: list[float] = []
    make(study, study.parts, QUICK, tmp_path, write=atomic.write, advance=heard.append)
    assert math.isclose(sum(heard), sum(part.cost(QUICK) for part in study.parts))


def test_a_table_must_be_rectangular() -> None:
    with pytest.raises(ValueError, match="every row"):
        Table(("a", "b"), [(1,)])


def test_the_page_shows_figures_numbers_and_verdicts(tmp_path: Path) -> None:
    study, _ = counted()
    wrong = replace(study.parts[0], check=lambda table: [Check.number("a <b>", "1", 2.0, "V")])
    study = replace(study, parts=(wrong, study.parts[1]))
    made = make(study, study.parts, QUICK, tmp_path, write=atomic.write)
    text = page.index(study, made, QUICK)
    for name in ("figure-1.png", "figure-1.csv", "figure-8.png", "figure-8.csv"):
        assert f'"{name}"' in text
    assert "differs</b><small> UNEXPECTED</small>" in text
    assert "a &lt;b&gt;" in text
    assert "Of 2 checks, 1 match the paper and 1 differ from it" in text
    assert "1 came out otherwise" in text
    assert "parts are here" not in text


def test_the_page_says_what_is_missing_and_how_to_go_on(tmp_path: Path) -> None:
    study, _ = counted()
    made = make(study, study.parts[:1], QUICK, tmp_path, write=atomic.write)
    text = page.index(study, made, QUICK, "hush reproduce refined --quick")
    assert "1 of 2 parts are here. Not made yet: figure-8; <code>hush reproduce refined --quick</code> goes on." in text


def test_verdicts_come_first_on_the_page_and_lines_wrap(tmp_path: Path) -> None:
    """At the page's largest width, 62rem, all five columns are in sight, since their texts wrap."""
    study, _ = counted()
    made = make(study, study.parts[:1], QUICK, tmp_path, write=atomic.write)
    text = page.index(study, made, QUICK)
    heads = ["verdict", "claim", "printed", "matches when", "computed"]
    assert "".join(f'<th scope="col">{head}</th>' for head in heads) in text
    assert '<div class="words">' in text
    assert ".words th, .words td { white-space: normal;" in text
    assert ".words td:first-child { position: sticky; left: 0;" in text
