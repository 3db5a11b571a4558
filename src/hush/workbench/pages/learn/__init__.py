"""Learn: five minutes with two coins, a crowd and a quiz."""

from __future__ import annotations

from importlib.resources import files

from nicegui import app, ui

from hush.workbench import prose
from hush.workbench.frame import page
from hush.workbench.visits import Visit

_ABOUT = "Five minutes on what local differential privacy is, with your own coin flips and a crowd that answers."


@page("/learn", "Learn", order=70, about=_ABOUT)
def learn(visit: Visit) -> None:
    """Lay it out."""
    from hush.workbench.learn import browser, text
    from hush.workbench.pages.learn import parts, quiz

    for name, path in browser.scripts().items():
        if not any(getattr(route, "path", "") == browser.SCRIPTS + name for route in app.routes):
            app.add_static_file(local_file=path, url_path=browser.SCRIPTS + name)
    ui.add_head_html(f'<script type="module" src="{browser.SCRIPTS}coins.js"></script>')
    ui.add_css(files("hush.workbench.learn").joinpath("learn.css").read_text("utf-8"))
    prose.title(text.TITLE, text.LEAD)
    tried = {**parts.TRIED, "quiz": quiz.ask}
    with ui.element("div").classes("learn"):
        _contents(text.sections())
        with ui.element("div"):
            for section in text.sections():
                with ui.element("section").classes("part").props(f'id="{section.id}"') as made:
                    made.props["aria-labelledby"] = prose.heading(section.title).html_id
                    for words in section.before:
                        prose.paragraph(words)
                    if section.id in tried:
                        tried[section.id]()
                    for words in section.after:
                        prose.paragraph(words)


def _contents(sections: object) -> None:
    """The parts, and at which of them the reader is."""
    with ui.element("nav").classes("parts").props('aria-label="Parts of this page"'), ui.element("ol"):
        for each in sections:  # type: ignore[attr-defined]
            with ui.element("li"):
                prose.text("a", each.title).props["href"] = f"#{each.id}"
    ui.run_javascript(_FOLLOW)


_FOLLOW = """(() => {
    const links = new Map([...document.querySelectorAll(".learn .parts a")].map((a) => [a.hash.slice(1), a]));
    const seen = new IntersectionObserver((entries) => {
        for (const { target, isIntersecting } of entries) {
            if (!isIntersecting) continue;
            for (const link of links.values()) link.removeAttribute("aria-current");
            links.get(target.id)?.setAttribute("aria-current", "true");
            links.get(target.id)?.setAttribute("data-seen", "");
        }
    }, { rootMargin: "-20% 0px -70% 0px" });
    for (const part of document.querySelectorAll(".learn .part")) seen.observe(part);
})()"""
