"""The JavaScript client as a package: what is built is served, its types hold, and its accounts are those of Python."""

from __future__ import annotations

import json
import re
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import hush
from hush.collect.loss import loss
from hush.files.clients.account import account
from hush.longitudinal import LGRR, LOSUE, OLOLOHA, BiLOLOHA, Memoized
from tests import javascript
from tests.system.browser.needed import packages

CLIENT = javascript.CLIENT
PACKAGE = json.loads((CLIENT / "package.json").read_text("utf-8"))
PAGE = (CLIENT.parents[1] / "docs" / "browser.md").read_text("utf-8")
SPECS = [
    hush.Spec(hush.OUE(k=5, epsilon=0.1)),
    hush.Spec(hush.AGRR(k=5, epsilon=0.3, delta=1e-6)),
    hush.Spec(hush.registry("numeric")["Duchi"](low=0.0, high=10.0, epsilon=0.7)),
    hush.Spec(LGRR(k=4, epsilon_permanent=2.0, epsilon_report=1.0)),
    hush.Spec(LOSUE(k=5, epsilon_permanent=1.0, epsilon_report=0.5)),
    hush.Spec(OLOLOHA(k=5, epsilon_permanent=1.0, epsilon_report=0.5)),
    hush.Spec(BiLOLOHA(k=2, epsilon_permanent=1.0, epsilon_report=0.5)),
    hush.Spec(Memoized(mechanism=hush.GRR(k=3, epsilon=1.0))),
]


def test_the_package_is_of_this_version_and_depends_on_nothing() -> None:
    numbers = re.match(r"(\d+\.\d+\.\d+)(?:\.dev(\d+))?$", hush.__version__)
    assert numbers is not None
    assert PACKAGE["version"] == numbers[1] + (f"-dev.{numbers[2]}" if numbers[2] else "")
    assert f'"{hush.__version__}"' in (CLIENT / "src" / "version.js").read_text("utf-8")
    assert "dependencies" not in PACKAGE
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", pinned) for pinned in PACKAGE["devDependencies"].values())
    assert PACKAGE["license"] == "Apache-2.0"


def test_the_lock_is_of_the_package_and_names_no_host() -> None:
    text = (CLIENT / "package-lock.json").read_text("utf-8")
    lock = json.loads(text)
    assert lock["packages"][""]["devDependencies"] == PACKAGE["devDependencies"]
    assert lock["version"] == PACKAGE["version"]
    assert "resolved" not in text
    assert "://registry" not in text
    assert all("integrity" in each for path, each in lock["packages"].items() if path)


def test_no_script_draws_from_what_is_not_secure() -> None:
    scripts = [*(CLIENT / "src").glob("*.js"), *(Path(hush.__file__).parent / "collect" / "pages").rglob("*.js")]
    assert len(scripts) > 20
    wrong = [str(path) for path in scripts if "Math.random" in path.read_text("utf-8")]
    assert not wrong, f"Math.random is not secure: {wrong}"


def test_what_is_served_is_what_is_built() -> None:
    packages()
    done = javascript.said("build.js", "--check")
    assert done.returncode == 0, done.stderr
    assert re.match(r"hush\.js \d+ bytes gzipped of 12288, sha384-\S{64}\n", done.stdout)


def test_types_hold(tmp_path: Path) -> None:
    """Within the client, and for a program that uses its types."""
    packages()
    compiled("--project", str(CLIENT))
    compiled(
        "--project", str(CLIENT), "--noEmit", "false", "--declaration", "--emitDeclarationOnly",
        "--outDir", str(tmp_path / "types"),
    )  # fmt: skip
    assert {f"types/{path.name}" for path in (tmp_path / "types").iterdir()} >= {
        each["types"].removeprefix("./") for each in PACKAGE["exports"].values() if isinstance(each, dict)
    }
    (shown,) = re.findall(r"```typescript\n(.*?)```", PAGE, re.S)
    (tmp_path / "shown.ts").write_text(shown)
    (tmp_path / "used.ts").write_text(PROGRAM)
    settings = {
        "strict": True, "noEmit": True, "module": "esnext", "moduleResolution": "bundler", "target": "es2022",
        "lib": ["es2023", "dom"], "types": [], "paths": {"hush-ldp": ["./types/hush.d.ts"]},
    }  # fmt: skip
    (tmp_path / "tsconfig.json").write_text(json.dumps({"compilerOptions": settings, "include": ["*.ts"]}))
    compiled("--project", str(tmp_path))


def compiled(*arguments: str) -> None:
    done = javascript.said(CLIENT / "node_modules" / "typescript" / "bin" / "tsc", *arguments)
    assert done.returncode == 0, done.stdout


PROGRAM = """
import { HushError, join, type Collection, type Receipt } from "hush-ldp";

const collection: Collection = await join("https://collect.example.org/v1/collections/0", { maximum: 1, build: "a/1" });
const labels: readonly (string | number)[] | undefined = collection.labels;
const receipt: Receipt = await collection.answer(labels?.[0] ?? 0);
const arrived: boolean = receipt.state === "accepted";
const spent: number | null = (await collection.spent()).total;
try {
  await collection.leave();
} catch (error) {
  if (error instanceof HushError) console.log(error.parameter, arrived, spent);
}
// @ts-expect-error: there is no such option
await join("https://collect.example.org", { maximums: 1 });
// @ts-expect-error: an answer is a label or a number
await collection.answer({ value: "dog" });
// @ts-expect-error: there is no such state
if (receipt.state === "lost") await collection.flush();
"""


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.mechanism.name())
def test_accounts_come_to_what_they_do_in_python(spec: hush.Spec) -> None:
    """But for the last digits of sums over time, which Python rounds up."""
    counts = (0, 1, 2, 3, 5, 10)
    plain = spec.mechanism.to_dict()
    program = f"""
    import {{ cost, shown }} from "./src/limits.js";
    import {{ loss }} from "./src/loss.js";
    const lost = loss({json.dumps(plain)});
    const told = [true, false].map((known) => {list(counts)}.map((answers) => shown(cost(lost, answers, known))));
    console.log(JSON.stringify({{ declared: lost.declared, delta: lost.delta, told }}));
    """
    done = javascript.said("--input-type=module", "-e", program)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    assert (told["declared"], told["delta"]) == (loss(spec).declared, loss(spec).delta)
    for known, row in zip((True, False), told["told"], strict=True):
        for answers, number in zip(counts, row, strict=True):
            due = account(spec, answers, times_known=known).spent
            assert (number is None) == (due is None), (known, answers)
            assert number is None or abs(Fraction(number) - Fraction(due)) <= Fraction(due) / 10**14


def test_every_option_and_member_is_on_the_page() -> None:
    """With its default."""
    program = """
    import { checked } from "./src/options.js";
    import { join } from "./src/hush.js";
    import { COIN, Scripted, URL_OF, memoryStore } from "./test/scripted.js";
    await Scripted.of();
    const members = Object.keys(await join(URL_OF, { store: memoryStore() }));
    console.log(JSON.stringify({ options: checked({ store: memoryStore() }), members }));
    """
    done = javascript.said("--input-type=module", "-e", program)
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    shown = dict(re.findall(r"^\| `(\w+)` \| (\S[^|]*?) \|", PAGE, re.M))
    assert told["options"].keys() <= shown.keys()
    for name, default in told["options"].items():
        if isinstance(default, (bool, int)):
            assert shown[name].strip("`") == json.dumps(default), name
    inner = {"id", "chain", "needs_key", "spec_hash", "told"}
    for name in set(told["members"]) - inner:
        assert re.search(rf"`{name}(\([a-z]*\))?`", PAGE), name


def test_the_package_holds_what_it_needs(tmp_path: Path) -> None:
    packages()
    npm = ["npm", "pack", "--dry-run", "--json", "--ignore-scripts", "--offline"]
    done = subprocess.run(npm, cwd=CLIENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    held = {each["path"] for each in json.loads(done.stdout)[0]["files"]}
    assert {"README.md", "package.json"} <= held
    allowed = {"dist", "types", "README.md", "LICENSE", "package.json"}
    assert {path.split("/")[0] for path in held} <= allowed
