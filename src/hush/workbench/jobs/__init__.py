"""Long work: one process a job, spawned and killable, known by an id, so that a reload finds it again.

    def work(progress: Progress, mechanism: str, trials: int) -> Found:     # in a module, so that it can be imported
        for i in range(10):
            progress(i / 10, "drawing reports")
        return Found(...)                                                   # can be pickled

    job = jobs.start(work, "OUE", trials=10_000, owner=visit.session.owner, name="Audit of OUE")
    job.state, job.fraction, job.note, job.result, job.error
    job.cancel()

In a page, `hush.workbench.controls.JobPanel` does that, with a bar, words and a button to cancel.
"""

from __future__ import annotations

from hush.workbench.jobs.owners import JobOwner
from hush.workbench.jobs.progress import Progress
from hush.workbench.jobs.running import BenchJob, Jobs, JobState, TooManyJobs

__all__ = ["BenchJob", "JobOwner", "JobState", "Jobs", "Progress", "TooManyJobs"]
