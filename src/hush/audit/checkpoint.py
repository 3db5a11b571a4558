"""Where an audit stands, in a small file, so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hush.errors import SpecError, message


@dataclass
class Checkpoint:
    """How many trials of each stream are done, and how many of them were hits.

    Args:
        path: The file; None to keep nothing.
        identity: What the audit is: a file of another audit is refused.
    """

    path: Path | None
    identity: dict[str, Any]
    streams: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: str | Path | None, identity: dict[str, Any]) -> Checkpoint:
        """The checkpoint in the file, or a new one."""
        if path is None or not Path(path).exists():
            return cls(None if path is None else Path(path), identity)
        try:
            plain = json.loads(Path(path).read_text(encoding="utf-8"))
            found, streams = plain["audit"], plain["streams"]
        except (ValueError, KeyError, TypeError):
            raise SpecError(
                message("checkpoint", "must be a file that an audit wrote", str(path), "remove it to start again")
            ) from None
        for name, value in identity.items():
            if name != "root" and found.get(name) != value:
                rule = f"must be of the same audit, whose {name} was {found.get(name)!r}"
                raise SpecError(message("checkpoint", rule, value, "name another file, or remove it to start again"))
        return cls(Path(path), found, streams)

    def standing(self, stream: int) -> tuple[int, int]:
        """Trials done and hits among them."""
        done, hits = self.streams.get(str(stream), [0, 0])
        return done, hits

    def save(self, stream: int, done: int, hits: int) -> None:
        """Note where a stream stands; the file is replaced whole."""
        self.streams[str(stream)] = [done, hits]
        if self.path is not None:
            part = self.path.with_name(self.path.name + ".part")
            part.write_text(json.dumps({"audit": self.identity, "streams": self.streams}), encoding="utf-8")
            os.replace(part, self.path)
