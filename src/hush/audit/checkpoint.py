"""Where an audit stands, in a small file, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hush import atomic
from hush.errors import SpecError, message

_NAMED = {"root": "seed", "mark": "code"}
_REMEDY = "remove it to start again"


@dataclass
class Checkpoint:
    """How many trials of each stream are done, and how many of them were hits.

    Args:
        path: The file; None to keep nothing.
        identity: What the audit is: the target with its law, the method, the seed, and a mark of the code.
    """

    path: Path | None
    identity: dict[str, Any]
    streams: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | Path) -> Checkpoint | None:
        """The checkpoint in the file, if there is one."""
        if not Path(path).exists():
            return None
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            found, streams = dict(plain["audit"]), dict(plain["streams"])
            sound = _count(found["root"]) and all(_adds_up(*counts) for counts in streams.values())
        except (ValueError, KeyError, TypeError, RecursionError):
            sound = False
        if not sound:
            rule = "must be a file that an audit wrote, with integers 0 <= hits <= done"
            raise SpecError(message("checkpoint", rule, str(path), _REMEDY))
        return cls(Path(path), found, streams)

    def must_be(self, identity: dict[str, Any]) -> None:
        """Refuse the file of another audit: of another target, law, seed, or code."""
        for name, value in identity.items():
            if self.identity.get(name) != value:
                rule = f"must be of the same audit, with the same {_NAMED.get(name, name)}"
                remedy = "name another file, or remove it to start again"
                raise SpecError(message("checkpoint", rule, f"another one in {self.path}", remedy))

    def complete(self, trials: int) -> bool:
        """Whether nothing is left to count."""
        return self.path is not None and all(self.streams.get(stream, [0])[0] == trials for stream in ("2", "3"))

    def standing(self, stream: int, events: int, trials: int, step: int) -> tuple[int, list[int]]:
        """Trials done, of so many and so many at a time, and hits of each event among them."""
        done, *hits = self.streams.get(str(stream), [0] * (1 + events))
        if len(hits) != events:
            raise SpecError(message("checkpoint", "must count the same events", str(self.path), _REMEDY))
        if done != trials and (done > trials or done % step):
            rule = f"must have done {trials} trials, or fewer in steps of {step}"
            raise SpecError(message("checkpoint", rule, done, _REMEDY))
        return done, hits

    def save(self, stream: int, done: int, hits: list[int]) -> None:
        """Note where a stream stands; the file is replaced whole."""
        self.streams[str(stream)] = [done, *hits]
        if self.path is not None:
            atomic.write(self.path, json.dumps({"audit": self.identity, "streams": self.streams}))


def _adds_up(done: object, *hits: object) -> bool:
    """Whether trials and hits are what can have been counted."""
    return _count(done) and all(_count(each) and each <= done for each in hits)  # type: ignore[operator]


def _count(number: object) -> bool:
    return type(number) is int and number >= 0
