"""`kapsoweb lab`, `kapsoweb sign-in-link` and `kapsoweb worker`."""

import argparse

from kapsoweb.cli.output import Result


def lab(given: argparse.Namespace) -> Result:
    """Run the lab until it is asked to end."""
    from kapsoweb.lab import main  # noqa: PLC0415 - sets Django up itself

    return Result({}, (), main(given.port))


def sign_in_link(given: argparse.Namespace) -> Result:
    """Print a new one-time sign-in link for the lab on this machine."""
    from kapsoweb.accounts.actions import create_sign_in_link  # noqa: PLC0415 - needs Django to be set up
    from kapsoweb.foundation import clock  # noqa: PLC0415
    from kapsoweb.lab.address import HOST, checked_port, port_of_the_environment  # noqa: PLC0415

    port = port_of_the_environment() if given.port is None else checked_port(given.port)
    link = f"http://{HOST}:{port}/sign-in/{create_sign_in_link(clock.now())}/"
    return Result({"link": link}, (link,))


def worker(given: argparse.Namespace) -> Result:
    """Run a worker until it is asked to end."""
    from kapsoweb.jobs.worker import serve  # noqa: PLC0415 - needs Django to be set up

    serve(given.threads)
    return Result({}, ())
