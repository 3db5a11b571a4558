"""The JavaScript client: its own tests pass, and it knows every mechanism whose spec tells all of its thresholds."""

from __future__ import annotations

import json
import re

import pytest

import hush
from hush.multidim.kept import LSMP, LSPL
from tests import javascript
from tests.conftest import example
from tests.golden.write_replays import FILE

TABLE = "its noise comes from a table of thousands of thresholds, of which the spec has only the hash"
REFUSED = {
    **dict.fromkeys(["SHE", "ServerTHE", "GM", "AGM"], TABLE),
    "LHO": "it guarantees nothing",
    "dBitFlipPM": "it draws which buckets it asks about with a threshold that is not in the spec",
    **{cls.__name__: "a person holds a tuple" for cls in (LSMP, LSPL)},
}
"""What the client does not draw, and why."""
STORED = json.loads(FILE.read_text(encoding="utf-8"))


def known() -> list[str]:
    """Its names, as it lists them."""
    program = "import('./src/mechanisms.js').then(({ known }) => console.log(JSON.stringify(known)))"
    names: list[str] = json.loads(javascript.said("-e", program).stdout)
    return names


def test_its_own_tests_pass() -> None:
    done = javascript.said("--test", "test/")
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_knows_every_mechanism_whose_spec_tells_its_thresholds() -> None:
    kinds = ("frequency", "numeric", "longitudinal")
    registered = {name for kind in kinds for name in hush.registry(kind) if ":" not in name}
    assert set(known()) == registered - REFUSED.keys()
    assert registered >= REFUSED.keys()


@pytest.mark.parametrize("name", [name for name in hush.registry() if ":" not in name])
def test_what_is_refused_is_refused_for_its_reason(name: str) -> None:
    m = example(name, 5, 1.0)
    told = {entry: str(text) for entry, text in m.thresholds.items()}
    hidden = {entry for entry, text in told.items() if not re.fullmatch(r"-?\d{1,20}( \d{1,20})*", text)}
    if name in REFUSED:
        assert (REFUSED[name] == TABLE) == (hidden == {"table"})
        assert (name == "LHO") == (m.guarantee is None)
    else:  # what disguises reveal by follows from the rest, and is held against the hash
        assert hidden <= {"reveal"}


@pytest.mark.parametrize("name", sorted(REFUSED.keys() - {"LSMP", "LSPL", "dBitFlipPM"}))
def test_what_it_does_not_know_is_refused_in_words(name: str) -> None:
    spec = json.dumps(example(name, 5, 1.0).to_dict())
    program = f"import('./src/loss.js').then(({{ loss }}) => loss({spec}))"
    done = javascript.said("-e", program)
    assert done.returncode == 1
    assert f"mechanism must be one of {' '.join(known())}, got {name}; report nothing to it" in done.stderr


def test_every_mechanism_that_it_knows_has_vectors() -> None:
    shown = {entry["spec"].get("protocol", entry["spec"].get("mechanism")) for entry in STORED["replays"].values()}
    assert shown == set(known())
