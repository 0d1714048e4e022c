"""Where a token may be sent: https anywhere, plain http only to this machine."""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from keydesk_client.errors import InvalidSettings

UNIX_SCHEME = "http+unix"


@dataclass(frozen=True, slots=True)
class Address:
    """The base of a host's paths, and the unix socket that leads to it, if one does."""

    base: str
    socket_path: str | None = None

    @property
    def encrypted(self) -> bool:
        return self.base.startswith("https:")

    @property
    def is_here(self) -> bool:
        """Whether the host is this machine, where compression costs more than it saves."""
        return not self.encrypted


def address_of(url: str, name: str = "the address") -> Address:
    """The address a URL names; InvalidSettings, saying which by its name, when a token must not travel there."""
    parts = _split(url, name)
    if parts.scheme == UNIX_SCHEME:
        return _socket_address(parts, name)
    if not parts.hostname or parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidSettings(
            f"{name}: no host's address: write https:// and the host, as in https://api.example.com"
        )
    base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname)):
        return Address(base)
    raise InvalidSettings(
        f"{name}: {base}: a token travels by https://, or by http:// on this machine, only"
    )


def is_loopback(host: str) -> bool:
    """Whether a host name can only mean this machine."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _split(url: str, name: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        _ = parts.port  # raises when it is no number
    except ValueError:
        pass  # it names the part that is wrong, and that may be a password
    else:
        return parts
    raise InvalidSettings(f"{name}: can not be read as one: its host or port is none")


def _socket_address(parts: SplitResult, name: str) -> Address:
    if parts.netloc or not parts.path.startswith("/"):
        raise InvalidSettings(f"{name}: a unix socket is written http+unix:///absolute/path")
    return Address("http://localhost", socket_path=parts.path)
