"""Why a local lab does not start or cannot go on. Each message says what to do."""

from kapsoweb.foundation.errors import KapsoError, Kind


class LabError(KapsoError):
    """Base of the supervisor's errors."""

    id = "lab"


class BadPort(LabError):  # noqa: N818 - the name says what happened
    """PORT is not a number that the lab may listen on."""

    id = "lab-port-invalid"
    kind = Kind.INVALID


class PortTaken(LabError):  # noqa: N818 - the name says what happened
    """Another program listens on the port."""

    id = "lab-port-taken"
    kind = Kind.CONFLICT


class HomeInUse(LabError):  # noqa: N818 - the name says what happened
    """Another lab runs on the same home."""

    id = "lab-home-in-use"
    kind = Kind.CONFLICT


class HomeUnusable(LabError):  # noqa: N818 - the name says what happened
    """The folder of the lab's state cannot be made or written, or its database does not answer."""

    id = "lab-home-unusable"
    kind = Kind.INVALID


class KeepsEnding(LabError):  # noqa: N818 - the name says what happened
    """The web process or the worker ended more often than it may be started again."""

    id = "lab-process-keeps-ending"
    kind = Kind.FAILED


class NotReady(LabError):  # noqa: N818 - the name says what happened
    """Both processes run, but the lab did not become ready in time."""

    id = "lab-not-ready"
    kind = Kind.FAILED
