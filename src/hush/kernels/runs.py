"""Tallies of many simulated collections at once, each drawn from its exact law without making reports.

`people` has one row of counts for every run, or one row for all of them; `out` has a row for every run. Probabilities
are p for a person's own value and q for any other.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hush.kernels.compiled import kernel
from hush.kernels.draws import add_binomials, binomial, log_choose


@kernel
def multinomials(rng, shares, totals, out):
    """So many people over columns with these shares, drawn at random: one total a run, or one for all."""
    source = rng.bit_generator
    k = shares.size
    rest = np.zeros(k + 1)
    for v in range(k - 1, -1, -1):
        rest[v] = rest[v + 1] + shares[v]
    for run in range(out.shape[0]):
        left = totals[min(run, totals.size - 1)]
        for v in range(k):
            own = 0
            if shares[v] >= rest[v]:
                own = left
            elif shares[v] > 0:
                own = binomial(source, left, shares[v] / rest[v])
            out[run, v] = own
            left -= own


@kernel
def thin(rng, people, p, out):
    """Of the people in each cell, those who are chosen, each with probability p."""
    source = rng.bit_generator
    if people.shape[0] == 1:
        out[:] = 0
        for v in range(out.shape[1]):
            add_binomials(source, people[0, v], p, out[:, v])
        return
    for run in range(out.shape[0]):
        for v in range(out.shape[1]):
            out[run, v] = binomial(source, people[run, v], p)


@kernel
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


@kernel
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
def _split(source, people, before, after, members, turn):
    """So many people each take their members from the values before and after; by the number after, into `turn`.

    From the likeliest number outwards, by the ratios of neighbouring hypergeometric probabilities, to end early.
    Returns the least and the largest number that anybody has.
    """
    low, high = max(0, members - before), min(members, after)
    mode = min(max((members + 1) * (after + 1) // (before + after + 2), low), high)
    top = math.exp(log_choose(after, mode) + log_choose(before, members - mode) - log_choose(before + after, members))
    up = down = top
    above, below, rest = mode + 1, mode - 1, 1.0
    least = most = mode
    at, chance, missing = mode, top, people
    while missing > 0:
        last = above > high and below < low
        taken = missing if last or chance >= rest else binomial(source, missing, chance / rest)
        turn[at] += taken
        if taken > 0:
            least, most = min(least, at), max(most, at)
        missing -= taken
        rest -= chance
        if last:
            break
        if below < low or (above <= high and above - mode <= mode - below):
            up *= (after - above + 1.0) * (members - above + 1.0) / (above * (before - members + above + 0.0))
            at, chance = above, up
            above += 1
        else:
            down *= (below + 1.0) * (before - members + below + 1.0) / ((after - below + 0.0) * (members - below + 0.0))
            at, chance = below, down
            below -= 1
    return least, most


@njit(nogil=True)
def _more(kept):
    """The same array with room for as much again."""
    wider = np.empty((2 * kept.shape[0], 3), np.int64)
    wider[: kept.shape[0]] = kept
    return wider


@kernel
def subsets(rng, people, omega, p, out):
    """Subset selection, by a walk over the values that keeps how many people have r slots left to fill.

    A subset is uniform over all values or, with the probability that makes up for p, over those that hold the
    person's own. Whoever has slots left takes the next value with probability r / (values left). Those with their own
    value join the walk there, with as many slots as they have members after it; their members before it are as many
    slots of a walk back.
    """
    source = rng.bit_generator
    k = out.shape[1]
    own = (p * k - omega) / (k - omega)
    held, turn = np.zeros(omega + 1, np.int64), np.zeros(omega + 1, np.int64)
    joins = np.empty((16 * k, 3), np.int64)  # of the walk back: value, slots, people
    for run in range(out.shape[0]):
        counts = people[min(run, people.shape[0] - 1)]
        held[:] = 0
        held[omega] = counts.sum()
        for v in range(k):
            out[run, v] = binomial(source, counts[v], own)
            held[omega] -= out[run, v]
        low = high = omega  # slots that somebody has left
        used = 0
        for v in range(k):
            joining = out[run, v]
            out[run, v] += _take(source, low, high, k - v, held)
            low = max(low - 1, 0)
            if joining > 0:
                least, most = _split(source, joining, v, k - v - 1, omega - 1, turn)
                for r in range(least, most + 1):
                    if turn[r] > 0:
                        if used == joins.shape[0]:
                            joins = _more(joins)
                        joins[used, 0], joins[used, 1], joins[used, 2] = v, omega - 1 - r, turn[r]
                        used += 1
                        held[r] += turn[r]
                        turn[r] = 0
                low, high = min(low, least), max(high, most)
            low, high = _trimmed(held, low, high)
        held[:] = 0
        low, high = omega, 0
        for v in range(k - 1, -1, -1):
            if low <= high:
                out[run, v] += _take(source, low, high, v + 1, held)
                low = max(low - 1, 0)
            while used > 0 and joins[used - 1, 0] == v:
                used -= 1
                slots = joins[used, 1]
                held[slots] += joins[used, 2]
                low, high = min(low, slots), max(high, slots)
            low, high = _trimmed(held, low, high)


@njit(nogil=True)
def _trimmed(held, low, high):
    """The range of slots without the empty ends."""
    while low < high and held[low] == 0:
        low += 1
    while high > low and held[high] == 0:
        high -= 1
    return low, high


@kernel
def sets(rng, sizes, out):
    """Members of uniform random sets, of which `sizes[run, c]` have c members: the same walk, with nobody's own."""
    source = rng.bit_generator
    s = out.shape[1]
    held = np.zeros(s + 1, np.int64)
    for run in range(out.shape[0]):
        held[:] = sizes[run]
        low, high = 0, s
        for v in range(s):
            low, high = _trimmed(held, low, high)
            out[run, v] = _take(source, low, high, s - v, held)
            low = max(low - 1, 0)


@kernel
def residues(rng, people, moduli, out):
    """Everybody joins one of the blocks at random; by block, how many have each residue of their value."""
    source = rng.bit_generator
    blocks = moduli.size
    for run in range(out.shape[0]):
        counts = people[min(run, people.shape[0] - 1)]
        out[run] = 0
        for v in range(counts.size):
            left = counts[v]
            start = 0
            for j in range(blocks):
                here = binomial(source, left, 1.0 / (blocks - j))
                out[run, start + v % moduli[j]] += here
                left -= here
                start += moduli[j]


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


@kernel
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
