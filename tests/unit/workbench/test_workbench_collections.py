"""What the page of collections says of a real collector: rows, facts, refusals, chains, pictures, files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

import hush
from hush.collect.refusals import REASONS
from hush.collect.remote import Remote
from hush.longitudinal import LGRR
from hush.multidim import SMP, Attributes
from hush.workbench.collections import downloads, facts, promises, summaries
from hush.workbench.collections.pictures import MOST_BARS, Picture, Trail, picture
from tests.collectors import Opened, Served, in_thread, opened

PLACES = hush.Spec(hush.OUE(k=4, epsilon=1.0), hush.Domain(labels=["museum", "park", "pool", "home"]))
CROWD = ["park"] * 400 + ["home"] * 300 + ["pool"] * 200 + ["museum"] * 100


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with in_thread(tmp_path_factory.mktemp("collector")) as made:
        yield made


def shown(served: Served, one: Opened, token: str | None = None) -> dict[str, Any]:
    """A collection as the server shows it."""
    return dict(served.ask("GET", one.path, token=token).json())


def test_an_admin_sees_how_far_a_collection_has_come(served: Served) -> None:
    one = opened(served, spec=PLACES, target_n=5000)
    assert served.send(one, one.body(CROWD)).status_code == 200
    served.settled(one, 1000)
    row = summaries.summary(shown(served, one))
    assert (row.reports, row.share, row.status) == ("1,000 of 5,000", 0.2, "open")
    assert (row.promise.mechanism, row.promise.over, row.promise.budget) == ("OUE", "4 answers", "ε = 1")
    assert row.last == "0, now"


def test_a_reader_sees_what_it_may_and_a_dash_for_the_rest(served: Served) -> None:
    one = opened(served, spec=PLACES)
    reader = served.token("reader")
    views = served.ask("GET", "/v1/collections", token=reader).json()
    (view,) = [each for each in views if each["id"] == one.id]
    row = summaries.summary(view)
    assert (row.n, row.share, row.reports, row.last) == (None, None, "–", "–")
    assert row.promise.budget == "ε = 1"
    assert facts.refusals(view) == facts.builds(view) == []
    assert dict(facts.facts(view))["Who submits"] == "who has an ingest key"
    assert "Kept" not in dict(facts.facts(view))


def test_open_ones_stand_first_and_are_counted_in_words(served: Served) -> None:
    with Remote(served.url, served.admin) as it:
        draft = it.create(spec=PLACES.to_dict(), name="later", target_n=5000)
        closed = it.close(opened(served, spec=PLACES).id)
        rows = summaries.summaries(it.list())
    assert [each.status for each in rows] == sorted(
        (each.status for each in rows), key=["open", "draft", "closed"].index
    )
    chosen = [each for each in rows if each.id in (draft["id"], closed["id"])]
    assert summaries.counted(chosen) == "1 draft, 1 closed"
    assert all(each.status in summaries.STATUSES for each in rows)


def test_refusals_are_told_in_the_words_of_the_table_of_reasons(served: Served) -> None:
    one = opened(served, spec=PLACES)
    for _ in range(3):
        assert served.send(one, one.body(["park"], key="hush-ingest-00000000-wrong")).status_code == 401
    assert served.send(one, one.body(["park"], period=9)).status_code == 422
    assert served.send(one, b"\0").status_code == 400
    found = facts.refusals(shown(served, one))
    assert [(each.reason, each.times) for each in found] == [("token", 3), ("malformed", 1), ("period-ahead", 1)]
    assert [each.means for each in found] == [REASONS[each.reason].title for each in found]
    assert found[1].then.startswith("Dropped")
    assert found[0].then.startswith("Kept on the device until")


def test_every_reason_has_words_for_what_clients_do() -> None:
    wrong = []
    for code, reason in REASONS.items():
        (found,) = facts.refusals({"refusals": {code: 1}})
        if found.means != reason.title or not found.then.endswith("."):
            wrong.append(f"{code}: {found}")
    assert not wrong, "\n".join(wrong)


def test_a_reason_of_a_later_version_is_shown_all_the_same() -> None:
    (found,) = facts.refusals({"refusals": {"tired": 2}})
    assert (found.reason, found.times) == ("tired", 2)
    assert found.means


def test_a_chain_adds_up_exactly(served: Served) -> None:
    first = opened(served, spec=hush.Spec(hush.OUE(k=4, epsilon=0.1)), target_n=10**7)
    with Remote(served.url, served.admin) as it:
        second = it.succeed(first.id, spec=hush.Spec(hush.OUE(k=4, epsilon=0.2)).to_dict(), name="again")
        third = it.succeed(second["id"], spec=hush.Spec(hush.SUE(k=4, epsilon=0.4)).to_dict(), name="thrice")
        views = it.list()
    for place, id in enumerate((first.id, second["id"], third["id"])):
        chain = promises.chained(views, id)
        assert [each.id for each in chain.links] == [first.id, second["id"], third["id"]]
        assert chain.here == place
        assert chain.total == Decimal("0.7")  # where doubles give 0.7000000000000001
    assert "each of these 3 collections spends ε = 0.7 in all" in chain.words
    alone = promises.chained([view for view in views if view["id"] == first.id], first.id)
    assert alone.words.startswith("Whoever answers once spends ε = 0.1.")


def test_a_chain_with_kept_answers_says_what_its_budget_holds_for(served: Served) -> None:
    one = opened(served, spec=hush.Spec(LGRR(k=3, epsilon_permanent=2.0, epsilon_report=1.0)))
    chain = promises.chained([shown(served, one)], one.id)
    assert chain.total == Decimal("2.0")
    assert "any number of periods" in chain.words
    assert "adds that collection's ε again" not in chain.words


def test_a_mechanism_that_is_not_known_here_is_no_error() -> None:
    view = {"spec": {"mechanism": {"mechanism": "my.module:Mine"}}}
    assert promises.spec_of(view) is None
    assert promises.promised(None).budget == "no guarantee"


def test_error_bars_shrink_as_reports_come_in(served: Served) -> None:
    one = opened(served, spec=PLACES)
    trail = Trail()
    nothing = picture(served.ask("GET", f"{one.path}/estimate").json())
    assert nothing.margin is None
    assert not trail.add(nothing)
    assert nothing.headline() == "No report has been counted yet."
    for part in range(1, 4):
        assert served.send(one, one.body(CROWD * 4, seed=part)).status_code == 200
        seen = picture(served.settled(one, 4000 * part))
        assert trail.add(seen)
        assert not trail.add(seen)
    margins = [margin for _, margin in trail.points]
    assert [n for n, _ in trail.points] == [4000, 8000, 12000]
    assert margins == sorted(margins, reverse=True)
    assert margins[2] / margins[0] == pytest.approx((1 / 3) ** 0.5, rel=0.15)
    assert [bar.label for bar in seen.panels[0].bars] == ["museum", "park", "pool", "home"]
    assert all(bar.lower <= (bar.centre or 0) <= bar.upper for bar in seen.panels[0].bars)
    assert "At 48,000 reports it will be about" in seen.margin_words(48_000)
    assert "will be" not in seen.margin_words(12_000)


def test_a_mean_is_told_in_its_own_unit(served: Served) -> None:
    one = opened(served, spec=hush.Spec(hush.Piecewise(low=0.0, high=10.0, epsilon=2.0)))
    assert served.send(one, one.body([3.0] * 2000)).status_code == 200
    seen = picture(served.settled(one, 2000))
    assert seen.numeric
    assert seen.headline().startswith("The mean is")
    (bar,) = seen.panels[0].bars
    assert bar.lower < 3.0 < bar.upper
    assert "points" not in seen.margin_words()


def test_tuples_have_a_panel_for_each_attribute_also_without_reports(served: Served) -> None:
    both = Attributes((hush.Domain(labels=["f", "m"]), hush.Domain(size=3)), ("sex", "age"))
    one = opened(served, spec=hush.Spec(SMP(sizes=(2, 3), epsilon=4.0, mechanism="GRR"), both))
    told = {"n": 0, "level": 0.95, "estimate": None}
    assert picture(told).panels == ()
    assert served.send(one, body_of(one, {"sex": ["f", "m"] * 300, "age": [0, 1] * 300})).status_code == 200
    seen = picture(served.settled(one, 600))
    assert [(each.attribute, len(each.bars)) for each in seen.panels] == [("sex", 2), ("age", 3)]
    assert sum(each.n for each in seen.panels) == 600
    assert "sex: " in seen.headline()
    assert "age: " in seen.headline()


def body_of(one: Opened, values: Any) -> bytes:
    """A batch of values that are told by name."""
    from hush.collect.envelope import Envelope, body, new_id

    reports = one.spec.privatize(values, rng=hush.seeded(3)).ravel()
    held = Envelope(one.id, one.spec.hash, new_id(), 0, "t/1", reports.dtype.itemsize, reports.tobytes())
    return body(one.key, held.to_bytes())


def test_over_time_the_latest_period_is_shown_and_the_course_beside_it() -> None:
    rows = [{"label": x, "frequency": f, "lower": f - 0.1, "upper": f + 0.1} for x, f in (("a", 0.7), ("b", 0.3))]
    groups = [{"group": 1, "n": 50, "estimate": rows}, {"group": 0, "n": 40, "estimate": rows[::-1]}]
    seen = picture({"n": 90, "level": 0.9, "by": "period", "groups": groups})
    assert (seen.period, seen.n, seen.sure) == (1, 50, "90 %")
    assert [label for label, _ in seen.lines] == ["a", "b"]
    assert [period for period, _ in seen.lines[0][1]] == [0, 1]
    assert picture({"n": 0, "level": 0.9, "by": "period", "groups": []}).headline().startswith("No report")


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ([(0.6, 0.02), (0.3, 0.02), (0.1, 0.02)], "“a” is the most frequent, 60.0 %"),
        ([(0.4, 0.05), (0.38, 0.05), (0.1, 0.02)], "“a” (40.0 %) and “b” lead, and cannot be told apart yet."),
        ([(0.4, 0.3), (0.3, 0.3), (0.3, 0.3)], "cannot be told apart yet: the error bars"),
        ([(0.4, 0.05), (0.38, 0.05), (0.37, 0.05), (0.1, 0.0)], "with 2 others that may be ahead"),
    ],
)
def test_the_sentence_says_no_more_than_the_error_bars_do(shares: list[tuple[float, float]], says: str) -> None:
    rows = [
        {"label": "abcd"[i], "frequency": f, "lower": f - half, "upper": f + half} for i, (f, half) in enumerate(shares)
    ]
    assert says in picture({"n": 10, "level": 0.95, "estimate": rows}).headline()


def test_of_a_large_domain_the_most_frequent_are_drawn() -> None:
    rows = [{"label": i, "frequency": i / 4950, "lower": 0.0, "upper": 0.1} for i in range(100)]
    seen = picture({"n": 10, "level": 0.95, "estimate": rows})
    assert len(seen.panels[0].drawn) == MOST_BARS
    assert seen.panels[0].drawn[0].label == "99"
    assert len(seen.panels[0].bars) == 100


def test_a_trail_stays_bounded_and_begins_anew_when_reports_are_left_out() -> None:
    def seen(n: int) -> Picture:
        row = {"label": "a", "frequency": 0.5, "lower": 0.5 - 1 / n, "upper": 0.5 + 1 / n}
        return picture({"n": n, "level": 0.95, "estimate": [row]})

    trail = Trail(most=50)
    for n in range(1, 1000):
        trail.add(seen(n))
    assert len(trail.points) <= 50
    assert trail.points[0][0] == 1
    assert trail.points[-1][0] == 999
    trail.add(seen(7))
    assert [n for n, _ in trail.points] == [7]


def test_an_estimate_is_taken_away_as_json_and_as_csv(served: Served) -> None:
    labels = ["=1+1", "park"]
    one = opened(served, spec=hush.Spec(hush.GRR(k=2, epsilon=2.0), hush.Domain(labels=labels)))
    assert served.send(one, one.body(["park"] * 150)).status_code == 200
    told = served.settled(one, 150)
    assert json.loads(downloads.as_json(told)) == told
    rows = list(csv.DictReader(io.StringIO(downloads.as_csv(told).decode())))
    assert [row["label"] for row in rows] == ["'=1+1", "park"]  # which no spreadsheet computes
    assert [float(row["frequency"]) for row in rows] == [row["frequency"] for row in told["estimate"]]


def test_csv_has_a_line_for_each_period_and_attribute() -> None:
    part = {"attribute": "sex", "reports": 3, "estimate": [{"label": "f", "frequency": 0.5}]}
    told = {"n": 3, "groups": [{"group": 0, "n": 3, "attributes": [part]}, {"group": 1, "n": 2, "attributes": [part]}]}
    text = downloads.as_csv(told).decode().splitlines()
    assert text == ["period,n,attribute,label,frequency", "0,3,sex,f,0.5", "1,2,sex,f,0.5"]
    assert downloads.as_csv({"n": 0, "estimate": None}).decode().startswith("label,frequency")
