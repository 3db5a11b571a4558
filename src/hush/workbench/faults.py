"""What goes wrong in a page: words and a number for who looks at it, everything else for the log."""

from __future__ import annotations

import logging
import secrets

from hush.errors import HushError
from hush.workbench.controls.errors import AlreadySaid

_LOG = logging.getLogger("hush.workbench")
_MARK = "the workbench's fault "


def in_words(error: BaseException) -> str:
    """What a page says of an error: what Hush itself says, or else that something went wrong, under a number.

    No traceback, no name of a file and no value of a stranger's code is in it.
    """
    if isinstance(error, HushError):
        said = str(error)
        return said + ("" if said.endswith(".") else ".")
    return f"Something went wrong here. The log of the workbench has it as fault {number(error)}."


def number(error: BaseException) -> str:
    """The number of an error; the same whenever it is asked for."""
    for note in getattr(error, "__notes__", ()):
        if note.startswith(_MARK):
            return str(note.removeprefix(_MARK))
    made = secrets.token_hex(4)
    error.add_note(f"{_MARK}{made}")
    return made


def logged(error: BaseException) -> None:
    """Write an error into the log, with its number and where it comes from; what was meant for people, in one line."""
    if isinstance(error, AlreadySaid):
        return
    if isinstance(error, HushError):
        _LOG.info("refused: %s", error)
        return
    _LOG.error("fault %s", number(error), exc_info=error)


class Own(logging.Filter):
    """Lets NiceGUI's log say nothing of errors that are logged here."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is kept."""
        return not isinstance(record.msg, Exception)
