"""The study "Revealing the true cost of locally differentially private protocols": its figures and case studies."""

from __future__ import annotations

from hush_studies.audit import (
    bars,
    bugs,
    checks,
    checks_pure,
    checks_several,
    composed,
    curves,
    several,
    single,
    tuples,
)
from hush_studies.study import Part, Study

_ABOUT = (
    "Made by Hush from its own code. Beside what the paper's attack proves of the loss of each protocol (10⁶ trials, "
    "two-sided Clopper-Pearson intervals, averages over 5 runs) stands what the likelihood ratio proves of it, and the "
    "exact loss. Reports of values 0 and 1 are attacked in the first run; the others draw the attack's hits from their "
    "law, with which the first must agree. Sequences and tuples draw all hits from their laws."
)

STUDY = Study(
    "audit",
    "Revealing the true cost of locally differentially private protocols: an auditing perspective",
    "Arcolezi and Gambs, PoPETs 2024(4)",
    (
        Part(
            "figure-1",
            "Proved loss of eight protocols at ε = 2",
            single.example,
            bars.example,
            checks.example,
            seconds=(4.0, 1.5),
            empirical=True,
            note="The paper does not say for which k its figure is; here k = 100. THE thresholds on the client, which "
            "wastes budget: its own loss is below ε.",
        ),
        Part(
            "figure-2",
            "Proved loss of eight protocols",
            single.pure,
            curves.pure,
            checks_pure.pure,
            seconds=(76.0, 3.0),
            empirical=True,
        ),
        Part(
            "figure-3",
            "Proved loss of six approximate protocols",
            single.approximate,
            curves.approximate,
            checks.approximate,
            seconds=(60.0, 3.0),
            empirical=True,
            note="GM is for ε ≤ 1. Gaussian noise reaches its loss only in events rarer than trials can show.",
        ),
        Part(
            "figure-4",
            "Case study 1: what δ does",
            single.outer_deltas,
            curves.deltas,
            checks.deltas,
            seconds=(45.0, 2.0),
            empirical=True,
        ),
        Part(
            "figure-5",
            "Case study 2: hashing without noise",
            single.hashing_only,
            curves.hashing_only,
            checks.hashing_only,
            seconds=(2.0, 0.5),
            empirical=True,
            note="Whoever knows the hash function rules out every value that hashes elsewhere.",
        ),
        Part(
            "figure-6",
            "Case study 3: many reports of one value",
            composed.outer,
            several.sequences,
            checks_several.sequences,
            seconds=(18.0, 3.0),
            empirical=True,
            note="GM and AGM are audited at τδ, as composition allows.",
        ),
        Part(
            "figure-7",
            "Case study 4: tuples with fake data (RS+FD)",
            tuples.outer,
            several.tuples,
            checks_several.tuples,
            seconds=(35.0, 2.0),
            empirical=True,
            note="The true loss of a report is ε′ = ln(d(e^ε − 1) + 1), not ε.",
        ),
        Part(
            "figure-8",
            "Case study 5: the bug of pure-LDP 1.1.2",
            single.missing_reset,
            curves.missing_reset,
            checks.missing_reset,
            seconds=(9.0, 1.0),
            empirical=True,
            note="That version's sampler, rebuilt: bits are set with probability q, then the true value's with p, and "
            "none is cleared.",
        ),
        Part(
            "figure-10",
            "What δ does, for other domain sizes",
            single.inner_deltas,
            curves.deltas,
            checks.deltas,
            seconds=(45.0, 1.5),
            empirical=True,
        ),
        Part(
            "figure-11",
            "Many reports of one value, for other domain sizes",
            composed.inner,
            several.sequences,
            checks_several.more_sequences,
            seconds=(18.0, 1.5),
            empirical=True,
        ),
        Part(
            "figure-12",
            "Tuples with fake data, for other domain sizes",
            tuples.inner,
            several.tuples,
            checks_several.more_tuples,
            seconds=(35.0, 1.5),
            empirical=True,
        ),
        Part(
            "bugs",
            "Bugs of published code, and their kin",
            bugs.bugs_found,
            bars.bugs,
            checks.bugs,
            seconds=(4.0, 1.5),
            empirical=True,
            note="Each is shown by a pair of values; the error rate is so small that the proof would hold had all "
            "pairs been tried. The likelihood ratio trusts the law that is claimed; only a classifier sees what the "
            "law does not speak of.",
        ),
    ),
    version=3,
    about=_ABOUT,
)
