"""The verbs about the files of settings."""

from keydesk.cli.arguments.options import add_data
from keydesk.cli.arguments.parser import CommandParser, Verb

FILES = (
    *("config.toml", "templates.toml", "keymap.toml"),
    *("watchlists.toml", "workspaces.toml", "levels.toml"),
)


def _add_file(parser: CommandParser, *, is_needed: bool = False) -> None:
    parser.add_argument(
        "file",
        choices=FILES,
        metavar="FILE",
        nargs=None if is_needed else "?",
        help=f"one of: {', '.join(FILES)}",
    )
    add_data(parser)


def _add_edit(parser: CommandParser) -> None:
    _add_file(parser, is_needed=True)


VERBS = (
    Verb(
        "config path",
        "config:path",
        "Name the files of settings with their folder.",
        _add_file,
        ("keydesk config path",),
    ),
    Verb(
        "config show",
        "config:show",
        "Show what the files set and, as comments, every other key with its usual value.",
        _add_file,
        ("keydesk config show", "keydesk config show config.toml"),
    ),
    Verb(
        "config check",
        "config:check",
        "Check the files as the desk does: file, line, key and remedy of what is wrong.",
        add_data,
        ("keydesk config check",),
    ),
    Verb(
        "config edit",
        "config:edit",
        "Open a file in VISUAL or EDITOR, and check it then.",
        _add_edit,
        ("keydesk config edit config.toml",),
    ),
)
