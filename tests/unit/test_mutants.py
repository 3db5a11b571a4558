"""Mutation testing: which changes are made, which are drawn, and what runs of tests say of them."""

from __future__ import annotations

import ast
import json
import tomllib
from dataclasses import replace
from pathlib import Path
from textwrap import dedent

import pytest

pytest.importorskip("coverage")

from tests.mutation.__main__ import main
from tests.mutation.covering import CoverageMap, CoverageStore
from tests.mutation.drawing import allocate, draw_mutants, load_drawn, store_drawn
from tests.mutation.operators import Mutant, find_mutants, is_valid
from tests.mutation.project import Project
from tests.mutation.reporting import count_killed, read_equivalents
from tests.mutation.running import Limits, Result, ResultStore, is_decided, order_tests, read_outcome

pytestmark = [pytest.mark.peers]

EXPRESSIONS = [
    ("x < y", "comparison", ["x <= y"]),
    ("x >= y", "comparison", ["x > y"]),
    ("x == y != z", "comparison", ["x != y != z", "x == y == z"]),
    ("x is None", "comparison", ["x is not None"]),
    ("x not  in y", "comparison", ["x in y"]),
    ("(x) <  # less < than\n (y)", "comparison", ["(x) <=  # less < than\n (y)"]),
    ("x + y * z", "arithmetic", ["x - y * z", "x + y / z"]),
    ("x ** -y", "arithmetic", ["x * -y"]),
    ("x << y & z", "arithmetic", ["x >> y & z", "x << y | z"]),
    ("x and y or z", "boolean operator", ["x or y or z", "x and y and z"]),
    ("not (x or y)", "dropped not", ["(x or y)"]),
    ("-x", "dropped sign", ["x"]),
    ("True", "boolean", ["False"]),
    ("0", "number", ["1"]),
    ("1", "number", ["0"]),
    ("0xFF", "number", ["256"]),
    ("-7", "number", ["-8"]),
    ("0.5", "number", ["0.55"]),
    ("0.0", "number", ["1.0"]),
    ("range(x)", "bound", ["range(x - 1)"]),
    ("range(x, y or z, 2)", "bound", ["range(x, (y or z) - 1, 2)"]),
    ("x[y : z.n]", "bound", ["x[y + 1 : z.n]", "x[y : z.n - 1]"]),
    ("f(x, (y), *z)", "swapped arguments", ["f(y, (x), *z)"]),
]


def changes(source: str, operator: str | None = None) -> list[str]:
    data = dedent(source).encode()
    found = [each for each in find_mutants(data, "a.py") if operator in (None, each.operator)]
    return [each.apply(data).decode() for each in found if is_valid(each, data)]


@pytest.mark.parametrize(("source", "operator", "mutants"), EXPRESSIONS, ids=lambda value: str(value)[:20])
def test_an_operator_changes_an_expression(source: str, operator: str, mutants: list[str]) -> None:
    assert sorted(changes(f"a = ({source})\n", operator)) == sorted(f"a = ({each})\n" for each in mutants)


def test_statements_are_changed() -> None:
    source = "def f():\n    g(\n        x)\n    y += z\n    await h()\n"
    assert changes("async " + source, "dropped call") == [
        "async def f():\n    pass\n    y += z\n    await h()\n",
        "async def f():\n    g(\n        x)\n    y += z\n    pass\n",
    ]
    assert changes(source.replace("await ", ""), "arithmetic") == [
        "def f():\n    g(\n        x)\n    y -= z\n    h()\n",
    ]


@pytest.mark.parametrize(
    "source",
    [
        '"""A docstring with 1 < 2."""',
        "x: Annotated[int, Field(1)] = y",
        "Delta = Annotated[float, Option(min=1)]",
        "def f(x: Literal[1]) -> Literal[2]: return x",
        "if TYPE_CHECKING:\n    x = 1",
        "if typing.TYPE_CHECKING:\n    x = 1",
        'if __name__ == "__main__":\n    f(1)',
        "__all__ = [*names[1:]]",
        "class A:\n    def __repr__(self):\n        return self.x + 1",
        'x = f"{y + 1:.3f} {not z}"',
        'x = "%d" % y',
        'raise ValueError(message("k", 3))',
        "assert x < 1",
        'x = message("k", y + 1, 2)',
        "x = f(stacklevel=2)",
        "@f(1)\ndef g(): return x",
        "x = max(y, z), isinstance(y, z)",
        "import x",
    ],
)
def test_texts_types_and_declarations_are_never_changed(source: str) -> None:
    assert changes(source) == []


def test_else_of_a_static_condition_is_changed() -> None:
    assert changes("if TYPE_CHECKING:\n    x = 1\nelse:\n    x = 7\n") == [
        "if TYPE_CHECKING:\n    x = 1\nelse:\n    x = 8\n"
    ]


def test_all_but_the_span_stays_byte_identical() -> None:
    source = "# é\r\nx = 'ü'; y  =  (3\r\n  <   z)\t# 3 < 4\r\n".encode()
    for each in find_mutants(source, "a.py"):
        mutated = each.apply(source)
        ast.parse(mutated)
        end = each.start + len(each.original.encode())
        assert mutated == source[: each.start] + each.replacement.encode() + source[end:]
    assert {(each.original, each.line) for each in find_mutants(source, "a.py")} == {("3", 2), ("<", 3)}


def test_every_mutant_of_a_real_module_parses_and_differs() -> None:
    source = Path(ast.__file__).with_name("bisect.py").read_bytes()
    found = find_mutants(source, "bisect.py")
    assert len(found) > 40
    assert len({each.key for each in found}) == len(found)
    assert all(is_valid(each, source) for each in found)


def test_a_key_stays_when_other_lines_change() -> None:
    source = b"def f(x):\n    return x + 2\n"
    before = {each.key for each in find_mutants(source, "a.py")}
    assert before == {each.key for each in find_mutants(b"import g\n\n\n" + source, "a.py")}
    assert not before & {each.key for each in find_mutants(source, "b.py")}
    assert not before & {each.key for each in find_mutants(source.replace(b"f(", b"g("), "a.py")}


def test_a_changed_source_is_not_mutated() -> None:
    mutant = find_mutants(b"x = 5", "a.py")[0]
    with pytest.raises(ValueError, match="draw mutants again"):
        mutant.apply(b"y  = 5")


def test_shares_are_in_proportion_with_at_least_one() -> None:
    assert allocate({"a": 1000, "b": 10, "c": 500}, 33) == {"a": 21, "b": 1, "c": 11}
    with pytest.raises(SystemExit, match="at least 2"):
        allocate({"a": 1, "b": 1}, 1)


def test_a_draw_covers_every_package_and_depends_on_the_seed_alone(tmp_path: Path) -> None:
    project = Project(root=tmp_path, package="src/p")
    files = {"a/x.py": 60, "a/y/z.py": 20, "b/x.py": 20, "c.py": 2, "d.py": 0, "workbench/x.py": 20}
    for file, lines in files.items():
        path = tmp_path / project.package / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("import q\n" + "".join(f"x = y[{i}] < z\n" for i in range(lines)), encoding="utf-8")
    drawn = draw_mutants(project, seed=0, count=30)
    assert drawn == draw_mutants(project, seed=0, count=30)
    assert drawn != draw_mutants(project, seed=1, count=30)
    assert {package: len(several) for package, several in drawn.items()} == {"a": 22, "b": 6, "c": 2}
    mutants = [each for several in drawn.values() for each in several]
    assert len({(each.file, each.line) for each in mutants}) == 30
    assert {each.operator for each in mutants} == {"number", "comparison"}
    store_drawn(project, drawn, seed=0, count=30)
    assert load_drawn(project) == drawn
    path.with_name("new.py").write_text("x = 1", encoding="utf-8")
    assert load_drawn(project) == drawn  # of an excluded package
    (tmp_path / project.package / "d.py").write_text("x = 1", encoding="utf-8")
    with pytest.raises(SystemExit, match="draw"):
        load_drawn(project)


def test_first_run_the_tests_of_most_samples_then_one_case_of_each_function() -> None:
    seeds = {"a[1]": {1}, "a[2]": {1, 2}, "a[3]": {1, 2}, "b": {1, 2}, "c": set()}
    frozen = {test: frozenset(each) for test, each in seeds.items()}
    seconds = {"a[1]": 0.1, "a[2]": 0.3, "a[3]": 0.2, "b": 0.5, "c": 0.0}
    assert order_tests(seeds, seconds, frozen) == ["a[3]", "b", "a[2]", "a[1]", "c"]


@pytest.mark.parametrize(
    ("events", "code", "hangs", "killers", "reason"),
    [
        ("collected; start t::a; end t::a", 0, False, [], ""),
        ("collected; start t::a; failed t::a; end t::a", 1, False, ["t::a"], "failed"),
        ("collected; start t::b[9]; failed t::b[9]", 1, False, ["t::b[1]", "t::b[2]"], "failed"),
        ("collected; start t::a; end t::a; start t::b[1]", -9, True, ["t::b[1]"], "timeout"),
        ("collected; start t::a", -11, False, ["t::a"], "crashed"),
        ("broken t", 2, False, ["t::a", "t::b[1]", "t::b[2]"], "collection"),
        ("", 4, False, ["t::a", "t::b[1]", "t::b[2]"], "startup"),
        ("collected", 5, False, [], ""),
    ],
)
def test_outcomes_are_read_from_the_log(events: str, code: int, hangs: bool, killers: list[str], reason: str) -> None:
    log = [[*each.split(), ""][:2] for each in events.split("; ") if each]
    outcome = read_outcome(log, code, ["t::a", "t::b[1]", "t::b[2]"], hangs=hangs)
    assert (list(outcome.killers), outcome.reason) == (killers, reason)


def result(mutant: Mutant, seeds: dict[str, bool], *, nightly: bool = True) -> Result:
    return Result(mutant.key, "source", "suite", seeds, nightly, covering=1, others="others")


def test_survivors_are_decided_again_when_their_tests_change() -> None:
    mutant = find_mutants(b"x = 5", "a.py")[0]
    survivor, killed = result(mutant, {"1": False}, nightly=False), result(mutant, {"1": True})
    assert is_decided(survivor, [1], "suite")
    assert not is_decided(survivor, [1], "other")
    assert is_decided(killed, [1], "other")
    assert not is_decided(killed, [1, 2], "suite")
    assert not is_decided(None, [1], "suite")


def test_shares_leave_equivalents_out_and_fail_below_their_limits() -> None:
    mutants = [replace(find_mutants(b"x = 5", "a.py")[0], key=str(i)) for i in range(21)]
    results = {each.key: result(each, {"1": True}) for each in mutants[:19]}
    results["19"] = result(mutants[19], {"1": False})
    count = count_killed(mutants, results, {"20": "a reason"}, [1])
    assert (count.mutants, count.equivalent, count.pending, count.nightly, count.seeds) == (21, 1, 0, 20, {1: 19})
    assert count.shares(1) == (0.95, 0.95)
    assert count.is_enough()
    results["18"] = result(mutants[18], {"1": False})
    assert not count_killed(mutants, results, {"20": "a reason"}, [1]).is_enough()
    results["18"] = replace(result(mutants[18], {"1": False}, nightly=False), others="")
    assert count_killed(mutants, results, {"20": "a reason"}, [1]).pending == 1
    del results["18"]
    assert not count_killed(mutants, results, {"20": "a reason"}, [1]).is_enough()


def test_equivalents_state_their_key_change_and_reason() -> None:
    content = tomllib.loads(Project().equivalents.read_text("utf-8")).get("equivalent", [])
    assert all(set(each) == {"mutant", "change", "reason"} and all(each.values()) for each in content)
    assert len(read_equivalents(Project())) == len(content)


TINY = {
    "pyproject.toml": "[tool.pytest.ini_options]\n",
    "src/tiny/__init__.py": "",
    "src/tiny/well.py": """
        LIMIT = 10


        def clip(x):
            return x if x < LIMIT else LIMIT


        def count(n):
            steps = 0
            while n > 0:
                n -= 1
                steps += 1
            return steps
        """,
    "src/tiny/badly.py": """
        def scale(x):
            return 3 * x


        def shift(x):
            return x + 4


        def unused(x):
            return x / 5
        """,
    "checks/test_well.py": """
        import pytest
        from tiny.well import clip, count


        @pytest.mark.parametrize("x", [0, 9, 10, 11])
        def test_clip(x):
            assert clip(x) == min(x, 10)


        def test_count():
            assert count(3) == 3
        """,
    "checks/test_badly.py": """
        from tiny.badly import scale, shift


        def test_runs():
            assert scale(1) is not None
            assert shift(1) is not None
        """,
    "checks/test_more.py": """
        import pytest
        from tiny.badly import shift

        pytestmark = [pytest.mark.nightly]


        def test_shift():
            assert shift(1) == 5
        """,
}


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A small project with functions that tests check well, badly, only in the nightly tier, and not at all."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    for name, text in TINY.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip(), encoding="utf-8")
    return Project(root=tmp_path, package="src/tiny", tests=("checks",), nightly=("checks/",))


def pick(project: Project, *texts: str) -> None:
    """Store the mutants whose mutated lines contain texts as if they were drawn."""
    drawn: dict[str, list[Mutant]] = {}
    for file, source in project.sources().items():
        for each in find_mutants(source, file):
            if each.apply(source).decode().splitlines()[each.line - 1].strip() in texts:
                drawn.setdefault(project.package_of(file), []).append(each)
    assert sum(len(each) for each in drawn.values()) == len(texts)
    store_drawn(project, drawn, seed=0, count=len(texts))


def test_a_project_is_traced_run_reported_and_resumed(tiny: Project, capsys: pytest.CaptureFixture[str]) -> None:
    texts = ["LIMIT = 11", "n += 1", "return 4 * x", "return x - 4", "return x / 6"]
    pick(tiny, *texts)
    before = tiny.sources()
    limits = Limits(test=1.0)
    assert main(["cover", "--limit-seconds", "-1"], tiny) == 0
    assert main(["cover"], tiny) == 0
    assert "2 test files to trace (sample)" in capsys.readouterr().out
    assert main(["cover"], tiny) == 0
    assert "0 test files to trace" in capsys.readouterr().out

    assert main(["run", "--limit-seconds", "-1"], tiny, limits) == 0
    assert main(["report"], tiny) == 1
    assert "pending" in capsys.readouterr().out
    assert main(["run", "report"], tiny, limits) == 1
    said = capsys.readouterr().out
    assert "3 mutants survive the samples" in said
    assert "2 test files to trace (rest)" in said  # the nightly file, and the one that executes the module
    results = ResultStore(tiny).read(tiny.digest())
    mutants = {each.key: each for several in load_drawn(tiny).values() for each in several}
    verdicts = {
        mutants[key].apply(before[each.file]).decode().splitlines()[each.line - 1].strip(): each
        for key, each in results.items()
    }
    assert sorted(verdicts) == sorted(texts)
    assert {text: (each.reason, each.nightly, set(each.seeds.values())) for text, each in verdicts.items()} == {
        "LIMIT = 11": ("failed", True, {True}),
        "n += 1": ("timeout", True, {True}),
        "return 4 * x": ("", False, {False}),
        "return x - 4": ("failed", True, {False}),
        "return x / 6": ("", False, {False}),
    }
    assert verdicts["return x / 6"].covering == 0
    assert "seed 3: `make test` kills 66.7% of what nightly kills" in said
    assert "return [-3-]{+4+} * x" in said
    assert tiny.sources() == before
    copies = [tiny.store / "copies" / str(i) / file for i in range(2) for file in before]
    assert all(path.read_bytes() == before[path.relative_to(path.parents[2]).as_posix()] for path in copies)

    rows = ResultStore(tiny).path.read_text("utf-8").count("\n")
    assert main(["run"], tiny, limits) == 0
    assert ResultStore(tiny).path.read_text("utf-8").count("\n") == rows

    # A stricter test kills a survivor, and only survivors are decided again.
    test = tiny.root / "checks" / "test_badly.py"
    test.write_text(test.read_text("utf-8").replace("is not None", "== 3", 1), encoding="utf-8")
    keys = [key for key, each in results.items() if each.line in (6, 10) and each.file.endswith("badly.py")]
    tiny.equivalents.parent.mkdir()
    entries = [f'[[equivalent]]\nmutant = "{key}"\nreason = "An example."\n' for key in keys]
    tiny.equivalents.write_text("\n".join(entries), encoding="utf-8")
    assert main(["cover", "run", "report"], tiny, limits) == 0
    assert "1 test files to trace (sample)" in capsys.readouterr().out
    added = ResultStore(tiny).path.read_text("utf-8").splitlines()[rows:]
    assert [(json.loads(row)["line"], json.loads(row)["reason"]) for row in added] == [(2, "failed")]


def test_a_name_covers_what_is_not_traced(tiny: Project) -> None:
    pick(tiny, "LIMIT = 11")
    assert main(["cover", "--tests", "checks/test_well"], tiny) == 0
    store = CoverageStore(tiny, "sample", [1, 2, 3])
    assert store.traced == {"src/tiny/well.py"}
    assert store.is_current("checks/test_well.py")
    coverage = CoverageMap(tiny, [1, 2, 3])
    (mutant,) = load_drawn(tiny)["well"]
    assert coverage.covering(mutant) == {
        f"checks/test_well.py::test_clip[{x}]" for x in (0, 9, 11)
    }  # 10 is in no sample
    assert coverage.untraced == ["checks/test_badly.py"]
    assert coverage.files_for([mutant]) == ["checks/test_more.py", "checks/test_well.py"]
    assert not CoverageStore(tiny, "sample", [1, 2, 3, 4]).is_current("checks/test_well.py")
    pick(tiny, "LIMIT = 11", "return 4 * x")
    # Of other sources, lines are needed, too.
    assert not CoverageStore(tiny, "sample", [1, 2, 3]).is_current("checks/test_well.py")
