"""A process that asks for something small again and again: how long the broker lets others wait.

    probe = LatencyProbe(server.rest_url, server.token)
    ... the broker is given work ...
    worst = probe.stop()    # seconds

It runs beside the process under test and beside the test, so that neither's work is counted.
"""

import socket
import subprocess
import sys
import time
from urllib.parse import urlsplit

PAUSE_S = 0.002


class LatencyProbe:
    """The running process."""

    def __init__(self, url: str, token: str, path: str = "/v3/accounts") -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, url, token, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def stop(self) -> float:
        """Return the longest answer's seconds since the start."""
        said, _ = self._process.communicate("stop\n")
        return float(said.split()[-1])


def connect(url: str) -> socket.socket:
    """Return a connected socket to a broker's url."""
    if url.startswith("http+unix://"):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(url.removeprefix("http+unix://"))
        return connection
    place = urlsplit(url)
    assert place.hostname
    assert place.port
    connection = socket.create_connection((place.hostname, place.port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def ask(connection: socket.socket, token: str, path: str, body: bytes = b"") -> bytes:
    """Return the whole answer to a request on an open connection."""
    method = b"POST" if body else b"GET"
    head = f" {path} HTTP/1.1\r\nHost: b\r\nAuthorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n"
    connection.sendall(method + head.encode() + body)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += _received(connection)
    head_bytes, _, rest = answer.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head_bytes.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    pieces, left = [rest], length - len(rest)
    while left > 0:
        piece = _received(connection)
        pieces.append(piece)
        left -= len(piece)
    return head_bytes + b"\r\n\r\n" + b"".join(pieces)


def _received(connection: socket.socket) -> bytes:
    piece = connection.recv(1 << 16)
    if not piece:
        raise ConnectionError("the broker closed the connection")
    return piece


def _probe(url: str, token: str, path: str) -> None:
    import select  # noqa: PLC0415 - of this process only

    worst = 0.0
    connection = connect(url)
    ask(connection, token, path)
    print("ready", flush=True)  # noqa: T201 - to the test
    while not select.select([sys.stdin], [], [], PAUSE_S)[0]:
        began = time.perf_counter()
        ask(connection, token, path)
        worst = max(worst, time.perf_counter() - began)
    print(worst, flush=True)  # noqa: T201 - to the test


if __name__ == "__main__":
    _probe(*sys.argv[1:])
