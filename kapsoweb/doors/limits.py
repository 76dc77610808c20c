"""Every limit of every door, with its unit in its name or beside it. `docs/limits.md` mirrors this module."""

from datetime import timedelta

# Lists: the rows of one page.
PAGE_DEFAULT = 50
PAGE_MOST = 200

# What a request may hold.
JSON_BODY_BYTES = 2 * 2**20  # one document, whichever its route
DECISIONS_BODY_BYTES = 16 * 2**20  # decisions that were made elsewhere
DECISIONS_MOST = 500  # of them, in one request
FILE_BYTES = 32 * 2**20  # a CSV file
ANY_BODY_BYTES = 40 * 2**20  # whatever the address; a longer body is not even received
JSON_DEPTH = 64  # objects and arrays inside one another
QUERY_CHARACTERS = 4096  # the whole query string
CURSOR_CHARACTERS = 400
ID_CHARACTERS = 512  # of an identity that an application or a caller chose

# Requests that may be sent twice.
IDEMPOTENCY_KEY_CHARACTERS = 255
IDEMPOTENCY_KEPT_FOR = timedelta(hours=24)
IDEMPOTENCY_ABANDONED_AFTER = timedelta(minutes=5)
IDEMPOTENCY_ANSWER_BYTES = 2**20  # a larger answer is not kept

# What a cyclotron's definition may hold.
SEED_CHARACTERS = 512
CLASSIFIERS_MOST = 20
LABELS_MOST = 100  # of a classifier
QUESTION_CHARACTERS = 4000
RUBRIC_CHARACTERS = 100_000
PRIMING_MOST = 200  # examples of a classifier
PRIMING_CHARACTERS = 20_000  # of one example's text
