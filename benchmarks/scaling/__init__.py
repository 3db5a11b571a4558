"""Beyond one machine: what each stage costs a report, a model of jobs that is held against the clock, and what to buy.

Costs are measured at one size. The simulation then says how long the commands take at three others, which are run; and
at a fourth, whose prediction is printed before it is run.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from benchmarks import report
from benchmarks.collecting import wrk
from benchmarks.scaling.costs import MECHANISM, Jobs, collected
from benchmarks.scaling.fleet import Kind, Stage, need
from benchmarks.scaling.simulation import Costs, Machines, bound, simulated

PAGE = Path(__file__).resolve().parents[2] / "docs" / "scaling.md"
A_DAY = 10**10
PEAK, BUSY = 3.0, 0.5
TOLERANCE = 0.25
"""By which a prediction may miss the clock, which on shared machines varies by a tenth or two itself."""
PIECE = 1 << 21


def run(quick: bool) -> list[report.Table]:
    """All of it."""
    calibrated, sizes, fourth = (10**6, (3 * 10**5, 2 * 10**6, 4 * 10**6), 8 * 10**6)
    if not quick:
        calibrated, sizes, fourth = (2 * 10**7, (5 * 10**6, 4 * 10**7, 8 * 10**7), 2 * 10**8)
    with tempfile.TemporaryDirectory() as folder:
        jobs = Jobs(Path(folder))
        jobs.run(1000)  # compiles what is not yet
        machine = jobs.machine()
        costs = jobs.costs(calibrated, machine)
        clock = _against_the_clock(jobs, costs, machine, calibrated, sizes, fourth)
    stages = _stages(costs, 2.0 if quick else 8.0)
    return [_costs(stages, costs, calibrated, machine), clock, _fleet(stages), _machines(costs, machine)]


def _against_the_clock(
    jobs: Jobs, costs: dict[str, Costs], on: Machines, calibrated: int, sizes: tuple[int, ...], fourth: int
) -> report.Table:
    table = report.Table(
        "Jobs on one machine: the simulation, and the clock",
        ("rows", "command", "model, s", "simulated, s", "measured, s", "off by", "required"),
        note=f"The shorter of two runs. Costs measured at {calibrated:,} rows, on one thread and on all; it reads "
        f"{on.reads / 1e6:,.0f} and writes {on.writes / 1e6:,.0f} MB/s on disk. The last size was predicted before.",
    )
    for rows in (*sizes, fourth):
        said = {name: simulated(each, rows, on, piece=PIECE) for name, each in costs.items()}
        if rows == fourth:
            told = ", ".join(f"{name} {seconds:.1f} s" for name, seconds in said.items())
            print(f"scaling: predicted for {rows:,} rows: {told}", flush=True)
        for name, measured in jobs.shortest(rows).items():
            off = said[name] / measured.seconds - 1
            table.add(
                f"{rows:,}{' (predicted)' if rows == fourth else ''}",
                f"`hush {name}`",
                f"{bound(costs[name], rows, on):.2f}",
                f"{said[name]:.2f}",
                f"{measured.seconds:.2f}",
                f"{off:+.0%}",
                f"within {TOLERANCE:.0%}",
                missed=f"{off:+.0%}" if abs(off) > TOLERANCE else "",
                rows=rows,
                simulated=said[name],
                measured=measured.seconds,
            )
    return table


def _stages(costs: dict[str, Costs], seconds: float) -> list[Stage]:
    """The road of a report: sent, collected, exported, estimated; all sizes are those of OLH."""
    size = MECHANISM.report_dtype.itemsize
    made, read = costs["privatize"], costs["estimate"]
    stages = []
    if wrk.there():
        for reports in (1, 1000):
            found = collected(reports, seconds)
            stages.append(
                Stage(
                    name=f"collect, {reports:,} a batch",
                    processor=found.processor,
                    disk=2 * found.kept,  # into the log, and from there into the file
                    network=found.sent,
                    kept=found.kept,
                )
            )
    stages.append(
        Stage(
            name="privatize in files",
            processor=made.serial + made.parallel,
            disk=made.reads + made.writes,
            kept=float(size),
            steady=False,
        )
    )
    stages.append(
        Stage(name="estimate from files", processor=read.serial + read.parallel, disk=read.reads, steady=False)
    )
    return stages


def _costs(stages: list[Stage], costs: dict[str, Costs], calibrated: int, on: Machines) -> report.Table:
    table = report.Table(
        "What each stage costs a report (OLH, k = 266, records of 9 bytes)",
        ("stage", "processor", "reports/s and core", "serial part", "disk", "network", "kept"),
        note=f"File jobs at {calibrated:,} rows. Disk: bytes written and read; network: bytes that come in.",
    )
    for stage in stages:
        job = costs.get(stage.name.split()[0])
        table.add(
            stage.name,
            f"{stage.processor * 1e9:,.0f} ns",
            report.rate(1 / stage.processor),
            "" if job is None else f"{job.serial / (job.serial + job.parallel):.0%}",
            f"{stage.disk:.1f} B",
            f"{stage.network:.1f} B" if stage.network else "",
            f"{stage.kept:.1f} B" if stage.kept else "",
            processor=stage.processor,
            disk=stage.disk,
            cores=on.cores,
        )
    return table


def _fleet(stages: list[Stage]) -> report.Table:
    kind = Kind()
    table = report.Table(
        f"{A_DAY:.0e} reports a day".replace("e+", "e"),
        ("stage", "cores busy", "disk", "network", "kept a day", "machines", "for their"),
        note=f"Machines of {kind.cores} cores, a disk of {kind.disk / 1e9:g} GB/s and a network of "
        f"{kind.network * 8 / 1e9:g} Gbit/s, at most {BUSY:.0%} busy. Whatever collects keeps up with {PEAK:g} times "
        "the mean rate; jobs in files have the whole day.",
    )
    for stage in stages:
        found = need(stage, A_DAY, kind=kind, peak=PEAK, busy=BUSY)
        table.add(
            stage.name,
            f"{found.cores:.2f}",
            f"{found.disk / 1e6:,.0f} MB/s",
            f"{found.network / 1e6:,.0f} MB/s" if found.network else "",
            f"{found.kept / 1e9:,.0f} GB" if found.kept else "",
            str(found.machines),
            found.limit,
            machines=found.machines,
        )
    return table


def _machines(costs: dict[str, Costs], on: Machines) -> report.Table:
    """The same jobs on more machines, simulated."""
    rows = A_DAY
    table = report.Table(
        f"{rows:.0e} rows on more machines, simulated".replace("e+", "e"),
        ("machines", "privatize", "estimate", "busiest of estimate"),
        note="Machines like this one, each with its disk and a part of the files; 2 ms of the driver for a piece.",
    )
    for number in (1, 4, 16, 64):
        where = Machines(number=number, cores=on.cores, reads=on.reads, writes=on.writes, task=0.002)
        found = {name: simulated(each, rows, where, piece=PIECE) for name, each in costs.items()}
        read = costs["estimate"]
        each = rows / number
        work = {
            "disk": each * read.reads / on.reads,
            "processor": each * (read.serial + read.parallel) / on.cores,
            "driver": rows / PIECE * where.task * (number > 1),
        }
        table.add(
            str(number),
            f"{found['privatize']:,.0f} s",
            f"{found['estimate']:,.0f} s",
            max(work, key=work.__getitem__),
            **found,
        )
    return table
