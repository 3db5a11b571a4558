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
    """The front of error and attack success around the wish, within the budget that is accepted."""
    w = plan.wishes
    found = reachable(w.k, w.judged, w.largest_epsilon, worst=w.worst)
    rows = np.stack([100 * Z95 * np.sqrt(found[:, 0]), 100 * found[:, 1]], axis=1)
    edge = rows[pareto.front(rows)] if len(rows) else rows
    edge = edge[np.argsort(edge[:, 0])]
    middle = 100 * (plan.first.numbers["error"] if plan.feasible else w.error or edge[0, 0] / 100)
    near = edge[(edge[:, 0] >= middle / _AROUND) & (edge[:, 0] <= middle * _AROUND)]
    kept = near if len(near) > 9 else edge
    few = kept[np.unique(np.linspace(0, len(kept) - 1, min(_POINTS, len(kept))).round().astype(int))]
    return Curve(tuple(few[:, 0].tolist()), tuple(few[:, 1].tolist()), w.largest_epsilon)
