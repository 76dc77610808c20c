"""The errors of the jobs room. Ids are part of the public interface."""

from kapsoweb.foundation.errors import KapsoError, Kind


class JobError(KapsoError):
    """Base of the jobs room's errors."""

    id = "job-error"


class NoSuchJobError(JobError):
    """No job of that id."""

    id = "no-such-job"
    kind = Kind.MISSING


class UnknownKindError(JobError):
    """No handler is registered for a job's kind."""

    id = "unknown-job-kind"


class ClaimLost(JobError):  # noqa: N818 - the name says what happened
    """The job is no longer this worker's: its lease ran out and another claimed it. Stop, and write nothing."""

    id = "claim-lost"
    kind = Kind.CONFLICT


class JobNotRepeatableError(JobError):
    """The job cannot be started again: it has not failed, or its kind is not made for it."""

    id = "job-not-repeatable"
    kind = Kind.CONFLICT
