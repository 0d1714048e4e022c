"""Addresses of hosts, and the proxies that lead to them.

A token may be sent over https anywhere, over plain http only within this machine. So a proxy, which may be anywhere, is
asked for encrypted connections only; addresses of this machine are reached directly.
"""

from dataclasses import dataclass, field
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Final
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

from keydesk_client.errors import InvalidSettings

UNIX_SCHEME: Final = "http+unix"
PROXY_SCHEMES: Final = ("http", "https", "socks5", "socks5h")
VARIABLES: Final = {"https": "HTTPS_PROXY", "all": "ALL_PROXY"}
"""The variables of the environment that name a proxy for https, by the scheme that `getproxies` gives them."""


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

    @property
    def shown(self) -> str:
        """The address for a log or a message."""
        return self.socket_path or self.base


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy, through which hosts are reached by TLS from end to end."""

    url: str
    """Without user and password."""
    named_by: str
    """The variable that names it, or "proxy"."""
    login: tuple[bytes, bytes] | None = field(default=None, repr=False)
    """User and password."""

    @property
    def is_encrypted(self) -> bool:
        """Whether the proxy itself is reached by https."""
        return self.url.startswith("https:")


def address_of(url: str, name: str = "the address") -> Address:
    """Return the address of a URL.

    Raises:
        InvalidSettings: a token must not be sent there; the message begins with `name`.
    """
    parts = _split(url, name)
    if parts.scheme == UNIX_SCHEME:
        return _socket_address(parts, name)
    is_host = bool(parts.hostname) and parts.netloc.isprintable() and " " not in parts.netloc
    if not is_host or parts.username or parts.password or parts.query or parts.fragment:
        raise InvalidSettings(
            f"{name}: not the address of a host: use https:// and the host, as in https://api.example.com"
        )
    base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
    if parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        return Address(base)
    raise InvalidSettings(
        f"{name}: {base!r} would send the token unencrypted: use https://, or http:// on this machine"
    )


def proxy_to(address: Address, named: str | None = None) -> Proxy | None:
    """Return the proxy that leads to an address: the one that is named, or else that of the environment.

    An empty name stands for none, whatever the environment says.

    Raises:
        InvalidSettings: the URL is not one of a proxy; the message does not show its password.
    """
    if not address.is_encrypted or named == "":
        return None
    return _proxy_of(named, "proxy") if named else _proxy_of_environment(address)


def _proxy_of_environment(address: Address) -> Proxy | None:
    """Return the proxy of HTTPS_PROXY or ALL_PROXY, in either case, unless NO_PROXY lists the host.

    On macOS the settings of the system count where the environment names none.
    """
    from urllib.request import getproxies, proxy_bypass  # noqa: PLC0415 - imports an HTTP library

    urls = getproxies()
    scheme = next((each for each in VARIABLES if urls.get(each)), None)
    if scheme is None or proxy_bypass(urlsplit(address.base).netloc):
        return None
    return _proxy_of(urls[scheme], VARIABLES[scheme])


def _proxy_of(url: str, name: str) -> Proxy:
    """Return the proxy of a URL; raise InvalidSettings, whose message begins with `name`."""
    parts = _split(url if "://" in url else f"http://{url}", name)
    if parts.scheme not in PROXY_SCHEMES or not parts.hostname:
        raise InvalidSettings(
            f"{name}: not the address of a proxy: use http://host:port or http://user:password@host:port,"
            f" with one of {', '.join(PROXY_SCHEMES)}"
        )
    if parts.scheme.startswith("socks") and find_spec("socksio") is None:
        raise InvalidSettings(
            f"{name}: a SOCKS proxy needs the package socksio: pip install 'httpx[socks]'"
        )
    login = None
    if parts.username is not None:
        login = unquote_to_bytes(parts.username), unquote_to_bytes(parts.password or "")
    return Proxy(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", name, login)


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
