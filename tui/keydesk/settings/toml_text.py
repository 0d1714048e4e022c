"""The text of a settings file: read with a limit, and refused in words where it is none."""

import os
import re
import stat
import tomllib
from decimal import Decimal
from pathlib import Path
from typing import Any

import keydesk

SCHEMAS = Path(keydesk.__file__).parent / "shell" / "settings"
PLACE = re.compile(r" \(at line (\d+), column \d+\)$")
REMEDIES = {
    "Illegal character '\\n'": "a quotation mark is missing at the end of the line",
    "Unterminated string": "a quotation mark is missing",
    'Expected "\'"': "a quotation mark is missing",
    "Invalid value": 'a text stands between quotation marks, as in name = "text"; a switch is true or false',
    "Expected '=' after a key": 'a setting is written as name = value, as in theme = "light"',
}
MAX_BYTES = 4_000_000  # of a file of settings; more would delay the start by seconds


class BadSettings(Exception):
    """Raised for a settings file that cannot be used; the text names file, line, field and remedy."""


class ReadOnlySettings(BadSettings):
    """Raised for a settings file that is not to be written to."""


def first_line(name: str) -> str:
    """Return the first line of a file that is made: the schema by which editors complete and check it."""
    return f"#:schema {SCHEMAS / Path(name).with_suffix('.json')}"


def table_in(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file with exact decimals, {} if it is missing.

    Raises:
        BadSettings: it cannot be read, or is not TOML.
    """
    return parsed(text_in(path), path)


def parsed(text: str, path: Path) -> dict[str, Any]:
    """Return the content of a TOML text with exact decimals; raise `BadSettings` if it is not TOML."""
    try:
        return tomllib.loads(text, parse_float=Decimal)
    except RecursionError as error:
        raise BadSettings(f"{path} is nested too deeply; fix or remove it") from error
    except ValueError as error:  # not TOML, or a number of thousands of digits
        raise BadSettings(f"{not_toml(path, error)}; fix or remove it") from error


def not_toml(path: Path, error: ValueError) -> str:
    """Return in words where and why a file is not TOML, with what is usually missing there."""
    text = str(error)
    place = PLACE.search(text)
    where = f"{path}:{place[1]}" if place else f"{path}"
    what = text[: place.start()] if place else text
    usual = [remedy for start, remedy in REMEDIES.items() if text.startswith(start)]
    return f"{where} is not valid TOML: {': '.join([what, *usual])}"


def text_in(path: Path) -> str:
    """Return the text of a settings file, "" if it is missing; raise `BadSettings` with the remedy."""
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise BadSettings(f"{path} is a folder; move it away: a file is expected there")
        if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):  # to read a pipe waits for its writer
            raise BadSettings(f"{path} is a pipe or a socket; put a file there, or remove it")
        if stat.S_ISCHR(mode) and not path.samefile(os.devnull):  # a terminal waits for its keys
            raise BadSettings(f"{path} is a device; put a file there, or remove it")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except FileNotFoundError:
        if path.is_symlink():  # the trader's own limits may be in it
            raise BadSettings(
                f"{path} is a link to a file that is missing; put the file there, or remove the link"
            ) from None
        return ""
    except OSError as error:
        reason = error.strerror or str(error)
        raise BadSettings(f"{path} cannot be read: {reason}; fix or remove it") from error
    if len(content) > MAX_BYTES:
        most = MAX_BYTES // 1_000_000
        raise BadSettings(f"{path} has more than {most} MB; fix or remove it")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadSettings(f"{path} is not UTF-8 at line {line}; save the file as UTF-8") from error
