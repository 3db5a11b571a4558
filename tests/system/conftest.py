"""Files that the tests of the command share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.system.support import run, write_csv

LABELS = ["cat", "dog", "fish"]
COUNTS = {"cat": 6000, "dog": 3000, "fish": 900, "axolotl": 60, "": 40}
REGIONS = ["north", "north", "south"]


@pytest.fixture
def pets(tmp_path: Path) -> Path:
    """10,000 pets, some unknown and some missing, each with a region."""
    people = [pet for pet, count in COUNTS.items() for _ in range(count)]
    return write_csv(
        tmp_path / "pets.csv", {"pet": people, "region": [REGIONS[i % 3] for i in range(len(people))], "id": people}
    )


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.txt"
    path.write_text("\n".join(LABELS) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def reports(pets: Path, labels: Path, tmp_path: Path) -> Path:
    """The pets, randomized, with their regions kept."""
    path = tmp_path / "reports.parquet"
    chosen = ["--column", "pet", "--mechanism", "OUE", "--epsilon", 2, "--domain", labels, "--other", "other"]
    result = run("privatize", pets, *chosen, "--keep", "region", "-o", path)
    assert result.exit_code == 0, result.output
    return path
