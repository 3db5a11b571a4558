"""Write the specs of the collector's demo page: a page computes no threshold.

python -m tests.golden.write_demo
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import hush

FILE = Path(str(files("hush.collect").joinpath("pages", "demo", "specs.json")))
LABELS = ("Sea", "Forest", "Museum", "Cinema")


def specs() -> dict[str, Any]:
    """What a visitor can choose from: a mechanism and a loss."""
    domain = hush.Domain(labels=LABELS)
    return {
        f"{mechanism.__name__} {epsilon}": hush.Spec(mechanism(k=len(LABELS), epsilon=epsilon), domain).to_dict()
        for mechanism in (hush.GRR, hush.OUE)
        for epsilon in (0.5, 1.0, 2.0)
    }


if __name__ == "__main__":
    FILE.write_text(json.dumps(specs(), indent=1) + "\n", encoding="utf-8")
