"""The suite of each kind of mechanism, all at once or check by check."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hush.errors import ParameterError, message
from hush.longitudinal.base import Longitudinal
from hush.mechanisms.base import FrequencyOracle
from hush.mechanisms.numeric.base import Numeric
from hush.mechanisms.registry import register, registry
from hush.multidim.base import Multidim
from hush.multidim.over_time import TuplesOverTime
from hush.testing import mechanism, multidim, numeric
from hush.testing.problem import ConformanceError

if TYPE_CHECKING:
    import pytest

Mechanism = FrequencyOracle | Numeric | Multidim | Longitudinal | TuplesOverTime
SEED = 20_261


@dataclass(frozen=True)
class SuiteCheck:
    """One check of the suite; called with a mechanism, it raises a ConformanceError or says nothing.

    Args:
        holds: What is checked, of a mechanism and with a seed.
    """

    holds: Callable[[Any, int], None]

    @property
    def name(self) -> str:
        """What it is called in a listing of test cases."""
        return self.holds.__name__

    def __call__(self, m: Mechanism, *, seed: int = SEED) -> None:
        """Check a mechanism; of a protocol over time, its first report."""
        checked = _one_report(m)
        if isinstance(checked, FrequencyOracle | Numeric) and type(checked).name() not in registry(checked.kind):
            register(type(checked), listed=False)  # so that specs may name it
        try:
            self.holds(checked, seed)
        except (ConformanceError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise ConformanceError(f"{checked}: {self.name} met {type(error).__name__}: {error}") from error


def _one_report(m: Mechanism) -> Any:
    """The mechanism itself; of a protocol over time, the law of its reports."""
    return m.first_report if isinstance(m, Longitudinal | TuplesOverTime) else m


def checks_of(m: Mechanism) -> list[SuiteCheck]:
    """The checks of a mechanism's kind, in the order in which they make sense.

    >>> from hush import GRR
    >>> [check.name for check in checks_of(GRR(k=3, epsilon=1.0))][:3]
    ['check_law', 'check_loss', 'check_records']
    """
    checked = _one_report(m)
    if isinstance(checked, Multidim):
        return [SuiteCheck(each) for each in multidim.CHECKS]
    if isinstance(checked, Numeric):
        return [SuiteCheck(each) for each in numeric.CHECKS]
    if isinstance(checked, FrequencyOracle):
        return [SuiteCheck(each) for each in mechanism.CHECKS]
    rule = "must be a frequency oracle, a mechanism for means, a collection of tuples or a protocol over time"
    raise ParameterError(message("mechanism", rule, type(m), "pass an instance of one"))


def check_mechanism(m: Mechanism, *, seed: int = SEED) -> None:
    """Run every check; raise ConformanceError at the first that fails.

    Args:
        m: A frequency oracle, a mechanism for means, a collection of tuples, or a protocol over time, whose first
            report is checked.
        seed: Of the statistical checks.
    """
    for check in checks_of(m):
        check(m, seed=seed)


def parametrize_with_checks(mechanisms: Sequence[Mechanism]) -> pytest.MarkDecorator:
    """Decorate a test of pytest with arguments ``mechanism`` and ``check``: one case for every check of each mechanism.

    Args:
        mechanisms: What to check.
    """
    import pytest

    pairs = [(m, check) for m in mechanisms for check in checks_of(m)]
    return pytest.mark.parametrize(("mechanism", "check"), pairs, ids=[f"{m}-{check.name}" for m, check in pairs])
