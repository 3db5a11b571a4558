"""What another error would cost: the least attack success of any mechanism, for every error."""

from __future__ import annotations

import numpy as np

from hush.analysis import pareto
from hush.planning.families import reachable
from hush.planning.objectives import Z95
from hush.planning.plan import Plan
from hush.workbench.plan.answer import Curve

_AROUND = 6.0
_POINTS = 60


def curve(plan: Plan) -> Curve:
    """The front of error and attack success around the wish, within the budget that is accepted.

    It is that of a grid of parameters and budgets, and of what meets the wish, which lies between its points.
    """
    w = plan.wishes
    grid = reachable(w.k, w.judged, w.largest_epsilon, worst=w.worst)
    met = [(each.numbers["error"], each.numbers["asr"]) for each in plan.choices]
    rows = 100 * np.concatenate([np.stack([Z95 * np.sqrt(grid[:, 0]), grid[:, 1]], axis=1), np.reshape(met, (-1, 2))])
    own = np.arange(len(rows)) >= len(grid)
    kept = np.flatnonzero(pareto.front(rows)) if len(rows) else np.arange(0)
    kept = kept[np.argsort(rows[kept, 0], kind="stable")]
    edge = rows[kept]
    middle = 100 * (plan.first.numbers["error"] if plan.feasible else w.error or edge[0, 0] / 100)
    near = (edge[:, 0] >= middle / _AROUND) & (edge[:, 0] <= middle * _AROUND)
    kept = kept[near] if np.count_nonzero(near) > 9 else kept
    some = np.linspace(0, len(kept) - 1, min(_POINTS, len(kept))).round().astype(int)
    few = rows[kept[np.union1d(some, np.flatnonzero(own[kept]))]]
    return Curve(tuple(few[:, 0].tolist()), tuple(few[:, 1].tolist()), w.largest_epsilon)
