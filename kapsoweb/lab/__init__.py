"""The supervisor behind `kapsoweb lab`: one command that brings a local lab up, keeps it up and ends it whole."""

from kapsoweb.lab.command import run_lab

__all__ = ["run_lab"]
