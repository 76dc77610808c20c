"""The command line `kapsoweb`: translate in, one call, translate out."""

from kapsoweb.cli.main import main

__all__ = ["main"]
