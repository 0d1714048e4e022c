"""A line of so many bytes a second in front of a server on loopback, with an endless queue, as many a modem's.

    with SlowLine(ssh.port) as line:
        command = ssh.command("keydesk --practice", port=line.port)
        line.bytes_a_second = 20_000

Only what the server sends is slowed down: keys are few bytes.
"""

import select
import socket
import threading
import time
from contextlib import suppress
from types import TracebackType
from typing import Self

SLICE = 0.01  # seconds
MAX_CREDIT = 0.1  # seconds: a busy machine must not make the line slower than it is
MAX_READ = 65536
FAST = 1e9  # bytes a second


class SlowLine:
    """Takes one connection and passes it on."""

    def __init__(self, port: int) -> None:
        self.bytes_a_second = float("inf")
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        self._behind = port
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._carry, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._door.close()
        self._thread.join()

    def _carry(self) -> None:
        while not select.select([self._door], [], [], SLICE)[0]:
            if self._ended.is_set():
                return
        client, _ = self._door.accept()
        server = socket.create_connection(("127.0.0.1", self._behind))
        for each in (client, server):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with client, server, suppress(OSError):  # a side that was killed resets its connection
            self._pass_on(client, server)

    def _pass_on(self, client: socket.socket, server: socket.socket) -> None:
        waiting, credit, since = bytearray(), 0.0, time.monotonic()
        while not self._ended.is_set():
            ready = select.select([client, server], [], [], SLICE)[0]
            if client in ready:
                server.sendall(_received(client))
            if server in ready:
                waiting += _received(server)
            now = time.monotonic()
            credit += min(now - since, MAX_CREDIT) * min(self.bytes_a_second, FAST)
            since = now
            size = min(len(waiting), int(credit))
            if size:
                client.sendall(waiting[:size])
                del waiting[:size]
            credit = credit - size if waiting else 0.0


def _received(connection: socket.socket) -> bytes:
    data = connection.recv(MAX_READ)
    if not data:
        raise ConnectionResetError
    return data
