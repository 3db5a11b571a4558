"""Choosing moduli for modular subset selection.

Algorithms 2 and 3 of Arcolezi, "Private frequency estimation via residue number systems" (2025), with the rank
condition as it should read (1 + sum (m_j - 1) >= k), primes never repeated by a repair, and the true condition number
(the printed bound on it is wrong by a factor of 26 in one case). What they find is a trade: moduli near k have the
error and the length of subset selection itself, smaller ones have shorter reports and a larger error.

For many values, conditions, and errors times k, depend on the moduli's ratios to k alone: at 1,024 and at 200,000
values they agree to 0.3 %. So above `_WHOLE` values the search goes through a model with fewer values, what it finds is
scaled up, and only the condition of that is found anew.

Common sizes are in `hush/data/moduli.json`, written by `python -m hush.mechanisms.modular.moduli`: nobody
waits for them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files

import numpy as np

from hush import rules
from hush.analysis.modular import Blocks
from hush.analysis.primes import primes
from hush.errors import ParameterError, Unsaid, message
from hush.exact.thresholds import exponential
from hush.mechanisms.modular.weighing import WeighedModuli, Weights, measured, score
from hush.types import Ints

Moduli = tuple[int, ...]

MOST_BLOCKS = 65_536
MOST_CHOSEN = 1_000
"""Numbers of moduli that are searched for."""
MOST_SEARCHED = 1 << 22
"""Values up to which moduli are chosen: a condition takes seconds for each million."""
ANCHORS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0)
"""Budgets that moduli are chosen for; the nearest is used, which costs a few per cent of error where k is small."""
_COMMON = (100, 128, 200, 256, 500, 512, 1_000, 1_024, 2_000, 2_048, 4_096, 5_000, 8_192, 10_000, 16_384, 20_000,
           22_000, 32_768, 50_000, 65_536, 100_000, 131_072, 200_000, 262_144, 500_000, 524_288, 1_000_000,
           1_048_576)  # fmt: skip
_TRIES = 40
_TUPLES = 3
"""Valid choices looked at for each number of blocks."""
_WHOLE = 30_000
_MODEL = 8_192


def subset_sizes(moduli: Sequence[int], epsilon: float) -> list[int]:
    """Members of a subset in each block: the integer part of m/(e^epsilon + 1), at least 1 (printed, it can be 0)."""
    e = exponential(Fraction(epsilon))
    return [max(1, int(m / (e + 1))) for m in moduli]


def blocks(k: int, moduli: Sequence[int], epsilon: float) -> Blocks:
    """What the error of these moduli depends on, with real probabilities in place of integer thresholds."""
    omegas, m = np.array(subset_sizes(moduli, epsilon)), np.array(moduli, np.float64)
    p = 1 / (1 + (m - omegas) / omegas * math.exp(-epsilon))
    return Blocks(k, tuple(moduli), omegas, p)


def checked(k: int, moduli: object) -> Moduli:
    """Moduli that determine every frequency, as a tuple of integers."""
    moduli = moduli.tolist() if isinstance(moduli, np.ndarray) else moduli
    if isinstance(moduli, (str, bytes)) or not isinstance(moduli, Sequence) or len(moduli) < 1:
        raise ParameterError(message("moduli", "must be a list of integers", moduli, "use e.g. (7, 11, 13)"))
    if len(moduli) > MOST_BLOCKS:
        raise ParameterError(message("moduli", f"must be at most {MOST_BLOCKS}", len(moduli), "use fewer"))
    whole = tuple(rules.integer("every modulus", m, 2, k, "use integers up to k") for m in moduli)
    product, known = 1, 1 + sum(m - 1 for m in whole)
    for m in whole:
        if math.gcd(product, m) > 1:
            other = next(each for each in whole if math.gcd(each, m) > 1)
            got = Unsaid(f"{m} twice" if other == m else f"{other} and {m}, both multiples of {math.gcd(other, m)}")
            raise ParameterError(message("moduli", "must have no common factors", got, "use different primes"))
        product *= m
    if product < k:
        rule = f"must have a product of at least k={k}, so that no two values have the same residues"
        raise ParameterError(message("moduli", rule, Unsaid(f"a product of {product}"), "use larger ones, or more"))
    if known < k:
        rule = f"must be so large that 1 + sum (m - 1) is at least k={k}: residues tell no more frequencies than that"
        raise ParameterError(message("moduli", rule, Unsaid(f"a sum of {known}"), "use larger ones, or more"))
    return whole


def choose_moduli(
    k: int,
    epsilon: float,
    *,
    weights: Weights = "error",
    ell: int | None = None,
    condition: float = 10.0,
    most_blocks: int = 20,
    width: float = 20.0,
    seed: int = 0,
) -> Moduli:
    """Primes for `hush.MSS`: the best of what Algorithm 2 of its paper finds, corrected.

    Where it finds none, k itself, which is subset selection.

    Args:
        k: Number of values.
        epsilon: Privacy budget.
        weights: What to keep small: "error" (mean squared, exact for equally frequent residues), "attack" (exact
            success of the best guess), "bits" (of a report on average), "decoding" (additions, at most), "condition"
            (condition number of the design), or a mapping of these to weights, of which only the ratios matter: the
            least weighted geometric mean wins.
        ell: How many moduli; as many as are best, up to `most_blocks`, if left out. One is k itself.
        condition: Largest condition number of the weighted design matrix.
        most_blocks: Largest number of moduli that is tried.
        width: Primes for l blocks are drawn from k/(width·l) to width·k/l, and at most 0.95 k.
        seed: The same seed gives the same moduli.

    >>> choose_moduli(100, 3.0, ell=3), choose_moduli(100, 3.0, weights={"error": 1, "bits": 2}, ell=3)
    ((59, 67, 79), (37, 53, 71))
    """
    k, epsilon = rules.domain_size(k), rules.epsilon(epsilon)
    rules.integer("most_blocks", most_blocks, 2, MOST_CHOSEN, "use e.g. 20")
    rules.number("condition", condition, 1.0, math.inf, "use e.g. 10")
    rules.number("width", width, 1.0, math.inf, "use e.g. 20")
    rules.integer("seed", seed, 0, (1 << 63) - 1, "use e.g. 0")
    better = score(weights)
    if ell is not None:
        ell = checked_number(ell)
    if ell == 1:
        return (k,)
    if k > MOST_SEARCHED:
        rule = f"must be at most {MOST_SEARCHED} for moduli to be chosen"
        raise ParameterError(message("k", rule, k, "give moduli, or use PGR"))
    numbers = range(2, most_blocks + 1) if ell is None else (ell,)
    several = _found(k, epsilon, numbers, condition, width, seed)
    for _, law in sorted(((better(found), found.law) for found in several), key=lambda scored: scored[0]):
        if k <= _WHOLE or law.system.condition(condition, digits=2) <= condition:
            return law.moduli
    if ell is None:
        return (k,)
    rule = f"must be a number of primes up to k={k} that determine all values, with a condition number of {condition:g}"
    raise ParameterError(message("ell", f"{rule} at most", ell, "use another, or give moduli"))


def checked_number(ell: object) -> int:
    """How many moduli are to be chosen."""
    return rules.integer("ell", ell, 1, MOST_CHOSEN, "use e.g. 5, or leave it out")


def measures(k: int, epsilon: float, moduli: Sequence[int]) -> dict[str, float]:
    """What `choose_moduli` weighs, for moduli that are given.

    >>> {name: round(value, 3) for name, value in measures(100, 3.0, (43, 59, 73)).items()}
    {'error': 0.37, 'attack': 0.114, 'bits': 14.333, 'decoding': 65413.831, 'condition': 4.571}
    """
    k, epsilon = rules.domain_size(k), rules.epsilon(epsilon)
    law = blocks(k, checked(k, moduli), epsilon)
    return measured(WeighedModuli(law, law))


def _found(
    k: int, epsilon: float, counts: Sequence[int], condition: float, width: float, seed: int
) -> Iterator[WeighedModuli]:
    """Valid choices for all numbers of blocks; for many values, from the model."""
    size, budget = k, epsilon
    if k > _WHOLE:  # blocks weigh the same in both: alike, or as those weigh whose subsets have as many members
        size, budget = _MODEL, max(epsilon - math.log(k / _MODEL), min(epsilon, 1.0))
    for count in counts:
        for moduli in valid_moduli(size, budget, count, condition, width, np.random.default_rng([seed, size, count])):
            model = blocks(size, moduli, budget)
            yield WeighedModuli(model if size == k else blocks(k, _scaled(moduli, k, size), epsilon), model)


def _scaled(moduli: Moduli, k: int, size: int) -> Moduli:
    """For more values, the next primes to moduli in ascending order that were chosen for fewer."""
    known, at = primes(k), -1
    found = []
    for m in moduli:
        at = max(at + 1, int(np.searchsorted(known, -(-m * k // size))))
        found.append(int(known[at]))
    return tuple(found)


def valid_moduli(
    k: int, epsilon: float, count: int, condition: float, width: float, rng: np.random.Generator
) -> Iterator[Moduli]:
    """Algorithm 3: tuples that cover the domain, have full rank and are well conditioned."""
    top = k if k < 40 else math.floor(0.95 * k)
    low, high = max(2, math.ceil(k / (width * count))), min(math.floor(width * k / count), top)
    known = primes(top)
    band = known[(known >= low) & (known <= high)]
    made = 0
    for _ in range(_TRIES if band.size >= count else 0):
        repaired = repaired_moduli(k, rng.choice(band, count, replace=False).tolist(), known, rng)
        if repaired is not None and blocks(k, repaired, epsilon).system.condition(condition, digits=3) <= condition:
            made += 1
            yield repaired
        if made == _TUPLES:
            return
    if made == 0:
        start = known[known >= _root(k, count)][:count].tolist()
        plain = repaired_moduli(k, start, known, None) if len(start) == count else None
        if plain is not None and blocks(k, plain, epsilon).system.condition(condition, digits=3) <= condition:
            yield plain


def _root(k: int, count: int) -> int:
    """The least integer whose power reaches k, whatever the last bit of a root is."""
    near = round(k ** (1 / count))
    return near if near**count >= k else near + 1


def repaired_moduli(k: int, moduli: list[int], known: Ints, rng: np.random.Generator | None) -> Moduli | None:
    """Raise moduli, at random or in turn, to the next prime not in use until they determine all values; in order."""
    turn = 0
    while math.prod(moduli) < k or 1 + sum(m - 1 for m in moduli) < k:
        if rng is not None:
            turn = int(rng.integers(len(moduli)))
        for step in range(len(moduli)):
            at = (turn + step) % len(moduli)
            higher = _next_free(known, moduli, at)
            if higher is not None:
                moduli[at] = higher
                break
        else:
            return None
        turn = at + 1
    return tuple(sorted(moduli))


def _next_free(known: Ints, moduli: list[int], at: int) -> int | None:
    """The next prime after a modulus that is not among them."""
    for i in range(int(np.searchsorted(known, moduli[at], "right")), known.size):
        if int(known[i]) not in moduli:
            return int(known[i])
    return None


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, list[int]]]:
    whole: dict[str, dict[str, list[int]]] = json.loads(
        files("hush").joinpath("data", "moduli.json").read_text(encoding="utf-8")
    )
    return whole


def usual_moduli(k: int, epsilon: float, ell: int | None = None) -> Moduli:
    """What `choose_moduli` gives at the nearest of the anchors: from the table, or searched for, once.

    A search takes about three seconds of one core up to 100,000 values, and some six for a million; for one number of
    moduli, a tenth of that.
    """
    return _anchored(k, nearest_anchor(epsilon), ell)


def nearest_anchor(epsilon: float) -> float:
    """The anchor that a budget is nearest to."""
    return min(ANCHORS, key=lambda each: (abs(each - epsilon), each))


@lru_cache(maxsize=256)
def _anchored(k: int, anchor: float, ell: int | None) -> Moduli:
    stored = _table().get(str(k), {}).get(f"{anchor:g}") if ell is None else None
    return tuple(stored) if stored else choose_moduli(k, anchor, ell=ell)


def main() -> None:
    """Write the table."""
    rows = []
    for k in _COMMON:
        cells = ", ".join(f'"{e:g}": {json.dumps(choose_moduli(k, e))}' for e in ANCHORS)
        rows.append(f'"{k}": {{{cells}}}')
        print(rows[-1], flush=True)
    path = files("hush").joinpath("data", "moduli.json")
    with open(str(path), "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
