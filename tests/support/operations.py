"""Every operation of the REST door with the example of its body, so that a test can go through all of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.apps import apps
from django.db.models import Model

from kapsoweb.doors.rest.schema import schema_document
from tests.support.api import Program

ROOMS = ("kapso_cyclotron", "kapso_jobs", "kapso_doors", "kapso_accounts", "auth")
MOVES_BY_ITSELF = {"last_used_at"}  # of a token, at any use


@dataclass(frozen=True)
class Known:
    """An operation as the schema has it."""

    id: str
    method: str
    path: str
    body: Any
    kind: str

    @property
    def parameters(self) -> list[str]:
        """The names of the address's variables."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]

    def send(self, program: Program, ids: Mapping[str, str], body: Any = None, **headers: str) -> Any:
        """Carry it out with these ids in the address, and the example's body unless another is given."""
        where = self.path
        for name in self.parameters:
            where = where.replace("{" + name + "}", ids[name])
        given = self.body if body is None else body
        if isinstance(given, bytes):
            return program.call(self.method, where, raw=given, kind=self.kind, **headers)
        return program.call(self.method, where, given, **headers)


def _operations() -> dict[str, Known]:
    found = {}
    for path, item in schema_document()["paths"].items():
        for method, operation in item.items():
            content = operation.get("requestBody", {}).get("content", {})
            kind, body = "application/json", None
            for kind, described in list(content.items())[:1]:
                example = next(iter(described.get("examples", {}).values()), {}).get("value")
                body = example.encode() if kind == "text/csv" else example
            name = operation["operationId"]
            found[name] = Known(name, method.upper(), path, body, kind)
    return found


OPERATIONS = _operations()


def everything() -> dict[str, list[Any]]:
    """All rows of all rooms, to be compared with all rows later."""
    return {model._meta.label: _rows(model) for room in ROOMS for model in apps.get_app_config(room).get_models()}


def _rows(model: type[Model]) -> list[Any]:
    columns = [field.attname for field in model._meta.concrete_fields if field.name not in MOVES_BY_ITSELF]
    return list(model._default_manager.order_by("pk").values_list(*columns))
