"""`hush collection`: make, open, watch and close collections, of a running server or of a store that none has open."""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from hush.cli.asked import paths
from hush.cli.asked.collections import (
    OPTIONS,
    ROLES,
    SpecOptions,
    check_token,
    check_wishes,
    describing,
    duration,
    meant,
    moment,
)
from hush.cli.asked.collectors import STORE, WHO, WORDS, Store, managed, naming, needing, opened
from hush.cli.asked.once import Once
from hush.cli.asked.options import Json
from hush.cli.asked.reading import whole
from hush.cli.shown import collections as shown
from hush.cli.shown import terminal
from hush.collect.manager import Manager
from hush.errors import NOTHING, ParameterError, Unsaid, message
from hush.reports.words import many

_HOW: dict[str, Any] = {"rich_markup_mode": "markdown", "add_completion": False, "pretty_exceptions_enable": False}
collection = typer.Typer(
    **_HOW,
    no_args_is_help=True,
    help="Make, open, watch and close collections. Each command speaks to a running server (--server, --token), or "
    f"opens the store itself where none runs (--store, {STORE} if left out), and has --json for programs.",
)
token = typer.Typer(**_HOW, no_args_is_help=True, help="Issue tokens and keys, list them, take them back.")
collection.add_typer(token, name="token")

Which = Annotated[str, typer.Argument(metavar="COLLECTION", help="Its id, the beginning of it, or its name.")]


@collection.command(cls=Once)
@managed(new=True)
@describing
def create(manager: Manager, spec: SpecOptions, wishes: dict[str, Any], as_json: Json = False) -> None:
    """Make a collection: a draft, which takes nothing until it is opened.

    The spec is in a file, or told in the words of `hush privatize`; it never changes once the collection was open.
    """
    if "name" not in wishes:
        raise ParameterError(message("--name", "must be given", NOTHING, "say what people call it"))
    with naming(OPTIONS):
        asked = spec.read()
        check_wishes(wishes, asked)
        made = manager.create(spec=asked.to_dict(), who=WHO, **wishes)
    _tell(manager, made, as_json, "Made a draft. Open it with `hush collection open`.")
    shown.note_budget(asked)


@collection.command(cls=Once)
@managed()
@describing
def succeed(manager: Manager, spec: SpecOptions, wishes: dict[str, Any], which: Which, as_json: Json = False) -> None:
    """Make the next collection, with another spec: a draft that is linked to the one before it.

    What is not said stays as it was. Clients add up what a person has spent along the whole chain.
    """
    id = meant(manager, which)
    with naming(OPTIONS):
        asked = spec.read()
        check_wishes(wishes, asked)
        made = manager.succeed(id, spec=asked.to_dict(), who=WHO, **wishes)
    _tell(manager, made, as_json, "Made a draft that follows it. Open it with `hush collection open`.")
    shown.note_budget(asked)


@collection.command("open", cls=Once)
@managed()
def open_(
    manager: Manager,
    which: Which,
    force: Annotated[
        bool, typer.Option("--force", help="Open it although the planner says that the error drowns what is asked for.")
    ] = False,
    began: Annotated[
        int | None,
        typer.Option(
            "--began",
            metavar="WHEN",
            parser=moment("--began"),
            help="When period 0 began, as another collector of the same spec shows it; now if left out.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Let people report, if so many as are expected can give what was asked for."""
    id = meant(manager, which)
    with naming({**OPTIONS, "began": "--began"}, WORDS):
        made = manager.open(id, force=force, began=began, who=WHO)
    _tell(manager, made, as_json, "Open.")


@collection.command(cls=Once)
@managed()
def close(manager: Manager, which: Which, as_json: Json = False) -> None:
    """Let nobody report any more. What is there stays, and can be read."""
    _tell(manager, manager.close(meant(manager, which), who=WHO), as_json, "Closed.")


@collection.command(cls=Once)
@managed()
def delete(manager: Manager, which: Which, as_json: Json = False) -> None:
    """Delete a draft that nothing follows, with its keys. What was open once stays: there may be reports of people."""
    id = meant(manager, which)
    manager.delete(id, who=WHO)
    if as_json:
        terminal.print_json({"id": id})
    else:
        terminal.stdout().print(f"Deleted the draft {id[:8]}.")


@collection.command("list", cls=Once)
@managed()
def list_(manager: Manager, as_json: Json = False) -> None:
    """Show all collections."""
    views = manager.list()
    if as_json:
        terminal.print_json({"collections": views})
    else:
        shown.listed(views)


@collection.command(cls=Once)
@managed()
def show(manager: Manager, which: Which, as_json: Json = False) -> None:
    """Show one collection: how many reported, how large the error is now, and what was refused, and why."""
    view = _placed(manager, manager.show(meant(manager, which), whole=True))
    if not as_json:
        shown.whole(view)
        return
    now = [{"attribute": each.attribute, "margin": each.margin} for each in shown.margins(view)]
    terminal.print_json({**view, "error_now": now})


@collection.command(cls=Once)
@managed()
def export(
    manager: Manager,
    which: Which,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE.parquet", help="One file for all reports (.parquet)."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FOLDER|URI",
            help="A folder, here or at s3://, gs://, …, with a file for each period; adds those that are over.",
        ),
    ] = None,
    aggregates: Annotated[
        bool, typer.Option("--aggregates", help="With --to: what the reports of a period add up to, and no reports.")
    ] = False,
    again: Annotated[
        bool, typer.Option("--again", help="With --to: put new files in the place of those that are there.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write the reports to a file that `hush estimate` reads, in an order that tells nothing.

    With --to, a file for each period, and again those of later periods, at any time: what is there stays, and nothing
    is there twice. Several collectors of one spec may share a folder.
    """
    if (output is None) == (to is None):
        rule, got = "must be given, or else --to", NOTHING if to is None else Unsaid("both")
        raise ParameterError(message("--output", rule, got, "say where to"))
    if to is not None:
        _export_periods(manager, meant(manager, which), to, aggregates, again, as_json)
        return
    for option, given in (("--aggregates", aggregates), ("--again", again)):
        if given:
            raise ParameterError(message(option, "must stand with --to", given, "name a folder, or leave it out"))
    assert output is not None
    paths.writable({"--output": output}, [])
    id = meant(manager, which)
    with tempfile.TemporaryDirectory(prefix=".hush-", dir=output.absolute().parent) as folder:
        made = manager.export(id, Path(folder))
        written = Path(made["path"])
        size = written.stat().st_size
        written.replace(output.resolve())
    if as_json:
        terminal.print_json({"id": id, "output": str(output), "bytes": size})
        return
    terminal.stdout().print(f"Reports of {id[:8]} → [bold]{terminal.cell(output).markup}[/]", soft_wrap=True)
    terminal.note(f"Estimate with: hush estimate {output}")


@collection.command(cls=Once)
@managed()
def verify(
    manager: Manager,
    which: Which,
    repair: Annotated[
        bool, typer.Option("--repair", help="Where they differ, let estimates rest on the kept reports again.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Count the kept reports anew, and compare; exit code 1 if that differs from what estimates rest on."""
    found = manager.verify(meant(manager, which), repair=repair, who=WHO)
    if as_json:
        terminal.print_json(found)
    elif found["equal"]:
        terminal.stdout().print("Equal: the estimates rest on exactly the reports that are kept.")
    else:
        terminal.stdout().print("[bold red]They differ.[/]")
        for each in found.get("differences", []):
            terminal.stdout().print(terminal.cell(each), soft_wrap=True)
        if repair:
            terminal.stdout().print("Repaired: the estimates rest on exactly the reports that are kept, from now on.")
    if not found["equal"] and not repair:
        raise typer.Exit(1)


@collection.command(cls=Once)
@managed()
def exclude(
    manager: Manager,
    which: Which,
    build: Annotated[
        str | None,
        typer.Option("--build", metavar="NAME", help="The release of a client that is broken, e.g. shop-app/3.1."),
    ] = None,
    no_build: Annotated[
        bool, typer.Option("--no-build", help="Clients that do not say which release they are.")
    ] = False,
    undo: Annotated[
        bool,
        typer.Option("--undo", help="Let it count again, with all that it sent, where the reports are kept."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Leave out all that one release of a client sent, of what is there and of what comes, and count the rest anew."""
    if no_build == bool(build):
        got = Unsaid("both") if build else NOTHING
        rule, remedy = "must be the name of a client build", "write e.g. --build shop-app/3.1, or --no-build alone"
        raise ParameterError(message("--build", rule, got, remedy))
    id = meant(manager, which)
    name = build or "no build"
    with naming({**OPTIONS, "build": "--build"}):
        made = manager.exclude(id, build or "", undo=undo, who=WHO)
    if undo:
        _tell(manager, made, as_json, f"What {name} sent counts again.")
        return
    if not made["left_out"]:
        terminal.warn(f"no report of {name} was counted; what still comes of it will not be. {shown.builds(made)}")
    _tell(manager, made, as_json, f"Left out {many(made['left_out'], 'report', 'reports')} of {name}.")


@collection.command(cls=Once)
@managed()
def deeds(
    manager: Manager,
    limit: Annotated[
        int, typer.Option("--limit", metavar="N", parser=whole("--limit", 1, "100"), help="How many.")
    ] = 100,
    as_json: Json = False,
) -> None:
    """Show what administrators did, the latest first."""
    rows = manager.deeds(limit)
    if as_json:
        terminal.print_json({"deeds": rows})
    else:
        shown.deeds(rows)


@collection.command(cls=Once)
@managed()
def backup(
    manager: Manager,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Where to; of a server, in the folder that its --backups names."
        ),
    ],
    as_json: Json = False,
) -> None:
    """Copy the store, as it is at one moment, while a server runs or while none does."""
    with naming({"path": "--output", "name": "--output", "output": "--output"}):
        manager.backup(output)
    if as_json:
        terminal.print_json({"output": str(output)})
    else:
        terminal.stdout().print(f"The store → [bold]{terminal.cell(output).markup}[/]", soft_wrap=True)


@collection.command(cls=Once)
def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file that `hush collection backup` wrote.")],
    store: Store = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in place of a store that is there, which is lost.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Make a store from a backup, after looking whether it is whole. No server may have the store open."""
    with needing():
        from hush.collect.store import backups
    where = store or STORE
    with naming({"store": "--store", "backup": "BACKUP", "output": "--store"}, WORDS):
        opened(lambda: backups.restored(source, where, replace=replace), Path(where), "stop that server first")
    if as_json:
        terminal.print_json({"backup": str(source), "store": where})
        return
    terminal.stdout().print(f"{terminal.cell(source).markup} → [bold]{terminal.cell(where).markup}[/]", soft_wrap=True)


@token.command("new", cls=Once)
@managed(new=True)
def token_new(
    manager: Manager,
    role: Annotated[
        str,
        typer.Option(
            "--role",
            metavar="|".join(ROLES),
            help="What it is for: to run everything, to read estimates, to submit, or to submit for others.",
        ),
    ],
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="What people call it: whose it is, say.")] = "",
    which: Annotated[
        str | None,
        typer.Option("--collection", metavar="COLLECTION", help="The only collection that it is for; else all."),
    ] = None,
    expires: Annotated[
        int | None,
        typer.Option(
            "--expires",
            metavar="TIME",
            parser=duration("--expires", "90d", least=1),
            help="After which it does not hold.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Issue a token. It is printed once, and the store keeps only its hash.

    To change one without a gap, issue the new one, hand it out, and `revoke` the old one `--after` a while.
    """
    id = None if which is None else meant(manager, which)
    with naming(OPTIONS):
        check_token(role, label or role, expires)
        made = manager.issue_token(role, label=label or role, collection=id, seconds=expires, who=WHO)
    if as_json:
        terminal.print_json({"token": made, "role": role, "collection": id})
        return
    terminal.note("This is the only time that it is shown:")
    typer.echo(made)


@token.command("list", cls=Once)
@managed()
def token_list(manager: Manager, as_json: Json = False) -> None:
    """Show which tokens there are; not the tokens themselves, which nobody has but their holders."""
    rows = manager.tokens()
    if as_json:
        terminal.print_json({"tokens": rows})
        return
    shown.tokens(rows, {each["id"]: each["name"] for each in manager.list()})


@token.command("revoke", cls=Once)
@managed()
def token_revoke(
    manager: Manager,
    id: Annotated[str, typer.Argument(metavar="TOKEN-ID", help="As `hush collection token list` shows it.")],
    after: Annotated[
        int,
        typer.Option("--after", metavar="TIME", parser=duration("--after"), help="Let it hold for so long, e.g. 1d."),
    ] = 0,
    as_json: Json = False,
) -> None:
    """Take a token back, at once or after a while."""
    with naming(OPTIONS | {"id": "TOKEN-ID", "token_id": "TOKEN-ID"}, WORDS):
        manager.revoke(id, who=WHO, after=after)
    if as_json:
        terminal.print_json({"id": id, "after": after})
    else:
        terminal.stdout().print(f"{id} holds no more." if not after else f"{id} holds for {shown.span(after)} more.")


def _export_periods(manager: Manager, id: str, to: str, aggregates: bool, again: bool, as_json: bool) -> None:
    """A file for each period that is over."""
    from hush.collect import partitions
    from hush.files.listing import AGGREGATE
    from hush.files.places import place_of

    with naming({"to": "--to", "reports": "--to"}):
        layout = partitions.Layout(place_of(to), id, AGGREGATE if aggregates else partitions.REPORTS)
        done = layout.export(manager, again=again)
    if as_json:
        terminal.print_json({"id": id, "to": to, **asdict(done)})
    else:
        shown.exported(id, to, done)


def _tell(manager: Manager, view: dict[str, Any], as_json: bool, what: str) -> None:
    """A collection after something was done with it."""
    if as_json:
        terminal.print_json(_placed(manager, view))
        return
    terminal.note(what)
    shown.whole(_placed(manager, view))


def _placed(manager: Manager, view: dict[str, Any]) -> dict[str, Any]:
    """With the address that devices send to, where a server answers for it."""
    url = getattr(manager, "url", None)
    return view if url is None else {**view, "address": f"{url}/v1/collections/{view['id']}"}
