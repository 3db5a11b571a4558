"""What is drawn in the reader's browser, and never told: two forms, and the scripts behind them."""

from __future__ import annotations

import json
from html import escape
from importlib.resources import files
from itertools import product
from pathlib import Path

from hush.mechanisms.spec import Spec
from hush.workbench.learn import coins

SCRIPTS = "/learn/"
"""Where the scripts are served."""


def scripts() -> dict[str, Path]:
    """The scripts, by name: ours, and the client for web pages that draws reports."""
    found = {
        "coins.js": files("hush.workbench.learn").joinpath("coins.js"),
        "hush.js": files("hush.collect").joinpath("pages", "hush.js"),
    }
    return {name: Path(str(each)) for name, each in found.items()}


def coins_form() -> str:
    """Two coins to flip. The answer is a field without a name in any request: nothing of the form is sent."""
    choices = "".join(_radio("truth", answer, answer.capitalize()) for answer in coins.ANSWERS)
    return (
        f"<form class='coins card' data-law='{_attribute(table())}' novalidate>"
        f"<fieldset><legend>My true answer, which stays in this browser</legend>{choices}</fieldset>"
        "<div class='side'><button type='submit' class='button primary'>Flip the coins</button></div>"
        "<div class='side fallen'>"
        f"{_coin('first')}{_coin('second')}</div>"
        "<p class='result' data-said role='status'></p>"
        "<p class='muted small' data-tally></p></form>"
    )


def report_form(question: str, spec: Spec) -> str:
    """The last question: an answer is randomized in the browser, and the report alone is told."""
    labels = spec.domain.labels
    choices = "".join(_radio("value", str(value), str(label)) for value, label in enumerate(labels))
    mechanism = spec.mechanism.to_dict()
    return (
        f"<form class='coins' data-mechanism='{_attribute(mechanism)}' novalidate>"
        f"<fieldset><legend>{escape(question)}</legend>{choices}</fieldset>"
        "<div class='side'><button type='submit' class='button primary'>"
        "Randomize my answer, and join the crowd</button></div><p class='result' data-said role='status'></p></form>"
    )


def table() -> dict[str, dict[str, str]]:
    """What is said, by the truth and by how both coins fell."""
    faces = (coins.HEADS, coins.TAILS)
    return {
        truth: {f"{first} {second}": coins.said(truth, first, second) for first, second in product(faces, repeat=2)}
        for truth in coins.ANSWERS
    }


def _radio(name: str, value: str, label: str) -> str:
    return f"<label class='inline'><input type='radio' name='{name}' value='{escape(value)}'> {escape(label)}</label>"


def _coin(which: str) -> str:
    face = f"<span class='coin' data-coin='{which}' data-face=''>?</span>"
    return f"<div>{face}<span class='muted small'>{which} coin</span></div>"


def _attribute(data: object) -> str:
    return escape(json.dumps(data), quote=True)
