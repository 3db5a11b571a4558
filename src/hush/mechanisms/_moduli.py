"""Choosing moduli for modular subset selection.

Algorithms 2 and 3 of Arcolezi, "Private frequency estimation via residue number systems" (2025), with the rank
condition as it should read (1 + sum (m_j - 1) >= k), primes never repeated by a repair, and the true condition number
(the printed bound on it is wrong by a factor of 26 in one case). What they find is a trade: moduli near k have the
error and the length of subset selection itself, smaller ones have shorter reports and a larger error.

Common sizes are in `hush/data/moduli.json`, written by `python -m hush.mechanisms._moduli`: nobody waits for them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from hush.analysis.modular import Blocks
from hush.errors import ParameterError, message
from hush.mechanisms import _rules
from hush.mechanisms._thresholds import exponential

Ints = npt.NDArray[np.int64]
Moduli = tuple[int, ...]

MOST_BLOCKS = 65_536
ANCHORS = (1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
"""Budgets that moduli are chosen for: a choice hardly depends on the budget, so the nearest of these will do."""
_COMMON = (100, 128, 200, 256, 500, 512, 1_000, 1_024, 2_000, 2_048, 4_096, 5_000, 8_192, 10_000, 16_384, 20_000,
           22_000, 32_768, 50_000, 65_536, 100_000)  # fmt: skip
_TRIES = 40
_TUPLES = 3
"""Valid choices looked at for each number of blocks."""


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
    if isinstance(moduli, (str, bytes, Mapping)) or not isinstance(moduli, (Sequence, np.ndarray)) or len(moduli) < 1:
        raise ParameterError(message("moduli", "must be a list of integers", moduli, "use e.g. (7, 11, 13)"))
    if len(moduli) > MOST_BLOCKS:
        raise ParameterError(message("moduli", f"must be at most {MOST_BLOCKS}", len(moduli), "use fewer"))
    whole = tuple(_rules.integer("every modulus", m, 2, k, "use integers up to k") for m in moduli)
    product = 1
    for m in whole:
        if math.gcd(product, m) > 1:
            rule = "must have no common factor with another"
            raise ParameterError(message("every modulus", rule, m, "use different primes"))
        product *= m
    known = 1 + sum(m - 1 for m in whole)
    if product < k or known < k:
        rule = f"must have a product, and 1 + sum (m - 1), of at least k={k}"
        raise ParameterError(message("moduli", rule, (product, known), "use larger ones, or more"))
    return whole


def average_bits(moduli: Sequence[int], omegas: Sequence[int]) -> float:
    """Equation 2: bits of a report on average, a whole number of them for the block and for the subset.

    >>> average_bits((11, 13, 7), (2, 3, 1))
    8.0
    """
    several = zip(moduli, omegas, strict=True)
    return (len(moduli) - 1).bit_length() + sum(subset_bits(m, w) for m, w in several) / len(moduli)


def subset_bits(m: int, omega: int) -> int:
    """Bits that tell all subsets of omega out of m apart; beyond m = 10,000 from a logarithm good to 1e-9."""
    if m <= 10_000:
        return (math.comb(m, omega) - 1).bit_length()
    nats = math.lgamma(m + 1) - math.lgamma(omega + 1) - math.lgamma(m - omega + 1)
    return math.ceil(nats / math.log(2))


def reconstruction(k: int, moduli: Sequence[int], omegas: Sequence[int], p: Sequence[float]) -> float:
    """Success of the best guess under a uniform prior, exactly; equation 7 is a lower bound of it, not an upper one."""
    several = zip(moduli, omegas, p, strict=True)
    return sum(chance * m / omega for m, omega, chance in several) / (k * len(moduli))


def _error(law: Blocks) -> float:
    return float(law.flat_variances().mean())


_OBJECTIVES: dict[str, Callable[[Blocks], float]] = {
    "mse": _error,
    "bits": lambda law: average_bits(law.moduli, law.omegas.tolist()),
    "asr": lambda law: reconstruction(law.k, law.moduli, law.omegas.tolist(), law.p.tolist()),
}


def _score(objective: str | Mapping[str, float]) -> Callable[[Blocks], float]:
    """What is to be kept small: one objective, or the product of several, each to the power of its weight."""
    wanted = {objective: 1.0} if isinstance(objective, str) else dict(objective)
    for name, weight in wanted.items():
        if name not in _OBJECTIVES or not 0 <= weight < math.inf:
            rule = f"must be one of {', '.join(_OBJECTIVES)}, or weights of them"
            raise ParameterError(message("objective", rule, objective, 'use e.g. "mse" or {"mse": 1, "bits": 0.5}'))
    if not any(wanted.values()):
        raise ParameterError(message("objective", "must weigh something", objective, 'use e.g. "mse"'))
    return lambda law: sum(w * math.log(_OBJECTIVES[name](law)) for name, w in wanted.items() if w)


def choose_moduli(
    k: int,
    epsilon: float,
    *,
    objective: str | Mapping[str, float] = "mse",
    condition: float = 10.0,
    most_blocks: int = 20,
    width: float = 20.0,
    seed: int = 0,
) -> Moduli:
    """Primes for k values: the best of what Algorithm 2 finds; k itself, which is subset selection, if there are none.

    Args:
        k: Number of values.
        epsilon: Privacy budget.
        objective: What to keep small: "mse" (exact, for equally frequent residues), "bits" (of a report on average),
            "asr" (exact success of the best guess), or weights of them, which are powers of a product.
        condition: Largest condition number of the weighted design matrix.
        most_blocks: Largest number of moduli.
        width: Primes for l blocks are drawn from k/(width·l) to width·k/l, and at most 0.95 k.
        seed: The same seed gives the same moduli.
    """
    k, epsilon = _rules.domain_size(k), _rules.epsilon(epsilon)
    _rules.integer("most_blocks", most_blocks, 2, 1_000, "use e.g. 20")
    _rules.number("condition", condition, 1.0, math.inf, "use e.g. 10")
    _rules.number("width", width, 1.0, math.inf, "use e.g. 20")
    score = _score(objective)
    best = math.inf
    found: Moduli = (k,)
    for count in _counts(k, most_blocks):
        for moduli in _valid(k, epsilon, count, condition, width, np.random.default_rng([seed, k, count])):
            here = score(blocks(k, moduli, epsilon))
            if here < best:
                best, found = here, moduli
    return found


def _counts(k: int, most: int) -> Sequence[int]:
    """Numbers of blocks to try: all, or for very many values, which take long, a few."""
    return range(2, most + 1) if k <= 30_000 else sorted({2, 3, 5, 8, 12, 16, 20, most} & set(range(2, most + 1)))


def _valid(
    k: int, epsilon: float, count: int, condition: float, width: float, rng: np.random.Generator
) -> Iterator[Moduli]:
    """Algorithm 3: tuples that cover the domain, have full rank and are well conditioned."""
    top = k if k < 40 else math.floor(0.95 * k)
    low, high = max(2, math.ceil(k / (width * count))), min(math.floor(width * k / count), top)
    primes = _primes(top)
    band = primes[(primes >= low) & (primes <= high)]
    made = 0
    for _ in range(_TRIES if band.size >= count else 0):
        repaired = _repaired(k, rng.choice(band, count, replace=False).tolist(), primes, rng)
        if repaired is not None and blocks(k, repaired, epsilon).system.condition(condition, digits=3) <= condition:
            made += 1
            yield repaired
        if made == _TUPLES:
            return
    if made == 0:
        start = primes[primes >= math.ceil(k ** (1 / count))][:count].tolist()
        plain = _repaired(k, start, primes, None) if len(start) == count else None
        if plain is not None and blocks(k, plain, epsilon).system.condition(condition, digits=3) <= condition:
            yield plain


def _repaired(k: int, moduli: list[int], primes: Ints, rng: np.random.Generator | None) -> Moduli | None:
    """Raise moduli, at random or in turn, to the next prime not in use until they determine all values; in order."""
    turn = 0
    while math.prod(moduli) < k or 1 + sum(m - 1 for m in moduli) < k:
        if rng is not None:
            turn = int(rng.integers(len(moduli)))
        for step in range(len(moduli)):
            at = (turn + step) % len(moduli)
            higher = _next_free(primes, moduli, at)
            if higher is not None:
                moduli[at] = higher
                break
        else:
            return None
        turn = at + 1
    return tuple(sorted(moduli))


def _next_free(primes: Ints, moduli: list[int], at: int) -> int | None:
    """The next prime after a modulus that is not among them."""
    for i in range(int(np.searchsorted(primes, moduli[at], "right")), primes.size):
        if int(primes[i]) not in moduli:
            return int(primes[i])
    return None


@lru_cache(maxsize=8)
def _primes(most: int) -> Ints:
    """Primes up to a number."""
    sieve = np.ones(most + 1, np.bool_)
    sieve[:2] = False
    for i in range(2, math.isqrt(most) + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    return np.flatnonzero(sieve)


@lru_cache(maxsize=1)
def _table() -> dict[str, dict[str, list[int]]]:
    whole: dict[str, dict[str, list[int]]] = json.loads(
        files("hush").joinpath("data", "moduli.json").read_text(encoding="utf-8")
    )
    return whole


@lru_cache(maxsize=256)
def usual_moduli(k: int, epsilon: float) -> Moduli:
    """What `choose_moduli` gives at the nearest of the anchors: from the table, or searched for (some seconds)."""
    anchor = min(ANCHORS, key=lambda each: (abs(each - epsilon), each))
    stored = _table().get(str(k), {}).get(f"{anchor:g}")
    return tuple(stored) if stored else choose_moduli(k, anchor)


def main() -> None:
    """Write the table."""
    rows = []
    for k in _COMMON:
        cells = ", ".join(f'"{e:g}": {json.dumps(choose_moduli(k, e))}' for e in ANCHORS if e <= 5)
        rows.append(f'"{k}": {{{cells}}}')
        print(rows[-1], flush=True)
    path = files("hush").joinpath("data", "moduli.json")
    with open(str(path), "w", encoding="utf-8") as out:
        out.write("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
