"""The process of one job: it reads what to do, does it, and says how far it is and what came out.

Both ways are pickles, each behind its length, on pipes that only this process and its parent hold. Whatever the work
itself prints goes to the standard error. Should the parent end, the process ends, too.
"""

from __future__ import annotations

import os
import pickle
import struct
import threading
import traceback
from typing import IO, Any

from hush.errors import HushError
from hush.workbench.jobs.progress import Progress

LENGTH = struct.Struct("<Q")
PROGRAM = "from hush.workbench.jobs.worker import main; main()"


def told(pipe: IO[bytes], kind: str, *what: Any) -> None:
    """Write one message."""
    data = pickle.dumps((kind, *what))
    pipe.write(LENGTH.pack(len(data)) + data)
    pipe.flush()


def heard(pipe: IO[bytes]) -> tuple[Any, ...] | None:
    """Read one message; None at the end."""
    head = pipe.read(LENGTH.size)
    if len(head) < LENGTH.size:
        return None
    data = pipe.read(LENGTH.unpack(head)[0])
    found: tuple[Any, ...] = pickle.loads(data)
    return found


def main() -> None:
    """Do the work."""
    say = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    hear = os.fdopen(os.dup(0), "rb")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    lock = threading.Lock()

    def tell(kind: str, *what: Any) -> None:
        with lock:
            told(say, kind, *what)

    try:
        work = heard(hear)
        if work is None:
            return
        threading.Thread(target=_end_with, args=(hear,), daemon=True).start()
        _, function, given, named = work
        result = function(Progress(lambda fraction, note: tell("progress", fraction, note)), *given, **named)
        tell("done", result)
    except HushError as error:
        tell("refused", str(error))
    except BaseException as error:  # whatever it is, the parent is told, and a log has the rest
        traceback.print_exc()
        tell("failed", type(error).__name__)
    os._exit(0)  # threads of the work must not keep the process


def _end_with(hear: IO[bytes]) -> None:
    """Leave when the parent does: nothing else ever comes."""
    hear.read(1)
    os._exit(1)
