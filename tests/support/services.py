"""Find or start what the tests need from outside: PostgreSQL, Redis, Chromium.

Each service is a context manager that yields a `Service` or raises `NotToBeHad`, whose message says how to get it. Only
what was started or created here is stopped or removed here. Why: docs/decisions/services-of-the-tests.md.
"""

import contextlib
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis
from psycopg import sql

_START_SECONDS = 60.0
_STOP_SECONDS = 15.0
_CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class NotToBeHad(Exception):  # noqa: N818 - an answer, not a fault
    """The service is not on this machine; the message says how to get it."""


@dataclass(frozen=True)
class Service:
    """A service that answers: `address` for DATABASE_URL or REDIS_URL, `origin` for a person."""

    address: str
    origin: str


def chromium() -> Path:
    """The browser that pages are driven in: KAPSOWEB_CHROMIUM, or the first known name on the path."""
    named = os.environ.get("KAPSOWEB_CHROMIUM")
    if named:
        if not os.access(named, os.X_OK):
            raise NotToBeHad(f"KAPSOWEB_CHROMIUM names {named}, which cannot be run; name a Chromium or unset it")
        return Path(named)
    for name in _CHROMIUM_NAMES:
        found = shutil.which(name)
        if found:
            return Path(found)
    raise NotToBeHad("Chromium was not found; apt-get install chromium, or set KAPSOWEB_CHROMIUM to its path")


@contextlib.contextmanager
def postgresql() -> Iterator[Service]:
    """DATABASE_URL when given; else a server on 127.0.0.1:5432 that trusts `postgres`; else a private cluster."""
    given = os.environ.get("DATABASE_URL")
    if given:
        yield Service(given, "the server that DATABASE_URL names")
        return
    running = "postgres://postgres@127.0.0.1:5432"
    if _may_create_databases(running):
        yield from _private_names(running, "the server on 127.0.0.1:5432, in a database of this run")
        return
    binaries = _postgresql_binaries()
    if binaries is None:
        raise NotToBeHad("PostgreSQL was not found; apt-get install postgresql, or set DATABASE_URL to a server")
    owner = _owner_of_a_cluster()
    with tempfile.TemporaryDirectory(prefix="kapso-postgresql-") as place:
        if owner is not None:
            os.chown(place, pwd.getpwnam(owner).pw_uid, pwd.getpwnam(owner).pw_gid)
        data = Path(place, "data")
        made = subprocess.run(
            [binaries / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
            user=owner,
            group=owner,
            extra_groups=None if owner is None else [],
            cwd=place,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            raise NotToBeHad(f"{binaries / 'initdb'} failed: {made.stderr.strip()}; or set DATABASE_URL to a server")
        port = free_port()
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "unix_socket_directories": "",
            # The cluster is thrown away at the end: nothing has to survive a power cut.
            "fsync": "off",
            "synchronous_commit": "off",
            "full_page_writes": "off",
        }
        command = [str(binaries / "postgres"), "-D", str(data)]
        for name, value in settings.items():
            command += ["-c", f"{name}={value}"]
        address = f"postgres://postgres@127.0.0.1:{port}"
        # SIGINT asks PostgreSQL for a fast shutdown: sessions are ended, not waited for.
        with _running(command, lambda: _may_create_databases(address), place, owner=owner, end=signal.SIGINT):
            yield from _private_names(address, f"a private cluster on 127.0.0.1:{port}")


@contextlib.contextmanager
def redis_server() -> Iterator[Service]:
    """REDIS_URL when given; else a private server without a disk; else an empty database of 127.0.0.1:6379."""
    given = os.environ.get("REDIS_URL")
    if given:
        yield Service(given, "the server that REDIS_URL names")
        return
    binary = shutil.which("redis-server")
    if binary:
        port = free_port()
        address = f"redis://127.0.0.1:{port}/0"
        with tempfile.TemporaryDirectory(prefix="kapso-redis-") as place:
            command = [binary, "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
            with _running(command, lambda: _answers_redis(address), place, end=signal.SIGTERM):
                yield Service(address, f"a private server on 127.0.0.1:{port}")
        return
    for number in range(15, 0, -1):
        address = f"redis://127.0.0.1:6379/{number}"
        if not _answers_redis(address):
            break
        with redis.Redis.from_url(address) as connection:
            if connection.dbsize() == 0:
                try:
                    yield Service(address, f"the server on 127.0.0.1:6379, its empty database {number}")
                finally:
                    connection.flushdb()
                return
    raise NotToBeHad("Redis was not found; apt-get install redis-server, or set REDIS_URL to a server")


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def _running(
    command: Sequence[str],
    answers: Callable[[], bool],
    place: str,
    *,
    end: signal.Signals,
    owner: str | None = None,
) -> Iterator[None]:
    log = Path(place, "server.log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            user=owner,
            group=owner,
            extra_groups=None if owner is None else [],
            cwd=place,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # A terminal's Ctrl-C must not reach it before the tests have closed their connections.
            process_group=0,
        )
    try:
        deadline = time.monotonic() + _START_SECONDS
        while not answers():
            if process.poll() is not None or time.monotonic() > deadline:
                raise NotToBeHad(f"{command[0]} did not start: {log.read_text(errors='replace')[-1000:].strip()}")
            time.sleep(0.05)
        yield
    finally:
        process.send_signal(end)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _private_names(server: str, origin: str) -> Iterator[Service]:
    name = f"kapso_{os.getpid()}_{secrets.token_hex(3)}"
    try:
        yield Service(f"{server}/{name}", origin)
    finally:
        # Django drops its test database itself, unless the run was cut short; nobody else has names like these.
        with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
            left = connection.execute(
                "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [f"test_{name}"]
            )
            for (database,) in left.fetchall():
                connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(database)))


def _may_create_databases(server: str) -> bool:
    try:
        with psycopg.connect(f"{server}/postgres", connect_timeout=2) as connection:
            row = connection.execute("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")
            return row.fetchone() == (True,)
    except psycopg.OperationalError:
        return False


def _answers_redis(address: str) -> bool:
    try:
        with redis.Redis.from_url(address, socket_connect_timeout=2) as connection:
            return bool(connection.ping())
    except redis.RedisError:
        return False


def _postgresql_binaries() -> Path | None:
    """The folder that holds `initdb` and `postgres`: on the path, or the newest of Debian's."""
    on_path = shutil.which("initdb")
    candidates = [Path(on_path).parent] if on_path else []
    debian = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    candidates += sorted(debian, key=lambda path: [int(part) for part in path.parent.name.split(".")], reverse=True)
    return next((path for path in candidates if os.access(path / "postgres", os.X_OK)), None)


def _owner_of_a_cluster() -> str | None:
    """PostgreSQL refuses to run as root: then its own account runs it, otherwise whoever runs the tests (None)."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres").pw_name
    except KeyError:
        raise NotToBeHad(
            "PostgreSQL refuses to run as root and there is no account named postgres; apt-get install postgresql"
        ) from None


def environment_of_a_part(services: Mapping[str, Service], place: str) -> dict[str, str]:
    """The environment of one pytest run: nothing of the caller's lab or services but what is named in `services`.

    `services` maps DATABASE_URL and REDIS_URL to what answers there; `place` becomes KAPSOWEB_HOME.
    """
    kept = {"KAPSOWEB_TEST_DATA", "KAPSOWEB_CHROMIUM"}
    environment = {
        name: value
        for name, value in os.environ.items()
        if name in kept
        or not (name.startswith("KAPSOWEB_") or name in {"DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "PORT"})
    }
    environment["KAPSOWEB_HOME"] = place
    environment.update({name: service.address for name, service in services.items()})
    return environment
