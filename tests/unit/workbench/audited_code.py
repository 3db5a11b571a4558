"""Code that a page is asked to audit."""

from __future__ import annotations

import math
import random


def honest(value: int) -> int:
    """Randomized response over four values, with a loss of 1."""
    keep = math.e / (math.e + 3)
    return value if random.random() < keep else random.choice([each for each in range(4) if each != value])


def telling(value: int) -> int:
    """Says the value half of the time, and else a random one: it prints, too, which must harm nobody."""
    print("not an answer")
    return value if random.random() < 0.5 else random.randrange(4)
