"""In a real browser: the script with its hash, and the page that the collector serves."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

import hush
from tests.collectors import Served
from tests.system.browser.site import Site, script

pytestmark = pytest.mark.xdist_group("browser")
SPEC = hush.Spec(hush.GRR(k=3, epsilon=1.0), hush.Domain(labels=["cat", "dog", "bird"]))


def test_a_page_can_hold_the_script_to_its_hash(context: Any, site: Site, served: Served) -> None:
    address = script(served.url)
    (integrity,) = (
        each["integrity"]
        for each in httpx.get(f"{served.url}/client").json()["scripts"]
        if address.endswith(each["path"])
    )
    wrong = integrity[:10] + ("A" if integrity[10] != "A" else "B") + integrity[11:]
    for hash, loads in ((integrity, True), (wrong, False)):
        page = context.new_page()
        page.goto(f"{site.url}empty")
        page.evaluate(
            """([address, integrity]) => {
                const made = Object.assign(document.createElement("script"), { type: "importmap" });
                made.textContent = JSON.stringify({ imports: { hush: address }, integrity: { [address]: integrity } });
                document.head.append(made);
            }""",
            [address, hash],
        )
        told = page.evaluate("import('hush').then(({ version }) => version, () => 'refused')")
        assert told == (hush.__version__ if loads else "refused")
