"""The tables of figures 1 to 7 and 9 to 14, from closed forms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hush.mechanisms.adaptive import STRATEGIES
from hush_studies.refined.protocols import ADAPTIVE, EPSILON, FAMILIES, PROTOCOLS, K, budgets, chosen, point, sizes
from hush_studies.study import Advance, Settings, Table, rows_of

COLUMNS = ("protocol", "k", "epsilon", "parameter", "asr", "mse")
Compute = Callable[[Settings, Advance], Table]


def curves(protocols: Iterable[str], domain: str | tuple[int, ...], regime: str) -> Compute:
    """Attack success and variance of these protocols over a range of domain sizes and a regime of budgets."""
    names = tuple(protocols)

    def compute(settings: Settings, advance: Advance) -> Table:
        ks = sizes(domain, settings.quick) if isinstance(domain, str) else domain
        return _rows(names, ks, budgets(regime, settings.quick), advance)

    return compute


def _rows(names: tuple[str, ...], ks: tuple[int, ...], epsilons: tuple[float, ...], advance: Advance) -> Table:
    def rows() -> Iterator[list[Any]]:
        for name in names:
            for k in ks:
                for epsilon in epsilons:
                    found = point(name, k, epsilon)
                    yield [name, k, epsilon, found.parameter, found.asr, found.mse]
            advance(1 / len(names))

    return rows_of(COLUMNS, rows())


first = curves([each for pair in ADAPTIVE.items() for each in pair], (K,), "medium to low")
attacks = curves(PROTOCOLS, "all", "all")
variances = curves(["SUE", "OUE", "AUE", "BLH", "OLH", "ALH", "SHE", "THE", "ATHE"], "all", "all")
subsets = curves(["SS", "ASS"], "all", "all")


def weights(settings: Settings, advance: Advance) -> Table:
    """Figure 6: what each adaptive protocol chooses as the weight of attack success grows from 0 to 1."""
    steps = 10 if settings.quick else 100
    rows = []
    for original, name in ADAPTIVE.items():
        usual = point(original, K, EPSILON).parameter
        for i in range(steps + 1):
            found = chosen(name, K, EPSILON, w_asr=i / steps)
            weighed = [i / steps, (steps - i) / steps]
            rows.append([name, K, EPSILON, *weighed, found.parameter, usual, found.asr, found.mse])
        advance(1 / len(ADAPTIVE))
    return rows_of(("protocol", "k", "epsilon", "w_asr", "w_mse", "parameter", "original", "asr", "mse"), rows)


def objectives(settings: Settings, advance: Advance) -> Table:
    """Figure 7: the objective, half attack success and half variance, along each parameter's grid."""
    rows = []
    for name in ADAPTIVE.values():
        family = FAMILIES[name]
        for parameter in family.grid(K, EPSILON):
            asr, mse = family.curve(K, EPSILON, parameter)
            shown = int(parameter) if family.whole else parameter
            rows.append([name, K, EPSILON, shown, asr, mse, (asr + mse) / 2])
        advance(1 / len(ADAPTIVE))
    return rows_of((*COLUMNS, "objective"), rows)


def strategies(settings: Settings, advance: Advance) -> Table:
    """Figure 9: what the six strategies choose, over budgets and domain sizes."""
    ks = (100, 1000) if settings.quick else (100, 1000, 10000)
    epsilons = budgets("all", settings.quick)
    rows = []
    for k in ks:
        for name in ADAPTIVE.values():
            for epsilon in epsilons:
                for strategy in STRATEGIES:
                    found = chosen(name, k, epsilon, strategy)
                    rows.append([name, k, epsilon, strategy, found.parameter, found.asr, found.mse])
            advance(1 / (len(ks) * len(ADAPTIVE)))
    return rows_of(("protocol", "k", "epsilon", "strategy", "parameter", "asr", "mse"), rows)
