"""The layout of exports: a folder for each period, and in it one file of each collection.

    outings/_spec.json
    outings/period=3/part-0a1b….parquet

The folder is on this machine or on any filesystem that pyarrow knows. Nothing but the layout itself says what has been
exported, so a run writes what is over and not there. A file's name is made of the collection's id: a run that is
repeated puts a file in the place of the one before and never beside it, and several collectors, whose collections have
other ids, share a folder. A file has another name until it is complete.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hush.collect.manager import Manager, Plain
from hush.errors import HushError, ParameterError, SpecError, Unsaid, message
from hush.files.listing import AGGREGATE
from hush.files.periods import PERIOD
from hush.files.places import FilePlace
from hush.mechanisms.spec import Spec

SPEC = "_spec.json"
"""The spec of all files of a folder; readers of tables pass over what begins with an underscore."""
REPORTS = ".parquet"
_OBJECTS = ("s3", "gcs", "abfs")
"""Filesystems in which folders come and go with their files."""
_PIECE = 1 << 22


@dataclass(frozen=True)
class Exported:
    """What a run did.

    Args:
        written: The periods that it wrote, with their places and how many reports each has.
        present: Periods that were there before.
        unfinished: Periods of which more may come.
        uncounted: Periods that are over and whose last reports are not counted yet.
    """

    written: list[Plain] = field(default_factory=list)
    present: list[int] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    uncounted: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Layout:
    """A folder of exports.

    Args:
        root: Where it is; it need not exist.
        id: Of the collection that is exported.
        ending: Of its files: `REPORTS`, or that of aggregates.
    """

    root: FilePlace
    id: str
    ending: str

    def export(self, manager: Manager, *, again: bool = False) -> Exported:
        """Write the periods that are over and not there yet, each whole or not at all.

        Args:
            manager: The collector.
            again: Write those, too, that are there.
        """
        done = Exported()
        with _written(self.root):
            self._agree(Spec.from_dict(manager.show(self.id, whole=True)["spec"]))
            there = self._there()
            for each in manager.periods(self.id):
                period = each["period"]
                if self.ending == REPORTS and not each["kept"]:
                    continue
                if period in there and not again:
                    done.present.append(period)
                elif not each["over"]:
                    done.unfinished.append(period)
                elif each["pending"] and self.ending == AGGREGATE:
                    done.uncounted.append(period)
                else:
                    path = self._path(period)
                    self._put(manager, period, path)
                    done.written.append({"period": period, "n": each["n"] + each["pending"], "path": path})
        return done

    def _path(self, period: int) -> str:
        return f"{self.root.path.rstrip('/')}/{PERIOD}={period}/part-{self.id}{self.ending}"

    def _put(self, manager: Manager, period: int, path: str) -> None:
        if self.ending == AGGREGATE:
            with self._replacing(path) as to:
                to.write(manager.aggregate(self.id, period=period))
            return
        near = self.root.path if self.root.filesystem is None else None
        with tempfile.TemporaryDirectory(prefix=".hush-", dir=near) as folder:
            made = Path(manager.export(self.id, Path(folder), period=period)["path"])
            with made.open("rb") as whole, self._replacing(path) as to:
                while piece := whole.read(_PIECE):
                    to.write(piece)

    @contextmanager
    def _replacing(self, path: str) -> Iterator[Any]:
        """A stream to a file that has another name, which readers pass over, until it is complete."""
        system, (folder, _, _) = self.root.system, path.rpartition("/")
        if system.type_name not in _OBJECTS:
            system.create_dir(folder)
        part = f"{folder}/.hush-{secrets.token_hex(8)}.part"
        try:
            with system.open_output_stream(part) as stream:
                yield stream
            system.move(part, path)
        except BaseException:
            with suppress(OSError):
                system.delete_file(part)
            raise

    def _agree(self, spec: Spec) -> None:
        """Write the spec where there is none; refuse a folder of another one."""
        from pyarrow import fs

        path = f"{self.root.path.rstrip('/')}/{SPEC}"
        if self.root.system.get_file_info(path).type == fs.FileType.NotFound:
            with self._replacing(path) as to:
                to.write(spec.to_json().encode())
            return
        with self.root.system.open_input_file(path) as file:
            found = Spec.from_json(file.read().decode())
        if found.hash != spec.hash:
            rule = f"must be a folder of the spec {spec.hash[:12]}"
            raise SpecError(message("to", rule, Unsaid(f"one of {found.hash[:12]}"), "name another folder"))

    def _there(self) -> set[int]:
        """The periods of this collection that have a file; refused where one is of the other kind."""
        from pyarrow import fs

        name, other = f"part-{self.id}", REPORTS if self.ending == AGGREGATE else AGGREGATE
        asked = fs.FileSelector(self.root.path, allow_not_found=True, recursive=True)
        found = set()
        for info in self.root.system.get_file_info(asked):
            above, _, file = info.path.rpartition("/")
            key, _, value = above.rpartition("/")[2].partition("=")
            if key != PERIOD or not value.isdecimal():
                continue
            if file.startswith("part-") and file.endswith(other):
                rule = "must be a folder of reports or of aggregates, never of both: people would count twice"
                got = Unsaid(f"one with {file}")
                raise ParameterError(message("to", rule, got, "name another folder"))
            if file == name + self.ending:
                found.add(int(value))
        return found


@contextmanager
def _written(root: FilePlace) -> Iterator[None]:
    """Name the place where a filesystem says that it cannot be written."""
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, HushError):
            raise
        reason = getattr(error, "strerror", None) or str(error).strip() or type(error).__name__
        rule, remedy = "must be a folder that can be written", f"the filesystem says: {reason.splitlines()[0]}"
        raise ParameterError(message("to", rule, Unsaid(repr(root.name)), remedy)) from None
