"""The HTTP status of each kind of error, the same at every door that speaks HTTP, and where programs are answered."""

from kapsoweb.foundation.errors import Kind

ADDRESSES = "/api/"  # every refusal below it has the machines' one shape, whoever made it and whatever is accepted
STATUS_OF_KIND = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.MISSING: 404,
    Kind.CONFLICT: 409,
    Kind.REFUSED: 403,
    Kind.FAILED: 502,
}
