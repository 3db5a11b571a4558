"""What is around a page, and how a page is made.

    from hush.workbench.frame import page
    from hush.workbench.visits import Visit

    @page("/plan", "Plan", order=10, about="Which protocol and which ε, for the accuracy you need.")
    def plan(visit: Visit) -> None:
        prose.title("Plan", "Say what you want to know, and from how many people.")
        ...

lies in a module of `hush.workbench.pages`, and is found there: it is in the navigation, in its order, and on the start
page, with what it is about. The function lays out one page for one visitor with NiceGUI; it may be a coroutine
function. The header, the language, light and dark, and errors in words are there already: a page begins with
`prose.title`, which is its only `h1`.

Whatever is raised, while a page is made or in a handler, is said in words at the place of the visitor: what Hush raises
as it is, anything else under a number that the log has, too.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nicegui import Client, ui
from starlette.requests import Request

import hush
from hush.workbench import faults, prose, theme
from hush.workbench.controls.errors import AlreadySaid
from hush.workbench.visits import Bench, Visit

THEME_COOKIE = "hush-theme"
_TOGGLE = f"""() => {{
    const dark = !Quasar.Dark.isActive;
    Quasar.Dark.set(dark);
    mounted_app.elements[%d].props.value = dark;  // which NiceGUI sets again whenever something on the page changes
    document.cookie = "{THEME_COOKIE}=" + (dark ? "dark" : "light") + "; path=/; max-age=31536000; samesite=strict";
}}"""
_MENU = """(e) => {
    const places = document.querySelector(".places");
    e.currentTarget.setAttribute("aria-expanded", String(places.classList.toggle("open")));
}"""
_HEAD = """<link rel="stylesheet" href="{sheet}">
<meta name="robots" content="noindex">
<script>
(() => {{
    const said = document.cookie.match(/{cookie}=(dark|light)/);
    const dark = said ? said[1] === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    document.documentElement.style.background = dark ? "{dark}" : "{light}";
}})();
</script>"""


@dataclass(frozen=True)
class PageEntry:
    """A page.

    Args:
        path: Where it is.
        title: What it is called, in the navigation and in the browser's tab.
        build: Lays it out for a visit.
        order: Where it stands in the navigation; None for nowhere.
        about: What one does there, in a sentence, for the start page.
    """

    path: str
    title: str
    build: Callable[[Visit], Any]
    order: int | None = None
    about: str = ""


PAGES: dict[str, PageEntry] = {}
"""All that have been imported, by path."""


def page(
    path: str, title: str, *, order: int | None = None, about: str = ""
) -> Callable[[Callable[[Visit], Any]], Any]:
    """Let a function be a page. See `PageEntry`, and the beginning of this module."""

    def kept(build: Callable[[Visit], Any]) -> Callable[[Visit], Any]:
        PAGES[path] = PageEntry(path, title, build, order, about)
        return build

    return kept


def listed() -> list[PageEntry]:
    """The pages of the navigation, in their order."""
    found = [each for each in PAGES.values() if each.order is not None]
    return sorted(found, key=lambda each: (each.order or 0, each.title))


def shown(entry: PageEntry, bench: Bench) -> Callable[[Request], Any]:
    """What NiceGUI calls for a page: everything around it, and the page itself."""

    async def build(request: Request) -> None:
        client = ui.context.client
        visit = Visit(bench, request.scope["state"]["session"], entry.path, dict(request.query_params))
        client.on_exception(lambda error: _say(client, error))
        _around(visit, entry)
        try:
            if entry.order is not None:  # others, the start page among them, need little
                await bench.warming.done()
            result = entry.build(visit)
            if inspect.isawaitable(result):
                await result
        except AlreadySaid:
            pass
        except Exception as error:
            faults.logged(error)
            client.status_code = 500
            client.content.clear()
            with client.content:
                prose.title(entry.title)
                prose.problem(faults.in_words(error))

    return build


def _say(client: Client, error: Exception) -> None:
    """Tell a visitor what went wrong in a handler."""
    if isinstance(error, AlreadySaid):
        return
    with client.content:
        ui.notify(
            faults.in_words(error),
            type="negative",
            position="bottom",
            timeout=12_000,
            close_button="Close",
            multi_line=True,
        )


def _around(visit: Visit, entry: PageEntry) -> None:
    ui.page_title("Hush workbench" if entry.path == "/" else f"{entry.title} · Hush workbench")
    ui.add_head_html(
        _HEAD.format(sheet=theme.address(), cookie=THEME_COOKIE, dark=theme.DARK.ground, light=theme.LIGHT.ground)
    )
    chosen = {"dark": True, "light": False}.get(ui.context.client.request.cookies.get(THEME_COOKIE, ""))
    mode = ui.dark_mode(chosen)
    with ui.header(fixed=False, add_scroll_padding=False, wrap=False), ui.element("div").classes("bar"):
        prose.text("a", "Hush", "brand").props('href="/" aria-label="Hush, the start page"')
        with ui.element("button").classes("button menu").props('type="button" aria-expanded="false"') as menu:
            prose.text("span", "Menu")
        menu.on("click", js_handler=_MENU)
        with ui.element("nav").classes("places").props('aria-label="Pages"'):
            for each in listed():
                link = prose.text("a", each.title)
                link.props["href"] = each.path
                if each.path == entry.path:
                    link.props["aria-current"] = "page"
        with ui.element("div").classes("tools"):
            _account(visit)
            with ui.element("button").classes("button icon plain").props('type="button"') as toggle:
                ui.icon("contrast").props('aria-hidden="true"').style("font-size: 1.35rem")
                prose.text("span", "Switch between light and dark", "hidden-words")
            toggle.on("click", js_handler=_TOGGLE % mode.id)
    ui.skip_link("Skip to what this page is about", target=ui.context.client.content)
    with ui.footer(fixed=False), ui.element("div").classes("foot"):
        about = "It runs on this machine" if visit.settings.loopback else f"It runs at {visit.settings.host}"
        prose.text("p", f"Hush {hush.__version__}. {about}, and nothing on this page comes from anywhere else.")
        prose.text("a", "Your jobs").props["href"] = "/jobs"


def _account(visit: Visit) -> None:
    """Who is signed in, or where to do so."""
    if not visit.settings.collector:
        return
    if visit.session.reads:
        with ui.element("form").props('method="post" action="/sign-out"').classes("side"):
            prose.text("span", "Administrator" if visit.session.creates else "Reader", "tag")
            with ui.element("button").classes("button plain").props('type="submit"'):
                prose.text("span", "Sign out")
    else:
        prose.text("a", "Sign in", "button plain").props('href="/sign-in"')
