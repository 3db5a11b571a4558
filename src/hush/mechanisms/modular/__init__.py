"""Subsets of residues, modulo several numbers."""

from hush.mechanisms.modular.mechanism import MSS

__all__ = ["MSS"]
