"""Noise on a grid for every value."""

from hush.mechanisms.histogram.mechanism import AGM, GM, SHE, NoisyHistogram, ServerTHE

__all__ = ["AGM", "GM", "SHE", "NoisyHistogram", "ServerTHE"]
