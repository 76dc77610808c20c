"""The cyclotron's error tree. Ids are part of the public interface; messages and details never hold item text."""

from kapsoweb.foundation.errors import KapsoError, Kind


class CyclotronError(KapsoError):
    """Base of the cyclotron's errors."""

    id = "cyclotron-error"


class InvalidDefinitionError(CyclotronError):
    """A cyclotron or classifier definition breaks a rule."""

    id = "invalid-definition"


class DefinitionChangedError(CyclotronError):
    """The store holds another definition under this name."""

    id = "definition-changed"
    kind = Kind.CONFLICT


class NoSuchCyclotronError(CyclotronError):
    """No cyclotron of that name or id is to be had here."""

    id = "no-such-cyclotron"
    kind = Kind.MISSING


class NoSuchClassifierError(CyclotronError):
    """The cyclotron has no classifier of that name."""

    id = "no-such-classifier"
    kind = Kind.MISSING


class ModelError(CyclotronError):
    """A call to a decision model brought no usable answer; its permit is spent."""

    id = "model-error"
    kind = Kind.FAILED


class ModelRefusedError(ModelError):
    """The endpoint will not answer any request as configured (no access, no such model): trying again is no use."""

    id = "model-refused"
