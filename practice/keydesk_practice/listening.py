"""The socket the broker listens on: a TCP port, or a unix socket that only its owner can reach."""

import errno
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from keydesk_practice.errors import CannotListen

BACKLOG = 2048


@dataclass(frozen=True, slots=True)
class Listener:
    """An open socket and the address clients use for it."""

    socket: socket.socket
    url: str
    path: Path | None = None

    def remove(self) -> None:
        """Take the unix socket's name away."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def listen_on_port(host: str, port: int) -> Listener:
    """Listen on a TCP port; 0 takes a free one. Raises `CannotListen`."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sets TCP_NODELAY only on sockets that carry it; without the option,
    # each answer on a busy connection waits for the delayed acknowledgement (40 ms).
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((host, port))
    except OSError as error:
        found.close()
        raise CannotListen(f"cannot listen on {host} port {port}: {error.strerror}") from error
    name = f"[{host}]" if ":" in host else host
    return Listener(found, f"http://{name}:{found.getsockname()[1]}")


def listen_on_path(path: Path) -> Listener:
    """Listen on a unix socket, 0600, in a folder made 0700 if it is not there. Raises `CannotListen`."""
    path = path.absolute()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _clear_away(path)
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    try:
        found.bind(str(path))
    except OSError as error:
        found.close()
        raise CannotListen(f"cannot listen on {path}: {error}") from error
    finally:
        os.umask(mask)
    return Listener(found, f"http+unix://{path}", path)


def _clear_away(path: Path) -> None:
    """Remove a socket that a killed broker left behind, but never one in use, nor anything else."""
    if not path.exists():
        return
    if not path.is_socket():
        raise CannotListen(f"{path} is there already and is no socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        if probe.connect_ex(str(path)) != errno.ECONNREFUSED:
            raise CannotListen(f"{path} is in use")
    path.unlink()
