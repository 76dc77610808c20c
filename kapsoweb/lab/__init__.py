"""The supervisor behind `make lab`: one command that brings a local lab up, keeps it up and ends it whole."""

from kapsoweb.lab.command import main

__all__ = ["main"]
