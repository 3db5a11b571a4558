"""The study "Addressing sensitivity distinction in local differential privacy": figures 1 and 3 to 9, and table 2."""

from __future__ import annotations

from hush_studies.study import Part, Study
from hush_studies.uldp import (
    checks,
    checks_measured,
    checks_together,
    computed,
    curves,
    empirical,
    panels,
    rates,
    together,
)

_ABOUT = (
    "Made by Hush from its own code. Each mechanism is drawn twice: as in the paper (its z, its closed forms), and as "
    "ours (the exact z, the parameter with the least error, revealed values sent alone where that has less error; uLH "
    "then over a balanced hash family). The paper's uLH and uWheel spend more than ε. Its data are not at hand: "
    "Foursquare, Census, Drug and Normal are synthetic people with the n, d, s and θ that it prints, which is all that "
    "its errors depend on, but not its MAE, F1 and NDCG. MSNBC and the ages of Adult are real; sensitive are the pages "
    "opinion, health, business and bbs, and ages from 65. The MSE is the sum over all values, as in equation 7. Runs "
    "are drawn from the exact law of all reports."
)

_DATA = ("Foursquare", "Census", "Drug")

STUDY = Study(
    "uldp",
    "Addressing sensitivity distinction in local differential privacy: a general utility-optimized framework",
    "He, Zhu, Liu, Pan and Dong, 2025",
    (
        Part(
            "figure-1",
            "Error and bits as more values are sensitive",
            computed.first,
            curves.first,
            checks.first,
            seconds=(2.0, 1.0),
            note="The paper does not print the setting of its figure; here d = 1200, θ = 0.5 and ε = 2. Its count of "
            "bits leaves out the hash function of uLH; for uHR, exact errors replace its upper bound.",
        ),
        Part(
            "figure-3",
            "Theoretical error over the budget, for six scenarios",
            computed.scenarios,
            curves.scenarios,
            checks.scenarios,
            seconds=(6.0, 2.0),
            note="The paper's scenarios are in its picture only; here s is 5, 50 or 500 of 1000. In the "
            "middle and on the right, errors over that of the paper's uSS at the same ε.",
            data=("Foursquare",),
        ),
        Part(
            "figure-4",
            "Measured error over the budget",
            empirical.squared,
            curves.squared,
            checks_measured.squared,
            seconds=(75.0, 7.0),
            empirical=True,
            note="uHR, as published, sends revealed values alone, and so has less error than uSS at small budgets; its "
            "single block wastes large ones. In the middle and on the right, errors over that of the paper's uSS.",
            data=_DATA,
        ),
        Part(
            "figure-5",
            "Measured error over the share of sensitive values, and plain LDP",
            empirical.shares,
            curves.shares,
            checks_measured.shares,
            seconds=(20.0, 3.0),
            empirical=True,
            note="Points are measured for the paper's reading; lines are exact.",
            data=_DATA,
        ),
        Part(
            "figure-6",
            "Collaborative sampling: the error when θ must be estimated first",
            together.estimated,
            panels.estimated,
            checks_together.estimated,
            seconds=(70.0, 6.0),
            empirical=True,
            note="The paper leaves the first 5 % out of the estimate. That is close to the error with θ known if one "
            "asks for the frequencies of the other 95 %; for everybody's, who was drawn adds an error of its own, "
            "which shows where ε is large and values are few.",
            data=_DATA,
        ),
        Part(
            "table-2",
            "How far the estimate of θ is off",
            together.off,
            panels.off,
            checks_together.off,
            seconds=(1.0, 1.0),
            empirical=True,
            note="The paper does not say over which budgets it averages. Its numbers lie between the average over ε "
            "from 0.5 to 5 and the value at ε = 0.5, and most are too large for that average.",
            data=_DATA,
        ),
        Part(
            "figure-7",
            "How much of the error z saves",
            empirical.without_z,
            panels.without_z,
            checks_measured.without_z,
            seconds=(5.0, 1.0),
            empirical=True,
            data=_DATA,
        ),
        Part(
            "figure-8",
            "Mean absolute error over the budget",
            empirical.absolute,
            curves.absolute,
            checks_measured.absolute,
            seconds=(4.0, 2.0),
            empirical=True,
            note="The runs of figure 4. How people spread over values matters here, and that is ours.",
            data=_DATA,
        ),
        Part(
            "figure-9",
            "F1 and NDCG of the 30 most frequent values",
            empirical.tops,
            curves.tops,
            checks_measured.tops,
            seconds=(4.0, 2.0),
            empirical=True,
            note="The runs of figure 4, where there are more than 30 values. In NDCG, the most frequent value is worth "
            "30, the next 29, and so on. The top of a bell is so flat that nobody can rank it from 99,732 people.",
            data=_DATA,
        ),
        Part(
            "true-loss",
            "What the printed z of uLH and uWheel spends",
            computed.losses,
            panels.losses,
            checks.losses,
            seconds=(2.0, 1.0),
            note="Not in the paper. Its proof averages over hash functions, but a report tells which one was used.",
            data=_DATA,
        ),
        Part(
            "theorem-6",
            "Errors beside the minimax rate",
            rates.rates,
            rates.draw,
            rates.checks,
            seconds=(2.0, 1.0),
            empirical=True,
            note="The paper has no picture of it. Half of the values are sensitive, θ = 0.5, n = 100,000. The rate has "
            "no constant: a level line is order-optimal, wherever it lies.",
        ),
    ),
    version=2,
    about=_ABOUT,
)
