"""What to audit, and how surely: the fields of the page."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from nicegui import ui

from hush.audit import Target, bounds
from hush.audit.games import GAMES
from hush.errors import HushError
from hush.reports import audit_in_words as in_words
from hush.workbench import controls, faults, prose
from hush.workbench.audit import choices
from hush.workbench.audit.address import methods_of
from hush.workbench.audit.question import AuditQuestion, from_fields
from hush.workbench.audit.reading import read
from hush.workbench.audit.targets import target_of
from hush.workbench.controls.errors import AlreadySaid
from hush.workbench.pages.audit.what import AuditSubject
from hush.workbench.visits import Visit


class AuditForm:
    """All fields.

    Args:
        visit: Whose.
        offered: Mechanisms, by name.
    """

    def __init__(self, visit: Visit, offered: Mapping[str, choices.AuditChoice]) -> None:
        self._visit = visit
        with ui.element("div").classes("stack"):
            self.what = AuditSubject(visit, offered)
        with ui.element("div").classes("stack"):
            self._trials = self._line("trials", "Reports of each of two values", "100000", "numeric")
            self._alpha = self._line("alpha", "Chance that what is proved is wrong, at most", "0.01", "decimal")
            self._reached = prose.paragraph("", "muted small")
            with ui.element("details"):
                prose.text("summary", "More: methods, another claim, a seed")
                with ui.element("div").classes("stack"):
                    self._methods = self._method_boxes()
                    self._claim = self._line("claim", "Hold it against another claim, ε", help="Left empty: its own.")
                    as_clients = "Left empty: reports are made as real clients make them."
                    self._seed = self._line("seed", "Seed, to repeat it", help=as_clients)
        self._reach()

    async def question(self) -> AuditQuestion:
        """What is asked; what is wrong with it is said beside its field."""
        how = {"trials": self._trials, "alpha": self._alpha, "claim": self._claim, "seed": self._seed}
        fields = {**how, **self.what.fields}  # the claim of code stands among what it is
        said = {name: field.value for name, field in fields.items()}
        methods = [name for name, box in self._methods.items() if box.value]
        for box in self._methods.values():
            box.right()
        with controls.said(fields):
            asked = from_fields(self.what.way, said, methods, name=self.what.name).allowed(self._visit.may_run_code)
            if asked.way != "code":  # a mechanism is made, to say at once what is wrong; code is not imported here
                try:
                    target = await asyncio.to_thread(target_of, asked, code=False)
                except HushError as error:
                    if asked.way != "spec" or error.parameter in fields:
                        raise
                    fields["spec"].wrong(faults.in_words(error))  # whatever is wrong in a spec is wrong with its text
                    raise AlreadySaid from None
                self._check_games(asked, target)
        return asked

    def _check_games(self, asked: AuditQuestion, target: Target) -> None:
        """Say of a game that cannot be played with the target why not."""
        for name in asked.methods:
            if name in GAMES:
                with controls.said({"method": self._methods[name]}):
                    GAMES[name]().of(target)

    def _method_boxes(self) -> dict[str, controls.Field[bool]]:
        ticked = methods_of(self._visit.query)
        with ui.element("fieldset").classes("stack").style("border: 0; padding: 0; margin: 0"):
            prose.text("legend", "Methods").style("font-weight: 600; padding: 0")
            prose.paragraph("None ticked: all that fit, but for those in which an attacker guesses.", "muted small")
            methods = {**in_words.METHODS, **in_words.GAMES}
            return {name: controls.checkbox(name, name in ticked, help=said) for name, said in methods.items()}

    def _line(
        self, name: str, label: str, first: str = "", mode: str = "decimal", *, help: str = ""
    ) -> controls.Field[str]:
        wanted = str(self._visit.query.get(name, first))
        made = controls.text(label, wanted, help=help, on_change=lambda _: self._reach())
        made.inputs[0].props["inputmode"] = mode
        return made

    def _reach(self) -> None:
        """How much so many reports can prove."""
        try:
            trials = read("trials", self._trials.value, "whole")
            alpha = read("alpha", self._alpha.value, "real")
            most = bounds.best_provable(trials or 0, alpha=alpha or 0.0)
        except HushError:
            self._reached.text = ""
            return
        self._reached.text = (
            f"So many reports prove a loss of {most:.3g} at most, even where an output gives a value away."
        )
