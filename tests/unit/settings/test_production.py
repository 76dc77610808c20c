"""A hosted lab says what it misses, and closes what it must."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
GOOD = {"SECRET_KEY": "s" * 50, "ALLOWED_HOSTS": "lab.example.org, other.example.org"}


def load(module: str, names: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Load a settings module in a process of its own and print some of its values as JSON."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("KAPSOWEB_", "SECURE_")) and name not in {"SECRET_KEY", "DATABASE_URL", "REDIS_URL"}
    }
    script = (
        f"import json, {module} as s; print(json.dumps({{n: getattr(s, n, None) for n in {names!r}}}, default=str))"
    )
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**kept, **environment},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def production(names: list[str], **environment: str) -> dict[str, Any]:
    loaded = load("kapsoweb.settings.production", names, {**GOOD, **environment})
    assert loaded.returncode == 0, loaded.stderr
    values: dict[str, Any] = json.loads(loaded.stdout)
    return values


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": " ", "ALLOWED_HOSTS": "a"}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": "short", "ALLOWED_HOSTS": "a"}, "SECRET_KEY is too short"),
        ({"SECRET_KEY": "s" * 50}, "ALLOWED_HOSTS is not set"),
        ({"SECRET_KEY": "s" * 50, "ALLOWED_HOSTS": "a,*"}, "admits any host"),
    ],
)
def test_what_is_missing_is_named_and_nothing_starts(environment: dict[str, str], sentence: str) -> None:
    loaded = load("kapsoweb.settings.production", [], environment)
    assert loaded.returncode != 0
    assert "ImproperlyConfigured" in loaded.stderr
    assert sentence in loaded.stderr


def test_a_hosted_lab_keeps_to_tls_and_makes_no_model_calls_unless_told() -> None:
    assert production(
        [
            "ALLOWED_HOSTS",
            "DEBUG",
            "KAPSOWEB_ALLOW_LIVE",
            "SESSION_COOKIE_SECURE",
            "CSRF_COOKIE_SECURE",
            "SECURE_SSL_REDIRECT",
            "SECURE_HSTS_SECONDS",
            "SECURE_PROXY_SSL_HEADER",
        ]
    ) == {
        "ALLOWED_HOSTS": ["lab.example.org", "other.example.org"],
        "DEBUG": False,
        "KAPSOWEB_ALLOW_LIVE": False,
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_SSL_REDIRECT": True,
        "SECURE_HSTS_SECONDS": 31536000,
        "SECURE_PROXY_SSL_HEADER": None,
    }


def test_a_proxys_word_on_tls_counts_only_where_a_proxy_is_declared() -> None:
    values = production(["SECURE_PROXY_SSL_HEADER"], KAPSOWEB_BEHIND_TLS_PROXY="true")
    assert values["SECURE_PROXY_SSL_HEADER"] == ["HTTP_X_FORWARDED_PROTO", "https"]


def test_postgresql_gets_a_pool_and_redis_gets_short_restores() -> None:
    values = production(
        ["DATABASES", "CELERY_BROKER_URL", "CELERY_BROKER_TRANSPORT_OPTIONS"],
        DATABASE_URL="postgres://lab:pw@db.example.org/lab",
        REDIS_URL="redis://broker.example.org/1",
    )
    database = values["DATABASES"]["default"]
    assert (database["ENGINE"], database["NAME"]) == ("django.db.backends.postgresql", "lab")
    assert database["CONN_MAX_AGE"] == 0
    assert database["OPTIONS"]["pool"]["max_size"] > 0
    assert values["CELERY_BROKER_URL"] == "redis://broker.example.org/1"
    assert values["CELERY_BROKER_TRANSPORT_OPTIONS"]["unacked_restore_interval"] <= 10


def test_a_local_lab_allows_model_calls_and_serves_this_machine_only(tmp_path: Path) -> None:
    names = ["KAPSOWEB_ALLOW_LIVE", "ALLOWED_HOSTS", "DEBUG", "SECRET_KEY", "KAPSOWEB_HOME", "DATABASES"]
    home = tmp_path / "new" / "lab"
    first = json.loads(load("kapsoweb.settings.local", names, {"KAPSOWEB_HOME": str(home)}).stdout)
    second = json.loads(load("kapsoweb.settings.local", names, {"KAPSOWEB_HOME": str(home)}).stdout)
    assert first == second
    assert (first["KAPSOWEB_ALLOW_LIVE"], first["DEBUG"]) == (True, False)
    assert first["ALLOWED_HOSTS"] == ["localhost", "127.0.0.1", "[::1]"]
    assert first["DATABASES"]["default"]["NAME"] == str(home / "lab.sqlite3")
    assert (home / "secret-key").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
