"""What a program or a web page needs to answer to a collection: a few lines that run as they are."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hush.mechanisms.spec import Spec
from hush.workbench.collections.promises import promised, spec_of

KEY = "YOUR-INGEST-KEY"
"""What stands in place of a key that is not there yet."""


@dataclass(frozen=True)
class Snippet:
    """Some lines to copy.

    Args:
        title: What they are for.
        language: In which they are written.
        text: The lines.
        words: What they do.
    """

    title: str
    language: str
    text: str
    words: str


def address(url: str, view: Mapping[str, Any]) -> str:
    """Where devices send to."""
    return f"{url.rstrip('/')}/v1/collections/{view['id']}"


def python(url: str, view: Mapping[str, Any], key: str = "") -> Snippet:
    """For a Python program on a device."""
    spec = spec_of(view)
    value, most = _example(spec), promised(spec).epsilon
    held = "" if not view["needs_key"] else f"\n    key={json.dumps(key or KEY)},"
    limit = "" if most is None else f"\n    maximum={most!r},"
    text = (
        "from hush.collect import Collector\n\n"
        "with Collector(\n"
        f"    {json.dumps(address(url, view))},\n"
        f'    home="answers",{held}\n'
        f"    spec={json.dumps(str(view['spec_hash']))},{limit}\n"
        ") as collection:\n"
        f'    receipt = collection.person("ann").answer({value})\n'
        "print(receipt.state)\n"
    )
    words = (
        "Randomizes on the device and sends. The spec is pinned by its hash, so that nobody can change the question; "
        "accounts and what waits to be sent are kept in the folder answers."
    )
    return Snippet("Python", "python", text, words)


def element(url: str, view: Mapping[str, Any], scripts: Mapping[str, Any], key: str = "") -> Snippet:
    """For a web page: an element that asks, and tells what was sent."""
    held = "" if not view["needs_key"] else f'\n  key="{_attribute(key or KEY)}"'
    text = (
        f"{_preload(url, scripts)}"
        f'<script type="module" crossorigin="anonymous"\n'
        f'  src="{_script(url, scripts, "question.js")}"\n'
        f'  integrity="{_integrity(scripts, "question.js")}"></script>\n'
        f'<hush-question\n  src="{_attribute(address(url, view))}"{held}\n'
        f'  question="{_attribute(str(view["name"]))}"></hush-question>\n'
    )
    words = (
        "Asks the question with a form of its own, randomizes in the browser, and tells whoever answers what was sent, "
        "byte by byte. Its integrity attribute refuses any other script than the one that the collector serves now."
    )
    return Snippet("A question in a web page", "html", text, words)


def module(url: str, view: Mapping[str, Any], scripts: Mapping[str, Any], key: str = "") -> Snippet:
    """For a web page with a form of its own: the client alone."""
    held = "" if not view["needs_key"] else f'\n    key: "{_script_text(key or KEY)}",'
    text = (
        f"{_preload(url, scripts)}"
        '<script type="module">\n'
        f'  import {{ join }} from "{_script(url, scripts, "hush.js")}";\n\n'
        f'  const collection = await join("{_script_text(address(url, view))}", {{{held}\n'
        f'    spec: "{view["spec_hash"]}",\n'
        "  });\n"
        f"  const receipt = await collection.answer({_script_text(_example(spec_of(view)))});\n"
        "  console.log(receipt.state);\n"
        "</script>\n"
    )
    words = "The client without a form: your page asks, this randomizes and sends."
    return Snippet("Your own web page", "html", text, words)


def _example(spec: Spec | None) -> str:
    """A value that somebody may hold, as both languages write it."""
    if spec is None:
        return "0"
    m: Any = spec.mechanism
    domain: Any = spec.domain
    if hasattr(domain, "domains"):
        firsts = [0 if each.labels is None else each.labels[0] for each in domain.domains]
        named = getattr(domain, "names", None)
        return json.dumps(firsts if named is None else dict(zip(named, firsts, strict=True)), ensure_ascii=False)
    if spec.one_round.mechanism.kind == "numeric":
        return f"{(m.low + m.high) / 2:g}"
    return json.dumps(0 if domain is None or domain.labels is None else domain.labels[0], ensure_ascii=False)


def _preload(url: str, scripts: Mapping[str, Any]) -> str:
    """What holds the client to its hash, however it is imported later."""
    return (
        f'<link rel="modulepreload" crossorigin="anonymous"\n  href="{_script(url, scripts, "hush.js")}"\n'
        f'  integrity="{_integrity(scripts, "hush.js")}">\n'
    )


def _named(scripts: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = next(each for each in scripts["scripts"] if str(each["path"]).endswith(f"/{name}"))
    return found


def _script(url: str, scripts: Mapping[str, Any], name: str) -> str:
    return _attribute(f"{url.rstrip('/')}{_named(scripts, name)['path']}")


def _integrity(scripts: Mapping[str, Any], name: str) -> str:
    return _attribute(str(_named(scripts, name)["integrity"]))


def _attribute(text: str) -> str:
    return html.escape(text, quote=True)


def _script_text(text: str) -> str:
    """Text that ends no script."""
    return text.replace("</", "<\\/")
