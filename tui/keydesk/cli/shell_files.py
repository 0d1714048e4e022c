"""`keydesk completions`, `schema` and `skill`: print files of the package, which `docs/build_shell_files.py` makes."""

import sys
from argparse import Namespace
from pathlib import Path

import keydesk
from keydesk.cli.arguments.parser import did_you_mean
from keydesk.cli.script_output import UsageError
from keydesk.terminal.output import print_lines
from keydesk.text.sanitize import safe

FOLDER = Path(keydesk.__file__).parent / "shell"
COMPLETIONS = {"bash": "keydesk.bash", "fish": "keydesk.fish", "zsh": "_keydesk"}


def completions(options: Namespace) -> int:
    """Print the completions of a shell; return the exit code."""
    return _print(FOLDER / COMPLETIONS[options.shell])


def schema(options: Namespace) -> int:
    """Print a schema, or the kinds of documents; return the exit code."""
    kinds = sorted(path.stem for path in (FOLDER / "schemas").glob("*.json"))
    if options.kind is None:
        print_lines(*(safe(kind) for kind in kinds))
        return 0
    if options.kind not in kinds:
        near = did_you_mean(options.kind, kinds)
        raise UsageError(f"there is no schema {options.kind!r}{near} (known: {', '.join(kinds)})")
    return _print(FOLDER / "schemas" / f"{options.kind}.json")


def skill(_: Namespace) -> int:
    """Print the guide for agents; return the exit code."""
    return _print(FOLDER / "SKILL.md")


def _print(path: Path) -> int:
    sys.stdout.write(path.read_text(encoding="utf-8"))
    return 0
