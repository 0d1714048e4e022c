"""Parse the command line, run one command, and report an error as one sentence on stderr with exit code 1."""

import argparse
import errno
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import keydesk
from keydesk.app.practice_broker import PracticeFailed
from keydesk.config.settings import FRAMES, BadSettings, DeskOptions, UnsafeFolder
from keydesk.terminal.output import (
    discard_what_cannot_be_written,
    replace_signs,
    sanitize_stderr,
    say_error,
)
from keydesk.text.sanitize import clean, safe
from keydesk_client.errors import KeydeskClientError

FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
PRICE_RATES = range(1, 1001)
SENTENCE = 1000  # characters
USAGE = 2
COMMANDS = {
    "login": "login",
    "logout": "login",
    "profiles": "login",
    "status": "status",
    "chart": "chart",
    "export": "export",
    "history": "history",
    "journal": "journal",
    "templates": "templates",
    "flatten": "flatten",
    "cancel-all": "flatten",
    "lock": "flatten",
    "watch": "watch",
    "doctor": "doctor",
    "reset-terminal": "doctor",
}
"""Modules of this package by command; the function has the name of the command."""


def desk_parser() -> argparse.ArgumentParser:
    """Return the parser of the bare `keydesk` command."""
    parser = argparse.ArgumentParser(
        prog="keydesk",
        description="A keyboard-driven trading workstation. Without a profile it opens on its own practice market.",
        epilog="also: keydesk login, logout, profiles, status, export, history, journal, templates, chart, watch, doctor, flatten, "
        "cancel-all, lock, reset-terminal, practice serve, practice reset (each with --help)",
        allow_abbrev=False,
    )
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--profile", metavar="NAME", help="open this profile")
    where.add_argument("--practice", action="store_true", help="open the practice market")
    parser.add_argument(
        "--fps",
        type=_one_of(FRAMES),
        metavar="N",
        help="frames a second, 1 to 30 (10; use 4 on a slow link)",
    )
    parser.add_argument(
        "--theme", metavar="NAME", help="colours of the desk, such as dark, light or colour-blind"
    )
    parser.add_argument("--read-only", action="store_true", help="look only: nothing is ever sent")
    parser.add_argument(
        "--ascii",
        action="store_true",
        help="draw with ASCII only, as by itself in a locale without UTF-8",
    )
    parser.add_argument(
        "--mouse", action="store_true", help="accept the mouse (costs traffic on a slow link)"
    )
    parser.add_argument("--data", metavar="DIR", help="keep settings and state in this folder")
    parser.add_argument(
        "--price-rate",
        type=_one_of(PRICE_RATES),
        metavar="N",
        help="with --practice: prices a second and instrument",
    )
    add_passphrase_options(parser)
    parser.add_argument("--version", action="version", version=f"keydesk {keydesk.__version__}")
    return parser


def desk_options(argv: list[str]) -> DeskOptions:
    """Parse the arguments of the bare command; exit with 2 and a sentence on stderr if they are wrong."""
    parser = desk_parser()
    options = parser.parse_args(argv)
    if options.price_rate is not None and not options.practice:
        parser.error("--price-rate goes with --practice")
    return DeskOptions(**vars(options))


def add_passphrase_options(parser: argparse.ArgumentParser) -> None:
    """Add the two options by which a script gives the vault's passphrase."""
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--passphrase-fd",
        type=int,
        metavar="N",
        help="read the token vault's passphrase from this open file descriptor",
    )
    source.add_argument(
        "--passphrase-file",
        type=Path,
        metavar="PATH",
        help="read the token vault's passphrase from this file (mode 0600)",
    )


def parse_out_of_band(
    parser: argparse.ArgumentParser, arguments: Sequence[str]
) -> argparse.Namespace:
    """Parse a command that acts on an account; only with a prompt may its name be left out."""
    parser.add_argument("--yes", action="store_true", help="do not ask; needs the account's name")
    options = parser.parse_args(arguments)
    if options.yes and not (options.profile or options.practice):
        parser.error("one of the arguments --profile --practice is required with --yes")
    return options


def _one_of(numbers: range) -> Callable[[str], int]:
    """Return the reader of a whole number among these."""

    def read(text: str) -> int:
        if not text.isdecimal() or int(text) not in numbers:
            reason = f"{text!r} is not a whole number from {numbers[0]} to {numbers[-1]}"
            raise argparse.ArgumentTypeError(reason)
        return int(text)

    return read


class Refusal(Exception):
    """Raised to end a command with one sentence: what is wrong, and the remedy."""


def run(command: str, arguments: list[str]) -> int:
    """Run a command and return its exit code; exit with 2 on wrong usage."""
    if command not in COMMANDS:
        known = ", ".join(["practice", *COMMANDS])
        say_error(safe(f"keydesk: there is no command {clean(command)} (known: {known})"))
        return USAGE
    sanitize_stderr()
    replace_signs()
    module = import_module(f"keydesk.cli.{COMMANDS[command]}")
    function = getattr(module, command.replace("-", "_"))
    try:
        code: int = function(arguments)
        sys.stdout.flush()
    except BrokenPipeError:  # `keydesk ... | head`: the reader of the pipe has ended
        discard_what_cannot_be_written()
        return 1
    except (
        Refusal,
        BadSettings,
        UnsafeFolder,
        PracticeFailed,
        KeydeskClientError,
        OSError,
    ) as error:
        report_error(error)
        discard_what_cannot_be_written()
        return 1
    return code


def flush_output() -> int:
    """Write out what standard output holds back; return 1 with a sentence on stderr if it is not taken, else 0."""
    try:
        sys.stdout.flush()
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            report_error(error)
        discard_what_cannot_be_written()
        return 1
    return 0


def report_error(error: Exception) -> None:
    """Print an error on stderr."""
    text = _disk_text(error) if isinstance(error, OSError) else str(error)
    say_error(safe(f"keydesk: {clean(text, SENTENCE)}"))


def _disk_text(error: OSError) -> str:
    """Return what a file or the output refused, with the file where it is known, and the remedy where there is one."""
    text = error.strerror or str(error)
    if error.filename is not None:
        text = f"{os.fsdecode(error.filename)}: {text}"
    return f"{text}: the disk is full, make room and do it again" if error.errno in FULL else text
