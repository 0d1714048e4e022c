"""A second command finds the broker of an open desk, and nobody else's."""

import socket
from pathlib import Path

from keydesk.app import practice_broker
from keydesk.app.practice_broker import PracticeAddress


def listening_socket(folder: Path) -> tuple[socket.socket, PracticeAddress]:
    """A socket as a desk's broker has it, and the token beside the ledger."""
    path = folder / "s"
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    path.chmod(0o600)
    (folder / "token").write_text("a-token\n")
    url = f"http+unix://{path}"
    return server, PracticeAddress(url, url, "a-token", ("1", "2"))


def test_a_noted_broker_that_listens_is_found(practice_folder: Path) -> None:
    server, address = listening_socket(practice_folder)
    with server:
        assert practice_broker.running_broker(practice_folder) is None
        practice_broker.write_address(practice_folder, address)
        assert practice_broker.running_broker(practice_folder) == address
        assert "a-token" not in (practice_folder / practice_broker.NOTE).read_text()
        practice_broker.remove_address(practice_folder)
        assert practice_broker.running_broker(practice_folder) is None


def test_the_note_of_a_killed_desk_is_not_believed(practice_folder: Path) -> None:
    server, address = listening_socket(practice_folder)
    practice_broker.write_address(practice_folder, address)
    server.close()
    assert practice_broker.running_broker(practice_folder) is None


def test_a_socket_that_others_may_use_is_not_trusted_with_the_token(practice_folder: Path) -> None:
    server, address = listening_socket(practice_folder)
    with server:
        practice_broker.write_address(practice_folder, address)
        (practice_folder / "s").chmod(0o666)
        assert practice_broker.running_broker(practice_folder) is None


def test_a_damaged_note_is_no_note(practice_folder: Path) -> None:
    for text in ("", "{", "[]", '{"url": 1}'):
        (practice_folder / practice_broker.NOTE).write_text(text)
        assert practice_broker.running_broker(practice_folder) is None
