"""The client of the control interface meets a broker that is silent, ends on the way, or is none."""

import socket
import threading
from collections.abc import Iterator

import pytest

from keydesk_practice.control.client import ControlClient
from keydesk_practice.errors import ControlFailed


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def client_of(listener: socket.socket, read_timeout: float = 30.0) -> ControlClient:
    return ControlClient(f"http://127.0.0.1:{listener.getsockname()[1]}", "token", read_timeout)


def test_a_broker_that_stands_still_is_reported_in_seconds(listener: socket.socket) -> None:
    with pytest.raises(ControlFailed, match="did not answer: timed out"):
        client_of(listener, read_timeout=0.1).call("GET", "/state")


@pytest.mark.parametrize(
    ("sent", "text"),
    [
        (b"", "did not answer: "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{", "did not answer: "),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n[1]", "is this a practice broker?"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{", "is this a practice broker?"),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_broker_that_ends_or_is_none_is_reported(
    method: str, sent: bytes, text: str, listener: socket.socket
) -> None:
    def answer() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65_536)
            connection.sendall(sent)

    answering = threading.Thread(target=answer)
    answering.start()
    try:
        with pytest.raises(ControlFailed, match=text.replace("?", r"\?")):
            client_of(listener).call(method, "/state")
    finally:
        answering.join()
