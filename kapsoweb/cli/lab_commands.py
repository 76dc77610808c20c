"""`kapsoweb lab`, `kapsoweb sign-in-link` and `kapsoweb worker`."""

import argparse

from kapsoweb.cli.main import UsageError
from kapsoweb.cli.output import Result


def lab(given: argparse.Namespace) -> Result:
    """Run the lab until it is asked to end."""
    from kapsoweb.lab import run_lab  # noqa: PLC0415 - sets Django up itself

    run_lab(given.port)
    return Result({}, ())


def sign_in_link(given: argparse.Namespace) -> Result:
    """Print a new one-time sign-in link for the lab on this machine."""
    from kapsoweb.lab.address import chosen_port  # noqa: PLC0415
    from kapsoweb.lab.signing_in import sign_in_address  # noqa: PLC0415 - needs Django to be set up

    link = sign_in_address(chosen_port(given.port))
    return Result({"link": link}, (link,))


def worker(given: argparse.Namespace) -> Result:
    """Run a worker until it is asked to end."""
    from kapsoweb.jobs.worker import serve  # noqa: PLC0415 - needs Django to be set up

    if given.threads < 1:
        raise UsageError(f"A worker has 1 thread or more, not {given.threads}.")
    return Result({}, (), serve(given.threads))
