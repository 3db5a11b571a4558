"""Which files some paths, folders and patterns stand for, on any filesystem, and what the folders say of them.

A folder stands for all files in it and below, but for those with a name that begins with a dot or an underscore, which
other programs leave there (`_SUCCESS`, `.part-0.parquet.crc`). Names of folders such as `period=3` are columns of all
files below them.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote

from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.files.paths import quoted
from hush.files.places import FilePlace, Source, place_of, reachable
from hush.people.frames import is_frame

AGGREGATE = ".hush"
"""How the names of saved aggregates end."""
_MAGIC = re.compile(r"[*?\[]")
_MISSING = "__HIVE_DEFAULT_PARTITION__"
"""What other programs call the folder of rows without a value."""
_FILE, _FOLDER, _NOTHING, _ELSE = "file", "folder", "nothing", "else"


def listed(sources: Source | Iterable[Source], filesystem: Any = None) -> list[FilePlace]:
    """The files that some paths, folders and patterns stand for: at least one, each once, those of each in order.

    Args:
        sources: Paths or URIs, of files or of folders, or patterns: `*`, `?` and `[…]` stand for parts of a name,
            `**` for any folders. A file that is called like a pattern is that file. In a URI, `?` begins its query.
        filesystem: Of `pyarrow.fs` or of fsspec, where all of them lie; left out, URIs say so themselves.
    """
    given = [sources] if isinstance(sources, (str, os.PathLike)) else _paths(sources)
    if not given:
        raise ParameterError(message("reports", "must name at least one file", NOTHING, "name a file or a folder"))
    found: list[FilePlace] = []
    for source in given:
        some = [replace(each, values=_values(each.path)) for each in _files(source, filesystem)]
        _one_kind(source, some)
        found += some
    _distinct(found)
    return found


def _paths(sources: Any) -> list[Source]:
    """Several paths, and nothing else: a frame would be taken for the names of its columns, a column for paths."""
    framed = is_frame(sources) and len(getattr(sources, "shape", ())) != 1
    given = [sources] if framed or not isinstance(sources, Iterable) else list(sources)
    for each in given:
        if not isinstance(each, (str, os.PathLike)):
            rule = "must be a path, a URI, or a list of them"
            remedy = "give a frame of reports to spec.aggregate or to hush.write" if framed else "name a file"
            raise ParameterError(message("reports", rule, type(each), remedy))
    return given


def _files(source: Source, filesystem: Any) -> Iterator[FilePlace]:
    """The files that one path, folder or pattern stands for."""
    base, pattern = _split(source, filesystem)
    with reachable(str(base)):
        whole = _joined(base, pattern) if pattern else base
        is_pattern = bool(pattern) and kind_of(whole) == _NOTHING
        matches = list(dict.fromkeys(_matching(base, pattern.split("/")))) if is_pattern else [whole]
    if not matches:
        raise ParameterError(message("reports", "must match at least one file", quoted(whole), "check the pattern"))
    for place in matches:
        with reachable(str(place)):
            kind = kind_of(place)
            below = sorted(_below(place), key=str) if kind == _FOLDER else [place]
        if kind in (_NOTHING, _ELSE):
            rule = "must be a file that exists, or a folder of files"
            raise ParameterError(message("reports", rule, quoted(place), "check the path"))
        if not below:
            rule = "must be a file, or a folder with files in it"
            raise ParameterError(message("reports", rule, Unsaid(f"{quoted(place)}, which has none"), "check the path"))
        yield from below


def _split(source: Source, filesystem: Any) -> tuple[FilePlace, str]:
    """The folder above the first part of a path that has a pattern, and the rest; without one, the place itself."""
    name = os.fspath(source)
    is_uri = filesystem is None and "://" in name
    path, mark, query = name.partition("?") if is_uri else (name, "", "")
    parts = path.split("/")
    first = next((i for i, part in enumerate(parts) if _MAGIC.search(part)), len(parts))
    if first == len(parts) or (is_uri and first < 3):
        return place_of(source, filesystem), ""
    above = "/".join(parts[:first]) or ("/" if first else ".")
    return place_of(above + mark + query, filesystem), "/".join(parts[first:])


def _matching(folder: FilePlace, parts: Sequence[str]) -> Iterator[FilePlace]:
    """What below a folder a pattern stands for, part by part."""
    first, rest = parts[0], parts[1:]
    if first == "**":
        if not rest:
            yield from _below(folder)
            return
        yield from _matching(folder, rest)
        for each, is_folder in _walk(folder):
            if is_folder:
                yield from _matching(each, rest)
        return
    if _MAGIC.search(first):
        found = [each for each in _inside(folder, first[:1] in "._") if fnmatchcase(_last(each), first)]
    else:
        found = [each for each in [_joined(folder, first)] if kind_of(each) != _NOTHING]
    for each in found:
        if not rest:
            yield each
        elif kind_of(each) == _FOLDER:
            yield from _matching(each, rest)


def _below(folder: FilePlace) -> Iterator[FilePlace]:
    """All files in a folder and its folders."""
    return (each for each, is_folder in _walk(folder) if not is_folder)


def _walk(folder: FilePlace, above: Set[tuple[int, int]] = frozenset()) -> Iterator[tuple[FilePlace, bool]]:
    """All that is in a folder and its folders, and whether each is one.

    A link that leads back to a folder above is passed over: it would be walked for ever.
    """
    if folder.filesystem is None:
        seen = {*above, _inode(folder.path)}
        for each in _inside(folder):
            is_folder = kind_of(each) == _FOLDER
            if is_folder and _inode(each.path) in seen:
                continue
            yield each, is_folder
            if is_folder:
                yield from _walk(each, seen)
        return
    from pyarrow import fs

    for info in folder.filesystem.get_file_info(fs.FileSelector(folder.path, allow_not_found=True, recursive=True)):
        inner = _inner(folder, info.path)
        if not any(_hidden(part) for part in inner.split("/")):
            yield _joined(folder, inner), info.type == fs.FileType.Directory


def _inode(path: str) -> tuple[int, int]:
    """What a file or a folder of this machine is, through whatever links."""
    about = os.stat(path)
    return about.st_dev, about.st_ino


def _inside(folder: FilePlace, hidden: bool = False) -> list[FilePlace]:
    """What stands in a folder, in the order of the names; of what is hidden only what is asked for by its name."""
    if folder.filesystem is None:
        names = os.listdir(folder.path) if os.path.isdir(folder.path) else []
    else:
        from pyarrow import fs

        found = folder.filesystem.get_file_info(fs.FileSelector(folder.path, allow_not_found=True))
        names = [_inner(folder, info.path) for info in found]
    return [_joined(folder, name) for name in sorted(names) if hidden or not _hidden(name)]


def is_pattern(place: FilePlace) -> bool:
    """Whether a path has signs of a pattern."""
    return _MAGIC.search(place.path) is not None


def kind_of(place: FilePlace) -> str:
    """What stands at a place: a "file", a "folder", "nothing", or something "else"."""
    if place.filesystem is None:
        if os.path.isdir(place.path):
            return _FOLDER
        return _FILE if os.path.isfile(place.path) else _ELSE if os.path.lexists(place.path) else _NOTHING
    from pyarrow import fs

    kinds = {fs.FileType.File: _FILE, fs.FileType.Directory: _FOLDER, fs.FileType.NotFound: _NOTHING}
    return kinds.get(place.filesystem.get_file_info(place.path).type, _ELSE)


def _joined(folder: FilePlace, name: str) -> FilePlace:
    """Something in a folder; a URI keeps its query at the end."""
    shown, mark, query = folder.name.partition("?") if folder.filesystem is not None else (folder.name, "", "")
    if folder.path == "." and folder.filesystem is None:
        return FilePlace(name, name)
    shown = f"{shown.rstrip('/')}/{name}" if shown else name
    path = f"{folder.path.rstrip('/')}/{name}" if folder.path else name
    return FilePlace(shown + mark + query, path, folder.filesystem)


def _inner(folder: FilePlace, path: str) -> str:
    """A path without the folder that it begins with; filesystems differ in slashes at both ends."""
    return path.strip("/")[len(folder.path.strip("/")) :].strip("/")


def _last(place: FilePlace) -> str:
    return place.path.rpartition("/")[2]


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _values(path: str) -> tuple[tuple[str, str | None], ...]:
    """What the folders of a path say: `period=3` is a column and its cells."""
    pairs = (part.partition("=") for part in path.split("/")[:-1])
    found = {
        unquote(name): None if cell == _MISSING else unquote(cell) for name, equals, cell in pairs if name and equals
    }
    return tuple(found.items())


def _one_kind(source: Source, places: Sequence[FilePlace]) -> None:
    """Refuse a folder or a pattern that stands for reports and for aggregates, which may be of the same people."""
    if len({each.suffix == AGGREGATE for each in places}) > 1:
        rule = f"must hold reports or saved aggregates ({AGGREGATE}), not both: people would count twice"
        raise ParameterError(message("reports", rule, quoted(source), "name the files that are to be added up"))


def _distinct(places: Sequence[FilePlace]) -> None:
    """Refuse a file that is given twice, under whatever name: its people would count twice."""
    seen: dict[Any, list[tuple[FilePlace, Any]]] = {}
    for place in places:
        with reachable(str(place)):
            system, key = _identity(place)
        for before, its_system in seen.setdefault(key, []):
            if its_system == system:
                twice = quoted(str(place)) if str(place) == str(before) else f"{quoted(before)} and {quoted(place)}"
                raise ParameterError(message("reports", "must be different files", Unsaid(twice), "name each one once"))
        seen[key].append((place, system))


def _identity(place: FilePlace) -> tuple[Any, Any]:
    """The filesystem of a file, None for this machine's, and what the file is called there whatever it was called."""
    from pyarrow import fs

    system, path = place.filesystem, place.path
    while isinstance(system, fs.SubTreeFileSystem):
        system, path = system.base_fs, f"{system.base_path.rstrip('/')}/{path.lstrip('/')}"
    if system is None or isinstance(system, fs.LocalFileSystem):
        return None, _inode(path)
    return system, posixpath.normpath(path.strip("/"))
