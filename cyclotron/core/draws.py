"""The draws that decide an item's partition and its selection, fixed by the seed and the item's identity.

Source: spec held-out, section 1.
"""

import hashlib
from dataclasses import dataclass

from cyclotron.core.errors import InvalidItemError, InvalidPropensityError
from kapsoweb.foundation.canonical import check_text

AUDIT, DEVELOPMENT, TRAINING = "audit", "development", "training"
PARTITIONS = (AUDIT, DEVELOPMENT, TRAINING)

PROGRAM, LOW_CONFIDENCE, AUDIT_DRAW, REVIEWER = "program", "low-confidence", "audit", "reviewer"
REASONS = (PROGRAM, LOW_CONFIDENCE, AUDIT_DRAW)
SELECTIONS = (*REASONS, REVIEWER)

AUDIT_SHARE = 0.20
DEVELOPMENT_SHARE = 0.25
MAX_IDENTITY = 512
MIN_PROPENSITY = 2.0**-64  # a draw has 64 bits, and no weight is larger than 2**64


def draw(seed: str, identity: str) -> float:
    """A number in [0, 1) that depends on the seed and the identity alone: 64 bits of SHA-256."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{identity}".encode()).digest()[:8], "big") / 2**64


def partition_of(seed: str, identity: str) -> str:
    """The partition of an item: `audit`, `development` or `training`, fixed before any label exists."""
    if draw(seed, identity) < AUDIT_SHARE:
        return AUDIT
    return DEVELOPMENT if draw(f"{seed}:development", identity) < DEVELOPMENT_SHARE else TRAINING


def selection_draw(seed: str, identity: str) -> float:
    """The item's one permanent random number, compared with every review rate that it meets."""
    return draw(f"{seed}:selection", identity)


def check_identity(identity: str) -> str:
    """Return an item identity unless it is empty, longer than 512 characters or not storable text."""
    if not isinstance(identity, str) or not identity or len(identity) > MAX_IDENTITY:
        raise InvalidItemError(f"an identity must be text of 1 to {MAX_IDENTITY} characters.")
    return check_text(identity, "an identity")


def check_propensity(value: float, what: str = "a propensity") -> float:
    """Return a propensity unless it lies outside (0, 1] or is no number (booleans, NaN and infinities are refused).

    One below 2**-64, the smallest that a draw can have, is refused too: nothing could be weighted by it.
    """
    number = not isinstance(value, bool) and isinstance(value, int | float)
    if not number or not MIN_PROPENSITY <= value <= 1:  # NaN compares as false
        raise InvalidPropensityError(f"{what} must be a number above 0 (2**-64 at least) and at most 1.", what=what)
    return float(value)


def check_rate(value: float, what: str) -> float:
    """Return a review rate unless it lies outside [0, 1] or is no number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:  # NaN compares as false
        raise InvalidPropensityError(f"{what} must be a number from 0 to 1.", what=what)
    return float(value)


@dataclass(frozen=True)
class Selection:
    """Whether a decision is sent to review, why (a reason, or empty), and the item's propensity so far."""

    sent: bool
    reason: str
    propensity: float


def select(
    *,
    number: float,
    confidence: float,
    review_rate: float,
    audit_rate: float,
    low_confidence: float | None,
    propensity_so_far: float | None,
    reason_so_far: str,
) -> Selection:
    """Decide whether an item is sent to review.

    `number` is the item's permanent draw, `confidence` the lowest of its classifiers' confidences. What an item has
    been exposed to stays: it is not drawn anew, its propensity never falls, and once sent it remains sent for the
    reason it was first sent. Source: spec held-out, section 1.
    """
    review_rate = check_rate(review_rate, "review_rate")
    audit_rate = check_rate(audit_rate, "audit_rate")
    if low_confidence is not None:
        low_confidence = check_rate(low_confidence, "low_confidence")
    rate = max(review_rate, audit_rate)
    if rate < MIN_PROPENSITY:
        raise InvalidPropensityError(
            "review_rate and audit_rate cannot both be 0 (below 2**-64): an item that is never sent has no propensity.",
            what="review_rate",
        )
    if low_confidence is not None and confidence < low_confidence:
        now = Selection(True, LOW_CONFIDENCE, 1.0)
    elif number < rate:
        now = Selection(True, AUDIT_DRAW if number < audit_rate else PROGRAM, rate)
    else:
        now = Selection(False, "", rate)
    propensity = max(now.propensity, propensity_so_far or 0.0)
    if reason_so_far:
        return Selection(True, reason_so_far, propensity)
    return Selection(now.sent, now.reason, propensity)
