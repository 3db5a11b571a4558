"""Draw the pictures of the documentation from real estimates: python docs/figures.py."""

from __future__ import annotations

import itertools
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

import hush
from hush.reports.figures import MOST_LINES, Timeline, png, timelines, trade_off
from hush.reports.planned import front_figure
from hush.reports.surveyed import survey_figure
from hush_studies import Settings, studies

PICTURES = Path(__file__).parent / "pictures"
INK, TRUTH, POINT = "#22303c", "#c9d6df", "#d1495b"
CURVES = {"OUE": "#edae49", "OLH": "#30638e", "SS": "#00798c", "GRR": "#d1495b", "SHE": "#7a5195"}


def main() -> None:
    """Draw every picture."""
    plt.rcParams.update(
        {
            "font.size": 10.5,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.edgecolor": "#8a99a6",
            "text.color": INK,
            "axes.labelcolor": INK,
            "xtick.color": INK,
            "ytick.color": INK,
            "axes.titlelocation": "left",
            "axes.titlesize": 11.5,
            "axes.titleweight": "bold",
        }
    )
    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.8), width_ratios=(1.35, 1), layout="constrained")
    estimates(left)
    trade(right)
    PICTURES.mkdir(exist_ok=True)
    figure.savefig(PICTURES / "estimates.png", dpi=130, metadata={"Software": None})
    road()
    planned()
    months()
    reproduced("refined", "figure-1", "figure-8")
    reproduced("uldp", "figure-4", "true-loss", "theorem-6")
    reproduced("modular", "figure-3", "corrections")
    reproduced("budget", "figure-5.2", "as-printed")


def estimates(axes: Axes) -> None:
    """Every visitor of msnbc.com randomizes with OUE; bars are the truth, points the estimate."""
    visitors = hush.datasets.msnbc()
    spec = hush.Spec(hush.OUE(k=visitors.k, epsilon=1.0), visitors.domain)
    codes = visitors.values()
    reports = spec.mechanism.privatize(codes, rng=hush.seeded(2024))
    estimate = spec.estimate(spec.aggregate(reports))
    low, high = estimate.interval(0.95, simultaneous=True)
    order = np.argsort(-visitors.counts)
    at = np.arange(visitors.k)
    axes.bar(at, 100 * visitors.frequencies[order], color=TRUTH, label="truth")
    middle = 100 * estimate.frequencies[order]
    bars = [middle - 100 * low[order], 100 * high[order] - middle]
    axes.errorbar(
        at, middle, yerr=bars, fmt="o", ms=4, color=POINT, elinewidth=1.4, capsize=3,
        label="estimate, simultaneous 95 % interval",
    )  # fmt: skip
    axes.set_xticks(at, [str(estimate.labels[i]) for i in order], rotation=45, ha="right", rotation_mode="anchor")
    axes.set_ylabel("visitors, %")
    axes.set_title(f"{visitors.n:,} visitors, each 1-LDP on their own device (OUE)")
    axes.legend(frameon=False)


def trade(axes: Axes) -> None:
    """Standard error against attack success as epsilon grows, for the same people."""
    visitors = hush.datasets.msnbc()
    budgets = np.linspace(0.5, 5.0, 19)
    for name, colour in CURVES.items():
        made = [hush.registry()[name](k=visitors.k, epsilon=float(e)) for e in budgets]
        errors = [100 * float(np.sqrt(m.variances(visitors.frequencies, visitors.n).mean())) for m in made]
        success = [100 * m.asr() for m in made]
        wide = name == "OUE"  # almost the same curve as OLH, drawn behind it
        axes.plot(success, errors, color=colour, lw=5 if wide else 1.8, alpha=0.7 if wide else 1.0, label=name)
        axes.plot(success[::2], errors[::2], "o", color=colour, ms=3)
    axes.axvline(100 / visitors.k, color="#8a99a6", lw=1, ls=":")
    axes.annotate("blind guess", (100 / visitors.k, 0.024), (3, 0), textcoords="offset points", fontsize=9)
    axes.set_yscale("log")
    axes.set_yticks([0.03, 0.1, 0.3], ["0.03", "0.1", "0.3"])
    axes.minorticks_off()
    axes.set_xlabel("best attack's success on one report, %")
    axes.set_ylabel("standard error, percentage points")
    axes.set_title("What accuracy costs, ε from 0.5 to 5")
    axes.legend(frameon=False)


def road() -> None:
    """From a value on somebody's device to an estimate, and who else asks the mechanism about its law."""
    figure, axes = plt.subplots(figsize=(12, 6.4), layout="constrained")
    axes.set(xlim=(0, 120), ylim=(0, 64))
    axes.axis("off")
    _bar(axes, 56, "spec: mechanism and domain as JSON; report files carry it, aggregates its hash")
    for left, width, name in ((1, 66, "on the device"), (71, 48, "on the server")):
        axes.add_patch(Rectangle((left, 29), width, 21, color="#f1f5f8"))
        axes.text(left + width - 1, 47, name, color="#5b6b78", weight="bold", ha="right")
    boxes = [*zip(range(3, 60, 16), DEVICE, strict=True), *zip(range(73, 120, 16), SERVER, strict=True)]
    for left, words in boxes:
        _box(axes, left, 31, 13, words)
    for (before, _), (after, _) in itertools.pairwise(boxes):
        _arrow(axes, (before + 13, 37.5), (after, 37.5))
    for at in (25.5, 41.5, 79.5, 95.5):
        _arrow(axes, (at, 56), (at, 44))
    _arrow(axes, (41.5, 31), (41.5, 24))
    _bar(axes, 18, "its exact law in integers, and its closed forms: m.forms")
    for i, words in enumerate(BESIDE):
        _box(axes, 1 + 24.5 * i, 0.5, 20, words)
        _arrow(axes, (11 + 24.5 * i, 18), (11 + 24.5 * i, 13.5))
    figure.savefig(PICTURES / "road.png", dpi=110, metadata={"Software": None})


DEVICE = (
    "a value\nwhat a\nperson holds",
    "domain\nlabel to\nnumber",
    "mechanism\nprivatize",
    "report\nfixed-size\nrecord",
)
SERVER = ("aggregate\ncounts that\nmerge by +", "estimate\nfrequencies,\nunbiased", "read it\nerror bars,\nprojection")
BESIDE = (
    "choose\nplan, budget,\ncapacity",
    "simulate\nmany collections,\nno reports",
    "attack\nguess, follow,\nre-identify, poison",
    "audit\nwhat reports prove\nof the loss",
    "test\nthe suite for\nall of the above",
)


def _bar(axes: Axes, bottom: float, words: str) -> None:
    axes.add_patch(Rectangle((1, bottom), 118, 6, facecolor="#fff7e6", edgecolor=CURVES["OUE"]))
    axes.text(60, bottom + 3, words, ha="center", va="center")


def _box(axes: Axes, left: float, bottom: float, width: float, words: str) -> None:
    axes.add_patch(Rectangle((left, bottom), width, 13, facecolor="white", edgecolor=CURVES["OLH"], linewidth=1.3))
    head, _, more = words.partition("\n")
    axes.text(left + width / 2, bottom + 10.4, head, ha="center", va="center", weight="bold")
    axes.text(left + width / 2, bottom + 4.6, more, ha="center", va="center", fontsize=9.5)


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float]) -> None:
    axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": "#8a99a6", "shrinkA": 0, "shrinkB": 0})


def planned() -> None:
    """The planner's answer to the question that the page on choosing starts with."""
    plan = hush.plan(k=100, n=100_000, error=0.01, max_asr=0.1)
    (PICTURES / "plan.png").write_bytes(png(front_figure(plan, plan.first), dpi=110))
    chosen = [
        choice for choice in plan.choices if choice.name in {"tuned PGR", "BLH", "HR", "SUE", "OLH", "SS", "GRR", "SHE"}
    ]
    titles = {"epsilon": "budget ε", "asr": "attack success", "gain": "gain of 5 % fakes", "bits": "bits"}
    measures = {title: [choice.numbers[name] for choice in chosen] for name, title in titles.items()}
    drawn = trade_off([choice.name for choice in chosen], measures, "The same error, ±1 point: what else it costs")
    (PICTURES / "plan-costs.png").write_bytes(png(drawn, dpi=110))
    year = hush.survey(attributes=(7, 10, 12, 20), rounds=12, n=20_000, error=0.03, max_epsilon=4.0)
    (PICTURES / "plan-survey.png").write_bytes(png(survey_figure(year, year.first), dpi=110))


def months() -> None:
    """A survey of 20,000 people, twelve months: three questions, of which one changes."""
    sizes = {"health": ["well", "so-so", "unwell"], "work": ["office", "home", "outdoors", "none"]}
    sizes |= {"sleep": ["under 6", "6 to 7", "7 to 8", "over 8"], "region": [f"region {i}" for i in range(1, 13)]}
    rng, n = np.random.default_rng(7), 20_000
    held = np.stack([rng.choice(len(v), n, p=rng.dirichlet(np.full(len(v), 3))) for v in sizes.values()], axis=1)
    rounds = np.repeat(held[:, None], 12, axis=1)
    for month in range(1, 12):
        ill = rng.random(n) < 0.03
        rounds[:, month, 0] = np.where(ill, np.minimum(rounds[:, month - 1, 0] + 1, 2), rounds[:, month - 1, 0])
    m = hush.multidim.LSMP(sizes=[len(v) for v in sizes.values()], epsilon_permanent=4.0, epsilon_report=2.0)
    found = m.estimate(m.aggregate(m.collect(rounds, rng=hush.seeded(7))))
    courses = []
    for j, (name, labels) in enumerate(sizes.items()):
        order = np.argsort(-np.mean([month[j].frequencies for month in found], axis=0))
        parts = [(month[j].frequencies, *month[j].interval(0.95)) for month in found]
        centre, lower, upper = (100 * np.stack(part)[:, order] for part in zip(*parts, strict=True))
        names = [f"2026-{month}" for month in range(1, 13)]
        courses.append(
            Timeline(name, names, [labels[i] for i in order], centre, lower, upper, min(MOST_LINES, len(labels)))
        )
    title = "LSMP, 20,000 people over twelve months, 2-LDP a report, 4-LDP while a value stays"
    (PICTURES / "months.png").write_bytes(png(timelines(courses, title), dpi=110))


def reproduced(study: str, *figures: str) -> None:
    """Figures of a study, as `hush reproduce` makes them; a measured one takes a minute or two."""
    for name in figures:
        part = studies()[study].part(name)
        if part is None:
            raise LookupError(name)
        table = part.compute(Settings(), lambda share: None)
        (PICTURES / f"{study}-{name}.png").write_bytes(png(part.draw(table), dpi=110))


if __name__ == "__main__":
    main()
