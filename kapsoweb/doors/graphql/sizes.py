"""How much a document asks for, before any rule or resolver sees it: depth, fields, aliases, and a cost in rows.

Fragments are counted as if they were written out at each place. Each is measured once, after those that it uses, so
that the effort is linear in the document however often fragments spread one another.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SchemaMetaFieldDef,
    SelectionNode,
    SelectionSetNode,
    TypeMetaFieldDef,
    TypeNameMetaFieldDef,
    ValueNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
)

from kapsoweb.doors import limits
from kapsoweb.doors.graphql.errors import InvalidPageSizeError, InvalidQueryError, too_large

PAGE_ARGUMENT = "first"
PAGE_ROWS = "nodes"  # the list within a page, whose rows the page's own field has counted
DOCUMENT = "JSON"  # the scalar that holds whole documents

Fragments = Mapping[str, FragmentDefinitionNode]


@dataclass(frozen=True)
class Size:
    """Of a selection set: `depth` of fields, `roots` (the set's own fields), `fields` and `aliases` anywhere, `cost`.

    A directive counts as a field.
    """

    depth: int = 0
    roots: int = 0
    fields: int = 0
    aliases: int = 0
    cost: int = 0

    def __add__(self, other: "Size") -> "Size":
        return Size(
            max(self.depth, other.depth),
            self.roots + other.roots,
            self.fields + other.fields,
            self.aliases + other.aliases,
            self.cost + other.cost,
        )


def check_sizes(schema: GraphQLSchema, document: DocumentNode, variables: Mapping[str, Any]) -> None:
    """Refuse a document of which some operation or fragment is beyond the limits. It need not be valid yet.

    Raises `QueryTooLargeError`, `InvalidPageSizeError`, or `InvalidQueryError` where fragments spread one another in a
    circle.
    """
    fragments = {node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)}
    if len(fragments) > limits.GRAPHQL_FRAGMENTS:
        raise too_large("fragments", limits.GRAPHQL_FRAGMENTS)
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    measuring = _Measuring(schema, {**_defaults(operations), **variables}, {})
    for name in _used_first(fragments):
        parent = schema.get_type(fragments[name].type_condition.name.value)
        size = measuring.size_of(fragments[name].selection_set, parent)
        _check(size)
        measuring.fragments[name] = size
    for operation in operations:
        size = measuring.size_of(operation.selection_set, schema.get_root_type(operation.operation))
        if size.roots > limits.GRAPHQL_ROOT_FIELDS:
            raise too_large("fields of the operation itself", limits.GRAPHQL_ROOT_FIELDS)
        _check(size)


def _check(size: Size) -> None:
    if size.depth > limits.GRAPHQL_DEPTH:
        raise too_large("levels of fields", limits.GRAPHQL_DEPTH)
    if size.fields > limits.GRAPHQL_FIELDS:
        raise too_large("fields", limits.GRAPHQL_FIELDS)
    if size.aliases > limits.GRAPHQL_ALIASES:
        raise too_large("aliases", limits.GRAPHQL_ALIASES)
    if size.cost > limits.GRAPHQL_COST:
        raise too_large("units of cost (fields times rows)", limits.GRAPHQL_COST)


@dataclass(frozen=True)
class _Measuring:
    schema: GraphQLSchema
    variables: Mapping[str, Any]
    fragments: dict[str, Size]

    def size_of(self, selections: SelectionSetNode, parent: Any) -> Size:
        """Recurses no deeper than the brackets of the text, which were counted before it was parsed."""
        size = Size()
        for selection in selections.selections:
            directives = len(selection.directives)
            size = size + self._of(selection, parent) + Size(fields=directives, cost=directives)
        return size

    def _of(self, selection: SelectionNode, parent: Any) -> Size:
        if isinstance(selection, FragmentSpreadNode):
            return self.fragments.get(selection.name.value, Size())  # one that is not there is for the rules to report
        if isinstance(selection, InlineFragmentNode):
            condition = selection.type_condition
            return self.size_of(
                selection.selection_set, self.schema.get_type(condition.name.value) if condition else parent
            )
        assert isinstance(selection, FieldNode)  # noqa: S101 - the only kind that is left
        return self._of_field(selection, parent)

    def _of_field(self, field: FieldNode, parent: Any) -> Size:
        declared = self._declared(parent, field.name.value)
        kind = get_named_type(declared.type) if declared else None
        inside = self.size_of(field.selection_set, kind) if field.selection_set else Size()
        return Size(
            depth=1 + inside.depth,
            roots=1,
            fields=1 + inside.fields,
            aliases=inside.aliases + (field.alias is not None),
            cost=_own_cost(declared) + self._rows(field, declared) * inside.cost,
        )

    def _declared(self, parent: Any, name: str) -> GraphQLField | None:
        if name == "__typename":
            return TypeNameMetaFieldDef
        if parent is self.schema.query_type and name in ("__schema", "__type"):
            return SchemaMetaFieldDef if name == "__schema" else TypeMetaFieldDef
        found: GraphQLField | None = getattr(parent, "fields", {}).get(name)
        return found

    def _rows(self, field: FieldNode, declared: GraphQLField | None) -> int:
        if declared is None:
            return 1
        if PAGE_ARGUMENT in declared.args:
            given = next((node.value for node in field.arguments if node.name.value == PAGE_ARGUMENT), None)
            return limits.PAGE_DEFAULT if given is None else self._page_size(given)
        kind: Any = declared.type
        is_list = is_list_type(get_nullable_type(kind))
        return limits.GRAPHQL_LIST_ROWS if is_list and field.name.value != PAGE_ROWS else 1

    def _page_size(self, given: ValueNode) -> int:
        if isinstance(given, VariableNode):
            value = self.variables.get(given.name.value)
        else:
            value = _whole(given) if isinstance(given, IntValueNode) else None
        if value is None:
            return limits.PAGE_DEFAULT
        if isinstance(value, bool) or not isinstance(value, int):
            return limits.PAGE_MOST  # of the wrong type, which the rules report
        if not 1 <= value <= limits.PAGE_MOST:
            raise InvalidPageSizeError(
                f"`{PAGE_ARGUMENT}` must be a whole number from 1 to {limits.PAGE_MOST}.",
                least=1,
                most=limits.PAGE_MOST,
            )
        return value


def _own_cost(declared: GraphQLField | None) -> int:
    """What a field counts by itself: what its resolver declares (see `costs`), or more for a whole document."""
    if declared is None:
        return 1
    plain = limits.GRAPHQL_DOCUMENT_COST if get_named_type(declared.type).name == DOCUMENT else 1
    own: int = getattr(declared.resolve, "cost", plain)
    return own


def _defaults(operations: list[OperationDefinitionNode]) -> dict[str, int]:
    """The greatest default of each variable that could be a page size; fragments know not which operation uses them."""
    found: dict[str, int] = {}
    for operation in operations:
        for variable in operation.variable_definitions:
            if isinstance(variable.default_value, IntValueNode):
                name, value = variable.variable.name.value, _whole(variable.default_value)
                found[name] = max(value, found.get(name, value))
    return found


def _whole(node: IntValueNode) -> int:
    """The number, or one that is beyond every limit where it is very long: Python converts short ones only."""
    return int(node.value) if len(node.value) < 20 else limits.PAGE_MOST + 1


def _used_first(fragments: Fragments) -> Iterator[str]:
    """The fragments' names, each after all that it spreads."""
    waiting = {
        name: {spread for spread in _spreads(node.selection_set) if spread in fragments}
        for name, node in fragments.items()
    }
    while waiting:
        ready = [name for name, spreads in waiting.items() if not spreads & waiting.keys()]
        if not ready:
            raise InvalidQueryError("fragments of the query spread one another in a circle.")
        yield from ready
        for name in ready:
            del waiting[name]


def _spreads(selections: SelectionSetNode) -> Iterator[str]:
    sets = [selections]
    while sets:
        for selection in sets.pop().selections:
            if isinstance(selection, FragmentSpreadNode):
                yield selection.name.value
            else:
                inner: SelectionSetNode | None = getattr(selection, "selection_set", None)
                if inner is not None:
                    sets.append(inner)
