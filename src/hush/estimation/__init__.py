"""From reports to numbers: mergeable aggregates, unbiased estimates, error bars, named post-processing."""

from hush.estimation.aggregate import Aggregate
from hush.estimation.estimate import Estimate

__all__ = ["Aggregate", "Estimate"]
