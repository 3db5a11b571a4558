"""Numbers in a range, whose mean is estimated."""

from hush.mechanisms.numeric.mechanism import NUMERIC, Duchi, Hybrid, Piecewise, from_dict, register, registry

__all__ = ["NUMERIC", "Duchi", "Hybrid", "Piecewise", "from_dict", "register", "registry"]
