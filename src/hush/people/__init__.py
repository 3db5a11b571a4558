"""Who takes part: the values that people may hold, the labels they go by, and how many hold what, once or over time."""

from hush.people.domain import Domain, Label
from hush.people.history import History
from hush.people.population import Population

__all__ = ["Domain", "History", "Label", "Population"]
