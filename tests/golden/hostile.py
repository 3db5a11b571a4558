"""Specs that a client must refuse, each with the parameter that its refusal names.

A server may declare one loss and send the thresholds of another, or parameters that do not belong together, or what is
no law at all. Each is an honest spec with a few entries replaced.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import hush
from hush import longitudinal

SCALE = 1 << 64


class Hostile(NamedTuple):
    """A spec, and the parameter that its refusal must name, or one of several."""

    name: str
    spec: dict[str, Any]
    reason: str
    later: bool = False
    """Whether it takes a hash to tell, which a browser has only after a while."""


def changed(m: Any, thresholds: dict[str, Any] | None = None, **entries: Any) -> dict[str, Any]:
    """The plain data of a mechanism with other entries; those that are `...` are left out."""
    plain = m.to_dict()
    plain["thresholds"] = {**plain["thresholds"], **(thresholds or {})}
    return {name: value for name, value in {**plain, **entries}.items() if value is not ...}


def hostile() -> Iterator[Hostile]:
    """All of them."""
    for name, spec, reason in _all():
        yield Hostile(f"{spec.get('protocol', spec.get('mechanism'))}: {name}", spec, reason)
    unlike = changed(hush.uUE(k=10, epsilon=1.0, sensitive=range(4), reveal="pair"), {"reveal": "0" * 64})
    yield Hostile("uUE: a hash of nothing", unlike, "reveal", later=True)


def _all() -> Iterator[tuple[str, dict[str, Any], str]]:
    yield from _more_than_declared()
    yield from _no_numbers()
    yield from _no_law()
    yield from _unknown()


def _more_than_declared() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Declared: 1; lost: 20."""
    why = "epsilon"
    makes: tuple[Any, ...] = (
        hush.GRR, hush.SS, hush.OUE, hush.SUE, hush.OLH, hush.BLH, hush.HR, hush.PGR, hush.MSS, hush.Wheel, hush.CMS,
        hush.HCMS, hush.RAPPOR, hush.uRR, hush.uSS,
    )  # fmt: skip
    for make in makes:
        more = {"sensitive": range(4), "reveal": "pair"} if make in (hush.uRR, hush.uSS) else {}
        yield "the thresholds of 20", changed(make(k=10, epsilon=20.0, **more), epsilon=1.0), why
    for make in (hush.uRAP, hush.uUE, hush.uLH, hush.uWheel, hush.uHR):
        louder = make(k=10, epsilon=20.0, sensitive=range(4), reveal="alone" if make is hush.uHR else "pair")
        yield "a hash of other thresholds", changed(louder, epsilon=1.0), "reveal|epsilon"
    for make in (hush.Duchi, hush.Piecewise, hush.Hybrid):
        yield "the thresholds of 20", changed(make(low=0.0, high=1.0, epsilon=20.0), epsilon=1.0), why
    for make in (hush.AGRR, hush.ASUE, hush.ABLH, hush.AOLH):
        yield "the thresholds of 20", changed(make(k=10, epsilon=20.0, delta=1e-6), epsilon=1.0), why
        yield "a larger delta's thresholds", changed(make(k=10, epsilon=1.0, delta=0.05), delta=1e-6), why
    for make in (longitudinal.LGRR, longitudinal.LSUE, longitudinal.LOSUE, longitudinal.LOUE, longitudinal.BiLOLOHA):
        honest = make(k=10, epsilon_permanent=2.0, epsilon_report=1.0)
        yield "a louder report", changed(honest, eps_1=0.9), "eps_1"
        yield "louder answers", changed(honest, eps_perm=1.5), "eps_perm"
    inner = changed(hush.OUE(k=5, epsilon=20.0), epsilon=1.0)
    kept = longitudinal.Memoized(mechanism=hush.OUE(k=5, epsilon=20.0))
    yield "a mechanism with the thresholds of 20", changed(kept, mechanism=inner), why
    # Parameters that do not belong together.
    grr, olh = hush.GRR(k=5, epsilon=1.0), hush.OLH(k=10, epsilon=1.0, g=4)
    one_more = {"keep": str(int(grr.thresholds["keep"]) + 1)}
    yield "one word in 2^64 too many", changed(grr, one_more), why
    yield "more values than the threshold is for", changed(grr, k=500), why
    yield "more buckets than the threshold is for", changed(olh, g=400), why
    yield "a smaller subset than the threshold is for", changed(hush.SS(k=10, epsilon=1.0, omega=5), omega=2), why
    yield "a smaller arc than the threshold is for", changed(hush.Wheel(k=10, epsilon=1.0), {"arc": "1000"}), why
    yield "more blocks than the threshold is for", changed(hush.HR(k=10, epsilon=1.0, blocks=1), blocks=4), why
    yield "a larger field than the threshold is for", changed(hush.PGR(k=50, epsilon=1.0, q=3), q=7), why
    mss = hush.MSS(k=20, epsilon=0.5, moduli=(7, 11, 5))
    yield "smaller subsets than the thresholds are for", changed(mss, {"omega": "2 1 1"}), why
    yield "moduli that change places", changed(mss, moduli=[5, 11, 7]), "keep|epsilon"
    yield "more functions than the thresholds are for", changed(hush.RAPPOR(k=50, epsilon=1.0), hashes=4), why
    urr = hush.uRR(k=10, epsilon=1.0, sensitive=range(4), reveal="pair")
    yield "rare disguises", changed(urr, {"disguise": str(SCALE // 3)}), why
    yield "too many are revealed", changed(urr, {"reveal": str(SCALE // 2)}), why
    uhr = hush.uHR(k=10, epsilon=1.0, sensitive=range(4), z="constant")
    yield "too many are revealed", changed(uhr, {"reveal": str(SCALE - SCALE // 8)}), why
    ulh = hush.uLH(k=25, epsilon=1.0, sensitive=range(10), g=4, z="none", reveal="pair")
    yield "too many are revealed", changed(ulh, {"reveal": str(SCALE // 4)}), why
    window = hush.Piecewise(low=0.0, high=1.0, epsilon=1.0)
    yield "a smaller window than the threshold is for", changed(window, {"inside": "6"}), why
    yield "a longer grid than the threshold is for", changed(window, {"height": "100"}), why


def _no_numbers() -> Iterator[tuple[str, dict[str, Any], str]]:
    """What is no integer, or no number, or out of bounds."""
    grr = hush.GRR(k=5, epsilon=1.0)
    for bad in ("1e5", " 5", "0x10", "-1", "", "5.0", "٥", "00012", 7463731128007847912, None, ["5"], {}, True):
        yield f"a threshold that is {bad!r}", changed(grr, {"keep": bad}), "keep"
    for bad in ("0", str(SCALE), str(10**30)):
        yield f"a threshold of {bad}", changed(grr, {"keep": bad}), "keep"
    for bad in (1, 0, -3, 2.5, "5", None, 10**12, [5], True, ...):
        yield f"k of {bad!r}", changed(grr, k=bad), "k"
    for bad in (0.0, -1.0, 1e-9, 41.0, 1e300, "1", None, [1.0], True, ...):
        yield f"epsilon of {bad!r}", changed(grr, epsilon=bad), "epsilon"
    for bad in (0.0, 1.0, 2.0, -1e-6, "1e-5", None, ...):
        yield f"delta of {bad!r}", changed(hush.AGRR(k=5, epsilon=1.0, delta=1e-5), delta=bad), "delta"
    for bad in (1, 0, 2.5, "4", 2**40):
        yield f"g of {bad!r}", changed(hush.OLH(k=10, epsilon=1.0, g=4), g=bad), "g"
    for bad in (0, 10, -1, "3", None, ...):
        yield f"omega of {bad!r}", changed(hush.SS(k=10, epsilon=1.0), omega=bad), "omega"
    for bad in (0, 3, 1024, "2", None):
        yield f"blocks of {bad!r}", changed(hush.HR(k=10, epsilon=1.0), blocks=bad), "blocks"
    for bad in (0, 1, 6, 12, 2187, 10**9, "7", None):
        yield f"q of {bad!r}", changed(hush.PGR(k=50, epsilon=1.0), q=bad), "q"
    for bad in ("0", str(2**32), "1e9", "-5"):
        yield f"an arc of {bad}", changed(hush.Wheel(k=10, epsilon=1.0), {"arc": bad}), "arc"
    for bad in (3, 1, 512, "8", None):
        yield f"width of {bad!r}", changed(hush.CMS(k=10, epsilon=1.0), width=bad), "width"
    for name, bad in (("hashes", 0), ("hashes", 9), ("cohorts", 0), ("cohorts", 10**6), ("k", 5000)):
        yield f"{name} of {bad}", changed(hush.RAPPOR(k=50, epsilon=1.0), **{name: bad}), name
    mss = hush.MSS(k=20, epsilon=0.5, moduli=(7, 11, 5))
    for bad in ([], [7, 7, 5], [6, 10], [2, 3], [1, 20], [2.5, 11], "7 11 5", None, [7, 11, 50], list(range(2, 300))):
        yield f"moduli of {str(bad)[:20]}", changed(mss, moduli=bad), "moduli|omega|keep"
    for bad in ("2 4", "0 4 1", "7 4 1", "2 4 1 1", "a b c"):
        yield f"omega of {bad}", changed(mss, {"omega": bad}), "omega"
    yield "two thresholds for three moduli", changed(mss, {"keep": " ".join(map(str, mss.keeps[:2]))}), "keep"
    urr = hush.uRR(k=25, epsilon=1.0, sensitive=range(4), reveal="pair")
    for bad in ([], [0, 0], [25], [-1], [1.5], "all", [None]):
        yield f"sensitive of {bad!r}", changed(urr, sensitive=bad), "sensitive"
    duchi = hush.Duchi(low=0.0, high=1.0, epsilon=1.0)
    wrong: dict[str, tuple[Any, ...]] = {"steps": (0, 2.5, 2**30), "low": ("0", 1.0), "high": (None, 1e200)}
    for name, bads in wrong.items():
        for bad in bads:
            yield f"{name} of {bad!r}", changed(duchi, **{name: bad}), "low|high|steps"
    window = hush.Piecewise(low=0.0, high=1.0, epsilon=1.0)
    for name in ("inside", "height"):
        for bad in ("0", "-1", str(2**40), "1.5"):
            yield f"{name} of {bad}", changed(window, {name: bad}), name
    for bad in (1, 2.5, "3", 2**40):
        yield (
            f"g of {bad!r}",
            changed(longitudinal.OLOLOHA(k=20, epsilon_permanent=2.0, epsilon_report=1.0), g=bad),
            "g",
        )


def _no_law() -> Iterator[tuple[str, dict[str, Any], str]]:
    """Thresholds that are integers, but give no guarantee, or no probabilities."""
    oue = hush.OUE(k=5, epsilon=1.0)
    p, q = oue.thresholds["p"], oue.thresholds["q"]
    yield "p and q that change places", changed(oue, {"p": str(q), "q": str(p)}), "p"
    yield "p and q alike", changed(oue, {"q": str(p)}), "p"
    for name, bad in (("q", "0"), ("p", str(SCALE)), ("p", "0")):
        yield f"{name} of {bad}", changed(oue, {name: bad}), name
    yield "a threshold that shuns the value", changed(hush.GRR(k=5, epsilon=1.0), {"keep": "5"}), "keep"
    duchi = hush.Duchi(low=0.0, high=1.0, epsilon=1.0)
    yield "chances above one", changed(duchi, {"base": str(SCALE // 2 + SCALE // 4)}), "base|slope"
    yield "chances that do not mirror each other", changed(duchi, {"base": str(duchi.base + 2)}), "base|slope"
    yield "no chance at all", changed(duchi, {"base": "0"}), "base"
    yield "no slope", changed(duchi, {"slope": "0"}), "slope"
    hybrid = hush.Hybrid(low=0.0, high=1.0, epsilon=1.0)
    yield "more than certain to choose", changed(hybrid, {"choose": str(SCALE + 1)}), "choose"
    lgrr = longitudinal.LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0)
    for name in ("permanent", "fresh"):
        for bad in ("0", str(SCALE)):
            yield f"{name} of {bad}", changed(lgrr, {name: bad}), name
    yield "one report that may lose more than all", changed(lgrr, eps_1=3.0), "eps_1"
    losue = longitudinal.LOSUE(k=5, epsilon_permanent=2.0, epsilon_report=1.0)
    for name in ("p_fresh", "q_fresh"):
        for bad in ("0", str(SCALE)):
            yield f"{name} of {bad}", changed(losue, {name: bad}), name
    urr = hush.uRR(k=10, epsilon=1.0, sensitive=range(4), reveal="pair")
    yield "nothing is disguised", changed(urr, {"disguise": "0"}), "disguise"
    yield "all is revealed", changed(urr, {"reveal": str(SCALE)}), "reveal"
    for inner in (hush.AGRR(k=5, epsilon=1.0, delta=1e-5), urr, hush.LHO(k=5, g=4)):
        kept = changed(longitudinal.Memoized(mechanism=hush.OUE(k=5, epsilon=1.0)), mechanism=inner.to_dict())
        yield f"answers of {inner.name()}", {**kept, "thresholds": inner.to_dict()["thresholds"]}, "mechanism"


def _unknown() -> Iterator[tuple[str, dict[str, Any], str]]:
    """What this client does not know, or what the spec does not tell."""
    grr = hush.GRR(k=5, epsilon=1.0)
    yield "hashing without noise", hush.LHO(k=5, g=4).to_dict(), "mechanism"
    for name in ("RR", "__proto__", "constructor", "toString", "", None, 5, ["GRR"]):
        yield "no mechanism", changed(grr, mechanism=name), "mechanism"
    yield "a protocol's name for a mechanism", {**changed(grr, mechanism=...), "protocol": "GRR"}, "protocol"
    lgrr = longitudinal.LGRR(k=5, epsilon_permanent=2.0, epsilon_report=1.0)
    yield "a mechanism's name for a protocol", {**changed(lgrr, protocol=...), "mechanism": "LGRR"}, "mechanism"
    yield "no thresholds", {**grr.to_dict(), "thresholds": None}, "thresholds"
    yield "thresholds without entries", {**grr.to_dict(), "thresholds": {}}, "keep"
    yield "thresholds that are a list", {**grr.to_dict(), "thresholds": ["1"]}, "thresholds"
    yield "one threshold more", changed(grr, {"extra": "5"}), "extra"
    yield "a parameter more", changed(grr, noise="off"), "noise"
    yield "another hash", changed(hush.OLH(k=10, epsilon=1.0), hash="md5"), "hash"
    yield "a family of three buckets", changed(hush.LH(k=10, epsilon=1.0, g=3), hash="family"), "g"
    yield "a family of too many values", changed(hush.LH(k=70_000, epsilon=1.0, g=2), hash="family"), "k"
    yield "another code", changed(hush.SS(k=10, epsilon=1.0), code="dense"), "code"
    urr = hush.uRR(k=10, epsilon=1.0, sensitive=range(4), reveal="pair")
    yield "another z", changed(urr, z="more"), "z"
    yield "another way to reveal", changed(urr, reveal="all"), "reveal"
    uue = hush.uUE(k=10, epsilon=1.0, sensitive=range(4), reveal="pair")
    yield "weights of its own", changed(uue, {"reveal": "by weight"}), "reveal"
    kept = longitudinal.Memoized(mechanism=hush.OUE(k=5, epsilon=1.0))
    yield "answers of answers", changed(kept, mechanism=kept.to_dict()), "mechanism"
    yield "answers of nothing", changed(kept, mechanism=None), "mechanism"
    yield "other thresholds than the mechanism's", changed(kept, {"p": "5"}), "thresholds"
