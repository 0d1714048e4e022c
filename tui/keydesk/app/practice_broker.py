"""Run the practice broker as a child process on a private unix socket, or find the one of another desk.

The child is started before anything heavy is imported. It holds the read end of a pipe whose write end only the desk
has: however the desk ends, even by `kill -9`, the pipe closes and the child exits. Its token is sent to the desk in the
JSON line on stdout and is stored nowhere else.

The ledger admits one broker. The desk therefore writes the address of its broker beside the ledger, and a second
command joins that broker. The folder and the socket must belong to the user alone.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from msgspec import Struct

from keydesk_client.auth.private_files import refuse_unsafe
from keydesk_client.errors import KeydeskClientError

START_SECONDS = 300.0  # a ledger of a million transactions may have to be read anew
STOP_SECONDS = 1.5
KILLED_SECONDS = 1.0
ENDED_POLL = 0.5  # seconds
MAX_RUN_FOLDER_LENGTH = 50  # bytes: a socket path must stay under about 100
NOTE = "open-broker.json"
TOKEN = "token"  # noqa: S105 - the name of the file in which the broker keeps it
LEDGER = "ledger.sqlite3"
FIRST_READER, READERS = 0x40000002, 510
SCHEME = "http+unix://"


class PracticeFailed(Exception):
    """Raised when the practice broker does not start; the text gives the reason."""


class PracticeAddress(Struct, frozen=True):
    """The URLs, the token and the accounts of a practice broker."""

    rest_url: str
    stream_url: str
    token: str
    account_ids: tuple[str, ...]

    def __repr__(self) -> str:
        return f"PracticeAddress({self.rest_url!r}, accounts={self.account_ids!r})"


class EmbeddedBroker:
    """The child process. Create it with `start`, await its `address`, end it with `stop`."""

    def __init__(self, folder: Path, arguments: Sequence[str]) -> None:
        self._folder = folder
        self._arguments = tuple(arguments)
        self._errors = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by stop()
        self._child, self._lifeline = _spawn(self._arguments, self._errors)

    @classmethod
    def start(cls, data: Path, price_rate: int | None = None) -> "EmbeddedBroker":
        """Start the child with its ledger in `data`; return before it listens."""
        folder = Path(tempfile.mkdtemp(prefix="keydesk-", dir=_socket_folder()))
        where = ("--uds", str(folder / "practice.sock"), "--data", str(data))
        rate_arguments = ("--price-rate", str(price_rate)) if price_rate else ()
        return cls(folder, (*where, *rate_arguments))

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._child.pid

    @property
    def has_ended(self) -> bool:
        """Whether the child ended without `stop`."""
        return self._lifeline >= 0 and self._child.poll() is not None

    async def wait_until_ended(self) -> None:
        """Wait until the child has ended; poll on systems without process descriptors."""
        try:
            descriptor = os.pidfd_open(self._child.pid)
        except (AttributeError, OSError):
            while not self.has_ended:  # noqa: ASYNC110 - nothing else tells it on this system
                await asyncio.sleep(ENDED_POLL)
            return
        ended, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.add_reader(descriptor, ended.set)
        try:
            await ended.wait()
        finally:
            loop.remove_reader(descriptor)
            os.close(descriptor)

    async def start_again(self) -> PracticeAddress:
        """Restart a child that ended, with the same ledger, socket and token, so that clients can reconnect.

        Raises:
            PracticeFailed: as `address`.
        """
        os.close(self._lifeline)
        if self._child.stdout is not None:
            self._child.stdout.close()
        self._child, self._lifeline = _spawn(self._arguments, self._errors)
        return await self.address()

    async def address(self) -> PracticeAddress:
        """Wait until the child listens and return its address.

        Raises:
            PracticeFailed: it ended, or wrote nothing for five minutes; the last words of its stderr are in the text.
        """
        out = self._child.stdout
        assert out is not None  # noqa: S101 - it was asked for above
        try:
            line = await asyncio.wait_for(asyncio.to_thread(out.readline), START_SECONDS)
        except TimeoutError:
            raise PracticeFailed("the practice broker did not start within five minutes") from None
        if not line:
            raise PracticeFailed(self._last_text())
        content = json.loads(line)
        ids = tuple(str(account["id"]) for account in content["accounts"])
        return PracticeAddress(content["rest_url"], content["stream_url"], content["token"], ids)

    def _last_text(self) -> str:
        self._child.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else f"the practice broker ended with {self._child.returncode}"

    def stop(self, patience: float = STOP_SECONDS) -> None:
        """End the child and remove its socket; safe to call twice, and while another thread is doing it.

        A stopped child (SIGSTOP) is continued, so that it can end in good order. One that does not end is killed:
        what it acknowledged is in its ledger.
        """
        lifeline, self._lifeline = self._lifeline, -1
        if lifeline >= 0:
            os.close(lifeline)
        self._child.terminate()
        self._child.send_signal(signal.SIGCONT)
        try:
            self._child.wait(patience)
        except subprocess.TimeoutExpired:
            self._child.kill()
            with suppress(
                subprocess.TimeoutExpired
            ):  # the kernel holds it: nothing else can be done
                self._child.wait(KILLED_SECONDS)
        if self._child.stdout is not None:
            self._child.stdout.close()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _spawn(arguments: Sequence[str], errors: IO[bytes]) -> tuple["subprocess.Popen[bytes]", int]:
    """Start a child; return it and the write end of the pipe that keeps it alive."""
    theirs, ours = os.pipe()
    program = (sys.executable, "-P", "-m", "keydesk_practice.__main__", "serve")
    try:
        child = subprocess.Popen(  # noqa: S603 - our own module, by our own interpreter
            [*program, *arguments, "--parent-fd", str(theirs)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            pass_fds=(theirs,),
            start_new_session=True,  # Ctrl-C and a hang-up are the desk's to handle
        )
    finally:
        os.close(theirs)
    return child, ours


def _socket_folder() -> str | None:
    """Return the user's run-time folder if it can be used."""
    folder = os.environ.get("XDG_RUNTIME_DIR", "")
    return (
        folder
        if folder.startswith("/")
        and len(folder) <= MAX_RUN_FOLDER_LENGTH
        and os.access(folder, os.W_OK)
        else None
    )


def write_address(data: Path, address: PracticeAddress) -> None:
    """Write the address of the broker beside its ledger."""
    content = {"url": address.rest_url, "accounts": address.account_ids}
    with contextlib.suppress(OSError):  # the desk opens without it as well
        handle = os.open(data / NOTE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file)


def remove_address(data: Path) -> None:
    """Remove the address beside the ledger."""
    with contextlib.suppress(OSError):
        (data / NOTE).unlink(missing_ok=True)


def running_broker(data: Path) -> PracticeAddress | None:
    """Return the address of the running broker of this ledger, None if there is none or the note is stale."""
    try:
        content = json.loads((data / NOTE).read_text(encoding="utf-8"))
        url, accounts = str(content["url"]), tuple(map(str, content["accounts"]))
        token = (data / TOKEN).read_text(encoding="ascii").strip()
        path = Path(url.removeprefix(SCHEME))
        refuse_unsafe(path, path.stat())
        _check_listening(path)
    except (OSError, ValueError, KeyError, TypeError, KeydeskClientError):
        return None
    return PracticeAddress(url, url, token, accounts) if accounts else None


def is_ledger_locked(data: Path) -> bool:
    """Return whether a running broker holds the lock of the ledger file.

    These are the bytes that SQLite locks for readers (sqlite.org/lockingv3.html); the broker holds them alone.
    """
    try:
        with (data / LEDGER).open("rb") as file:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB, READERS, FIRST_READER)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _check_listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1)
        probe.connect(str(path))
