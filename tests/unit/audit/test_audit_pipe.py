"""Programs of any language are audited over a pipe, and none of their faults passes for a result."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import pytest

from hush.audit import run
from hush.audit.bounds import best_provable
from hush.audit.lines import Format, Rubbish
from hush.audit.pipe import PipeTarget
from hush.errors import ParameterError
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

TARGETS = Path(__file__).parents[2] / "audit_targets"
ALPHA = 1e-6  # of every audit here: the chance that an honest program is accused

node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")


def python(code: str, k: int = 4, **more: object) -> PipeTarget:
    """A Python program with these lines, in which `lines` are the values as text."""
    program = f"import sys\nlines = sys.stdin.read().split()\n{textwrap.dedent(code)}"
    return PipeTarget([sys.executable, "-c", program], k, 1.0, "the program", **more)


def javascript(kind: str, k: int = 4) -> PipeTarget:
    return PipeTarget(["node", str(TARGETS / "client.js"), kind, str(k), "1.0"], k, 1.0, f"client.js {kind}")


@node
@pytest.mark.parametrize("kind", ["grr", "word", "oue", "json", "set"])
def test_an_honest_javascript_client_is_consistent(kind: str) -> None:
    found = run(javascript(kind), "classifier", trials=40_000, alpha=ALPHA, pair=(0, 1))
    assert found.verdict == "consistent", found.statement
    assert found.epsilon_lower > 0.5  # of a true loss of 1: 0.9 on average, with a standard error of 0.02


@node
@pytest.mark.parametrize(("kind", "least"), [("unreset", 1.1), ("shift", 4.0)])
def test_a_buggy_javascript_client_is_found(kind: str, least: float) -> None:
    found = run(javascript(kind), "classifier", trials=20_000, alpha=ALPHA)
    assert found.violated
    assert found.epsilon_lower > least


@compiler
def test_a_c_client_is_audited_and_a_fixed_seed_refused(tmp_path: Path) -> None:
    program = tmp_path / "client"
    subprocess.run(["cc", "-O1", "-o", program, TARGETS / "client.c", "-lm"], check=True)
    found = run(PipeTarget(f"{program} 4 1.0", 4, 1.0), "classifier", trials=40_000, alpha=ALPHA)
    assert found.verdict == "consistent"
    assert found.epsilon_lower > 0.5
    with pytest.raises(ParameterError, match=r"must draw afresh in every process.*same reports twice"):
        run(PipeTarget(f"{program} 4 1.0 17", 4, 1.0), "classifier", trials=20_000)


def test_a_program_that_says_the_value_is_proved_to_leak_as_much_as_can_be_proved() -> None:
    found = run(python("for line in lines: print(line)"), "classifier", trials=1000)
    assert found.epsilon_lower == pytest.approx(best_provable(found.trials))
    assert found.counts == (found.trials, 0)


def test_a_program_that_fails_on_one_value_is_told_which() -> None:
    target = python("for line in lines: print(1 // (int(line) - 7))", k=10)
    with pytest.raises(ParameterError, match=r"an end with exit code 1 after .* reports of value 7; it said: .*Zero"):
        target.draws(np.arange(10).repeat(5), None)


def test_reports_are_read_in_order_whatever_the_number_of_processes() -> None:
    code = "import random\nfor at, line in enumerate(lines): print(line, at, random.random())"
    target = python(code, chunk=300)
    reports = target.draw(3, 1000, None)
    assert reports.shape == (1000,)
    assert reports["report"][:, 0].tolist() == [3] * 1000
    assert reports["report"][:, 1].tolist() == [*range(300)] * 3 + [*range(100)]


def test_a_program_may_answer_line_by_line_or_at_the_end() -> None:
    one_by_one = [sys.executable, "-uc", "for line in iter(input, None): print(line)"]
    code = "import sys\nfor line in sys.stdin:\n    print(line.strip(), flush=True)"
    for command in ([sys.executable, "-uc", code], [sys.executable, "-c", code.replace(", flush=True", "")]):
        assert PipeTarget(command, 4).draw(2, 3000, None).tolist() == [2] * 3000
    with pytest.raises(ParameterError, match="EOFError"):  # its standard error is shown
        PipeTarget(one_by_one, 4).draw(2, 10, None)


@pytest.mark.parametrize(
    ("code", "complaint"),
    [
        ("raise RuntimeError('no entropy left')", "must end with exit code 0.*exit code 1 after 0 of 50.*no entropy"),
        ("print('\\n'.join(lines)); sys.exit(3)", "exit code 3 after 50 of 50 reports of value 1"),
        ("import os; print(1, flush=True); os.kill(os.getpid(), 11)", "by signal SIGSEGV after 1 of 50"),
        ("print('\\n'.join(lines[:20]))", "one line for each value, got 20 for 50"),
        ("print('\\n'.join(lines)); print('done')", "one line for each value, got more than 50"),
        ("while True: print(1)", "one line for each value, got more than 50"),
        ("pass", "got 0 for 50"),
        ("print('\\n'.join(lines[:49])); print('warning: slow')", "lines of one form|one number in every line"),
        ("print('\\n'.join(lines[:25])); print('1 2\\n' * 24 + '1 2')", "one number in every line.*line 26: '1 2'"),
        ("print('1 2\\n' * 49 + 'oops')", "lines of one form.*line 50: 'oops'"),
        ("print('[1, 2]\\n' * 49 + '[1, 2')", "lines of one form.*line 50"),
        ("print('\\n' * 49)", "an empty line"),
        ("sys.stdout.buffer.write(b'1\\n' * 20 + b'\\xff\\n' * 30)", "text in UTF-8, got the byte 0xff in line 21"),
    ],
)
def test_a_faulty_program_is_told_what_is_wrong(code: str, complaint: str) -> None:
    with pytest.raises(ParameterError, match=f"(?s)^target the program .*{complaint}"):
        python(code).draw(1, 50, None)


def test_the_form_of_lines_must_stay_from_process_to_process() -> None:
    target = python("print('\\n'.join(['1 2'] * len(lines) if len(lines) == 10 else ['1 2 3'] * len(lines)))")
    assert target.draw(0, 10, None)["report"].shape == (10, 2)
    with pytest.raises(ParameterError, match="must write 2 numbers in every line, got line 1: '1 2 3'"):
        target.draw(0, 20, None)


@pytest.mark.parametrize(
    "code",
    [
        "import time; print(1, flush=True); time.sleep(600)",
        "while True: pass",
        "import subprocess; subprocess.run(['sleep', '600'])",
        "import os, time; os.close(1); time.sleep(600)",
    ],
)
def test_a_program_that_hangs_is_ended(code: str) -> None:
    before = threading.active_count()
    with pytest.raises(ParameterError, match=r"must answer and end when its input ends.*silence for 0\.2 seconds"):
        python(code, timeout=0.2).draw(1, 50, None)
    wait_until(lambda: threading.active_count() <= before)  # nothing of it is left


@pytest.mark.parametrize(
    ("command", "rule"),
    [
        ("", "must be a program and its arguments"),
        ("'unfinished", "must be a program and its arguments"),
        ("no-such-program-here 1", "must be a program that can be found, got 'no-such-program-here'"),
        (17, "must be a program and its arguments"),
        ([], "must be a program and its arguments"),
        ("a\0b", "must be a program and its arguments"),
    ],
)
def test_the_command_is_checked_at_once(command: object, rule: str) -> None:
    with pytest.raises(ParameterError, match=f"^command {rule}"):
        PipeTarget(command, 4)  # type: ignore[arg-type]


def test_no_shell_is_used() -> None:
    target = PipeTarget(f"{sys.executable} -c 'import sys; print(len(sys.argv))' $HOME ; rm", 2)
    assert target.draw(0, 1, None).tolist() == [4]


def test_lines_are_numbers_vectors_json_or_words() -> None:
    assert Format.of(["1", "-2"]).read(["3", "4"]).tolist() == [3, 4]
    assert Format.of(["1.5", "nan"]).read(["1e3", "-inf"]).tolist() == [1000.0, -np.inf]
    wide = Format.of(["9007199254740993 1"]).read(["9007199254740993 1"])
    assert wide["report"].tolist() == [[9007199254740993, 1]]  # exactly, though no double holds it
    for line in ("1,2,3", "1 2 3", "1; 2; 3", "1\t2\t3", "1, 2, 3"):
        assert Format.of([line]).read([line])["report"].tolist() == [[1, 2, 3]]
    assert Format.of(["[1, 2]"]).read(["[3, 4]"])["report"].tolist() == [[3, 4]]
    assert Format.of(['{"a": 1}', "null"]).kind == "json"
    assert Format.of(["red", "7"]).read(["green"]).tolist() == ["green"]
    with pytest.raises(Rubbish):
        Format("json").read(["{"])
