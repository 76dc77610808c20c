"""Settings of the REST door's framework and of its schema."""

from typing import Any

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["kapsoweb.doors.rest.authentication.BearerAuthentication"],
    "DEFAULT_PARSER_CLASSES": ["kapsoweb.doors.rest.bodies.JsonParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.AllowAny"],
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "kapsoweb.doors.rest.schema.ApiSchema",
    "EXCEPTION_HANDLER": "kapsoweb.doors.rest.errors.handle",
    "URL_FORMAT_OVERRIDE": None,
    "FORMAT_SUFFIX_KWARG": None,
}
SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "kapsoweb",
    "DESCRIPTION": (
        "What a program does with a lab: create cyclotrons, decide and import items, review, freeze a held-out set, "
        "confirm an evaluation by its request bound, and read the report. Every address takes an API token in "
        "`Authorization: Bearer TOKEN`. Every refusal has the shape of the component `Error`."
    ),
    "VERSION": "1",
    "LICENSE": {"name": "MIT"},
    "OAS_VERSION": "3.1.0",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "CAMELIZE_NAMES": True,
    "COMPONENT_SPLIT_PATCH": False,
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SERVE_INCLUDE_SCHEMA": True,
    "PREPROCESSING_HOOKS": ["kapsoweb.doors.rest.schema.one_address_each"],
    "POSTPROCESSING_HOOKS": ["kapsoweb.doors.rest.schema.complete"],
    "SORT_OPERATION_PARAMETERS": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENABLE_DJANGO_DEPLOY_CHECK": False,
}
