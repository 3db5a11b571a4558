"""The picture of how the time of SS, MSS and PGR grows: docs/pictures/modular-speed.png.

`python -m benchmarks.modular_plot FILE` draws it again from what `python -m benchmarks modular --json FILE` measured.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "modular-speed.png"
COLOURS = {"SS": "#00798c", "MSS": "#d1495b", "PGR": "#edae49"}
PARTS = {"client": "client", "aggregate": "aggregate", "decode": "decode"}
INK, FAINT = "#22303c", "#8a99a6"
Rows = list[dict[str, Any]]


def draw(values: Rows, people: Rows, path: Path = PICTURE) -> None:
    """Processor times, of all threads, against k above and against n below; choosing moduli and memory at the right."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    plain = {"font.size": 10, "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": FAINT}
    words = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color"), INK)
    with plt.rc_context({**plain, **words, "axes.titlelocation": "left", "axes.titleweight": "bold"}):
        figure, axes = plt.subplots(2, 4, figsize=(13, 6.2), layout="constrained", sharey=False)
        for row, (rows, over) in enumerate(((values, "k"), (people, "n"))):
            for column, part in enumerate(PARTS):
                _lines(axes[row, column], rows, over, lambda each, part=part: each[part][1])
                axes[row, column].set_title(f"{PARTS[part]}, against {over}")
        chosen = [each for each in values if each["choose"]]
        _lines(axes[0, 3], chosen, "k", lambda each: each["choose"][1])
        axes[0, 3].set_title("choose moduli, against k")
        axes[0, 3].set_ylim(0.1, 10 ** math.ceil(math.log10(axes[0, 3].get_ylim()[1])))
        _lines(axes[1, 3], values, "k", lambda each: each["peak"] / 1e6)
        axes[1, 3].set_title("peak memory, against k")
        axes[1, 3].set_yscale("linear")
        axes[1, 3].set_ylim(0)
        for each in (*axes[:, :3].flat, axes[0, 3]):
            each.set_ylabel("processor seconds")
        axes[1, 3].set_ylabel("MB")
        axes[0, 0].legend(frameon=False)
        n, k = values[0]["n"], people[0]["k"]
        for each in axes[0]:
            each.set_xlabel(f"values k  (n = {n:,})" if each is not axes[0, 3] else "values k")
        for each in axes[1]:
            each.set_xlabel(f"reports n  (k = {k:,})" if each is not axes[1, 3] else f"values k  (n = {n:,})")
        _same_scale(axes[:, :3])
        figure.savefig(path, dpi=110, metadata={"Software": None})
        plt.close(figure)


def _lines(axes: Any, rows: Rows, over: str, height: Any) -> None:
    for name, colour in COLOURS.items():
        mine = [each for each in rows if each["mechanism"] == name]
        if mine:
            axes.plot(
                [each[over] for each in mine], [height(each) for each in mine], "o-", color=colour, ms=4, label=name
            )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.grid(color="#e8edf0", lw=0.8)


def _same_scale(axes: Any) -> None:
    """All panels with the same limits in a row, so that steps can be compared."""
    for row in axes:
        low = min(each.get_ylim()[0] for each in row)
        high = max(each.get_ylim()[1] for each in row)
        for each in row:
            each.set_ylim(low, high)


def main() -> None:
    """Draw from a file."""
    tables = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))["modular"]
    values, people = (next(t["data"] for t in tables if t["title"].startswith(f"Growth with the number of {what}"))
                      for what in ("values", "reports"))  # fmt: skip
    draw(values, people)


if __name__ == "__main__":
    main()
