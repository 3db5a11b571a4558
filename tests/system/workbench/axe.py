"""What axe-core finds serious in a page of the workbench, but for what NiceGUI and Quasar bring, named here."""

from __future__ import annotations

from typing import Any

from tests.system.browser.axe import grave as found

UPSTREAM: dict[str, str] = {}
"""Rules that what we stand on breaks, with why: nothing else may be left out."""


def grave(page: Any) -> list[str]:
    """What is serious or critical, and ours."""
    return [each for each in found(page) if each.partition(":")[0] not in UPSTREAM]
