"""The HTTP status of each kind of error, the same at every door that speaks HTTP."""

from kapsoweb.foundation.errors import Kind

STATUS_OF_KIND = {
    Kind.INVALID: 400,
    Kind.UNAUTHENTICATED: 401,
    Kind.MISSING: 404,
    Kind.CONFLICT: 409,
    Kind.REFUSED: 403,
    Kind.FAILED: 502,
}
