"""Tables of errors and bits: figures 1, 2, 4, 5 and 7, and table 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from hush.kernels import chunks
from hush.mechanisms.modular import MSS
from hush.mechanisms.modular.moduli import Moduli, choose_moduli, usual_moduli
from hush.randomness import seeded
from hush_studies.measure import average
from hush_studies.modular import attacks, printed
from hush_studies.modular.exact import Mean, mean_error
from hush_studies.modular.measured import errors, errors_of
from hush_studies.modular.runtime import timed
from hush_studies.modular.settings import (
    BLOCKS,
    LARGE,
    MIDDLE,
    PEOPLE,
    PROTOCOLS,
    N,
    budgets,
    fixed_moduli,
    large,
    mechanism,
    people,
    trials,
)
from hush_studies.study import Advance, Settings, Table, rows_of

CELL = ("protocol", "k", "people", "epsilon", "n", "runs")
ERROR = ("mse", "mse_stderr", "mse_expected", "mse_printed")
CDF_BUDGET = 2.0
"""Where figure 7 shows how errors of single trials spread."""


@cache
def _mean(moduli: Moduli, k: int, crowd: str, epsilon: float) -> Mean:
    return mean_error(MSS(k=k, epsilon=epsilon, moduli=moduli).blocks, people(crowd, k) / N, N)


def _expected(name: str, k: int, crowd: str, epsilon: float) -> list[float]:
    """The exact mean squared error, and what the paper prints for it: for MSS equation 3."""
    m = mechanism(name, k, epsilon)
    if isinstance(m, MSS):
        found = _mean(m.moduli, k, crowd, epsilon)
        return [found.exact, found.printed]
    return [float(m.variances(people(crowd, k) / N, N).mean()), printed.error(m, N)]


Cell = tuple[str, int, str, float]


def _row(cell: Cell, runs: int, seed: int) -> list[Any]:
    name, k, crowd, epsilon = cell
    found = errors(*cell, runs, seed)
    return [name, k, crowd, epsilon, N, runs, *average(found), *_expected(*cell)]


def _measured(
    names: Sequence[str], sizes: Sequence[int], crowds: Sequence[str], settings: Settings, advance: Advance
) -> Iterator[list[Any]]:
    cells = [(name, k, crowd, e) for k in sizes for crowd in crowds for name in names for e in budgets(settings)]
    cost = [k * (30 if name in ("SS", "MSS") else 5 if name == "PGR" else 1) for name, k, _, _ in cells]
    work = partial(_row, runs=trials(settings), seed=settings.seed)
    for row, share in zip(settings.each(work, cells), cost, strict=True):
        yield row
        advance(share / sum(cost))


def large_domain(settings: Settings, advance: Advance) -> Table:
    """Figure 1: five protocols over the large domain."""
    return rows_of((*CELL, *ERROR), _measured(PROTOCOLS, [large(settings)], PEOPLE, settings, advance))


def both_domains(settings: Settings, advance: Advance) -> Table:
    """Figure 4: analytical and empirical errors of SS and MSS."""
    sizes = [MIDDLE, large(settings)]
    return rows_of((*CELL, *ERROR), _measured(("SS", "MSS"), sizes, PEOPLE, settings, advance))


def spreads(settings: Settings, advance: Advance) -> Table:
    """Figure 7: errors of single trials at one budget, and averages over budgets for the middle domain."""
    rows = [
        [*row, None] for row in _measured(PROTOCOLS, [MIDDLE], PEOPLE, settings, lambda share: advance(0.6 * share))
    ]
    for k in (MIDDLE, large(settings)):
        for crowd in PEOPLE:
            for name in PROTOCOLS:
                found = errors(name, k, crowd, CDF_BUDGET, trials(settings), settings.seed)
                start: list[Any] = [name, k, crowd, CDF_BUDGET, N, 1]
                rows += [[*start, each, None, None, None, i] for i, each in enumerate(np.sort(found).tolist())]
            advance(0.1)
    return rows_of((*CELL, *ERROR, "rank"), rows)


def _choices(k: int, number: int) -> list[Moduli]:
    return chunks.each(number, 1, lambda seed, _: choose_moduli(k, 2.0, seed=seed))


def selections(settings: Settings, advance: Advance) -> Table:
    """Figure 2: bits of SS, and of MSS with moduli that the search finds from different seeds."""
    rows: list[list[Any]] = []
    for k in (MIDDLE, large(settings)):
        number = (3 if settings.quick else 40) if k == MIDDLE else (2 if settings.quick else 8)
        found = _choices(k, number)
        for epsilon in budgets(settings):
            ss = mechanism("SS", k, epsilon)
            exact = ss.variance()
            rows.append(["SS", k, epsilon, None, None, printed.true_bits(ss), printed.bits(ss), None, 1.0, None])
            for i, moduli in enumerate(found):
                m = MSS(k=k, epsilon=epsilon, moduli=moduli)
                told = [printed.true_bits(m), printed.bits(m), printed.abstract_bits(m)]
                ratio = float(m.blocks.flat_variances().mean()) / exact
                condition = m.blocks.system.condition(digits=4)
                rows.append(["MSS", k, epsilon, i, len(moduli), *told, ratio, condition])
        advance(0.5)
    columns = ("protocol", "k", "epsilon", "choice", "blocks", "bits", "bits_printed", "bits_abstract")
    return rows_of((*columns, "mse_over_ss", "condition"), rows)


def block_numbers(settings: Settings, advance: Advance) -> Table:
    """Figure 5: error, bits and attack success for given numbers of moduli, and for the usual choice."""
    rows: list[list[Any]] = []
    shares = people("zipf", MIDDLE) / N
    for epsilon in budgets(settings):
        chosen = {f"ℓ={count}": fixed_moduli(MIDDLE, epsilon, count) for count in BLOCKS}
        for choice, moduli in {**chosen, "OPT": usual_moduli(MIDDLE, epsilon)}.items():
            if moduli is None:
                continue
            m = MSS(k=MIDDLE, epsilon=epsilon, moduli=moduli)
            runs = errors_of(moduli, MIDDLE, "zipf", epsilon, trials(settings), settings.seed)
            attack = [float(attacks.by_value(m) @ shares), m.asr()]
            exact = _mean(moduli, MIDDLE, "zipf", epsilon).exact
            told = [*average(runs), exact, m.average_bits, *attack, m.blocks.system.condition(digits=4)]
            rows.append([choice, len(moduli), " ".join(map(str, moduli)), MIDDLE, epsilon, trials(settings), *told])
        advance(1 / len(budgets(settings)))
    head = ("choice", "blocks", "moduli", "k", "epsilon", "runs", "mse", "mse_stderr", "mse_expected")
    return rows_of((*head, "bits", "dra", "dra_mean", "condition"), rows)


def table_1(settings: Settings, advance: Advance) -> Table:
    """Table 1 with numbers: what its formulas give, and what is right; errors for n = 10,000 and even frequencies.

    Of decoding, the operations of its leading orders stand beside measured seconds, of counting and of decoding.
    """
    sizes, timed_n = (MIDDLE, LARGE), N // 10 if settings.quick else N

    def rows() -> Iterable[list[Any]]:
        for k in sizes:
            for name in PROTOCOLS:
                for epsilon in budgets(settings):
                    m = mechanism(name, k, epsilon)
                    mse = m.blocks.even_variance(N) if isinstance(m, MSS) else m.variance(N)
                    printed_dra = printed.table_attack(m) if isinstance(m, MSS) else printed.attack(m)
                    pairs = [printed.bits(m), printed.true_bits(m), printed.error(m, N), mse, printed_dra, m.asr()]
                    values = np.arange(timed_n) * k // timed_n
                    reports = m.privatize(values, rng=seeded([settings.seed, 1, k, round(10 * epsilon)]))
                    seconds = timed(m, reports, 1 if settings.quick else 3).min(axis=0).tolist()
                    yield [name, k, epsilon, *pairs, timed_n, printed.decoding(m, timed_n), *seconds]
                advance(1 / (len(sizes) * len(PROTOCOLS)))

    columns = ("protocol", "k", "epsilon", "bits_printed", "bits", "mse_printed", "mse", "dra_printed", "dra")
    return rows_of((*columns, "n_timed", "decoding_printed", "seconds_counting", "seconds_decoding"), rows())
