"""Closed forms: variance, attack success, bits, optimal parameters. Functions of probabilities, counts and arrays."""
