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
FORGOTTEN_BODY_BYTES = 512 * 2**20  # of a longer body: read and dropped so that a browser hears the answer
JSON_DEPTH = 64  # objects and arrays inside one another
QUERY_CHARACTERS = 8192  # the whole query string: an identity, whose characters may take 12 each there, and more
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

# What a choice of a file's columns may hold.
TEXT_COLUMNS_MOST = 50
MAPPING_MOST = 500  # values of the label column

# What a GraphQL request may hold.
GRAPHQL_BODY_BYTES = 16 * 2**20  # the query with its variables; a larger file comes in by REST
GRAPHQL_QUERY_CHARACTERS = 20_000
GRAPHQL_TOKENS = 2_000
GRAPHQL_NESTING = 64  # brackets of any kind inside one another in the text
GRAPHQL_DEPTH = 16  # fields inside one another, fragments written out
GRAPHQL_FRAGMENTS = 50
GRAPHQL_ROOT_FIELDS = 20  # fields of an operation itself
GRAPHQL_ALIASES = 50  # fragments written out
GRAPHQL_FIELDS = 500  # and directives, fragments written out
GRAPHQL_COST = 25_000  # fields and directives, each times the rows of the lists that it is in
GRAPHQL_LIST_ROWS = 6  # what a list without a page size counts as
GRAPHQL_DOCUMENT_COST = 100  # what a field counts that holds a whole JSON document
GRAPHQL_WORK_COST = 1_000  # what a field counts that asks a model, or plans what to ask it
GRAPHQL_FILE_COST = 5_000  # what a field counts that reads or takes a whole file
GRAPHQL_VARIABLE_VALUES = 250_000  # in all variables together
GRAPHQL_ERRORS = 10  # that one refusal names
