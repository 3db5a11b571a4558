"""The study "Private frequency estimation via residue number systems": figures 1 to 9, tables 1 and 2."""

from __future__ import annotations

from hush_studies.modular import (
    checks,
    checks_attack,
    checks_formulas,
    corrections,
    curves,
    panels,
    panels_formulas,
    runtime,
    tables,
    tables_attack,
)
from hush_studies.study import Part, Study

_ABOUT = (
    "Made by Hush from its own code: n = 10,000 people, 300 trials, Zipf with exponent 3 or everybody the same value. "
    "Moduli are Hush's usual ones, found by the paper's search with its mistakes mended; PGR works over the prime "
    "closest to e^ε + 1, as in the paper. Estimates are the raw, unbiased ones, without a ridge. The data "
    "reconstruction attack (DRA) is read in two ways: the attacker holds all values equally likely (section 4.4), or "
    "knows how frequent they are (section 1). Under the first, success depends on who is attacked, so it is shown "
    "for the paper's people and as the mean over all values."
)

STUDY = Study(
    "modular",
    "Private frequency estimation via residue number systems: modular subset selection",
    "Arcolezi, 2025",
    (
        Part(
            "table-1",
            "Bits, errors and attack success by the formulas of table 1, over what is right",
            tables.table_1,
            panels_formulas.formulas,
            checks.formulas,
            seconds=(40.0, 4.0),
            note="The RAPPOR row has the error of OUE and the attack success of SUE. The error of MSS is a bound. The "
            "table also has the server's time: the leading orders of the paper as numbers, and measured seconds of "
            "counting and of decoding, on the machine that made this page.",
        ),
        Part(
            "figure-1",
            "Error over the budget, large domain",
            tables.large_domain,
            curves.first,
            checks.first,
            seconds=(200.0, 5.0),
            empirical=True,
        ),
        Part(
            "figure-2",
            "Bits of a report",
            tables.selections,
            curves.bits,
            checks.bits,
            seconds=(30.0, 3.0),
            note="Bars are the standard deviation over moduli found from different seeds. A choice hardly depends on "
            "the budget, so each is made once, for ε = 2. The abstract counts one residue for a whole subset.",
        ),
        Part(
            "table-2",
            "Seconds from reports to estimates",
            runtime.runtimes,
            panels.runtimes,
            checks.runtimes,
            seconds=(15.0, 2.0),
            empirical=True,
            note="Measured on this machine, counting included; only their quotient is judged, with a factor of 2. "
            "What PGR has to count over can be computed: with the prime closest to e^ε + 1 it needs 712,980 messages "
            "at ε = 4.5.",
        ),
        Part(
            "figure-3",
            "Attack success, Zipf",
            tables_attack.zipf,
            panels.zipf,
            checks_attack.zipf,
            seconds=(35.0, 4.0),
            empirical=True,
            note="Most people hold the first values, whose residues are the most crowded ones: that makes MSS look "
            "safer, and PGR, where it is cut to k values, worse. Averaged over values, neither is so. An attacker who "
            "knows that 83 % hold the first value is right with 0.83 or more, whatever the protocol.",
        ),
        Part(
            "figure-4",
            "Analytical and empirical error of SS and MSS",
            tables.both_domains,
            curves.both,
            checks.both,
            seconds=(30.0, 2.0),
            empirical=True,
            note="The large domain has the trials of figure 1.",
        ),
        Part(
            "figure-5",
            "MSS with a given number of moduli",
            tables.block_numbers,
            curves.numbers,
            checks.numbers,
            seconds=(45.0, 4.0),
            empirical=True,
        ),
        Part(
            "figure-6",
            "Empirical and analytical attack success of SS and MSS",
            tables_attack.both,
            panels.bounds,
            checks_attack.bounds,
            seconds=(15.0, 3.0),
            empirical=True,
            note="Equation 7 divides by the largest number of values that can share a residue: it is a lower bound. "
            "What overestimates the attack on these people is the formula of table 1, which is the exact mean over "
            "all values.",
        ),
        Part(
            "figure-7",
            "Errors of single trials, and over the budget in the middle domain",
            tables.spreads,
            curves.spreads,
            checks.spreads,
            seconds=(20.0, 2.0),
            empirical=True,
            note="The paper does not say at which budget its trials are shown; here it is ε = 2.",
        ),
        Part(
            "figure-8",
            "Attack success, spike",
            tables_attack.spike,
            panels.spike,
            checks_attack.spike,
            seconds=(20.0, 2.0),
            empirical=True,
            note="Everybody holds value 0; an attacker who knows that is always right.",
        ),
        Part(
            "figure-9",
            "Attack success where the domain is PGR's whole geometry",
            tables_attack.aligned,
            panels.aligned,
            checks_attack.aligned,
            seconds=(45.0, 3.0),
            empirical=True,
        ),
        Part(
            "corrections",
            "Formulas as printed, and as they should be",
            corrections.corrections,
            panels_formulas.corrections,
            checks_formulas.corrections,
            seconds=(12.0, 2.0),
            empirical=True,
            note="Not in the paper. Equation 3 and theorem 3 for 3,000 people drawn anew in each trial; theorem 4 for "
            "primes from a band around k/ℓ; the ridge for a spike of 1,000 people, k = 100.",
        ),
    ),
    version=3,
    about=_ABOUT,
)
