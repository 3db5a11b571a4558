"""Jobs: real processes, which say how far they are, can be killed, and are told of in words."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hush.errors import ParameterError, message
from hush.workbench.jobs import BenchJob, JobOwner, Jobs, Progress, TooManyJobs
from tests.unit.workbench import job_examples as examples

SECONDS = 30.0
ME, OTHER = JobOwner("me"), JobOwner("somebody else")


@pytest.fixture
def jobs() -> Iterator[Jobs]:
    made = Jobs(2, most_waiting=2, most_each=20)
    yield made
    made.stop()


@pytest.fixture(autouse=True)
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a job is to do must be found by its name in another process, too."""
    root = str(Path(__file__).parents[3])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep))


def until(what: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not what():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.01)


def begun(jobs: Jobs, function: Callable[..., object], *given: object, owner: JobOwner = ME) -> BenchJob:
    return jobs.start(function, *given, owner=owner, name="A job")


def gone(pid: int) -> bool:
    """Whether there is no such process, or only what is left of one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_a_job_says_how_far_it_is_and_what_came_out(jobs: Jobs) -> None:
    job = begun(jobs, examples.steps, 20)
    seen = set()
    while not job.over:
        seen.add((job.state, job.note))
        time.sleep(0.005)
    assert ("running", "counting") in seen
    assert (job.state, job.result, job.fraction, job.error) == ("done", 190, 1.0, "")
    assert job.seconds > 0
    assert job.pid is None
    assert jobs.get(job.id, ME) is job


def test_a_job_is_found_by_its_session_alone(jobs: Jobs) -> None:
    job = begun(jobs, examples.steps, 1)
    assert jobs.get(job.id, OTHER) is None
    assert jobs.get("unknown", ME) is None
    assert jobs.get(None, ME) is None


def test_who_signs_in_keeps_his_jobs_and_who_signs_out_leaves_those_that_he_started_signed_in(jobs: Jobs) -> None:
    before, signed_in = ME, JobOwner("me", "a token")
    early, late = begun(jobs, examples.steps, 1, owner=before), begun(jobs, examples.steps, 1, owner=signed_in)
    assert jobs.all_of(signed_in) == [late, early]
    assert jobs.all_of(before) == [early]
    assert jobs.all_of(JobOwner("me", "another token")) == [early]
    assert jobs.all_of(JobOwner("somebody else", "a token")) == []
    assert jobs.get(late.id, before) is None
    assert jobs.get(early.id, signed_in) is early


def test_one_visitor_does_not_fill_the_queue() -> None:
    jobs = Jobs(1, most_waiting=10, most_each=2)
    mine = [begun(jobs, examples.forever) for _ in range(2)]
    with pytest.raises(TooManyJobs, match="You have 2 jobs already, running or waiting: “A job”, “A job”"):
        begun(jobs, examples.forever)
    with pytest.raises(TooManyJobs, match="You have 2 jobs already, running or waiting: “A job”"):
        begun(jobs, examples.forever, owner=JobOwner("me", "a token"))  # who signs in is the same visitor
    begun(jobs, examples.steps, 1, owner=OTHER)
    jobs.forget(mine[1])
    again = begun(jobs, examples.steps, 1)
    mine[0].cancel()
    until(lambda: again.over)
    begun(jobs, examples.steps, 1)  # what has ended does not count
    jobs.stop()


def test_who_has_fewest_running_comes_first() -> None:
    jobs = Jobs(2, most_waiting=10)
    mine = [begun(jobs, examples.forever) for _ in range(3)]
    until(lambda: [each.state for each in mine] == ["running", "running", "waiting"])
    other = begun(jobs, examples.forever, owner=OTHER)
    mine[0].cancel()
    until(lambda: other.state == "running")
    assert mine[2].state == "waiting", "it came first, and its owner has one running"
    other.cancel()
    until(lambda: mine[2].state == "running")
    jobs.stop()


def test_what_others_do_signed_in_is_not_named_to_who_signed_out() -> None:
    jobs = Jobs(1, most_each=1)
    begun(jobs, examples.forever, owner=JobOwner("me", "a token"))
    with pytest.raises(TooManyJobs, match=r"You have a job already, running or waiting\. Cancel"):
        begun(jobs, examples.forever)
    jobs.stop()


def test_cancelling_kills_the_process_and_those_that_it_started(jobs: Jobs, tmp_path: Path) -> None:
    note = tmp_path / "pids"
    job = begun(jobs, examples.family, str(note))
    until(lambda: note.exists() and note.read_text().count("\n") == 2)
    pids = [int(each) for each in note.read_text().split()]
    assert job.pid == pids[0]
    job.cancel()
    assert job.state == "cancelled"
    until(lambda: all(map(gone, pids)))


def test_one_that_waits_can_be_cancelled_and_never_runs(jobs: Jobs) -> None:
    running = [begun(jobs, examples.forever) for _ in range(2)]
    until(lambda: all(each.state == "running" for each in running))
    waiting = begun(jobs, examples.steps, 3)
    assert waiting.state == "waiting"
    waiting.cancel()
    running[0].cancel()
    after = begun(jobs, examples.steps, 3)
    until(lambda: after.over)
    assert after.result == 3
    assert (waiting.state, waiting.started) == ("cancelled", None)


def test_only_so_many_run_and_only_so_many_wait(jobs: Jobs) -> None:
    every = [begun(jobs, examples.forever) for _ in range(4)]
    until(lambda: sum(each.state == "running" for each in every) == 2)
    assert sum(each.state == "waiting" for each in every) == 2
    with pytest.raises(TooManyJobs, match="Too many jobs of all visitors wait"):
        begun(jobs, examples.forever)
    every[0].cancel()
    until(lambda: sum(each.state == "running" for each in every) == 2)


def test_those_that_were_cancelled_while_they_waited_are_not_kept(jobs: Jobs) -> None:
    every = [begun(jobs, examples.forever) for _ in range(2)]
    until(lambda: all(each.state == "running" for each in every))
    cancelled = []
    for _ in range(5):
        job = begun(jobs, examples.forever)
        jobs.forget(job)
        cancelled.append(weakref.ref(job))
    last = begun(jobs, examples.forever)
    del job
    gc.collect()
    assert [each() for each in cancelled] == [None] * 5
    assert last.state == "waiting"


def test_what_hush_says_is_said_and_what_python_says_is_not(jobs: Jobs, capfd: pytest.CaptureFixture[str]) -> None:
    refused, broken = begun(jobs, examples.refused), begun(jobs, examples.broken)
    until(lambda: refused.over and broken.over)
    assert refused.state == broken.state == "failed"
    assert refused.error == str(examples.REFUSAL)
    assert "secret" not in broken.error
    assert broken.id in broken.error
    assert "KeyError: 'secret'" in capfd.readouterr().err


def test_a_process_that_dies_is_told_of_in_words(jobs: Jobs) -> None:
    job = begun(jobs, examples.killed)
    until(lambda: job.over)
    assert job.state == "failed"
    assert "ended before it was done" in job.error


def test_where_no_process_can_be_started_the_job_says_so(jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    job = begun(jobs, examples.steps, 1)
    until(lambda: job.over)
    assert job.state == "failed"
    assert "No process could be started" in job.error


def test_one_that_takes_too_long_is_ended() -> None:
    jobs = Jobs(1, seconds=1.0)
    job = begun(jobs, examples.forever)
    until(lambda: job.over)
    assert job.state == "failed"
    assert "longer than 1 seconds" in job.error
    jobs.stop()


def test_what_a_job_prints_does_not_disturb_it(jobs: Jobs) -> None:
    job = begun(jobs, examples.talkative)
    until(lambda: job.over)
    assert job.result == "still here"


def test_what_cannot_be_sent_is_an_error_and_not_a_hang(jobs: Jobs) -> None:
    job = begun(jobs, examples.unpicklable)
    until(lambda: job.over)
    assert job.state == "failed"
    given = begun(jobs, examples.steps, lambda: None)
    until(lambda: given.over)
    assert given.state == "failed"


def test_results_are_forgotten_after_a_while() -> None:
    jobs = Jobs(1, keep_seconds=0.0)
    first = begun(jobs, examples.steps, 1)
    until(lambda: first.over)
    time.sleep(0.01)
    assert jobs.get(first.id, ME) is None
    jobs.stop()


def test_no_process_outlives_the_workbench(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    code = (
        "import sys, time; from hush.workbench.jobs import JobOwner, Jobs;"
        "from tests.unit.workbench import job_examples as e;"
        "Jobs(1).start(e.family, sys.argv[1], owner=JobOwner('me'), name='x'); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(note)])
    until(lambda: note.exists() and note.read_text().count("\n") == 2)
    pid = int(note.read_text().split()[0])
    parent.kill()
    parent.wait()
    until(lambda: gone(pid))


def test_progress_leaves_out_what_comes_too_soon() -> None:
    told: list[tuple[float, str]] = []
    now = [0.0]
    progress = Progress(lambda fraction, note: told.append((fraction, note)), lambda: now[0])
    progress(0.1)
    progress(0.2)
    progress(0.2, "drawing")
    progress(0.3)
    now[0] = 1.0
    progress(0.4)
    progress(1.5)
    assert told == [(0.1, ""), (0.2, "drawing"), (0.4, "drawing"), (1.0, "drawing")]


def test_a_refusal_survives_the_pipe() -> None:
    assert isinstance(examples.REFUSAL, ParameterError)
    assert str(examples.REFUSAL) == str(message("k", "must be at least 2", 1, "count again"))
