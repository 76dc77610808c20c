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


class InvalidItemError(CyclotronError):
    """An item's identity or values break a rule."""

    id = "invalid-item"


class ItemChangedError(CyclotronError):
    """An item of that identity is known with other values."""

    id = "item-changed"
    kind = Kind.CONFLICT


class NoSuchDecisionError(CyclotronError):
    """The cyclotron has no such decision."""

    id = "no-such-decision"
    kind = Kind.MISSING


class AssignmentLostError(CyclotronError):
    """The item is no longer this reviewer's to answer: somebody else holds it or has reviewed it."""

    id = "assignment-lost"
    kind = Kind.CONFLICT


class ReviewUndoneError(CyclotronError):
    """The answer that is sent again has been taken back."""

    id = "review-undone"
    kind = Kind.CONFLICT


class ReviewFollowedError(CyclotronError):
    """The review that would be undone has been corrected since."""

    id = "review-followed"
    kind = Kind.CONFLICT


class NoSuchReviewError(CyclotronError):
    """The cyclotron has no such review."""

    id = "no-such-review"
    kind = Kind.MISSING


class InvalidPropensityError(CyclotronError):
    """A propensity or rate is outside its range, or no number."""

    id = "invalid-propensity"


class InvalidReviewError(CyclotronError):
    """A review breaks a rule."""

    id = "invalid-review"


class ReviewChangedError(CyclotronError):
    """A review of that identity is known with other content."""

    id = "review-changed"
    kind = Kind.CONFLICT


class RequestCeilingError(CyclotronError):
    """The open's ceiling on model requests would be passed; nothing more was asked."""

    id = "request-ceiling"
    kind = Kind.REFUSED


class NothingToFreezeError(CyclotronError):
    """No label is eligible for a held-out set; nothing was created."""

    id = "nothing-to-freeze"
    kind = Kind.CONFLICT


class NoSuchHeldOutSetError(CyclotronError):
    """The classifier has no held-out set of that id."""

    id = "no-such-held-out-set"
    kind = Kind.MISSING


class NoHeldOutSetError(CyclotronError):
    """No held-out set is frozen."""

    id = "no-held-out-set"
    kind = Kind.CONFLICT


class NothingToScoreError(CyclotronError):
    """Every item of the set has since moved to training."""

    id = "nothing-to-score"
    kind = Kind.CONFLICT


class LiveCallsOffError(CyclotronError):
    """Calls to a model are switched off in this deployment."""

    id = "live-off"
    kind = Kind.REFUSED


class BoundChangedError(CyclotronError):
    """The confirmed request bound is not the present one; nothing was spent."""

    id = "bound-changed"
    kind = Kind.CONFLICT


class PlanChangedError(CyclotronError):
    """What was confirmed is no longer what would be evaluated; nothing was spent."""

    id = "plan-changed"
    kind = Kind.CONFLICT


class EvaluationRunningError(CyclotronError):
    """Another evaluation of this classifier is under way."""

    id = "evaluation-running"
    kind = Kind.CONFLICT


class RequestIdReusedError(CyclotronError):
    """The request id belongs to an evaluation with other content."""

    id = "request-id-reused"
    kind = Kind.CONFLICT


class InvalidEvaluationError(CyclotronError):
    """An argument of an evaluation breaks a rule."""

    id = "invalid-evaluation"


class NoSuchEvaluationError(CyclotronError):
    """The cyclotron has no such evaluation."""

    id = "no-such-evaluation"
    kind = Kind.MISSING


class NoSuchReportError(CyclotronError):
    """The cyclotron has no such report."""

    id = "no-such-report"
    kind = Kind.MISSING


class EvaluationInterruptedError(CyclotronError):
    """The evaluation ended without a report; every answer it got is kept."""

    id = "evaluation-interrupted"
    kind = Kind.FAILED


class PermitsExhaustedError(CyclotronError):
    """Every permit of the evaluation is taken, or it belongs to another claim now."""

    id = "no-permit"
    kind = Kind.REFUSED


class InvalidReportError(CyclotronError):
    """A document is not a held-out report."""

    id = "invalid-report"


class InvalidScoredItemsError(CyclotronError):
    """Items, weights or decisions that no number may be computed from."""

    id = "invalid-scored-items"


class InvalidPageError(CyclotronError):
    """A page of a list is asked for with a limit that holds nothing."""

    id = "invalid-page"
