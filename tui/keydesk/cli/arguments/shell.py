"""The verbs about the commands themselves: completions for a shell, the schemas of JSON documents."""

from keydesk.cli.arguments.parser import CommandParser, Verb

SHELLS = ("bash", "fish", "zsh")


def _add_completions(parser: CommandParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell")


def _add_schema(parser: CommandParser) -> None:
    parser.add_argument(
        "kind",
        nargs="?",
        metavar="KIND",
        help="the member `kind` of a document; left out: list them",
    )


def _add_nothing(_: CommandParser) -> None:
    """Add no options."""


VERBS = (
    Verb(
        "skill",
        "shell_files:skill",
        "Print the guide for agents: what they can read, and what they never do.",
        _add_nothing,
        ("keydesk skill",),
    ),
    Verb(
        "completions",
        "shell_files:completions",
        "Print the completions of a shell.",
        _add_completions,
        ("keydesk completions bash",),
        more='bash: eval "$(keydesk completions bash)" in ~/.bashrc. zsh: write it to a file _keydesk in a folder of $fpath. '
        "fish: write it to ~/.config/fish/completions/keydesk.fish.",
    ),
    Verb(
        "schema",
        "shell_files:schema",
        "Print the JSON schema of what a command prints with --json.",
        _add_schema,
        ("keydesk schema", "keydesk schema trades"),
    ),
)
