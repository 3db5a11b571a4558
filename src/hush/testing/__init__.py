"""The conformance suite: what every mechanism owes its users, yours included.

>>> from hush import GRR
>>> check_mechanism(GRR(k=3, epsilon=1.0))
"""

from hush.testing import forms_attacked as forms_attacked  # adds its comparisons
from hush.testing import forms_estimates as forms_estimates  # adds its comparisons
from hush.testing import forms_totals as forms_totals  # adds its comparisons
from hush.testing.forms import check_forms
from hush.testing.mechanism import check_law, check_loss, check_tightness
from hush.testing.problem import ConformanceError
from hush.testing.suite import check_mechanism, checks_of, parametrize_with_checks

__all__ = [
    "ConformanceError",
    "check_forms",
    "check_law",
    "check_loss",
    "check_mechanism",
    "check_tightness",
    "checks_of",
    "parametrize_with_checks",
]
