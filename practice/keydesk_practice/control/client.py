"""A small blocking client of the control interface, for the command line and for tests: standard library only."""

import contextlib
import http.client
import json
import os
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from keydesk_practice.errors import ControlFailed

CONTROL_TOKEN_FILE = "control-token"  # noqa: S105 - a file name
ADDRESS_FILE = "control.json"
BASE = "/control/v1"
TIMEOUT = 600.0  # seconds: a jump over months ticks every account
READ_TIMEOUT = 30.0  # of what changes nothing
_UNIX = "http+unix://"
_FIRST_ERROR = 400


@dataclass(frozen=True, slots=True, repr=False)
class ControlClient:
    """The control interface of a running broker."""

    url: str  # of the broker: http://host:port or http+unix://path
    token: str
    read_timeout: float = READ_TIMEOUT

    @classmethod
    def of_data_folder(cls, data: Path) -> "ControlClient":
        """Return the client of the broker that runs on a data folder; raise `ControlFailed` if none does."""
        try:
            address = json.loads((data / ADDRESS_FILE).read_text("utf-8"))
            token = (data / CONTROL_TOKEN_FILE).read_text("ascii").strip()
            return cls(str(address["url"]), token)
        except (OSError, ValueError, KeyError, TypeError):
            raise ControlFailed(
                f"no practice broker runs on {data}: start one with `keydesk practice serve`, "
                "or name its folder with --data"
            ) from None

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send one request and return its answer; raise `ControlFailed` with the broker's words."""
        connection = self._connection(self.read_timeout if method == "GET" else TIMEOUT)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        sent = None if body is None else json.dumps(body)
        try:
            connection.request(method, f"{BASE}{path}", sent, headers)
            response = connection.getresponse()
            status, text = response.status, response.read()
        except (OSError, http.client.HTTPException) as error:
            raise ControlFailed(
                f"the practice broker at {self.url} did not answer: {error}"
            ) from None
        finally:
            connection.close()
        answer = _decoded(text)
        if status >= _FIRST_ERROR:
            raise ControlFailed(str(answer.get("errorMessage", f"HTTP {status}")))
        return answer

    def _connection(self, timeout: float) -> http.client.HTTPConnection:
        if self.url.startswith(_UNIX):
            return _UnixConnection(self.url.removeprefix(_UNIX), timeout)
        parts = urlsplit(self.url)
        return http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=timeout)


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def write_address(data: Path, url: str) -> None:
    """Write where the broker of a data folder listens, for `of_data_folder`."""
    handle = os.open(data / ADDRESS_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"url": url, "pid": os.getpid()}, file)


def forget_address(data: Path) -> None:
    """Remove what `write_address` wrote."""
    with contextlib.suppress(OSError):
        (data / ADDRESS_FILE).unlink(missing_ok=True)


def _decoded(text: bytes) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ControlFailed("the answer is no JSON object: is this a practice broker?")
    return value
