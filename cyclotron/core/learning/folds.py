"""Folds for out-of-fold answers."""

import hashlib
from collections.abc import Iterable


def assign_folds(item_ids: Iterable[str], *, seed: str, folds: int) -> dict[str, int]:
    """The fold, 0 to `folds` - 1, of each item.

    An item's fold depends on the seed and its own identity alone, so items that are added later move no other.
    """
    if folds < 2:
        raise ValueError("folds must be 2 or more.")
    return {
        item_id: int.from_bytes(hashlib.sha256(f"{seed}:fold:{item_id}".encode()).digest()[:8], "big") % folds
        for item_id in item_ids
    }
