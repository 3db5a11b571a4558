"""Which collector a command speaks to: a running server, or a store that no server has open."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from hush.collect.manager import Manager
from hush.collect.settings import ServerSettings
from hush.errors import NOTHING, HushError, Message, ParameterError, Unsaid, message, missing
from hush.files.paths import quoted

PANEL = "Collector"
STORE = ServerSettings.store
"""Where a store is, if nothing else is said."""
WHO = "command line"
"""Who does what is done without a server."""
WORDS = {
    "send Authorization: Bearer and a token": "use a --token or --token-file",
    "allow plaintext": "add --plaintext",
    "see the list of tokens": "see `hush collection token list`",
    "replace=True": "--replace",
    "force=True": "--force",
    "epsilon_permanent = ": "--epsilon-permanent ",
    "epsilon_report = ": "--epsilon-report ",
    "epsilon = ": "--epsilon ",
}
"""What the collector says in the words of Python or HTTP, as it is written at the command line."""

Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="URL",
        envvar="HUSH_SERVER",
        help="The address of a running server.",
        rich_help_panel=PANEL,
    ),
]
Store = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="FILE|URL",
        envvar="HUSH_STORE",
        help=f"The store itself, where no server runs: a file ({STORE} if left out), or postgresql://…",
        rich_help_panel=PANEL,
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        metavar="TOKEN",
        envvar="HUSH_TOKEN",
        help="What lets you in at a server. Others on this machine see options: a file or the variable is safer.",
        rich_help_panel=PANEL,
    ),
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        envvar="HUSH_TOKEN_FILE",
        help="A file with the token.",
        rich_help_panel=PANEL,
    ),
]
Plaintext = Annotated[
    bool | None,
    typer.Option(
        "--plaintext",
        envvar="HUSH_PLAINTEXT",
        help="Let the token go to another machine without TLS: whoever is between here and the server can take it.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True)
class CollectorOptions:
    """What was said of it."""

    server: str | None
    store: str | None
    token: str | None
    token_file: Path | None
    plaintext: bool | None

    @property
    def held(self) -> str:
        """The token, wherever it is written: an option counts before a variable, and of variables the token itself."""
        by_hand, in_file = _written("--token", self.token), _written("--token-file", self.token_file)
        if by_hand and in_file:
            rule = "must be left out beside --token-file"
            raise ParameterError(message("--token", rule, Unsaid("both"), "leave one out"))
        if self.token_file is not None and (in_file or self.token is None):
            return secret("--token-file", self.token_file)
        return (self.token or "").strip()

    @contextmanager
    def manager(self, *, new: bool = False) -> Iterator[Manager]:
        """What can be asked; a store is made where it may be new."""
        by_hand = _written("--store", self.store)
        if self.server is None or (by_hand and not _written("--server", self.server)):
            with self._offline(new) as service:
                yield service
            return
        if by_hand:
            rule = "must be left out beside --server, which has its own"
            raise ParameterError(message("--store", rule, Unsaid("both"), "leave one out"))
        with needing():
            from hush.collect.remote import Remote
        if not self.held:
            rule, remedy = "must be given, for a server", "set HUSH_TOKEN, or use --token-file FILE"
            raise ParameterError(message("--token", rule, NOTHING, remedy))
        names = {"server": "--server", "token": "--token"}
        with naming(names, WORDS), Remote(self.server, self.held, plaintext=bool(self.plaintext)) as remote:
            yield remote

    @contextmanager
    def _offline(self, new: bool) -> Iterator[Manager]:
        with needing():
            from hush.collect.clock import Clock
            from hush.collect.service import Service
            from hush.collect.store import schema
            from hush.collect.store.database import Database, parsed
            from hush.collect.store.folder import Folder
        with naming({"store": "--store"}):
            url = parsed(self.store or STORE)
            file = Path(str(url.database)) if url.get_backend_name() == "sqlite" else None
            if file is not None and not new and not file.is_file():
                rule, remedy = "must be a store that is there", "name one, or a server with --server URL"
                raise ParameterError(message("--store", rule, quoted(file), remedy))
            database = opened(lambda: Database(self.store or STORE, holder=WHO), file)
            try:
                opened(lambda: schema.upgrade(database), file)
                service = Service(database, Clock())
                Folder(database, service.directory.numbered).all()  # what a server that was killed had not counted
                yield service
                service.stop()
            finally:
                database.close()


def secret(option: str, file: Path) -> str:
    """The token or key in a file."""
    try:
        return file.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not ASCII"
        rule, remedy = "must be a file with a token", f"{reason}; name another file"
        raise ParameterError(message(option, rule, quoted(file), remedy)) from None


def opened(work: Callable[[], Any], file: Path | None, remedy: str = "") -> Any:
    """A store that is opened; who holds it, or why it cannot be, in the words of the command.

    Args:
        work: Opens it.
        file: Where it is, if it is a file.
        remedy: What to do where a server holds it; left out, to speak to that.
    """
    from sqlalchemy.exc import SQLAlchemyError

    from hush.collect.store.lock import StoreHeld

    try:
        return work()
    except StoreHeld as error:
        holder = re.search(r"https?://\S+", error.value or "")
        if holder is None:
            raise error.naming("--store") from None
        rule, remedy = "must be open nowhere else", remedy or f"add --server {holder[0]} and its token, or stop it"
        raise StoreHeld(message("--store", rule, Unsaid(f"held by {holder[0]}"), remedy)) from None
    except SQLAlchemyError as error:
        why = " ".join(str(getattr(error, "orig", None) or type(error).__name__).split())
        where = quoted(file) if file is not None else Unsaid("a database")
        rule, remedy = "must be a store that can be read and written", f"{why}; name another one"
        raise ParameterError(message("--store", rule, where, remedy)) from None
    except OSError as error:
        rule, remedy = "must be a place where files can be written", f"{error.strerror or error}; name another place"
        raise ParameterError(message("--store", rule, quoted(file or Path(".")), remedy)) from None


@contextmanager
def needing(extra: str = "collect", purpose: str = "the collector") -> Iterator[None]:
    """Tell which packages are missing, where those of an extra are not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "hush":
            raise
        raise missing(error.name, extra, purpose) from None


@contextmanager
def naming(options: Mapping[str, str], words: Mapping[str, str] | None = None) -> Iterator[None]:
    """Say what breaks a rule in the words of the command.

    Args:
        options: What its parameters are called here.
        words: What else is said otherwise here, in a rule or a remedy.
    """
    try:
        yield
    except HushError as error:
        said = error.args[0] if error.args else None
        if isinstance(said, Message):
            rule, remedy = said.rule, said.remedy
            for word, here in (words or {}).items():
                rule, remedy = rule.replace(word, here), remedy.replace(word, here)
            error.args = (Message(options.get(said.parameter, said.parameter), rule, said.value, remedy),)
        raise


def _written(option: str, value: str | Path | None) -> bool:
    """Whether a value was written as an option, and is not only in the environment."""
    variable = f"HUSH_{option.removeprefix('--').replace('-', '_').upper()}"
    return value is not None and os.environ.get(variable, "") != str(value)


def managed(*, new: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A command whose first argument is the collector that its options name; they are added to its own.

    Args:
        new: Whether it may make a store.
    """

    def decorated(work: Callable[..., None]) -> Callable[..., None]:
        def run(**given: Any) -> None:
            where = CollectorOptions(*(given.pop(name) for name in _WHERE))
            with where.manager(new=new) as manager:
                work(manager, **given)

        return extended(work, 1, _WHERE, run)

    return decorated


def extended(
    work: Callable[..., None], own: int, more: dict[str, Any], run: Callable[..., None]
) -> Callable[..., None]:
    """A command that has more options than the function that does its work.

    Args:
        work: Does the work.
        own: How many of its parameters are no options: the first ones.
        more: The other options, with their types; none has a default.
        run: Is given all options by name, and calls the work.
    """
    keyword = inspect.Parameter.KEYWORD_ONLY
    kinds = get_type_hints(work, include_extras=True)
    kept = list(inspect.signature(work).parameters.values())[own:]
    every = [each.replace(annotation=kinds[each.name], kind=keyword) for each in kept]
    every += [inspect.Parameter(name, keyword, default=None, annotation=kind) for name, kind in more.items()]
    every.sort(key=lambda each: each.name == "as_json")  # which stands last everywhere
    made = wraps(work)(run)
    made.__dict__.pop("__wrapped__")
    made.__signature__ = inspect.Signature(every)  # type: ignore[attr-defined]
    made.__annotations__ = {each.name: each.annotation for each in every}
    return made


_WHERE: dict[str, Any] = {
    "server": Server,
    "store": Store,
    "token": Token,
    "token_file": TokenFile,
    "plaintext": Plaintext,
}
