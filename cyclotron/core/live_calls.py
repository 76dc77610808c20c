"""Whether a model may be called at all, by the one flag of a deployment: what it refuses, and what a page says then."""

from cyclotron.core.errors import LiveCallsOffError

WHY_OFF = "Calls to a model are switched off in this lab."  # beside a button


def refuse_unless_live(allow_live: bool) -> None:
    """Refuse what may call a model where the deployment's flag is off. Raises `LiveCallsOffError`."""
    if not allow_live:
        raise LiveCallsOffError("calls to a model are switched off here; freezing and reading still work.")
