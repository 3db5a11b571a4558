"""The study "Optimized budget selection for local differential privacy": figures 4.1, 5.1 to 5.9 and 6.1 to 6.7."""

from __future__ import annotations

from hush_studies.budget import (
    as_printed,
    bound,
    checks_exposed,
    checks_printed,
    checks_search,
    checks_totals,
    curves_exposed,
    curves_search,
    curves_totals,
    exposed,
    searched,
    totals,
)
from hush_studies.study import Part, Study

_ABOUT = (
    "Made by Hush from its own code. Two systems: Optimus finds the smallest ε with which a ranking is right often "
    "enough, by five methods, and ours, direct, stands beside them; CAPRI finds the smallest ε with which a total is "
    "told from a capacity, and exact probabilities stand beside it. Methods are the corrected ones; as-printed runs "
    "the thesis's own. MSNBC is real. The emojis are a Zipf domain of 200 values and 400,000 people, which needs "
    "about the budgets that the thesis prints for GRR; the water meters are made up, with the printed number of "
    "clients, 98,511, amounts from 0 to 40 and the printed total, 1,598,489; the synthetic clients, of whom nothing "
    "is printed, are 10,000 with amounts spread like a bell. Collections are drawn from the exact law of their "
    "tallies. Times are measured on the machine that made this page, and depend on it."
)


def _limit(figure: str, limit: int) -> Part:
    """One of figures 6.2 to 6.5."""
    what = "nothing" if limit == 0 else f"at most {limit}"
    return Part(
        figure,
        f"How well a report tells who uses {what}",
        exposed.limits(limit),
        curves_exposed.limits,
        checks_exposed.limits,
        seconds=(1.0, 0.5),
        empirical=True,
        data=("AguaH",),
        note="The reports of figure 6.1."
        if limit
        else "The reports of figure 6.1. Exact for an adversary who holds "
        "all amounts equally likely; one who knows how they are spread names a rare one only when the report is clear.",
    )


STUDY = Study(
    "budget",
    "Optimized budget selection for local differential privacy",
    "Seyedkazemi, doctoral thesis, 2025",
    (
        Part(
            "figure-4.1",
            "Missed overloads: the printed bound, a better one, and the exact probability, with simulated collections",
            bound.compute,
            curves_totals.bounds,
            checks_totals.bounds,
            seconds=(2.0, 1.0),
            empirical=True,
            note="Hollow marks are printed. Where the cap exceeds the total, nothing can be missed, and the bound says "
            "nothing; where they are equal, it divides by zero.",
        ),
        Part(
            "figure-5.1",
            "Budgets for a ranking, by six methods: MSNBC",
            searched.budgets(real=True),
            curves_search.budgets,
            checks_search.msnbc,
            seconds=(40.0, 3.0),
            empirical=True,
            note="A precision of 0.01, as in the thesis, is coarse where the budget is 0.02: BS and DBS can "
            "only answer every 0.0098.",
        ),
        Part(
            "figure-5.2",
            "Budgets for a ranking, by six methods: emojis",
            searched.budgets(real=False),
            curves_search.budgets,
            checks_search.emoji,
            seconds=(130.0, 4.0),
            empirical=True,
            note="With the cells that the thesis left out after two days: OLH with MPass and Bayes.",
            data=("Emoji",),
        ),
        Part(
            "figure-5.3",
            "Time to find a budget: MSNBC",
            searched.times(real=True),
            curves_search.times,
            checks_search.times,
            seconds=(3.0, 0.5),
            empirical=True,
            note="The searches of figure 5.1. Dotted: their number of collections times the measured time of one in "
            "which every report is made.",
        ),
        Part(
            "figure-5.4",
            "Time to find a budget: emojis",
            searched.times(real=False),
            curves_search.times,
            checks_search.times,
            seconds=(3.0, 0.5),
            empirical=True,
            note="The searches of figure 5.2.",
            data=("Emoji",),
        ),
        Part(
            "figure-5.5",
            "Budgets over the wanted probability",
            searched.certainties,
            curves_search.certainties,
            checks_search.certainties,
            seconds=(45.0, 0.5),
            empirical=True,
            note="The loss of OLH follows the law of OUE nearly, and so do its budgets.",
            data=("Emoji",),
        ),
        Part(
            "figure-5.6",
            "The methods' own parameters",
            searched.parameters,
            curves_search.parameters,
            checks_search.parameters,
            seconds=(45.0, 1.5),
            empirical=True,
            note="Bayes as corrected models the quantile of the loss over the logarithm of ε: where it starts does not "
            "matter here, but too few iterations do.",
            data=("Emoji",),
        ),
        Part(
            "figure-5.7",
            "Budgets for a total, over thresholds and caps",
            totals.thresholds,
            curves_totals.thresholds,
            checks_totals.thresholds,
            seconds=(6.0, 2.0),
            empirical=True,
            note="The variance of GRR's total hardly depends on how amounts are spread, so that the printed budgets "
            "can be held against any clients with that total.",
            data=("AguaH",),
        ),
        Part(
            "figure-5.8",
            "How often CAPRI answers the same",
            totals.repeats,
            curves_totals.repeats,
            checks_totals.repeats,
            seconds=(2.0, 0.5),
            empirical=True,
            note="The thesis does not print its question; here Pr[TP] ≥ 0.95 at a cap of 1,308,000, whose answer is "
            "the printed 0.636.",
            data=("AguaH",),
        ),
        Part(
            "figure-5.9",
            "Protocols compared on a total",
            totals.protocols,
            curves_totals.protocols,
            checks_totals.protocols,
            seconds=(25.0, 1.5),
            empirical=True,
            note="Beside the three of the thesis: subsets, and Duchi's mechanism for a mean, which cannot tell how "
            "many hold each amount, and need not.",
        ),
        Part(
            "figure-6.1",
            "How well an amount is guessed from a report",
            exposed.guesses,
            curves_exposed.guesses,
            checks_exposed.guesses,
            seconds=(6.0, 1.0),
            empirical=True,
            note="Lines are exact, points are attacks on everybody's report; dashed, the adversary knows how amounts "
            "are spread.",
            data=("AguaH",),
        ),
        *(_limit(f"figure-6.{i}", limit) for i, limit in enumerate(exposed.LIMITS, 2)),
        Part(
            "figure-6.6",
            "CAPRI and other ways of searching: budgets",
            totals.ways,
            curves_totals.ways,
            checks_totals.ways,
            seconds=(15.0, 2.0),
            empirical=True,
            note="The cap, 1.8 million of a total of 2 million, is ours.",
        ),
        Part(
            "figure-6.7",
            "CAPRI and other ways of searching: time",
            totals.ways,
            curves_totals.efforts,
            checks_totals.efforts,
            seconds=(1.0, 0.5),
            empirical=True,
            note="The searches of figure 6.6. The number of runs that satisfy is drawn at once from its law, so that "
            "time goes to the Gaussian process and to exact probabilities.",
        ),
        Part(
            "as-printed",
            "What the printed algorithms do",
            as_printed.compute,
            curves_search.algorithms,
            checks_printed.algorithms,
            seconds=(15.0, 2.0),
            empirical=True,
            note="Not in the thesis: its algorithms 1 to 5 word for word, with GRR on the emojis.",
            data=("Emoji",),
        ),
        Part(
            "collections",
            "What one simulated collection costs",
            searched.collections,
            curves_search.collections,
            checks_search.collections,
            seconds=(4.0, 1.0),
            empirical=True,
            note="Not in the thesis: why two days become seconds.",
            data=("Emoji",),
        ),
    ),
    version=2,
    about=_ABOUT,
)
