"""Tallies of many simulated collections at once, each drawn from its exact law without making reports.

`people` has one row of counts for every run, or one row for all of them; `out` has a row for every run. Probabilities
are p for a person's own value and q for any other.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from hush.kernels.draws import add_binomials, binomial, hypergeometric


@njit(nogil=True, cache=True)
def populations(rng, shares, n, out):
    """How many of n people hold each value, drawn at random: one multinomial a run."""
    source = rng.bit_generator
    k = shares.size
    rest = np.zeros(k + 1)
    for v in range(k - 1, -1, -1):
        rest[v] = rest[v + 1] + shares[v]
    for run in range(out.shape[0]):
        left = n
        for v in range(k):
            own = 0
            if shares[v] >= rest[v]:
                own = left
            elif shares[v] > 0:
                own = binomial(source, left, shares[v] / rest[v])
            out[run, v] = own
            left -= own


@njit(nogil=True, cache=True)
def bits(rng, people, p, q, out):
    """Independent bits: unary encoding, and local hashing under an ideal hash."""
    source = rng.bit_generator
    if people.shape[0] == 1:
        n = people.sum()
        out[:] = 0
        for v in range(out.shape[1]):
            add_binomials(source, people[0, v], p, out[:, v])
            add_binomials(source, n - people[0, v], q, out[:, v])
        return
    for run in range(out.shape[0]):
        counts = people[run]
        n = counts.sum()
        for v in range(out.shape[1]):
            out[run, v] = binomial(source, counts[v], p) + binomial(source, n - counts[v], q)


@njit(nogil=True, cache=True)
def responses(rng, people, p, q, out):
    """Randomized response: keep the value with p - q, else report any value."""
    source = rng.bit_generator
    k = out.shape[1]
    if people.shape[0] == 1:
        out[:] = 0
        for v in range(k):
            add_binomials(source, people[0, v], p - q, out[:, v])
    for run in range(out.shape[0]):
        counts = people[min(run, people.shape[0] - 1)]
        if people.shape[0] > 1:
            for v in range(k):
                out[run, v] = binomial(source, counts[v], p - q)
        left = counts.sum() - out[run].sum()
        for v in range(k):
            spread = binomial(source, left, 1.0 / (k - v))
            out[run, v] += spread
            left -= spread


@njit(nogil=True)
def _take(source, low, high, eligible, held):
    """Everybody with r slots left takes the next value with probability r / eligible; returns how many did."""
    all_taken = 0
    for r in range(max(low, 1), high + 1):
        if held[r] > 0:
            taken = binomial(source, held[r], min(r / eligible, 1.0))
            held[r] -= taken
            held[r - 1] += taken
            all_taken += taken
    return all_taken


@njit(nogil=True)
def _turn(source, ahead, waiting, wanted, low, high, turn):
    """Take so many people out of `ahead`, by their slots into `turn`: from the most frequent outwards, to end early."""
    mode = low
    for r in range(low, high + 1):
        if ahead[r] > ahead[mode]:
            mode = r
    missing, rest = wanted, waiting
    for i in range(2 * (high - low) + 1):
        if missing == 0:
            break
        r = mode + (i + 1) // 2 if i % 2 else mode - i // 2
        if low <= r <= high and ahead[r] > 0:
            turn[r] = hypergeometric(source, ahead[r], rest - ahead[r], missing)
            rest -= ahead[r]
            ahead[r] -= turn[r]
            missing -= turn[r]


@njit(nogil=True, cache=True)
def subsets(rng, people, omega, p, out):
    """Subset selection. A walk over the values that keeps how many people have r slots left to fill.

    A subset is uniform over all values or, with the probability that makes up for p, over those that hold the
    person's own. The latter wait in `ahead` until the walk comes to their value; who is there is a sample without
    replacement, since all who wait are alike. Everybody else takes a value with probability r / (values left).
    """
    source = rng.bit_generator
    k = out.shape[1]
    own = (p * k - omega) / (k - omega)
    ahead = np.zeros(omega + 1, np.int64)
    free = np.zeros(omega + 1, np.int64)
    turn = np.zeros(omega + 1, np.int64)
    for run in range(out.shape[0]):
        counts = people[min(run, people.shape[0] - 1)]
        ahead[:] = 0
        free[:] = 0
        waiting = 0
        for v in range(k):
            out[run, v] = binomial(source, counts[v], own)
            waiting += out[run, v]
        ahead[omega - 1] = waiting
        free[omega] = counts.sum() - waiting
        low, high = omega - 1, omega  # slots that somebody has left
        for v in range(k):
            left = k - v - 1
            _turn(source, ahead, waiting, out[run, v], low, high, turn)
            waiting -= out[run, v]
            if left > 0:
                out[run, v] += _take(source, low, high, left, ahead)
            out[run, v] += _take(source, low, high, left + 1, free)
            low = max(low - 1, 0)
            for r in range(low, high + 1):
                free[r] += turn[r]
                turn[r] = 0
            while low < high and ahead[low] + free[low] == 0:
                low += 1
            while high > low and ahead[high] + free[high] == 0:
                high -= 1


@njit(nogil=True)
def _halve(source, now, then, out):
    """Send people down to single columns, halving the columns again and again.

    `now[row, sign]` people are uniform over the columns whose parity with their row is the sign. The lower half of the
    columns gets a fair share of them; the row loses its top bit and, in the upper half, turns its sign by it. People of
    the same row and sign have become alike, so a level costs 2 · width draws, whatever their number. A row of the top
    bit alone sends all its people into one half.
    """
    wide = now.shape[0]
    width = wide
    while width > 1:
        half = width // 2
        for base in range(0, wide, width):
            for i in range(half):
                flat0, flat1 = now[base + i, 0], now[base + i, 1]
                bent0, bent1 = now[base + half + i, 0], now[base + half + i, 1]
                first0, first1 = binomial(source, flat0, 0.5), binomial(source, flat1, 0.5)
                if i == 0:
                    second0, second1 = bent0, 0
                else:
                    second0, second1 = binomial(source, bent0, 0.5), binomial(source, bent1, 0.5)
                then[base + i, 0] = first0 + second0
                then[base + i, 1] = first1 + second1
                then[base + half + i, 0] = flat0 - first0 + bent1 - second1
                then[base + half + i, 1] = flat1 - first1 + bent0 - second0
        now, then = then, now
        width = half
    for column in range(wide):
        out[column] = now[column, 0]


@njit(nogil=True, cache=True)
def hadamard(rng, people, blocks, width, p, out):
    """Hadamard response: uniform over the value's codeword with the probability that makes up for p, else over all.

    Those over all are uniform over the columns of a random block: they hold its row zero.
    """
    source = rng.bit_generator
    k = people.shape[1]
    inside = width / 2 / (blocks * width)
    own = (p - inside) / (1 - inside)
    held = np.zeros((blocks, width, 2), np.int64)
    now, then = np.zeros((width, 2), np.int64), np.zeros((width, 2), np.int64)
    for run in range(out.shape[0]):
        counts = people[min(run, people.shape[0] - 1)]
        held[:] = 0
        left = counts.sum()
        for v in range(k):
            kept = binomial(source, counts[v], own)
            held[v % blocks, v // blocks + 1, 0] = kept
            left -= kept
        for block in range(blocks):
            here = binomial(source, left, 1.0 / (blocks - block))
            held[block, 0, 0] = here
            left -= here
            now[:] = held[block]
            _halve(source, now, then, out[run, block * width : (block + 1) * width])
