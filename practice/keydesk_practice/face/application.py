"""The HTTP application: every path of the interface and the operation behind each of its methods."""

from collections.abc import Iterable

from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from keydesk_practice.broker import Broker
from keydesk_practice.face import (
    account_routes,
)
from keydesk_practice.face.access import Doorkeeper
from keydesk_practice.face.answers import Answer
from keydesk_practice.face.door import Door
from keydesk_practice.face.endpoints import Call, Endpoint, PathEndpoints, StreamEndpoint
from keydesk_practice.face.refusals import no_such_path, not_served_yet

ACCOUNT = "/v3/accounts/{accountID}"
INSTRUMENT = "/v3/instruments/{instrument}"


def _later(what: str) -> Endpoint:
    def refuse(_: Call) -> Answer:
        raise not_served_yet(what)

    return Endpoint(refuse)


PATHS: dict[str, dict[str, Endpoint | StreamEndpoint]] = {
    "/v3/accounts": {"GET": Endpoint(account_routes.list_accounts)},
    ACCOUNT: {"GET": _later("account details")},
}


def make_application(broker: Broker, tokens: Iterable[str], rate_limit: int) -> Door:
    """Return the ASGI application of a broker, open to the tokens."""
    routes = [Route(path, PathEndpoints(broker, methods)) for path, methods in PATHS.items()]
    router = Router(routes, redirect_slashes=False, default=_no_such_path)
    return Door(router, Doorkeeper(tokens, rate_limit))


async def _no_such_path(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise no_such_path()
