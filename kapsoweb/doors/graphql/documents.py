"""The text of a query, read under limits: nothing here recurses before the depth of the text is known."""

from graphql import DocumentNode, GraphQLSyntaxError, Lexer, Source, TokenKind, parse

from kapsoweb.doors.graphql.errors import InvalidQueryError, UnreadableQueryTextError, too_large
from kapsoweb.doors.limits import GRAPHQL_NESTING, GRAPHQL_QUERY_CHARACTERS, GRAPHQL_TOKENS
from kapsoweb.foundation.canonical import is_storable

_OPENING = frozenset({TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L})
_CLOSING = frozenset({TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R})
_TEXTS = frozenset({TokenKind.STRING, TokenKind.BLOCK_STRING})


def read_document(query: str) -> DocumentNode:
    """The document in `query`. Raises `QueryTooLargeError`, `UnreadableQueryTextError` or `InvalidQueryError`."""
    if len(query) > GRAPHQL_QUERY_CHARACTERS:
        raise too_large("characters", GRAPHQL_QUERY_CHARACTERS)
    try:
        _measure(query)
        return parse(query, max_tokens=GRAPHQL_TOKENS)
    except GraphQLSyntaxError as error:
        raise UnreadableQueryTextError("the query is not GraphQL.", [error]) from None


def _measure(query: str) -> None:
    """Refuse too many tokens, brackets too deep, and texts that no database stores; a lexer knows no recursion."""
    lexer = Lexer(Source(query))
    tokens = depth = 0
    while (token := lexer.advance()).kind is not TokenKind.EOF:
        tokens += 1
        if tokens > GRAPHQL_TOKENS:
            raise too_large("tokens", GRAPHQL_TOKENS)
        if token.kind in _OPENING:
            depth += 1
            if depth > GRAPHQL_NESTING:
                raise too_large("levels of brackets", GRAPHQL_NESTING)
        elif token.kind in _CLOSING:
            depth -= 1
        elif token.kind in _TEXTS and not is_storable(token.value or ""):
            raise InvalidQueryError("a text in the query holds a NUL character or half of a surrogate pair; remove it.")
