"""Commands, desks, brokers and scripts in processes that are forked from one that has imported them already.

Each is a process of its own; only the start of Python and the imports, 0.4 s of a processor, are done once for all.
What depends on how Python itself starts needs a real start, and each program has one in some test.
"""

import asyncio
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path

ENDS_WITHIN = 300.0  # seconds
STREAMS = ("stdin", "stdout", "stderr")
DIRECTIONS = (os.O_RDONLY, os.O_WRONLY, os.O_WRONLY)
MEASURES = ("COVERAGE_PROCESS_CONFIG", "COVERAGE_PROCESS_START")
COMMANDS = (
    "reading.chart doctor export flatten history journal.command login reading.status templates"
)
DESK, BROKER = "keydesk.__main__", "keydesk_practice.__main__"
IMPORTED = (
    DESK,
    *(f"keydesk.cli.{name}" for name in COMMANDS.split()),
    # What a command imports when it needs it:
    "anyio._backends._asyncio",
    "cryptography.hazmat.primitives.kdf.scrypt",
    "keydesk_client.auth.vault",
    "keydesk_client.http.session",
    "keydesk_client.resources.accounts",
    "keydesk_client.resources.pricing",
    "keydesk_client.resources.transactions",
    "keydesk_client.streams.prices",
    "keydesk_client.streams.transactions",
    "keydesk.cli.desk",
    "keydesk.app.app",
    "keydesk_client.client",
    BROKER,
    "keydesk_practice.server",
)
READ_BY_IMPORTS = {  # what Textual and Rich read when they are imported, as in the terminals of tests
    "TEXTUAL_FPS": "240",
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
    "LANG": "C.UTF-8",
}


def is_coverage_measured() -> bool:
    """Whether programs report what they have passed: a forked one would not."""
    return any(name in os.environ for name in MEASURES)


def run_forked(
    words: Sequence[str], env: Mapping[str, str], stdin: str = ""
) -> "subprocess.CompletedProcess[str]":
    """Run a command of `keydesk` until it ends, in a session without a terminal."""
    return _run(DESK, words, env, stdin)


def run_script_forked(
    path: Path, arguments: Sequence[str], stdin: str
) -> "subprocess.CompletedProcess[str]":
    """Run a script that uses the client, each warning an error, until it ends."""
    return _run(__name__, [str(path), *arguments], os.environ, stdin)


def main(words: list[str]) -> int:
    """Be the script."""
    sys.argv = words
    warnings.simplefilter("error")
    runpy.run_path(words[0], run_name="__main__")
    return 0


def _run(
    program: str, words: Sequence[str], env: Mapping[str, str], stdin: str
) -> "subprocess.CompletedProcess[str]":
    with tempfile.TemporaryDirectory(prefix="kd-") as folder:
        paths = [Path(folder, stream) for stream in STREAMS]
        for path in paths:
            path.write_text(stdin if path.name == "stdin" else "")
        process = _start(program, words, env, paths)
        process.join(ENDS_WITHIN)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(words), ENDS_WITHIN)
        out, err = (path.read_text() for path in paths[1:])
    return subprocess.CompletedProcess(list(words), process.exitcode, out, err)


class ForkedBroker:
    """A practice broker, with what tests use of asyncio's `Process`."""

    def __init__(self, words: Sequence[str]) -> None:
        """Start it; what it prints on standard output is read by `first_line`."""
        self._folder = tempfile.TemporaryDirectory(prefix="kd-")
        self._out = Path(self._folder.name, "stdout")
        os.mkfifo(self._out)
        self._process = _start(BROKER, words, os.environ, [Path(os.devnull), self._out, None])
        assert self._process.pid is not None
        self.pid = self._process.pid

    async def first_line(self) -> bytes:
        """Return its first line, nothing if it ended without one; later output is dropped."""
        line = await asyncio.to_thread(self._read_line)
        self._folder.cleanup()
        return line

    def _read_line(self) -> bytes:
        with self._out.open("rb") as out:
            return out.readline()

    @property
    def returncode(self) -> int | None:
        """The exit code, once it has ended; negative: the signal that ended it."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        _send_signal(self._process, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)

    async def wait(self) -> int:
        """Wait until it has ended; return the exit code."""
        await asyncio.to_thread(self._process.join)
        assert self.returncode is not None
        return self.returncode


class ForkedDesk:
    """A program of `keydesk` that leads a session at a terminal, with what `Terminal` uses of `Popen`."""

    def __init__(self, words: Sequence[str], env: Mapping[str, str], terminal: str) -> None:
        """Start it; `terminal` names the program's side of the terminal."""
        self._process = _start(DESK, words, env, [Path(terminal)] * 3)
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        """The exit code, once it has ended; negative: the signal that ended it."""
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        _send_signal(self._process, number)

    def kill(self) -> None:
        """End it at once."""
        self.send_signal(signal.SIGKILL)


def _send_signal(process: ForkServerProcess, number: int) -> None:
    """Send a signal to a process that may end meanwhile: the fork server has then taken its exit code already."""
    if process.exitcode is None and process.pid is not None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def _start(
    program: str, words: Sequence[str], env: Mapping[str, str], streams: Sequence[Path | None]
) -> ForkServerProcess:
    """Start a program with these files as standard input, output and errors; None: those of the tests."""
    paths = [None if path is None else str(path) for path in streams]
    process = _context().Process(target=_be, args=(program, list(words), dict(env), paths))
    process.start()
    return process


def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    if context not in _ready:
        context.set_forkserver_preload(list(IMPORTED))
        before = dict(os.environ)
        os.environ.update(READ_BY_IMPORTS)
        os.environ.pop("NO_COLOR", None)
        try:
            forkserver.ensure_running()
        finally:
            os.environ.clear()
            os.environ.update(before)
        _ready.append(context)
    return context


_ready: list[ForkServerContext] = []


def _be(program: str, words: list[str], env: dict[str, str], streams: list[str | None]) -> None:
    """Be the program: its session, environment, streams and exit code."""
    os.setsid()
    for ending in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(ending, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    for number, path in enumerate(streams):
        if path is not None:
            # The first terminal that the leader of a session opens becomes the session's.
            is_device = Path(path).is_char_device()
            opened = os.open(path, os.O_RDWR if is_device else DIRECTIONS[number])
            os.dup2(opened, number)
            os.close(opened)
    _set_streams()
    sys.argv = [program, *words]
    sys.exit(import_module(program).main(words))


def _set_streams() -> None:
    """Open Python's streams as its start does."""
    for number, name in enumerate(STREAMS):
        stream = os.fdopen(
            number,
            "w" if number else "r",
            buffering=1 if name == "stderr" or (number and os.isatty(number)) else -1,
            encoding="utf-8",
            errors="backslashreplace" if name == "stderr" else "strict",
            closefd=False,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
