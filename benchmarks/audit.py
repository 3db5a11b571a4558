"""Auditing eight protocols: a million reports of each value, k = 100, ε = 1; a hundred million in little memory; and
looking for the one value of many that foreign code gives away.

Beside us the audit of the paper as a script does it: multi-freq-ldpy's client, one guess a report, one at a time, on
one core. The script runs on few reports and its time is scaled; ours runs whole. Both count how often the guess is
the first value, and the shares must agree.
"""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import hush
from benchmarks import report, timing

K, EPSILON, TRIALS = 100, 1.0, 10**6
LIMIT_SECONDS, LIMIT_BYTES = 4.0, 5e8
REPORTED = {"GRR": 0.96, "SS": 0.59, "SUE": 0.45, "OUE": 0.58, "THE": 0.43, "BLH": 0.32, "OLH": 0.60, "SHE": 0.46}
FEW = {"GRR": 100_000, "BLH": 4000, "OLH": 4000}
WITHIN = 5.0  # standard errors
Guess = Callable[[int], int]

LONG = """
import json, sys, time
import hush

start = time.perf_counter()
found = hush.audit.run(hush.OUE(k=100, epsilon=1.0), "attack", trials=int(sys.argv[1]), rng=hush.seeded(7))
taken = time.perf_counter() - start
peak = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps({"epsilon": found.epsilon_lower, "seconds": taken, "peak": peak}))
"""


def run(quick: bool) -> list[report.Table]:
    """Both audits of each protocol beside the script, games, then the long one, then the search for a value."""
    return [_eight(quick), _games(quick), _long(quick), _screened(quick)]


def _eight(quick: bool) -> report.Table:
    table = report.Table(
        "Auditing a million reports of each value, k = 100, ε = 1",
        ("protocol", "attack", "one by one", "ratio", "ε proved", "reported", "apart", "likelihood ratio", "ε proved"),
        note="All eight together in under 4 s by either method, warm. “One by one” is the paper's attack as a script, "
        "on few reports, scaled; “apart” is the distance of the two hit rates in standard errors; “reported” is what "
        "the paper's own implementation finds.",
    )
    totals = {"attack": 0.0, "likelihood": 0.0}
    for name, printed in report.progress(list(REPORTED.items()), "audit"):
        m = hush.registry()[name](k=K, epsilon=EPSILON)
        found: dict[str, Any] = {}
        taken = {}
        for method in totals:
            hush.audit.run(m, method, trials=10_000, rng=hush.seeded(1))  # compiles

            def audit(method: str = method, m: Any = m, found: dict[str, Any] = found) -> None:
                found[method] = hush.audit.run(m, method, trials=TRIALS, rng=hush.seeded(7))

            taken[method] = min(timing.seconds(audit) for _ in range(1 if quick else 3))
            totals[method] += taken[method]
        slow, apart = _script(name, m, found["attack"].counts)
        proved = found["attack"].epsilon_lower
        chance = math.sqrt(2 * sum(1 / hits for hits in found["attack"].counts))  # of two independent audits
        missed = [f"{proved:.3f}, reported {printed}"] if abs(proved - printed) > 0.005 + WITHIN * chance else []
        missed += [f"hit rates {apart:.1f} standard errors apart"] if apart > WITHIN else []
        table.add(
            name,
            f"{taken['attack']:.2f} s",
            f"{slow:,.1f} s",
            report.ratio(slow / taken["attack"]),
            f"{proved:.3f}",
            f"{printed:.2f}",
            f"{apart:.1f}",
            f"{taken['likelihood']:.2f} s",
            f"{found['likelihood'].epsilon_lower:.3f}",
            missed=", ".join(missed),
            seconds=taken,
            script_seconds=slow,
        )
    late = [
        f"{method} took {total:.1f} s of {LIMIT_SECONDS:g}" for method, total in totals.items() if total > LIMIT_SECONDS
    ]
    table.add(
        "all eight",
        f"{totals['attack']:.2f} s",
        *[""] * 5,
        f"{totals['likelihood']:.2f} s",
        "",
        missed=", ".join(late),
        seconds=totals,
    )
    return table


def _script(name: str, m: hush.FrequencyOracle, hits: tuple[int, int]) -> tuple[float, float]:
    """Seconds for all trials, and how far its hit rate is from ours."""
    guess = _guesser(name, m)
    few = FEW.get(name, 20_000)
    [guess(0) for _ in range(50)]  # compiles
    counted: list[int] = []

    def audit() -> None:
        counted.append(sum(guess(0) == 0 for _ in range(few)))
        counted.append(sum(guess(1) == 0 for _ in range(few)))

    seconds = timing.seconds(audit) * TRIALS / few
    apart = []
    for theirs, ours in zip(counted, hits, strict=True):
        share = (theirs + ours) / (few + TRIALS)
        apart.append(abs(theirs / few - ours / TRIALS) / math.sqrt(share * (1 - share) * (1 / few + 1 / TRIALS)))
    return seconds, max(apart)


def _guesser(name: str, m: Any) -> Guess:
    """Randomize one value and guess it from the report."""
    from multi_freq_ldpy.pure_frequency_oracles import GRR, HE, LH, SS, UE

    def pick(supported: Any) -> int:
        return int(random.choice(supported)) if len(supported) else random.randrange(K)

    if name == "GRR":
        return lambda value: int(GRR.GRR_Client(value, K, EPSILON))
    if name == "SS":
        return lambda value: pick(SS.SS_Client(value, K, EPSILON))
    if name in ("SUE", "OUE"):
        return lambda value: pick(np.flatnonzero(UE.UE_Client(value, K, EPSILON, name == "OUE")))
    if name == "SHE":
        return lambda value: int(np.argmax(HE.HE_Client(value, K, EPSILON)))
    if name == "THE":
        return lambda value: pick(np.flatnonzero(HE.HE_Client(value, K, EPSILON) > m.theta))
    return lambda value: pick(_hashed(*LH.LH_Client(value, K, EPSILON, name == "OLH"), m.g))


def _hashed(bucket: int, seed: int, g: int) -> list[int]:
    import xxhash

    return [v for v in range(K) if xxhash.xxh32(str(v), seed=seed).intdigest() % g == bucket]


def _games(quick: bool) -> report.Table:
    """Attackers' games: what each proves, and how long it takes."""
    from hush.audit.games import Changes, Game, OneAttribute, Pools, Reidentification
    from hush.longitudinal import Repeated
    from hush.multidim import RSFD

    trials = 20_000 if quick else 200_000
    tuples = RSFD(sizes=(7, 10, 12, 20), epsilon=EPSILON, variant="GRR")
    rows: list[tuple[str, object, Game]] = [
        ("OUE", hush.OUE(k=K, epsilon=EPSILON), Pools()),
        ("OUE, 10 reports", Repeated(hush.OUE(k=K, epsilon=EPSILON), 10), Pools()),
        ("OUE, 10 reports", Repeated(hush.OUE(k=K, epsilon=EPSILON), 10), Changes()),
        ("RS+FD of four attributes", tuples, OneAttribute()),
        ("RS+FD of four attributes", tuples, Reidentification(people=100, collections=5)),
    ]
    table = report.Table(
        f"Games of {trials:,} rounds, ε = 1",
        ("collection", "game", "seconds", "games a second", "ε claimed", "ε proved"),
        note="What is proved must not exceed the claim; the attacker computes the likelihood of every secret.",
    )
    for name, target, game in report.progress(rows, "games"):
        hush.audit.run(target, game, trials=1000, rng=hush.seeded(1))  # compiles
        found: list[Any] = []
        taken = timing.seconds(
            lambda target=target, game=game, found=found: found.append(  # type: ignore[misc]
                hush.audit.run(target, game, trials=trials, alpha=1e-6, rng=hush.seeded(7))
            )
        )
        proved = found[-1]
        table.add(
            name,
            game.method,
            f"{taken:.2f} s",
            f"{trials / taken:,.0f}",
            f"{proved.claimed:.3f}",
            f"{proved.epsilon_lower:.3f}",
            missed="more than the claim" if proved.violated else "",
            seconds=taken,
        )
    return table


def _long(quick: bool) -> report.Table:
    trials = 10**7 if quick else 10**8
    done = subprocess.run(
        [sys.executable, "-c", LONG, str(trials)], check=True, capture_output=True, text=True, encoding="utf-8"
    )
    found = json.loads(done.stdout)
    table = report.Table(
        "A long audit of OUE (k = 100, ε = 1) by the attack",
        ("reports of each value", "time", "ε proved", "peak memory", "required"),
        note="A process of its own; reports are made, attacked and forgotten by the chunk.",
    )
    table.add(
        f"{trials:,}",
        f"{found['seconds']:.0f} s",
        f"{found['epsilon']:.4f}",
        f"{found['peak'] / 1e6:,.0f} MB",
        f"≤ {LIMIT_BYTES / 1e6:,.0f} MB",
        missed=f"{found['peak'] / 1e6:,.0f} MB" if found["peak"] > LIMIT_BYTES else "",
        **found,
    )
    return table


def _screened(quick: bool) -> report.Table:
    """Randomized response that tells one value of k: how long until the auditor knows which."""
    table = report.Table(
        "Screening every value of foreign code that gives one of them away (GRR, ε = 1, one million trials to come)",
        ("values", "reports made", "time", "of which the code's own", "found"),
        note="The code takes arrays, so that the time is the screening's; reports are about as many as the trials to "
        "come, whatever k.",
    )
    for k in (16, 1000) if quick else (16, 1000, 10_000):
        m, told, own = hush.GRR(k=k, epsilon=1.0), k // 3, [0.0]

        def client(values: Any, rng: Any, m: Any = m, told: int = told, own: list[float] = own) -> Any:
            made: list[Any] = []
            own[0] += timing.seconds(lambda: made.append(m.privatize(values, rng=rng)))
            return np.where(values == told, values, made[0])

        target = hush.audit.CallableTarget(client, k, 1.0, "GRR", True)
        hush.audit.screen(target, trials=1000, rng=hush.seeded(1))  # compiles
        own[0] = 0.0
        found: list[Any] = []
        seconds = timing.seconds(
            lambda target=target, found=found: found.append(hush.audit.screen(target, trials=10**6, rng=hush.seeded(7)))
        )
        right = told in found[0].pair
        table.add(
            f"{k:,}",
            f"{found[0].reports:,}",
            f"{seconds:.2f} s",
            f"{own[0]:.2f} s",
            "yes" if right else "no",
            missed="" if right else "another pair was chosen",
            seconds=seconds,
        )
    return table
