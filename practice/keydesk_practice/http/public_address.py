"""The address that a client used, for links in responses, also behind a proxy that the broker was told to trust.

A proxy states it in `Forwarded` (RFC 7239) or in `X-Forwarded-Proto` and `X-Forwarded-Host`. The first element is the one
of the proxy that the client talked to. Values that cannot be a scheme or a host are ignored.
"""

import re
from collections.abc import Mapping
from functools import lru_cache

from starlette.datastructures import URL
from starlette.requests import Request

_HOST = re.compile(r"[A-Za-z0-9._-]+(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_SCHEMES = frozenset({"http", "https"})


def public_url(request: Request, *, trusts_proxy: bool) -> str:
    """Return scheme and host as the client knows them, without a trailing slash."""
    scope = request.scope
    own = _own_url(scope["scheme"], request.headers.get("host"), scope.get("server"))
    if not trusts_proxy:
        return own
    scheme, _, host = own.partition("://")
    proto, forwarded_host = _forwarded(request.headers)
    if proto not in _SCHEMES:
        proto = scheme
    return f"{proto}://{forwarded_host if _HOST.fullmatch(forwarded_host) else host}"


@lru_cache(maxsize=256)  # clients use few addresses, and each order's answer has a link
def _own_url(scheme: str, host: str | None, server: tuple[str, int | None] | None) -> str:
    named = [] if host is None else [(b"host", host.encode("latin-1"))]
    place = {"scheme": scheme, "server": server, "path": "/", "headers": named}
    return str(URL(scope=place)).rstrip("/")


def _forwarded(headers: Mapping[str, str]) -> tuple[str, str]:
    """Return the scheme and host that a proxy stated, empty where it stated none."""
    standard = _parameters(headers.get("forwarded", ""))
    proto = standard.get("proto") or _first(headers.get("x-forwarded-proto", ""))
    host = standard.get("host") or _first(headers.get("x-forwarded-host", ""))
    return proto.lower(), host


def _parameters(forwarded: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in _first(forwarded).split(";"))
    return {name.strip().lower(): value.strip().strip('"') for name, _, value in pairs}


def _first(values: str) -> str:
    return values.partition(",")[0].strip()
