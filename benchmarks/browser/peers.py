"""Other packages for local differential privacy, from npm: what can be had of them is measured, too.

There is hardly any. Names that npm was asked for (`npm view`): local-differential-privacy, localdp, local-dp, ldp,
ldp-js, ldpjs, ldp-client, ldp-interval, pure-ldp, rappor, rappor-js, wrappor, google-rappor, randomized-response,
randomised-response, random-response, krr, frequency-oracle, count-mean-sketch, differential-privacy,
differential-privacy-js, diffpriv, diffprivlib, opendp, @opendp/opendp, @openmined/dp, smartnoise, prochlo. Of these

- rappor draws reports for RAPPOR, with cohorts and a Bloom filter. It is the one peer: each run asks for it;
- ldp is a server of linked data, and differential-privacy adds noise to sums of a trusted curator;
- ldp-interval (noise on numbers) and wrappor (WebAssembly) are told of on the web, and npm had neither.

It is installed into the folder of a run, without its scripts, and is nobody's dependency.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PEER = "rappor"
_INSTALL = ("install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--fetch-retries=0")


@dataclass(frozen=True)
class Found:
    """A package that was installed; an empty name for none."""

    name: str
    told: str


def installed(folder: Path) -> Found:
    """The peer, if npm has it."""
    if shutil.which("npm") is None:
        return Found("", f"The npm package `{PEER}` is left out, for npm is not installed.")
    try:
        done = subprocess.run(["npm", *_INSTALL, PEER], cwd=folder, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        return Found("", f"The npm package `{PEER}` is left out, for the registry did not answer.")
    if done.returncode:
        why = "404" if "E404" in done.stderr else "an error"
        return Found("", f"The npm package `{PEER}`, the one peer that is known, is left out: npm answered {why}.")
    version = json.loads((folder / "node_modules" / PEER / "package.json").read_text("utf-8"))["version"]
    return Found(PEER, f"`{PEER}` {version} from npm draws a Bloom filter of as many bits, in Node alone.")
