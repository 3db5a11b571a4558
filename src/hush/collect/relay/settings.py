"""What an operator decides of a relay: all that a server has, and whom it passes reports on to, and when."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from hush.collect.settings import ServerSettings, said
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.rules import named

DROP, SEND = "drop", "send"
_ID = re.compile(r"[0-9a-f]{32}")
_KEY = re.compile(r"hush-relay-[0-9a-f]{8}-[A-Za-z0-9_-]{22}")  # as `hush.collect.tokens` makes them


@dataclass(frozen=True)
class Rules:
    """When records are passed on.

    Args:
        least: With how many others of their period, at least, in one batch.
        send_few: Whether fewer are sent all the same when their period's time is over; else they are dropped.
        whole_periods: Whether nothing of a period is sent before it is over.
    """

    least: int
    send_few: bool = False
    whole_periods: bool = False


@dataclass(frozen=True, kw_only=True)
class RelaySettings(ServerSettings):
    """All settings of a relay."""

    collector: str = field(default="", metadata=said("the address of the collector, https://HOST"))
    collections: str = field(default="", metadata=said("ids of the collections to relay, by commas"))
    key: str = field(default="", repr=False, metadata=said("the relay's own key, of the role relay"))
    least: int = field(
        default=1000, metadata=said("reports of one period that a batch must have to be sent", least=2, most=10**7)
    )
    few: str = field(
        default=DROP, metadata=said("what becomes of fewer when their period is nearly refused: drop, or send")
    )
    whole_periods: bool = field(
        default=False, metadata=said("send nothing of a period before it is over, so that no time within it shows")
    )
    most_stored: int = field(
        default=1 << 34,
        metadata=said(
            "bytes that the store may have for the collector; then devices are told to come back",
            least=1024,
            most=1 << 50,
        ),
    )
    anyone: bool = field(default=False, metadata=said("take batches without a key"))
    store: str = field(default="relay.db", metadata=said("a file for SQLite, or postgresql://USER:PASSWORD@HOST/NAME"))
    port: int = field(default=8471, metadata=said("the port to listen at; 0 takes a free one", least=0, most=65535))

    def __post_init__(self) -> None:
        super().__post_init__()
        named("few", self.few, (DROP, SEND), "use drop, unless few may be told apart")
        if not self.ids or not all(map(_ID.fullmatch, self.ids)):
            got = NOTHING if not self.ids else Unsaid("something else")
            rule = "must be ids of 32 hexadecimal digits, by commas"
            raise ParameterError(message("collections", rule, got, "see `hush collection list` of the collector"))
        if not _KEY.fullmatch(self.key):
            rule, remedy = (
                "must be a whole key of the role relay, hush-relay-…",
                "ask whoever runs the collector for one",
            )
            raise ParameterError(message("key", rule, Unsaid("something else") if self.key else NOTHING, remedy))

    @property
    def ids(self) -> tuple[str, ...]:
        """The collections' ids, each once."""
        return tuple(dict.fromkeys(part.strip() for part in self.collections.split(",") if part.strip()))

    @property
    def rules(self) -> Rules:
        """When reports are passed on."""
        return Rules(self.least, send_few=self.few == SEND, whole_periods=self.whole_periods)
