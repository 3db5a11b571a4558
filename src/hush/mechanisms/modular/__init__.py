"""Subsets of residues, modulo several numbers."""

from hush.mechanisms.modular.mechanism import MSS
from hush.mechanisms.modular.moduli import choose_moduli

__all__ = ["MSS", "choose_moduli"]
