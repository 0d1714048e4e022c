"""A small blocking client of the control interface, for the command line and for tests."""

import contextlib
import json
import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keydesk_practice.errors import ControlFailed

CONTROL_TOKEN_FILE = "control-token"  # noqa: S105 - a file name
ADDRESS_FILE = "control.json"
BASE = "/control/v1"
TIMEOUT = 600.0  # seconds: a jump over months ticks every account
READ_TIMEOUT = 30.0  # of what changes nothing
_UNIX = "http+unix://"


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
        import httpx  # noqa: PLC0415 - the broker itself needs no client, whose import takes 0.1 s

        timeout = self.read_timeout if method == "GET" else TIMEOUT
        socket_path = self.url.removeprefix(_UNIX) if self.url.startswith(_UNIX) else None
        unencrypted = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # without authorities, read in 30 ms
        transport = httpx.HTTPTransport(verify=unencrypted, uds=socket_path)
        base = "http://localhost" if socket_path else self.url.rstrip("/")
        headers = {"Authorization": f"Bearer {self.token}"}
        try:
            with httpx.Client(transport=transport, timeout=timeout, trust_env=False) as client:
                response = client.request(method, f"{base}{BASE}{path}", headers=headers, json=body)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise ControlFailed(
                f"the practice broker at {self.url} did not answer: {error}"
            ) from None
        answer = _decoded(response.content)
        if response.is_error:
            raise ControlFailed(str(answer.get("errorMessage", f"HTTP {response.status_code}")))
        return answer


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
