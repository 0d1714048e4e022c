"""Output of the commands: sanitized text, and ASCII replacements where the terminal shows nothing else."""

import codecs
import json
import os
import re
import sys
import traceback
from functools import lru_cache
from io import TextIOWrapper
from types import TracebackType

from rich.cells import cell_len

from keydesk.terminal.check import ascii_locale
from keydesk.text.sanitize import Printable, lines_without_controls

LINES = {
    **dict.fromkeys("─╌┄", "-"),
    **dict.fromkeys("━╸╺═", "="),  # bars: told from the rule that they stand on
    **dict.fromkeys("│┃╎║▏▎▍▌▐", "|"),
    "┊": ":",
    **dict.fromkeys("▔“”", '"'),
    "╴": "-",
    **dict.fromkeys("┌┐└┘├┤┬┴┼┏┓┗┛", "+"),
    **dict.fromkeys("╭╯", "/"),
    **dict.fromkeys("╮╰", "\\"),
}
CANDLES = {**dict.fromkeys("┃╻╹╽╿█▄▀▖▗▘▙▚▛▜▝▞▟", "#"), **dict.fromkeys("╷╵", "|")}
DOTS = dict.fromkeys(map(chr, range(0x2801, 0x2900)), ".")  # Braille of lines
SIGNS = dict(zip("−–—…×·•●○▲▼▶◀▸◂↑↓←→✓✗≤≥±∞", "---~x.**o^v><><^v<>+x<>+*", strict=True))
BARS = {
    **dict.fromkeys("▁▂▃", "_"),
    **dict.fromkeys("▅▆▇", "#"),
    **dict.fromkeys("▒▓■", "#"),
    "░": ".",
}
GLYPHS = {ord(k): v for k, v in {**LINES, **CANDLES, **DOTS, **SIGNS, **BARS}.items()}
UNSEEN = "?"
ERRORS = "keydesk-ascii"
SGR = re.compile(r"\x1b\[[0-9;]*m")


def print_lines(*lines: Printable, end: str = "\n") -> None:
    """Print lines on standard output, at once."""
    print(*lines, sep="\n", end=end, flush=True)


def print_error(line: Printable) -> None:
    """Print a line on standard error."""
    print(line, file=sys.stderr)


def discard_what_cannot_be_written() -> None:
    """Discard what a terminal that is gone did not take: flushed at the interpreter's end it would make the exit code 120."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is None:
            continue
        try:
            stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def print_json(value: object) -> None:
    """Print a value for a script; everything beyond ASCII, and every control character, is escaped."""
    print(json_text(value))


def print_json_line(value: object) -> None:
    """Print a value as one line of JSON, at once: the reader gets each event as it comes."""
    print(json.dumps(value).replace("\x7f", "\\u007f"), flush=True)


def json_text(value: object) -> str:
    """Return a value as JSON of several lines in ASCII, without control characters."""
    return json.dumps(value, indent=2).replace("\x7f", "\\u007f")


def print_picture(text: str) -> None:
    """Print text drawn by another library; only colour sequences are passed on."""
    parts = SGR.split(text)
    codes = [*SGR.findall(text), ""]
    print(
        "".join(
            lines_without_controls(part) + code for part, code in zip(parts, codes, strict=True)
        )
    )


class SanitizedStream(TextIOWrapper):
    """Standard error for what is written past `print_error`: tracebacks and warnings may quote the server."""

    def write(self, text: str, /) -> int:
        """Write text without escape sequences and control characters."""
        return super().write(lines_without_controls(text))


def sanitize_stderr() -> None:
    """Replace standard error by a stream that removes control characters from tracebacks and log lines."""
    stream = sys.stderr
    if stream is sys.__stderr__ and isinstance(stream, TextIOWrapper):
        stream.flush()
        sys.stderr = SanitizedStream(
            open(stream.fileno(), "wb", buffering=0, closefd=False),  # noqa: SIM115 - open to the end
            encoding=stream.encoding,
            errors=stream.errors,
            write_through=True,
        )


def sanitizing_excepthook(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Print a traceback without control characters: for the desk, whose own pictures go to standard error."""
    lines = traceback.format_exception(kind, error, trace)
    print(lines_without_controls("".join(lines)), end="", file=sys.stderr)


def replace_signs() -> None:
    """Print characters that the output cannot encode as the nearest ASCII character."""
    codecs.register_error(ERRORS, _nearest)
    shown_in_ascii = _shown_in_ascii()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            plain = stream.isatty() and shown_in_ascii
            stream.reconfigure(encoding="ascii" if plain else None, errors=ERRORS)


def _shown_in_ascii() -> bool:
    """Return whether the terminal shows ASCII only: by the locale, or because tmux or screen was started without UTF-8."""
    if ascii_locale(os.environ):
        return True
    in_multiplexer = os.environ.get("TMUX") or os.environ.get("STY")
    if not (in_multiplexer and sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    from keydesk.terminal.check import TerminalCheck  # noqa: PLC0415 - rarely needed

    return bool(TerminalCheck(os.environ).facts().ascii_because)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return in_ascii(error.object[error.start : error.end]), error.end


@lru_cache(maxsize=4096)
def in_ascii(text: str) -> str:
    """Return text of the same width in ASCII."""
    if text.isascii():
        return text
    characters = (c if c.isascii() else UNSEEN * cell_len(c) for c in text.translate(GLYPHS))
    return "".join(characters)
