"""What tests of the collector share: stores with collections, batches for them, and a clock that is moved by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import hush
from hush.collect.clock import Clock
from hush.collect.service import Service
from hush.collect.store import folding, schema
from hush.collect.store.database import Database
from hush.collect.store.intake import Arrival, Fate, keep
from tests.postgres import postgres, postgres_url, store_url

__all__ = ["database", "hand", "postgres", "postgres_url", "service", "sqlite_database", "store_url"]

SPEC = hush.Spec(hush.OLH(k=4, epsilon=2.0))
DAY = 86_400


class HandClock(Clock):
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.second = 1_800_000_000.0

    def now(self) -> float:
        return self.second

    def forward(self, seconds: float) -> None:
        """Let time go by, or back."""
        self.second += seconds


def made_database(url: str) -> Database:
    """A store with its tables."""
    made = Database(url)
    schema.upgrade(made)
    return made


@pytest.fixture
def hand() -> HandClock:
    """A clock that is moved by hand."""
    return HandClock()


@pytest.fixture
def database(store_url: str) -> Iterator[Database]:
    """An empty store, once of each kind."""
    made = made_database(store_url)
    yield made
    made.close()


@pytest.fixture
def sqlite_database(tmp_path: Path) -> Iterator[Database]:
    """An empty store in a file."""
    made = made_database(str(tmp_path / "store.db"))
    yield made
    made.close()


@pytest.fixture
def service(database: Database, hand: HandClock) -> Iterator[Service]:
    """What can be done with that store."""
    made = Service(database, hand)
    yield made
    made.stop()


def opened_one(service: Service, spec: hush.Spec = SPEC, **more: Any) -> str:
    """The id of a new open collection."""
    made = service.create(spec=spec.to_dict(), name="visits", target_n=100_000, who="tests", **more)
    service.open(made["id"], who="tests", force=True)
    return str(made["id"])


def arrival(
    number: int,
    reports: npt.NDArray[Any],
    *,
    period: int = 0,
    build: str = "a/1",
    seed: int = 0,
    digest: bytes = bytes(32),
) -> Arrival:
    """A batch of reports, whose id follows from the seed."""
    id = np.random.default_rng(seed).bytes(16)
    return Arrival(number, period, build, id, digest, len(reports), reports.tobytes())


def kept(database: Database, *arrivals: Arrival) -> list[Fate]:
    """Keep batches, in one transaction."""
    return database.write(lambda connection: keep(connection, arrivals)).result()


def send(
    service: Service, database: Database, id: str, reports: npt.NDArray[Any], *, period: int = 0, build: str = "a/1"
) -> Arrival:
    """Keep a batch with an id that has not been used."""
    seed = int.from_bytes(np.random.default_rng().bytes(8), "little")
    made = arrival(service.directory.named(id).number, reports, period=period, build=build, seed=seed)
    assert kept(database, made) == [Fate.KEPT]
    return made


def fold(database: Database, service: Service) -> int:
    """Fold all that is pending; how many batches."""
    total = 0
    while some := folding.step(database, service.directory.numbered).batches:
        total += some
    return total


def reports_of(values: list[Any], *, seed: int, spec: hush.Spec = SPEC) -> npt.NDArray[Any]:
    """Randomized reports, the same each time."""
    found: npt.NDArray[Any] = spec.privatize(values, rng=hush.seeded(seed))
    return found
