"""Your data in a real browser: files come, are tried, and are forgotten."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.system.workbench.axe import grave
from tests.system.workbench.running import RunningWorkbench, Seen, opened, pictured

pytestmark = pytest.mark.nightly

DRINKS = ["tea"] * 800 + ["coffee"] * 600 + ["water"] * 400 + ["zebramilk"] * 200
TABLE = ("id,drink\n" + "".join(f"{i},{drink}\n" for i, drink in enumerate(DRINKS)) + "9999,\n").encode()


def parquet(columns: dict[str, object]) -> bytes:
    """A Parquet file."""
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


def give(page: Any, name: str, content: bytes) -> None:
    """Choose a file, as a person does."""
    found = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    page.get_by_label("A table, as CSV or Parquet").set_input_files(found)


def tried(workbench: RunningWorkbench, context: Any, name: str, content: bytes, column: str) -> Seen:
    """A page on which a column has been tried."""
    seen = opened(context, f"{workbench.url}/data")
    give(seen.page, name, content)
    seen.page.get_by_label("Column", exact=True).select_option(label=column)
    seen.page.get_by_role("button", name="Download the figures").wait_for(timeout=60_000)
    return seen


def test_no_result_is_shown_for_an_input_that_is_wrong(workbench: RunningWorkbench, context: Any) -> None:
    seen = tried(workbench, context, "drinks.csv", TABLE, "drink")
    page = seen.page
    nothing, results = page.get_by_text("Nothing to show"), page.get_by_role("button", name="Download the figures")
    for label, right in (("People", "3,000"), ("Seed of the simulation", "8")):
        field = page.get_by_label(label, exact=True)
        for wrong in ("0,5", "-1", "nan", "1e999", ""):
            field.fill(wrong)
            nothing.wait_for()
            assert not results.is_visible()
        field.fill(right)
        results.wait_for()
        assert not nothing.is_visible()
    page.get_by_text("Which mechanisms").click()
    while (ticked := page.locator(".boxes input:checked")).count():
        ticked.first.click()
    page.get_by_text("No mechanism is chosen").wait_for()
    assert not results.is_visible()
    page.get_by_label("GRR", exact=True).check()
    results.wait_for()
    assert "seed 8" in page.locator("main").inner_text()
    seen.quiet()


def test_budget_people_seed_and_mechanisms_change_what_is_shown(workbench: RunningWorkbench, context: Any) -> None:
    seen = tried(workbench, context, "drinks.csv", TABLE, "drink")
    page = seen.page
    page.get_by_text("Which mechanisms").click()
    boxes = page.locator(".boxes input")
    boxes.evaluate_all("(boxes) => boxes.forEach((box) => { box.dataset.seen = 'yes'; })")
    page.get_by_role("button", name="Another draw").click()
    page.get_by_text("simulated with seed 8").wait_for()
    before = page.locator("main table").last.inner_text()
    page.get_by_label("People", exact=True).fill("1,000,000")
    page.wait_for_function(
        "(before) => [...document.querySelectorAll('main table')].at(-1)?.innerText !== before", arg=before
    )
    made_anew = boxes.evaluate_all("(boxes) => boxes.filter((box) => !box.dataset.seen).length")
    assert made_anew == 0, "a tick that is on its way to a box that is gone would be lost"
    page.get_by_label("OUE", exact=True).check()
    page.get_by_role("rowheader", name="OUE").first.wait_for()
    page.get_by_label("Show the estimates of").select_option("OUE")
    page.get_by_role("img", name="Truth, and estimates of OUE").wait_for()
    page.get_by_label("Budget, ε").press("End")
    page.get_by_text("± 0.").first.wait_for()
    seen.quiet()


def test_a_parquet_file_of_many_values_keeps_the_most_frequent(workbench: RunningWorkbench, context: Any) -> None:
    ages = np.random.default_rng(5).integers(0, 300, 4000)
    seen = tried(workbench, context, "people.parquet", parquet({"age": ages}), "age")
    assert "The 50 most frequent are kept" in seen.page.locator(".answer").inner_text()
    assert seen.page.get_by_label("Values that are kept").input_value() == "50"
    assert grave(seen.page) == []
    seen.quiet()


def test_many_values_are_a_job_that_can_be_cancelled(workbench: RunningWorkbench, context: Any) -> None:
    table = "word\n" + "".join(f"word {i}\n" * (1 + i % 7) for i in range(1000))
    seen = tried(workbench, context, "words.csv", table.encode(), "word")
    page = seen.page
    bar, results = page.get_by_role("progressbar"), page.get_by_role("button", name="Download the figures")
    page.get_by_label("People", exact=True).fill("10,000,000")
    page.get_by_label("Values that are kept").fill("999")
    bar.wait_for()
    workbench.hold()
    assert not results.is_visible(), "those before are of fewer values"
    assert grave(page) == []
    jobs = opened(context, f"{workbench.url}/jobs").page
    jobs.get_by_role("heading", name="Your trial").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("Your trial was cancelled.").wait_for()
    page.get_by_text("No result", exact=True).wait_for()
    jobs.get_by_text("Cancelled.").wait_for()
    page.get_by_label("People", exact=True).fill("20,000")
    page.get_by_label("Values that are kept").fill("250")
    results.wait_for(timeout=120_000)
    assert not bar.is_visible()
    assert not page.get_by_text("Your trial was cancelled.").is_visible()
    assert "The 250 most frequent are kept" in page.locator(".answer").inner_text()
    with page.expect_download() as handed:
        results.click()
    rows = list(csv.DictReader(io.StringIO(Path(handed.value.path()).read_text())))
    assert len({row["value"] for row in rows}) == 251
    page.get_by_role("button", name="Forget the file").click()
    page.get_by_text("No table yet").wait_for()
    jobs.get_by_text("No jobs").wait_for()
    seen.quiet()


def test_a_trial_ends_with_its_page(workbench: RunningWorkbench, context: Any) -> None:
    table = "word\n" + "".join(f"word {i}\n" * (1 + i % 7) for i in range(1000))
    page = tried(workbench, context, "words.csv", table.encode(), "word").page
    page.get_by_label("People", exact=True).fill("10,000,000")
    page.get_by_label("Values that are kept").fill("999")
    page.get_by_role("progressbar").wait_for()
    workbench.hold()
    assert "job=" not in page.url
    jobs = opened(context, f"{workbench.url}/jobs").page
    jobs.get_by_role("heading", name="Your trial").wait_for()
    page.close()
    jobs.get_by_text("No jobs").wait_for(timeout=30_000)


def test_a_file_is_forgotten_by_a_button(workbench: RunningWorkbench, context: Any, pictures: Path) -> None:
    seen = tried(workbench, context, "drinks.csv", TABLE, "drink")
    page = seen.page
    page.get_by_role("button", name="Forget the file").click()
    page.get_by_text("The file is forgotten.").wait_for()
    page.get_by_text("No table yet").wait_for()
    assert "zebramilk" not in page.content()
    assert page.get_by_label("A table, as CSV or Parquet").input_value() == ""
    pictured(page, pictures, "data-empty")
    seen.quiet()


def test_nothing_of_a_file_is_written_or_logged(workbench: RunningWorkbench, context: Any) -> None:
    seen = tried(workbench, context, "drinks.csv", TABLE, "drink")
    seen.page.close()
    broken = opened(context, f"{workbench.url}/data")
    give(broken.page, "zebras.csv", b"zebramilk,b\nzebramilk,2,zebramilk\n")
    broken.page.get_by_label("Column", exact=True).select_option(label="b")
    broken.page.get_by_role("alert").get_by_text("must have 2 cells in every row").wait_for()
    assert "zebra" not in workbench.logged()
    assert "zebra" not in " ".join(path.name for path in workbench.log.parent.iterdir())


DAMAGED = bytearray(parquet({"a": ["x", "y", "x"] * 50, "b": list(range(150))}))
for _at, _byte in ((872, 43), (960, 103), (834, 24), (541, 115), (468, 67)):
    DAMAGED[_at] = _byte


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("table.xlsx", b"PK\x03\x04", "must be a CSV or a Parquet file"),
        ("empty.csv", b"", "must hold a table"),
        ("picture.csv", b"\x89PNG\r\n\x1a\n\0\0", "must be text in UTF-8"),
        ("table.parquet", b"a,b\n1,2\n", "rename it to .csv"),
        ("damaged.parquet", bytes(DAMAGED), "The file must be"),
    ],
)
def test_what_cannot_be_read_is_said_beside_the_field(
    workbench: RunningWorkbench, context: Any, name: str, content: bytes, words: str
) -> None:
    seen = opened(context, f"{workbench.url}/data")
    give(seen.page, name, content)
    seen.page.get_by_role("alert").get_by_text(words).wait_for()
    assert "Traceback" not in seen.page.content()
    give(seen.page, "drinks.csv", TABLE)
    seen.page.get_by_label("Column", exact=True).wait_for()
    assert not seen.page.get_by_role("alert").is_visible()
    seen.quiet()


def test_a_file_that_is_too_large_never_leaves_the_browser(
    workbench: RunningWorkbench, context: Any, tmp_path: Path
) -> None:
    large = tmp_path / "large.csv"
    large.write_bytes(b"a\n" + b"x\n" * (11 << 20))
    seen = opened(context, f"{workbench.url}/data")
    seen.page.get_by_label("A table, as CSV or Parquet").set_input_files(large)
    seen.page.get_by_text("This file is too large: at most 20 MB can be taken.").wait_for()
    assert not [each for each in seen.asked if "/upload/" in each]
    seen.quiet()


def test_a_column_without_answers_is_said_to_be_one(workbench: RunningWorkbench, context: Any) -> None:
    seen = opened(context, f"{workbench.url}/data")
    give(seen.page, "drinks.csv", b"a,b\n1,x\n2,x\n")
    seen.page.get_by_label("Column", exact=True).select_option(label="b")
    seen.page.get_by_role("alert").get_by_text("at least two different values").wait_for()
    seen.page.get_by_label("Column", exact=True).select_option(label="a")
    seen.page.get_by_role("button", name="Download the figures").wait_for(timeout=60_000)
    assert not seen.page.get_by_role("alert").is_visible()
    seen.quiet()


def test_who_leaves_in_the_midst_leaves_no_fault(workbench: RunningWorkbench, context: Any) -> None:
    before = len(workbench.logged())
    seen = opened(context, f"{workbench.url}/data")
    give(seen.page, "drinks.csv", TABLE)
    seen.page.get_by_label("Column", exact=True).select_option(label="drink")
    seen.page.goto(f"{workbench.url}/explore")
    seen.page.wait_for_timeout(14_000)
    logged = workbench.logged()[before:]
    assert "fault" not in logged
    assert "Traceback" not in logged
