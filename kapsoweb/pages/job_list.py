"""Jobs as pages show them: what each is about, how far it is, and what can be done about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from kapsoweb.accounts.caller import Caller
from kapsoweb.accounts.roles import Role
from kapsoweb.jobs.models import Job, JobState
from kapsoweb.jobs.registry import is_repeatable
from kapsoweb.pages.job_words import Fact, words_of
from kapsoweb.pages.permissions import why_not

STATES = {
    JobState.QUEUED: "waiting",
    JobState.RUNNING: "running",
    JobState.DONE: "done",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
}
_TONES = {JobState.FAILED: "bad", JobState.CANCELLED: "muted"}


@dataclass(frozen=True)
class Action:
    """Something that can be done about a job: its key, its button, and why it is off (or nothing).

    `link` and `instead` lead to what can be done in its place.
    """

    key: str
    button: str
    off: str
    link: str = ""
    instead: str = ""

    @property
    def address(self) -> str:
        """The name of the address that the button sends to."""
        return f"pages:job-{self.key}"


@dataclass(frozen=True)
class JobView:
    """One job. `about` is the name of the record that it works on, `joined` the word between the job's name and that
    one, and `address` where the work itself is shown.

    `progress`, `took` and `about` are empty where there is nothing to say; `unfinished` says that it may still change.
    """

    id: str
    name: str
    joined: str
    about: str
    address: str
    state: str
    tone: str
    done: int
    total: int
    progress: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    took: str
    attempts: int
    error_id: str
    error_message: str
    facts: Sequence[Fact]
    unfinished: bool
    stopping: bool


def job_view(job: Job, names: Mapping[str, str], now: datetime) -> JobView:
    """A job seen at `now`; `names` has the names of records by their ids."""
    words = words_of(job.kind)
    about = names.get(job.record_id, "")
    state = JobState(job.state)
    stopping = state == JobState.RUNNING and job.cancel_requested_at is not None
    return JobView(
        id=job.pk,
        name=words.name if words else job.kind,
        joined=words.joined if words else "",
        about=about,
        address=words.address(job) if words and about else "",
        state="stopping" if stopping else STATES[state],
        tone=_TONES.get(state, ""),
        done=job.progress_done,
        total=job.progress_total,
        progress=f"{job.progress_done:,} of {job.progress_total:,}" if job.progress_total else "",
        created_at=job.created_at,
        started_at=job.started_at,
        finished_at=job.finished_at,
        took=_span((job.finished_at or now) - job.started_at) if job.started_at else "",
        attempts=job.attempts,
        error_id=job.error_id,
        error_message=job.error_message,
        facts=words.outcome(job, job.result) if words and about and job.result else (),
        unfinished=not job.is_finished,
        stopping=stopping,
    )


def action_of(caller: Caller, job: Job) -> Action:
    """What there is to be done about the job: stop it while it is under way, then start it again."""
    return _retry(caller, job) if job.is_finished else _cancel(caller, job)


def _cancel(caller: Caller, job: Job) -> Action:
    off = why_not(caller, Role.OPERATOR, "cancelling")
    if job.cancel_requested_at is not None:
        off = "It has been told to stop, and does so at its next step."
    return Action("cancel", "Cancel", off)


def _retry(caller: Caller, job: Job) -> Action:
    button = "Start again"
    if not is_repeatable(job.kind):
        words = words_of(job.kind)
        if words is None:
            return Action("retry", button, "A job of this kind is not started again.")
        return Action("retry", button, words.again, words.address(job) if job.record_id else "", words.instead)
    if job.state == JobState.DONE:
        return Action("retry", button, "It is done.")
    return Action("retry", button, why_not(caller, Role.OPERATOR, "starting a job again"))


def _span(time: timedelta) -> str:
    """Time as `0.4 s`, `12 s`, `2 min 5 s` or `1 h 3 min`; never negative."""
    seconds = max(0.0, time / timedelta(seconds=1))
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600:,} h {whole % 3600 // 60} min"
