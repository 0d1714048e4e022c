"""The HTTP application: every path of the interface and the operation behind each of its methods."""

from collections.abc import Iterable

from starlette.routing import Route, Router
from starlette.types import Receive, Scope, Send

from keydesk_practice.broker.broker import Broker
from keydesk_practice.http import accounts as account_routes
from keydesk_practice.http import orders as order_routes
from keydesk_practice.http import pricing as book_routes
from keydesk_practice.http import pricing as candle_routes
from keydesk_practice.http import pricing as pricing_routes
from keydesk_practice.http import trades as position_routes
from keydesk_practice.http import trades as trade_routes
from keydesk_practice.http import transactions as transaction_routes
from keydesk_practice.http.endpoints import Endpoint, PathEndpoints, StreamEndpoint
from keydesk_practice.http.errors import unknown_path
from keydesk_practice.http.middleware import Authenticator, Door

ACCOUNT = "/v3/accounts/{accountID}"
ORDER = f"{ACCOUNT}/orders/{{orderSpecifier}}"
TRADE = f"{ACCOUNT}/trades/{{tradeSpecifier}}"
POSITION = f"{ACCOUNT}/positions/{{instrument}}"
TRANSACTIONS = f"{ACCOUNT}/transactions"
INSTRUMENT = "/v3/instruments/{instrument}"

PATHS: dict[str, dict[str, Endpoint | StreamEndpoint]] = {
    "/v3/accounts": {"GET": Endpoint(account_routes.list_accounts)},
    ACCOUNT: {"GET": Endpoint(account_routes.get_account)},
    f"{ACCOUNT}/summary": {"GET": Endpoint(account_routes.get_account_summary)},
    f"{ACCOUNT}/instruments": {"GET": Endpoint(account_routes.list_instruments)},
    f"{ACCOUNT}/configuration": {
        "PATCH": Endpoint(account_routes.configure_account, wants_body=True, may_lack_body=True)
    },
    f"{ACCOUNT}/changes": {"GET": Endpoint(account_routes.poll_changes)},
    f"{ACCOUNT}/pricing": {"GET": Endpoint(pricing_routes.get_pricing)},
    f"{ACCOUNT}/pricing/stream": {"GET": StreamEndpoint(pricing_routes.stream_pricing)},
    f"{ACCOUNT}/orders": {
        "GET": Endpoint(order_routes.list_orders),
        "POST": Endpoint(order_routes.create_order, wants_body=True),
    },
    f"{ACCOUNT}/pendingOrders": {"GET": Endpoint(order_routes.list_pending_orders)},
    ORDER: {
        "GET": Endpoint(order_routes.get_order),
        "PUT": Endpoint(order_routes.replace_order, wants_body=True),
    },
    f"{ORDER}/cancel": {"PUT": Endpoint(order_routes.cancel_order)},
    f"{ORDER}/clientExtensions": {
        "PUT": Endpoint(order_routes.set_order_client_extensions, wants_body=True)
    },
    f"{ACCOUNT}/trades": {"GET": Endpoint(trade_routes.list_trades)},
    f"{ACCOUNT}/openTrades": {"GET": Endpoint(trade_routes.list_open_trades)},
    TRADE: {"GET": Endpoint(trade_routes.get_trade)},
    f"{TRADE}/close": {"PUT": Endpoint(trade_routes.close_trade, wants_body=True)},
    f"{TRADE}/clientExtensions": {
        "PUT": Endpoint(trade_routes.set_trade_client_extensions, wants_body=True)
    },
    f"{TRADE}/orders": {"PUT": Endpoint(trade_routes.set_trade_dependent_orders, wants_body=True)},
    f"{ACCOUNT}/positions": {"GET": Endpoint(position_routes.list_positions)},
    f"{ACCOUNT}/openPositions": {"GET": Endpoint(position_routes.list_open_positions)},
    POSITION: {"GET": Endpoint(position_routes.get_position)},
    f"{POSITION}/close": {"PUT": Endpoint(position_routes.close_position, wants_body=True)},
    TRANSACTIONS: {"GET": Endpoint(transaction_routes.list_transactions)},
    f"{TRANSACTIONS}/idrange": {"GET": Endpoint(transaction_routes.transactions_range)},
    f"{TRANSACTIONS}/sinceid": {"GET": Endpoint(transaction_routes.transactions_since)},
    f"{TRANSACTIONS}/stream": {"GET": StreamEndpoint(transaction_routes.stream_transactions)},
    f"{TRANSACTIONS}/{{transactionID}}": {"GET": Endpoint(transaction_routes.get_transaction)},
    f"{ACCOUNT}/candles/latest": {"GET": Endpoint(candle_routes.latest_candles)},
    f"{ACCOUNT}/instruments/{{instrument}}/candles": {
        "GET": Endpoint(candle_routes.account_instrument_candles)
    },
    f"{INSTRUMENT}/candles": {"GET": Endpoint(candle_routes.instrument_candles)},
    f"{INSTRUMENT}/orderBook": {"GET": Endpoint(book_routes.get_order_book)},
    f"{INSTRUMENT}/positionBook": {"GET": Endpoint(book_routes.get_position_book)},
}


def make_application(broker: Broker, tokens: Iterable[str], rate_limit: int) -> Door:
    """Return the ASGI application of a broker, open to the tokens."""
    routes = [Route(path, PathEndpoints(broker, methods)) for path, methods in PATHS.items()]
    router = Router(routes, redirect_slashes=False, default=_unknown_path)
    return Door(router, Authenticator(tokens, rate_limit), broker.budget)


async def _unknown_path(_scope: Scope, _receive: Receive, _send: Send) -> None:
    raise unknown_path()
