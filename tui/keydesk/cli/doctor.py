"""`keydesk doctor`: look at everything the desk depends on, and say what is wrong and what to do."""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict

from keydesk.cli.broker_checks import broker
from keydesk.cli.check import Check
from keydesk.cli.machine_checks import (
    check_colours,
    check_disk,
    check_locale,
    check_settings,
    check_terminal,
    check_token_store,
)
from keydesk.cli.reaching import account_parser
from keydesk.config import paths
from keydesk.terminal.output import say, say_json
from keydesk.terminal.terminal_check import TerminalCheck, TerminalFacts, unusable
from keydesk.text.sanitize import clean, safe

MARKS = {"ok": "ok  ", "warn": "WARN", "bad": "BAD "}
SENTENCE = 500  # characters


def doctor(words: Sequence[str]) -> int:
    """Print what was found; returns 1 when something is wrong."""
    parser = account_parser("doctor", "Look at everything that the desk depends on.")
    parser.add_argument("--json", action="store_true", help="for a script")
    options = parser.parse_args(words)
    checks = _checks(options)
    fit = all(check.verdict != "bad" for check in checks)
    if options.json:
        found = [asdict(check) for check in checks]
        say_json({"ok": fit, "checks": found})
    else:
        for check in checks:
            words = clean(check.words, SENTENCE)
            say(safe(f"{MARKS[check.verdict]} {check.name:<10} {words}"))
    return 0 if fit else 1


def _checks(options: Namespace) -> list[Check]:
    folders = paths.find(options.data, os.environ)
    terminal = _terminal_facts()
    return [
        check_terminal(_terminal_size(), os.environ),
        *[Check("keys", "warn", warning) for warning in terminal.warnings],
        check_colours(os.environ),
        check_locale(os.environ, terminal.ascii_because),
        check_token_store(folders),
        check_settings(folders),
        check_disk(folders),
        *asyncio.run(broker(options)),
    ]


def _terminal_facts() -> TerminalFacts:
    """Ask the terminal, when there is one that answers to a person at it."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or unusable(os.environ):
        return TerminalFacts()
    return TerminalCheck(os.environ).facts()


def _terminal_size() -> os.terminal_size | None:
    try:
        return os.get_terminal_size(sys.stdin.fileno())
    except OSError:
        return None
