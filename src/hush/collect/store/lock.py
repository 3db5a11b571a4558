"""The lock beside a store in a file: one process at a time opens it to write."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from hush.errors import HushError, ParameterError, Unsaid, message


class StoreHeld(HushError, RuntimeError):
    """Another process has the store open."""


class Lock:
    """Held from when it is made until it is released, or its process ends, however it does.

    Args:
        path: A file of its own; it stays there.
        holder: What it says to whoever finds it held.
    """

    def __init__(self, path: Path, holder: str) -> None:
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            rule, got = "must be in a folder that can be written", Unsaid(error.strerror or "another one")
            raise ParameterError(message("store", rule, got, "name another place")) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            other = os.read(self._file, 200).decode(errors="replace").strip()
            os.close(self._file)
            got = Unsaid(f"held by {other}" if other else "held by another process")
            raise StoreHeld(
                message("store", "must be open nowhere else", got, "speak to the server, or stop it")
            ) from None
        self.say(holder)

    def say(self, holder: str) -> None:
        """Tell others who holds it."""
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, holder.encode()[:200], 0)

    def release(self) -> None:
        """Let others have it; doing so twice is nothing."""
        if self._file >= 0:
            self.say("")
            os.close(self._file)
            self._file = -1
