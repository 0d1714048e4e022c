"""A person at a terminal: the real program in a real pseudo-terminal, its screen kept by a terminal emulator.

Nothing here sleeps: every wait reads the program's output until a condition holds, or for as long as a person pauses
between two keys (the key guard is right to distrust faster hands).
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pyte

from support.forked import ForkedDesk, is_coverage_measured
from support.unread_keys import BETWEEN, MARK, is_at_work, readers_of, unread_in

PAUSE = 0.35  # before and after a key that the guard judges: slower than its 250 ms dwell
QUICK = 0.1  # between other keys
# Variables that no import reads, and no start of Python: the desk may be forked from a process that has imported it.
NOT_IMPORTED = frozenset({"KEYDESK_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", MARK})
CONFIRMS = frozenset("ycdfvz")  # in a form, once it has been read
PATIENCE = 90.0
READ_WITHIN = 20.0  # a stopped program reads nothing
AT_REST_WITHIN = 5.0  # one that always computes is never seen at rest
FULL_FOR = 1.0  # seconds without a new byte: the program is stuck in its write
# Sequences that the emulator misreads: keyboard protocols and private modes with a prefix it does not know.
UNREAD = re.compile(rb"\x1b\[[<>=][0-9;]*[a-zA-Z]|\x1bP[^\x1b]*\x1b\\|\x1b\[\?[0-9;]*\$p")
ASKS_FOR_FRAMES = b"\x1b[?2026$p"  # does the terminal know synchronized output?
HAS_FRAMES = b"\x1b[?2026;2$y"
FRAME_ENDS = re.compile(rb"(?<=\x1b\[\?2026l)")
KEYS = {
    "Enter": b"\r",
    "Escape": b"\x1b",
    "Tab": b"\t",
    "Up": b"\x1b[A",
    "Down": b"\x1b[B",
    "Backspace": b"\x7f",
}


class Screen(pyte.Screen):
    """An emulator that passes over unknown ways to erase, as terminals do.

    A killed program leaves half a sequence: what is printed next, such as "Killed", becomes its rest.
    """

    def erase_in_line(self, how: int = 0, private: bool = False) -> None:
        """Erase a part of the line."""
        if how in {0, 1, 2}:
            super().erase_in_line(how, private)

    def erase_in_display(self, how: int = 0, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - pyte's own
        """Erase a part of the display."""
        if how in {0, 1, 2, 3}:
            super().erase_in_display(how, *arguments, **options)


class NeverSeen(AssertionError):
    """A condition did not come true in time; the text holds the screen as it was."""


class Terminal:
    """One program in one terminal window."""

    def __init__(
        self,
        command: list[str],
        size: tuple[int, int],
        env: Mapping[str, str],
        cwd: str | None = None,
        on_frame: Callable[["Terminal"], None] | None = None,
    ) -> None:
        """Start the program; `on_frame` sees each picture that it paints, however late its output is read."""
        self._on_frame = on_frame
        columns, rows = size
        self.screen = Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.raw = bytearray()
        self._mark, self._is_between = uuid.uuid4().hex, Path(command[0]).name in BETWEEN
        marked = {**env, MARK: self._mark}
        self._child, self._tty, self._name = _spawn(command, columns, rows, marked, cwd)
        self.pid = self._child.pid
        self._readers = {(self._name, self.pid)}
        self.exit_code: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.exit_code is None:
            self._child.kill()
            self.wait_for_exit()
        self.hang_up()

    @property
    def is_running(self) -> bool:
        """Whether the program has not ended yet."""
        return self._child.poll() is None

    @property
    def text(self) -> str:
        """The whole screen, rows joined by newlines."""
        return "\n".join(self.rows)

    @property
    def rows(self) -> list[str]:
        """The rows of the screen; `display` of pyte fails where a character covers half of a wide one."""
        columns = range(self.screen.columns)
        lines = (self.screen.buffer[y] for y in range(self.screen.lines))
        return ["".join(line[x].data for x in columns) for line in lines]

    def line_with(self, text: str) -> str:
        """Return the first screen row that holds the text."""
        rows = [row for row in self.rows if text in row]
        if not rows:
            raise NeverSeen(f"{text!r} is not on the screen:\n{self.text}")
        return rows[0]

    def see(self, text: str, seconds: float = PATIENCE) -> str:
        """Wait until the text is on the screen; returns the row that holds it."""
        self.until(lambda: text in self.text, seconds, f"{text!r}")
        return self.line_with(text)

    def see_no_more(self, text: str, seconds: float = PATIENCE) -> None:
        """Wait until the text has left the screen."""
        self.until(lambda: text not in self.text, seconds, f"no {text!r}")

    def until(
        self, condition: Callable[[], bool], seconds: float = PATIENCE, what: str = "it"
    ) -> None:
        """Read the program's output until the condition holds; fail at once when it has ended without that."""
        end = time.monotonic() + seconds
        while not condition():
            code = self._child.poll()
            if not self._read(0.02) and code is not None and not condition():
                raise NeverSeen(f"ended with {code} and without {what}; the screen:\n{self.text}")
            if time.monotonic() > end:
                raise NeverSeen(f"waited {seconds:g} s for {what}; the screen:\n{self.text}")

    def until_beside(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for something beside the program, which may have ended: its children, its files."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise NeverSeen(f"waited {PATIENCE:g} s for {what}; the screen:\n{self.text}")
            self._read(0.02)

    def press(self, *keys: str) -> None:
        """Press keys one by one at a person's pace: single characters, or names such as Enter."""
        if self._is_between:
            self._readers = {(self._name, self.pid), *readers_of(self._mark)}
        if keys and keys[0] in CONFIRMS:
            self.pause()  # what asks for it may have been painted just now
        for number, key in enumerate(keys):
            os.write(self._tty, KEYS.get(key) or key.encode())
            is_between_others = not any(map(_is_judged, keys[number : number + 2]))
            is_last = number + 1 == len(keys)
            self.wait_until_read(QUICK if is_between_others and not is_last else PAUSE)

    def wait_until_read(self, pause: float = PAUSE) -> None:
        """Wait until the program has taken the keys, and pause from then on: it judges keys by when it parses them."""
        end = time.monotonic() + READ_WITHIN
        while self.has_unread_keys and self._child.poll() is None and time.monotonic() < end:
            self._read(0.005)
        end = time.monotonic() + AT_REST_WITHIN
        while self._is_at_work and time.monotonic() < end:
            self._read(0.002)
        self.pause(pause)

    @property
    def has_unread_keys(self) -> bool:
        """Whether the program has not read all keys."""
        return any(unread_in(pty) for pty, _ in self._readers)

    @property
    def _is_at_work(self) -> bool:
        return any(is_at_work(pid) for _, pid in self._readers)

    def type(self, text: str) -> None:
        """Type text at a person's pace."""
        self.press(*text)

    def quit(self) -> None:
        """Leave by the command `q`, typed once the command line is open: on a busy machine it opens late."""
        self.press(":")
        self.see("Command  ")
        self.press("q", "Enter")

    def write(self, data: bytes) -> None:
        """Send bytes in one piece, as a paste or a stuck key would."""
        os.write(self._tty, data)

    def write_some(self, data: bytes) -> None:
        """Send as many of the bytes as the terminal takes without waiting."""
        os.set_blocking(self._tty, False)
        with suppress(BlockingIOError):
            os.write(self._tty, data)
        os.set_blocking(self._tty, True)

    def pause(self, seconds: float = PAUSE) -> None:
        """Keep reading for as long as a person pauses."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._read(left)

    def resize(self, columns: int, rows: int) -> None:
        """Change the window's size."""
        self.screen.resize(rows, columns)
        fcntl.ioctl(self._tty, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def signal(self, number: signal.Signals) -> None:
        """Send the program a signal."""
        self._child.send_signal(number)

    def hang_up(self) -> None:
        """Close the terminal window."""
        if self._tty >= 0:
            os.close(self._tty)
            self._tty = -1

    def freeze(self, seconds: float = FULL_FOR) -> None:
        """Read nothing until the terminal's buffer has been full for a while, as on a link that hangs."""
        waiting, since = -1, time.monotonic()
        while time.monotonic() - since < seconds:
            select.select([], [], [], min(seconds, 0.05))
            now = struct.unpack("i", fcntl.ioctl(self._tty, termios.FIONREAD, b"\0" * 4))[0]
            if now != waiting:
                waiting, since = now, time.monotonic()

    def wait_for_exit(self, seconds: float = PATIENCE, *, reading: bool = True) -> int:
        """Wait until the program has ended; returns its exit code (negative: the signal that killed it)."""
        end = time.monotonic() + seconds
        while self.exit_code is None:
            self.exit_code = self._child.poll()
            if self.exit_code is not None:
                break
            if time.monotonic() > end:
                raise NeverSeen(
                    f"the program still runs after {seconds:g} s; the screen:\n{self.text}"
                )
            if reading:
                self._read(0.02)
            else:
                select.select([], [], [], 0.02)
        while self._read(0):  # its last words may be more than one reading
            pass
        return self.exit_code

    def wait_and_kill(self, command: list[str], env: Mapping[str, str]) -> None:
        """Run the command that ends the program, such as a multiplexer's server, and wait for the end."""
        full = {name: value for name, value in os.environ.items() if name != "TMUX"}
        subprocess.run(command, env={**full, **env}, check=True, capture_output=True)
        self.wait_for_exit()

    def _read(self, seconds: float) -> bool:
        """Read what is there within the time; says whether there was anything."""
        if self._tty < 0:
            select.select([], [], [], seconds)
            return False
        if not select.select([self._tty], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._tty, 65536)
        except OSError:  # the program has closed its side
            select.select([], [], [], min(seconds, 0.01))
            return False
        if self._on_frame is None:
            self._feed(data)
            return bool(data)
        if ASKS_FOR_FRAMES in data:
            os.write(self._tty, HAS_FRAMES)
        for frame in FRAME_ENDS.split(data):
            self._feed(frame)
            self._on_frame(self)
        return bool(data)

    def _feed(self, data: bytes) -> None:
        self.raw += data
        self._stream.feed(UNREAD.sub(b"", data))


def _is_judged(key: str) -> bool:
    """Whether the desk judges a key by the time to its neighbours: it opens, sends or drops a form."""
    return key == "Escape" or key in CONFIRMS or (len(key) == 1 and key.isupper())


def keydesk(*arguments: str) -> list[str]:
    """Return the command line of the installed desk."""
    return [sys.executable, "-m", "keydesk", *arguments]


# A session leader's first terminal becomes its controlling one: that is how Ctrl-C and a hang-up reach the program.
# A terminal starts its programs with the default signals; those of tests run by `nohup` or in the background are ignored,
# and ssh with an ignored SIGHUP stays when its window is closed.
TAKE_TERMINAL = """
import os, signal, sys
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(number, signal.SIG_DFL)
tty = os.open(sys.argv[1], os.O_RDWR)
for fd in (0, 1, 2):
    os.dup2(tty, fd)
os.close(tty)
os.execvp(sys.argv[2], sys.argv[2:])
"""


def _spawn(
    command: list[str], columns: int, rows: int, env: Mapping[str, str], cwd: str | None
) -> "tuple[subprocess.Popen[bytes] | ForkedDesk, int, str]":
    """Start the program; return it, our side of its terminal and the name of its own side."""
    full = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "LANG": "C.UTF-8",
        **env,
    }
    for name in ("TMUX", "NO_COLOR", "COLUMNS", "LINES", "PYTHONWARNINGS", "PYTHONUNBUFFERED"):
        full.pop(name, None)
    is_ready = command[: len(keydesk())] == keydesk() and env.keys() <= NOT_IMPORTED
    is_ready = is_ready and cwd is None and not is_coverage_measured()
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    name = os.ttyname(theirs)
    child: subprocess.Popen[bytes] | ForkedDesk
    if is_ready:
        child = ForkedDesk(command[len(keydesk()) :], full, name)
    else:
        take = [sys.executable, "-I", "-S", "-c", TAKE_TERMINAL, name]
        child = subprocess.Popen([*take, *command], env=full, cwd=cwd, start_new_session=True)
    os.close(theirs)
    return child, ours, name
