"""In a real browser: the same reports from the same words as in Python, and secure ones with the law of their spec."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from scipy import stats

from tests.golden.write_replays import FILE
from tests.javascript import CLIENT, node
from tests.system.browser.needed import packages
from tests.system.browser.site import Site

REPORTS = 100_000
FALSE_ALARM = 1e-9
LAWS: dict[str, dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))["laws"]
COUNTED = """async ({ spec, value, reports }) => {
    const { prepared, secureWords } = drawing;
    const { draw } = prepared(spec);
    const words = secureWords();
    const counts = {};
    for (let i = 0; i < reports; i++) {
        const made = draw(value, words);
        const report = Array.from(made.report ?? made, (byte) => byte.toString(16).padStart(2, "0")).join("");
        counts[report] = (counts[report] ?? 0) + 1;
    }
    return counts;
}"""


@pytest.fixture(scope="module")
def page(browser: Any, site: Site) -> Iterator[Any]:
    """A page with what the build makes of the mechanisms: minified, as pages have them."""
    packages()
    done = subprocess.run([node(), "build.js", "--check"], cwd=CLIENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    context = browser.new_context()
    made = site.visit(context)
    made.evaluate("import('/clients/javascript/dist/drawing.js').then((made) => { window.drawing = made; })")
    yield made
    context.close()


def test_the_same_words_make_the_same_reports(page: Any) -> None:
    failed = page.evaluate(
        """async () => {
            const { failures } = await import("/clients/javascript/test/vectors.js");
            return failures(await (await fetch("/tests/golden/replays.json")).json(), drawing);
        }"""
    )
    assert failed == []


@pytest.mark.parametrize("name", LAWS)
def test_secure_reports_have_the_law_of_their_spec(page: Any, name: str) -> None:
    """By chi-square; a false alarm comes once in 10^9 tests."""
    entry = LAWS[name]
    law = {report: chance for report, chance in entry["law"].items() if chance > 0}
    counts = page.evaluate(COUNTED, {"spec": entry["spec"], "value": entry["value"], "reports": REPORTS})
    assert counts.keys() <= law.keys()
    due = {report: REPORTS * chance for report, chance in law.items()}
    statistic = sum((counts.get(report, 0) - mean) ** 2 / mean for report, mean in due.items())
    assert stats.chi2.sf(statistic, len(law) - 1) > FALSE_ALARM, f"{statistic} at {len(law) - 1} degrees of freedom"
