"""What is known and wanted of a survey of several attributes or rounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hush import rules
from hush.errors import ParameterError, Unsaid, message
from hush.multidim import checks
from hush.planning.objectives import Z95
from hush.planning.wishes import ASSUMED_EPSILON, MOST_PEOPLE

METRICS = ("margin", "mse")
MOST_ROUNDS = 10_000
_HAIR = 1 + 1e-12


@dataclass(frozen=True, kw_only=True)
class SurveyWishes:
    """Circumstances and wishes; see `hush.survey`."""

    sizes: Sequence[int]
    n: int
    rounds: int = 1
    error: float | None = None
    metric: str = "margin"
    worst: bool = False
    max_epsilon: float | None = None
    changing: bool = False
    report_share: float = 0.5
    smallest_group: int | None = None

    def __post_init__(self) -> None:
        n = rules.integer("n", self.n, 1, MOST_PEOPLE, "count the people who will report")
        plain: dict[str, object] = {
            "sizes": _sizes(self.sizes),
            "n": n,
            "rounds": rules.integer("rounds", self.rounds, 1, MOST_ROUNDS, "count how often each person is asked"),
            "metric": rules.named("metric", self.metric, METRICS, "use e.g. 'margin'"),
            "report_share": rules.number(
                "report_share", self.report_share, 0.0, 1.0, "use e.g. 0.5: half of it for one report"
            ),
            "worst": bool(self.worst),
            "changing": bool(self.changing),
        }
        if self.error is not None:
            remedy = "use e.g. 0.01 for one percentage point"
            plain["error"] = rules.number("error", self.error, 1e-12, 1.0, remedy, closed=True)
        if self.smallest_group is not None:
            remedy = "count its people, or those who will report in all"
            plain["smallest_group"] = rules.integer("smallest_group", self.smallest_group, 1, n, remedy)
        if self.max_epsilon is not None:
            try:
                plain["max_epsilon"] = rules.epsilon(self.max_epsilon)
            except ParameterError as error:
                raise error.naming("max_epsilon") from None
        for name, value in plain.items():
            object.__setattr__(self, name, value)

    @property
    def d(self) -> int:
        """Number of attributes."""
        return len(self.sizes)

    @property
    def assumes_epsilon(self) -> bool:
        """Whether nothing that was said bounds the budget."""
        return self.error is None and self.max_epsilon is None

    @property
    def spent(self) -> float:
        """The total budget that is spent where no error says how little would do."""
        return ASSUMED_EPSILON if self.max_epsilon is None else self.max_epsilon

    def told(self, squared: float) -> float:
        """A mean squared error in the metric."""
        return squared if self.metric == "mse" else Z95 * float(squared) ** 0.5

    def reached(self, error: float) -> bool:
        """Whether an error is as wished."""
        return self.error is None or error <= self.error * _HAIR

    def allowed(self, epsilon: float) -> bool:
        """Whether a total budget is accepted."""
        return self.max_epsilon is None or epsilon <= self.max_epsilon * _HAIR


def _sizes(given: object) -> tuple[int, ...]:
    """Domain sizes, one for each attribute."""
    found = [given] if isinstance(given, int) and not isinstance(given, bool) else given
    try:
        return checks.sizes(found, 1)
    except ParameterError as error:
        raise error.naming((error.parameter or "sizes").replace("sizes", "attributes")) from None


def one_attribute(sizes: Sequence[int]) -> ParameterError:
    """That neither several attributes nor several rounds were asked for."""
    rule = "must be two or more, or rounds must be"
    return ParameterError(message("attributes", rule, Unsaid(f"{len(sizes)}, once"), "use hush.plan(k=…, n=…)"))
