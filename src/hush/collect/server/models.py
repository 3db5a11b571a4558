"""What requests hold and answers show, for FastAPI to check the ones and to publish both."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from hush.collect.envelope import MOST_PERIODS
from hush.collect.managing import LONGEST_NAME, LONGEST_PERIOD, MOST_HORIZON
from hush.collect.store.collections import DAY

_MOST = 2**53
"""Beyond this not every reader of JSON has integers."""
Count = Annotated[int, Field(ge=0, le=_MOST)]
Positive = Annotated[int, Field(ge=1, le=_MOST)]
Text = Annotated[
    str, Field(min_length=1, max_length=LONGEST_NAME, pattern=r"^[^\x00-\x1f\x7f]*[^\x00-\x20\x7f][^\x00-\x1f\x7f]*$")
]


class RequestModel(BaseModel):
    """A body that someone sends: with what it names, in these types, and nothing else."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Successor(RequestModel):
    """A collection that follows another; what is left out is as it was there."""

    spec: dict[str, Any] = Field(description="As `Spec.to_dict` writes it.")
    name: Text = ""
    target_n: Positive | None = Field(None, description="How many reports are expected; opening needs it.")
    wished_error: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="The margin that estimates should have; else the uniform share."
    )
    ends: Positive | None = Field(None, description="The second since 1970 from which nothing is taken any more.")
    period_seconds: int = Field(DAY, ge=1, le=LONGEST_PERIOD)
    horizon: int = Field(7, ge=0, le=MOST_HORIZON, description="How many periods a batch may be late.")
    keep: Literal["reports", "aggregates"] = Field("reports", description="What is kept once it is folded.")
    keep_days: int | None = Field(None, ge=1, le=MOST_HORIZON, description="After which that is forgotten.")
    anyone_submits: bool = Field(False, description="Without a key.")
    relayed_only: bool = Field(False, description="Only relays may submit.")
    public: bool = Field(False, description="Anyone may read estimates of at least `release_floor` reports.")
    release_floor: int = Field(100, ge=1, le=MOST_PERIODS - 1)


class NewCollection(Successor):
    """A collection that is to be made."""

    name: Text
    predecessor: str | None = Field(None, pattern="^[0-9a-f]{32}$", description="The one that it follows.")


class Opening(RequestModel):
    """How a collection is opened."""

    force: bool = Field(False, description="Although the planner advises against it.")
    began: Count | None = Field(
        None, description="The second since 1970 at which period 0 began: that of another collector's; else now."
    )


class Verification(RequestModel):
    """What is done where aggregates are not those of the kept reports."""

    repair: bool = Field(False, description="Make them so.")


class Exclusion(RequestModel):
    """A release of a client whose reports are dropped."""

    build: Annotated[str, Field(max_length=64, pattern=r"^[^\x00-\x1f\x7f]*$")]
    undo: bool = Field(False, description="Let them count again, where they are kept.")


class NewToken(RequestModel):
    """A token that is to be issued."""

    role: Literal["admin", "reader", "ingest", "relay"]
    label: Text
    collection: str | None = Field(None, pattern="^[0-9a-f]{32}$", description="The only one that it is for.")
    seconds: int | None = Field(None, ge=1, le=2**40, description="How long it holds.")


class Backup(RequestModel):
    """Where a copy of the store is written."""

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
        description="A file's name, in the folder that the operator allowed.",
    )


class Shown(BaseModel):
    """An answer; it may come to have more."""

    model_config = ConfigDict(extra="allow")


class PublicCollection(Shown):
    """What anyone may see of a collection."""

    id: str
    name: str
    status: Literal["draft", "open", "closed"]
    spec: dict[str, Any]
    spec_hash: str
    period: int = Field(description="The present one, which reports are of.")
    oldest_period: int = Field(description="The first that is still taken.")
    period_seconds: int
    horizon: int
    ends: int | None
    predecessor: str | None
    chain: list[str] = Field(description="Its id and those that it follows, the first one last.")
    needs_key: bool
    relayed_only: bool
    public: bool
    release_floor: int


class WholeCollection(PublicCollection):
    """What an admin sees of a collection."""

    began: int | None = Field(description="The second since 1970 at which period 0 began.")
    target_n: int | None
    wished_error: float | None
    forced: bool
    keep: str
    keep_days: int | None
    n: int = Field(description="Reports that were accepted.")
    pending: int
    builds: dict[str, int]
    excluded: list[str]
    refusals: dict[str, int]
    last_period: int | None
    shuffled: dict[str, Any] | None = Field(
        description="What relays add, and what that assumes; none where reports may come without one."
    )


class ShownPeriod(Shown):
    """A period that there are reports of."""

    period: int
    n: int = Field(description="Reports that estimates rest on.")
    pending: int = Field(description="Reports that are not counted yet.")
    over: bool = Field(description="Whether nothing more is taken of it.")
    kept: bool = Field(description="Whether its reports are still there.")


class RefusedRecord(BaseModel):
    """A record that a relay's batch came without."""

    index: int
    reason: str


class BatchReceipt(BaseModel):
    """What became of a batch; the same however often it is sent."""

    batch: str
    period: int
    accepted: int
    refused: list[RefusedRecord] | None = None


class IssuedToken(BaseModel):
    """A token, which is seen only here."""

    token: str
    id: str


class HeldKey(Shown):
    """A key that holds."""

    id: str
    role: Literal["ingest", "relay"]
    expires: int | None = Field(description="The second since 1970 from which it does not hold any more.")


class ShownEstimate(Shown):
    """What is estimated, as `hush estimate --json` writes it."""

    spec_hash: str
    n: int
    level: float


class ShownScript(Shown):
    """A script for web pages."""

    path: str
    integrity: str = Field(description="SHA-384 of its bytes, as a page's `integrity` has it.")
    bytes: int


class ShownScripts(Shown):
    """All scripts for web pages."""

    version: str
    scripts: list[ShownScript]
