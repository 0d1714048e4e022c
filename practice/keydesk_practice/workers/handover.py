"""Handing connections over: the supervisor accepts each and passes it to the worker of the account in its first request.

It peeks at that request, consuming nothing, and the worker serves the connection from then on. So a request costs what it costs with one process; only what a connection asks of other accounts later is forwarded.
"""

import asyncio
import contextlib
import re
import socket
from collections.abc import Callable

from keydesk_practice.connections import MAX_CONNECTIONS, REQUEST_SECONDS

PEEKED_BYTES = 8 * 1024
LOOK_SECONDS = 0.02  # between two looks at half a head
ACCEPTED_AT_ONCE = 64
_HEAD_END = b"\r\n\r\n"
_ACCOUNT = re.compile(rb"[A-Z]+ (?:https?://[^/ ]*)?/v3/accounts/([^/? ]+)")
_TOKEN = re.compile(rb"\r\nauthorization:[ \t]*bearer[ \t]+([^\r\n]+)", re.IGNORECASE)
_PATH = re.compile(rb"[A-Z]+ (?:https?://[^/ ]*)?(/[^? ]*)")
Choose = Callable[["FirstRequest"], "Callable[[socket.socket], None]"]


class FirstRequest:
    """The path, account and token of the first request of a connection, each empty if it is absent."""

    def __init__(self, head: bytes) -> None:
        self.path = _group(_PATH, head).decode("latin-1")
        self.account = _group(_ACCOUNT, head).decode("latin-1")
        self.token = _group(_TOKEN, head).strip()


def _group(pattern: re.Pattern[bytes], head: bytes) -> bytes:
    match = pattern.match(head) if pattern is not _TOKEN else pattern.search(head)
    return b"" if match is None else match[1]


class Acceptor:
    """Accepts the connections of a listening socket; `choose` says where each goes by its first request."""

    def __init__(
        self, listening: socket.socket, choose: Choose, seconds: float = REQUEST_SECONDS
    ) -> None:
        self._listening = listening
        self._choose = choose
        self._seconds = seconds
        self._waiting: dict[socket.socket, asyncio.TimerHandle] = {}  # longest first
        self._loop = asyncio.get_running_loop()

    def start(self, backlog: int) -> None:
        """Listen."""
        self._listening.setblocking(False)
        self._listening.listen(backlog)
        self._loop.add_reader(self._listening, self._accept)

    def stop(self) -> None:
        """Stop listening, and close what has not sent a request yet."""
        self._loop.remove_reader(self._listening)
        self._listening.close()
        for connection in list(self._waiting):
            self._close(connection)

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                connection, _ = self._listening.accept()
            except (
                OSError
            ):  # none is left, or there are too many descriptors: the next iteration tries again
                return
            connection.setblocking(False)
            if len(self._waiting) >= MAX_CONNECTIONS:
                self._close(next(iter(self._waiting)))
            self._waiting[connection] = self._loop.call_later(
                self._seconds, self._close, connection
            )
            self._loop.add_reader(connection, self._look, connection)
            self._look(connection)

    def _look(self, connection: socket.socket) -> None:
        """Hand the connection over when its first head is there, or as much of it as is looked at."""
        self._loop.remove_reader(connection)
        if connection not in self._waiting:
            return
        try:
            head = connection.recv(PEEKED_BYTES, socket.MSG_PEEK)
        except (BlockingIOError, InterruptedError):
            self._loop.add_reader(connection, self._look, connection)
            return
        except OSError:
            head = b""
        if not head:
            self._close(connection)
        elif _HEAD_END in head or len(head) == PEEKED_BYTES:
            self._waiting.pop(connection).cancel()
            self._choose(FirstRequest(head))(connection)
        else:  # what is there stays readable, so look again later
            self._loop.call_later(LOOK_SECONDS, self._look, connection)

    def _close(self, connection: socket.socket) -> None:
        if timer := self._waiting.pop(connection, None):
            timer.cancel()
            self._loop.remove_reader(connection)
            connection.close()


def hand_over(channel: socket.socket, connection: socket.socket) -> None:
    """Pass a connection to the worker at the other end of a channel; raise `OSError` when it does not take it."""
    socket.send_fds(channel, [b"c"], [connection.fileno()], socket.MSG_DONTWAIT)
    connection.close()


class Receiver:
    """A worker's end of the channel: adopts what is handed over, until the supervisor has gone."""

    def __init__(
        self,
        channel: socket.socket,
        adopt: Callable[[socket.socket], None],
        on_end: Callable[[], None],
    ) -> None:
        self._channel = channel
        self._adopt = adopt
        self._on_end = on_end
        self.is_ended = False  # by the supervisor, or its end
        channel.setblocking(False)
        asyncio.get_running_loop().add_reader(channel, self._receive)

    def close(self) -> None:
        """Take no more."""
        asyncio.get_running_loop().remove_reader(self._channel)
        with contextlib.suppress(OSError):
            self._channel.close()

    def _receive(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            try:
                data, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                data, descriptors = b"", []
            if not data:
                asyncio.get_running_loop().remove_reader(self._channel)
                self.is_ended = True
                self._on_end()
                return
            for descriptor in descriptors:
                connection = socket.socket(fileno=descriptor)
                connection.setblocking(False)
                self._adopt(connection)
