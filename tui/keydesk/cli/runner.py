"""Parse the command line, run one command, and report an error as one sentence on stderr and by the exit code."""

import errno
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from keydesk.cli.arguments.desk import DESK
from keydesk.cli.arguments.tree import desk_parser, find_verb
from keydesk.cli.script_output import (
    EXIT_CODES,
    FAILURE,
    Refusal,
    UsageError,
    category_of,
    print_error_json,
)
from keydesk.config.folders import DeskOptions, UnsafeFolder, find_folders
from keydesk.settings.toml_text import BadSettings
from keydesk.terminal.output import (
    discard_what_cannot_be_written,
    print_error,
    replace_signs,
    sanitize_stderr,
)
from keydesk.text.sanitize import clean, safe
from keydesk_client.errors import KeydeskClientError

FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
SENTENCE = 1000  # characters


def desk_options(argv: Sequence[str]) -> DeskOptions:
    """Parse the arguments of the bare command; exit with 2 and a sentence on stderr if they are wrong."""
    parser = desk_parser()
    options = parser.read(argv)
    DESK.verify(parser, options)
    return DeskOptions(**vars(options))


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; exit with 2 on wrong usage."""
    sanitize_stderr()
    replace_signs()
    verb, own = find_verb(arguments)
    parser = verb.parser()
    options = parser.read(own)
    verb.verify(parser, options)
    module, _, name = verb.run.partition(":")
    function = getattr(import_module(f"keydesk.cli.{module}"), name)
    try:
        code: int = function(options)
        sys.stdout.flush()
    except UsageError as error:
        parser.error(str(error))
    except BrokenPipeError:  # `keydesk ... | head`: the reader of the pipe has ended
        discard_what_cannot_be_written()
        return FAILURE
    except (Refusal, BadSettings, UnsafeFolder, KeydeskClientError, OSError) as error:
        code = _failed(error, wants_json=getattr(options, "json", False))
        if isinstance(error, BadSettings) and not getattr(options, "json", False):
            report_other_files(error, getattr(options, "data", None))
        return code
    return code


def _failed(error: Exception, *, wants_json: bool) -> int:
    """Say what ended the command, for a script as JSON; return the exit code."""
    if not wants_json:
        report_error(error)
        discard_what_cannot_be_written()
        return EXIT_CODES[category_of(error)]
    try:
        return print_error_json(category_of(error), clean(text_of(error), SENTENCE))
    except OSError as unwritten:
        report_error(unwritten)
        discard_what_cannot_be_written()
        return FAILURE


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
    print_error(safe(f"keydesk: {clean(text_of(error), SENTENCE)}"))


def report_other_files(error: BadSettings, data: str | None) -> None:
    """Print the other files of settings that cannot be used: all are to be mended, not one after each start."""
    from keydesk.config.settings_files import other_troubles  # noqa: PLC0415 - after an error only

    with suppress(UnsafeFolder, KeydeskClientError, OSError):
        for each in other_troubles(error, find_folders(data, os.environ).config):
            print_error(safe(f"keydesk: {clean(each, SENTENCE)}"))


def text_of(error: Exception) -> str:
    """Return an error as a sentence."""
    return _disk_text(error) if isinstance(error, OSError) else str(error)


def _disk_text(error: OSError) -> str:
    """Return what a file or the output refused, with the file where it is known, and the remedy where there is one."""
    text = error.strerror or str(error)
    if error.filename is not None:
        text = f"{os.fsdecode(error.filename)}: {text}"
    return f"{text}: the disk is full, make room and do it again" if error.errno in FULL else text
