"""The exact sign test on the items that only one endpoint got right. Source: spec held-out, section 5."""

from cyclotron.core.errors import InvalidScoredItemsError

# Up to this many pairs the tail is summed in whole numbers of any size; a sum of 4,096-bit numbers is a matter of
# milliseconds, and above it the cost would grow with the square.
_WHOLE_UP_TO = 4096
_KEPT_BITS = 256


def sign_test(gained: int, lost: int) -> float:
    """The two-sided p-value, 0..1, of `gained` against `lost` under even odds; 1.0 when both are zero.

    It is twice the probability of at most `min(gained, lost)` heads in `gained + lost` tosses of a fair coin, or 1.0
    when the two are equal. Raises `InvalidScoredItemsError` for counts that are not whole numbers, 0 or more.
    Up to 4,096 pairs it is the exact fraction, rounded once. Above, each term keeps 256 bits, which leaves a relative
    error below 2**-200 before that rounding. A p-value too small for a float is 0.0.
    """
    for count in (gained, lost):
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise InvalidScoredItemsError("the sign test takes two whole numbers of items, each 0 or more.")
    pairs, rarer = gained + lost, min(gained, lost)
    if gained == lost:
        return 1.0  # the two tails overlap in the middle term
    if pairs <= _WHOLE_UP_TO:
        term = tail = 1
        for heads in range(rarer):
            term = term * (pairs - heads) // (heads + 1)
            tail += term
        return 2 * tail / (1 << pairs)
    return _long_tail(pairs, rarer)


def _long_tail(pairs: int, rarer: int) -> float:
    """Twice the lower tail: the largest term by a running product, then smaller ones until they no longer count."""
    term, exponent = 1, 0
    for heads in range(rarer):
        term = term * (pairs - heads)
        short = 2 * _KEPT_BITS - term.bit_length()
        if short > 0:
            term <<= short
            exponent -= short
        term //= heads + 1
        spare = term.bit_length() - _KEPT_BITS
        term >>= spare
        exponent += spare
    tail, smaller = term, term
    for heads in range(rarer, 0, -1):
        smaller = smaller * heads // (pairs - heads + 1)
        if smaller == 0:
            break
        tail += smaller
    # The tail is a share, kept as a whole number of 256 bits or more: its exponent of two is always negative.
    return tail / (1 << (pairs - 1 - exponent))
