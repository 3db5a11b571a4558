"""Closed forms: variance, attack success, bits, optimal parameters. Functions of probabilities, counts and arrays."""

from hush._modules import modules_of

__getattr__ = modules_of(__name__)
