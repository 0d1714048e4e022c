"""Addresses of hosts: a token may be sent over https anywhere, over plain http only within this machine."""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, quote, urlsplit

from keydesk_client.errors import InvalidSettings

UNIX_SCHEME: Final = "http+unix"
PORTS: Final = {"http": 80, "https": 443}
NAME: Final = re.compile(r"[a-z0-9._-]{1,253}")
KEPT_IN_PATH: Final = "/%:@!$&'()*+,;=~"
MAX_SHOWN: Final = 300


@dataclass(frozen=True, slots=True)
class Address:
    """The base URL of a host, and the path of the unix socket that leads to it, if any."""

    base: str
    socket_path: str | None = None

    @property
    def is_encrypted(self) -> bool:
        """Whether the host is reached by https."""
        return self.base.startswith("https:")

    @property
    def is_local(self) -> bool:
        """Whether the host is this machine, where compression costs more than it saves."""
        return not self.is_encrypted


@dataclass(frozen=True, slots=True)
class Host:
    """Where an address leads: the parts of its URL, in ASCII."""

    name: str
    port: int
    header: bytes
    """The value of the Host header."""
    path: str
    """What stands before the path of each request."""


def host_of(address: Address) -> Host:
    """Return the host of an address; raise InvalidSettings for one that cannot be a host."""
    parts = urlsplit(address.base)
    try:
        if not parts.path.isprintable():
            raise UnicodeError("its path has a control character")  # noqa: TRY301 - as of names
        name = _ascii_name(parts.hostname or "")
    except UnicodeError as error:
        reason = str(error)
    else:
        port = parts.port or PORTS[parts.scheme]
        shown = f"[{name}]" if ":" in name else name
        header = shown if port == PORTS[parts.scheme] else f"{shown}:{port}"
        return Host(name, port, header.encode("ascii"), quote(parts.path, safe=KEPT_IN_PATH))
    raise InvalidSettings(f"{address.base[:MAX_SHOWN]!r} is not a valid URL: {reason}")


def _ascii_name(name: str) -> str:
    """Return a name of a host as DNS has it; raise UnicodeError for what cannot be one."""
    if ":" in name or NAME.fullmatch(name):  # of IPv6 addresses `urlsplit` takes valid ones only
        return name
    if name.isascii():
        raise UnicodeError(f"{name[:MAX_SHOWN]!r} is not the name of a host")
    import idna  # noqa: PLC0415 - for names in other scripts only

    return idna.encode(name).decode("ascii")


def address_of(url: str, name: str = "the address") -> Address:
    """Return the address of a URL.

    Raises:
        InvalidSettings: a token must not be sent there; the message begins with `name`.
    """
    parts = _split(url, name)
    if parts.scheme == UNIX_SCHEME:
        return _socket_address(parts, name)
    if not parts.hostname or parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidSettings(
            f"{name}: not the address of a host: use https:// and the host, as in https://api.example.com"
        )
    base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname)):
        return Address(base)
    raise InvalidSettings(
        f"{name}: {base!r} would send the token unencrypted: use https://, or http:// on this machine"
    )


def is_loopback(host: str) -> bool:
    """Return whether a host name can only mean this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str, name: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises when it is not a number
    except ValueError:
        pass  # its message quotes the invalid part, which may be a password
    else:
        return parts
    raise InvalidSettings(f"{name}: the host or the port is not valid: use https:// and the host")


def _socket_address(parts: SplitResult, name: str) -> Address:
    if parts.netloc or not parts.path.startswith("/"):
        raise InvalidSettings(f"{name}: write a unix socket as http+unix:///absolute/path")
    return Address("http://localhost", socket_path=parts.path)
