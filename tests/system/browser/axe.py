"""What axe-core, a checker of pages for people who use them in other ways, finds wrong with one."""

from __future__ import annotations

from typing import Any

from tests.system.browser.needed import missing, packages

_GRAVE = ("serious", "critical")


def grave(page: Any) -> list[str]:
    """What is serious or critical, in words."""
    file = packages() / "axe-core" / "axe.min.js"
    if not file.is_file():
        missing("axe-core", "npm ci, in clients/javascript")
    page.evaluate("() => { Math.random = () => 0.5; }")  # which axe-core draws from, and pages here may not
    page.evaluate(file.read_text(encoding="utf-8"))
    found = page.evaluate("() => axe.run({ resultTypes: ['violations'] })")
    assert found["passes"], "axe-core has looked at nothing"
    return [
        f"{each['id']}: {each['nodes'][0]['html'][:120]}" for each in found["violations"] if each["impact"] in _GRAVE
    ]
