"""Points of a projective space, which favour the hyperplanes that they lie on."""

from hush.mechanisms.projective.mechanism import PGR

__all__ = ["PGR"]
