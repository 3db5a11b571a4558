"""Populations to try things on, by name: those of `hush.people.datasets`."""

from hush.people.datasets import adult_age, dirichlet, geometric, msnbc, named, normal, spike, uniform, zipf

__all__ = ["adult_age", "dirichlet", "geometric", "msnbc", "named", "normal", "spike", "uniform", "zipf"]
