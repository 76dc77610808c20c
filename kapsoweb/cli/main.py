"""The parser and the one place where errors become exit codes.

Exit codes: 0 done, 1 a gate failed or the work was interrupted, 2 bad usage or input, 3 refused by a guard.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from django.db import DatabaseError

from kapsoweb.cli.database import DatabaseNotReadyError, set_up
from kapsoweb.cli.output import BAD_USAGE, FAILED, Result, say, show, show_error
from kapsoweb.foundation.errors import KapsoError

Command = Callable[[argparse.Namespace], Result]


class UsageError(KapsoError):
    """The command was called with arguments that it does not take."""

    id = "bad-usage"


class _Parser(argparse.ArgumentParser):
    def __init__(self, **settings: Any) -> None:
        # Whole names only: a script must not change its meaning when another option begins with the same letters.
        super().__init__(**{"allow_abbrev": False, **settings})

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see `{self.prog} --help`)")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    as_json = "--json" in given
    try:
        namespace = _parser().parse_args(given)
        if namespace.command is None:
            _parser().print_help()
            return BAD_USAGE
        if namespace.needs_database:
            set_up(plain_logs=namespace.plain_logs)
        return show(_command(namespace)(namespace), as_json=as_json)
    except KapsoError as error:
        return show_error(error, as_json=as_json)
    except DatabaseError as error:
        return show_error(DatabaseNotReadyError.of(error), as_json=as_json)
    except BrokenPipeError:
        # The reader of our output has left; there is nobody to tell. Point the stream away so that exit stays silent.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        say("kapsoweb: interrupted; what was recorded is kept, and the same command goes on from there.")
        return FAILED


def _command(namespace: argparse.Namespace) -> Command:
    from importlib import import_module  # noqa: PLC0415 - a command's module may need Django, which is set up by now

    module, _, function = namespace.command.partition(":")
    command: Command = getattr(import_module(module), function)
    return command


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="kapsoweb", description="Does what was learned help on work it has not seen?")
    parser.set_defaults(command=None, needs_database=True, plain_logs=True, json=False)
    rooms = parser.add_subparsers(title="commands", metavar="COMMAND")
    lab = rooms.add_parser("lab", help="run the lab: migrate, load the demonstration, start web and worker")
    lab.add_argument("--port", type=int, default=None, help="port on 127.0.0.1 (default: PORT, then 8000)")
    lab.set_defaults(command="kapsoweb.cli.lab_commands:lab", needs_database=False)
    link = rooms.add_parser("sign-in-link", help="print a new link that signs in once")
    link.add_argument("--port", type=int, default=None, help="port of the running lab (default: PORT, then 8000)")
    _finish(link, "kapsoweb.cli.lab_commands:sign_in_link")
    worker = rooms.add_parser("worker", help="run a background worker")
    worker.add_argument("--threads", type=int, default=4, help="jobs at once (default 4)")
    worker.set_defaults(command="kapsoweb.cli.lab_commands:worker", plain_logs=False)
    _cyclotron_commands(rooms.add_parser("cyclotron", help="classifiers that learn from reviewers"))
    _token_commands(rooms.add_parser("token", help="API tokens for REST and GraphQL"))
    return parser


def _token_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    where = "kapsoweb.cli.token_commands"

    def add(name: str, help_text: str, function: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help_text, description=help_text)
        _finish(added, f"{where}:{function}")
        return added

    create = add("create", "Make a token and print it; it is never shown again.", "create")
    create.add_argument("name", metavar="NAME", help="what it is for")
    create.add_argument("--role", choices=("viewer", "reviewer", "operator", "owner"), default="operator")
    create.add_argument("--days", type=int, default=90, metavar="N", help="days until it expires (default 90)")
    create.add_argument("--cyclotron", metavar="NAME", help="the one cyclotron that it reaches (default: everything)")
    add("list", "List the tokens, newest first.", "listing")
    add("revoke", "End a token at once.", "revoke").add_argument("id", metavar="ID")


def _cyclotron_commands(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    where = "kapsoweb.cli.cyclotron_commands"

    def add(name: str, help_text: str, function: str, **names: Any) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help_text, description=help_text)
        added.add_argument("name", metavar=names.get("metavar", "NAME"), help=names.get("what", "the cyclotron's name"))
        _finish(added, f"{where}:{function}")
        return added

    listing = commands.add_parser("list", help="list the cyclotrons")
    _finish(listing, f"{where}:listing")

    create = add("create", "Create a cyclotron with one classifier.", "create")
    create.add_argument("--labels", required=True, help="the labels, separated by commas, in order")
    create.add_argument("--positive", metavar="LABEL", help="the label whose precision and recall are reported")
    create.add_argument("--question", required=True, metavar="TEXT", help="what is asked about each item")
    create.add_argument("--rubric-file", metavar="F", help="a text file with the seed rubric")
    create.add_argument("--seed", metavar="S", help="fixes partitions and draws (default: the name)")
    create.add_argument("--learn-every", type=int, metavar="N", help="training reviews between learning (20 when new)")

    replay = add("replay", "Decide each row of a labelled file, record its label, learn as it goes.", "replay")
    replay.add_argument("file", metavar="FILE.csv")
    replay.add_argument("--id", required=True, metavar="COL", dest="id_column", help="column of the item's identity")
    replay.add_argument("--text", required=True, metavar="COL", action="append", help="column of text (repeatable)")
    replay.add_argument("--label", required=True, metavar="COL", help="column of the label")
    replay.add_argument(
        "--map", metavar="VALUE=LABEL", action="append", default=[], help="a value's label (repeatable)"
    )
    replay.add_argument("--else", metavar="LABEL", dest="otherwise", help="the label of every other value")

    decisions = add("import-decisions", "Bring in decisions that were made elsewhere, with their propensities.", "")
    decisions.add_argument("file", metavar="FILE.jsonl", help="one decision on each line, as the REST API takes them")
    decisions.set_defaults(command="kapsoweb.cli.decision_commands:import_decisions")

    undo = add("undo", "Retract a review.", "undo")
    undo.add_argument("review", metavar="REVIEW", help="the review's identity")

    add("status", "Show counts, the active version and when learning is due.", "status")
    add("freeze", "Freeze a held-out set; no model is called.", "freeze")
    add("bound", "Show how many model requests an evaluation would make at most.", "bound")

    evaluate = add("evaluate", "Evaluate the newest held-out set.", "evaluate")
    evaluate.add_argument("--confirm", required=True, type=int, metavar="N", help="the request bound that you confirm")
    evaluate.add_argument(
        "--fail-unless",
        choices=("improved", "not-worse"),
        help="exit 1 unless the verdict is `improved`, or is neither `worse` nor `too-few-labels`",
    )

    report = add("report", "Print the newest report.", "report")
    report.add_argument("--format", choices=("json", "csv", "md"), default="json")
    report.add_argument("--output", metavar="F", help="write to a file instead of standard output")

    verify = add(
        "verify",
        "Recompute everything that follows from a report's items.",
        "verify",
        metavar="REPORT.json",
        what="a report in JSON",
    )
    verify.set_defaults(command="kapsoweb.cli.verify_command:verify", needs_database=False)


def _finish(parser: argparse.ArgumentParser, command: str) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document on standard output")
    parser.set_defaults(command=command)
