"""The connections to a host: their number, how long they stay, and how a dead peer is noticed.

There are few, since httpx's pool slows down with the square of the requests that wait in it.
"""

import socket
from typing import Final, TypeAlias

import httpx

from keydesk_client.errors import InvalidSettings
from keydesk_client.http._httpcore_private import refuse_connections, send_requests_whole
from keydesk_client.http.endpoint import Address

Carrier: TypeAlias = httpx.AsyncBaseTransport
"""Carries requests: tests pass a MockTransport, or one that calls an app in this process."""
SocketOption: TypeAlias = tuple[int, int, int]
IDLE_CONNECTION_S: Final = 30.0
KEEPALIVE_IDLE_S, KEEPALIVE_INTERVAL_S, KEEPALIVE_PROBES = 5, 2, 3
UNACKNOWLEDGED_MS: Final = 8000
LONGEST_REASON: Final = 300

INVALID: Final = (httpx.InvalidURL, httpx.LocalProtocolError, UnicodeError)
"""Raised for a request that cannot be encoded."""


def checked(address: Address) -> Address:
    """Return the address if httpx can use it; raise InvalidSettings if not."""
    try:
        httpx.URL(address.base)
    except INVALID as error:
        reason = str(error)
    else:
        return address
    raise InvalidSettings(f"{address.base[:LONGEST_REASON]!r} is not a valid URL: {reason}")


def carrier_to(address: Address, connections: int) -> Carrier:
    """Return a carrier that opens so many connections to an address at most."""
    carrier = _Connections(
        verify=address.is_encrypted,  # without encryption, certificates need not be loaded
        trust_env=False,
        limits=httpx.Limits(
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=IDLE_CONNECTION_S,
        ),
        uds=address.socket_path,
        socket_options=None if address.socket_path else tcp_keepalive(),
    )
    send_requests_whole(carrier)
    return carrier


class _Connections(httpx.AsyncHTTPTransport):
    """The connections to a host; closing them also closes one that is being opened at that moment."""

    async def aclose(self) -> None:
        refuse_connections(self)
        await super().aclose()


def tcp_keepalive() -> list[SocketOption]:
    """Return socket options that notice a dead peer within about ten seconds, on Linux and macOS.

    Probes after 5 s of silence, every 2 s, 3 times; sent data may stay unacknowledged for 8 s.
    """
    wanted = {
        "TCP_KEEPIDLE": KEEPALIVE_IDLE_S,
        "TCP_KEEPALIVE": KEEPALIVE_IDLE_S,  # its name on macOS
        "TCP_KEEPINTVL": KEEPALIVE_INTERVAL_S,
        "TCP_KEEPCNT": KEEPALIVE_PROBES,
        "TCP_USER_TIMEOUT": UNACKNOWLEDGED_MS,
        "TCP_NODELAY": 1,
    }
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in wanted.items():
        option = getattr(socket, name, None)
        if isinstance(option, int):
            options.append((socket.IPPROTO_TCP, option, value))
    return options
