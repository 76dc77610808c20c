"""The rules that a document is held to: the language's own, one of them in words that repeat nothing that was sent."""

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    NoFragmentCyclesRule,
    ValueNode,
    ValuesOfCorrectTypeRule,
    specified_rules,
    validate,
)
from graphql.validation import ASTValidationRule

from kapsoweb.doors.graphql.errors import InvalidQueryError
from kapsoweb.doors.graphql.scalars import ScalarError
from kapsoweb.doors.limits import GRAPHQL_ERRORS


class ValuesOfTheirTypesRule(ValuesOfCorrectTypeRule):
    """Says where a literal is not of its type; the library's own rule prints the literal."""

    _literal: ValueNode | None = None  # while it is looked at

    def is_valid_value_node(self, node: ValueNode) -> None:
        """Report a literal that is not what its place asks for."""
        self._literal = node
        super().is_valid_value_node(node)
        self._literal = None

    def report_error(self, error: GraphQLError) -> None:
        """Report a fault, in own words where the library's would hold the literal."""
        if self._literal is not None:
            sentence = f"A literal here must be of the type '{self.context.get_input_type()}'."
            error = GraphQLError(error.message if isinstance(error, ScalarError) else sentence, self._literal)
        super().report_error(error)


RULES: tuple[type[ASTValidationRule], ...] = (
    NoFragmentCyclesRule,  # before any rule that follows fragments
    *(rule for rule in specified_rules if rule not in (NoFragmentCyclesRule, ValuesOfCorrectTypeRule)),
    ValuesOfTheirTypesRule,
)


def check_rules(schema: GraphQLSchema, document: DocumentNode) -> None:
    """Refuse a document that the schema does not have, or that breaks a rule. Raises `InvalidQueryError`."""
    faults = validate(schema, document, RULES, max_errors=GRAPHQL_ERRORS)
    if faults:
        raise InvalidQueryError("the query breaks a rule.", faults)
