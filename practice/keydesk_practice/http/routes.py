"""The application: every path of the interface and the handler of each of its methods."""

from collections.abc import Iterable

from keydesk_practice.broker.broker import Broker
from keydesk_practice.http import (
    account_endpoints,
    market_data_endpoints,
    order_endpoints,
    trade_endpoints,
    transaction_endpoints,
)
from keydesk_practice.http.endpoints import Endpoint, Router, StreamEndpoint
from keydesk_practice.http.middleware import Authenticator, RequestMiddleware

ACCOUNT = "/v3/accounts/{accountID}"
ORDER = f"{ACCOUNT}/orders/{{orderSpecifier}}"
TRADE = f"{ACCOUNT}/trades/{{tradeSpecifier}}"
POSITION = f"{ACCOUNT}/positions/{{instrument}}"
TRANSACTIONS = f"{ACCOUNT}/transactions"
INSTRUMENT = "/v3/instruments/{instrument}"

PATHS: dict[str, dict[str, Endpoint | StreamEndpoint]] = {
    f"{ACCOUNT}/orders": {
        "GET": Endpoint(order_endpoints.list_orders),
        "POST": Endpoint(order_endpoints.create_order, reads_body=True),
    },
    "/v3/accounts": {"GET": Endpoint(account_endpoints.list_accounts)},
    ACCOUNT: {"GET": Endpoint(account_endpoints.get_account)},
    f"{ACCOUNT}/summary": {"GET": Endpoint(account_endpoints.get_account_summary)},
    f"{ACCOUNT}/instruments": {"GET": Endpoint(account_endpoints.list_instruments)},
    f"{ACCOUNT}/configuration": {
        "PATCH": Endpoint(account_endpoints.configure_account, reads_body=True, optional_body=True)
    },
    f"{ACCOUNT}/changes": {"GET": Endpoint(account_endpoints.poll_changes)},
    f"{ACCOUNT}/pricing": {"GET": Endpoint(market_data_endpoints.get_pricing)},
    f"{ACCOUNT}/pricing/stream": {"GET": StreamEndpoint(market_data_endpoints.stream_pricing)},
    f"{ACCOUNT}/pendingOrders": {"GET": Endpoint(order_endpoints.list_pending_orders)},
    ORDER: {
        "GET": Endpoint(order_endpoints.get_order),
        "PUT": Endpoint(order_endpoints.replace_order, reads_body=True),
    },
    f"{ORDER}/cancel": {"PUT": Endpoint(order_endpoints.cancel_order)},
    f"{ORDER}/clientExtensions": {
        "PUT": Endpoint(order_endpoints.set_order_client_extensions, reads_body=True)
    },
    f"{ACCOUNT}/trades": {"GET": Endpoint(trade_endpoints.list_trades)},
    f"{ACCOUNT}/openTrades": {"GET": Endpoint(trade_endpoints.list_open_trades)},
    TRADE: {"GET": Endpoint(trade_endpoints.get_trade)},
    f"{TRADE}/close": {
        "PUT": Endpoint(trade_endpoints.close_trade, reads_body=True, optional_body=True)
    },
    f"{TRADE}/clientExtensions": {
        "PUT": Endpoint(trade_endpoints.set_trade_client_extensions, reads_body=True)
    },
    f"{TRADE}/orders": {
        "PUT": Endpoint(trade_endpoints.set_trade_dependent_orders, reads_body=True)
    },
    f"{ACCOUNT}/positions": {"GET": Endpoint(trade_endpoints.list_positions)},
    f"{ACCOUNT}/openPositions": {"GET": Endpoint(trade_endpoints.list_open_positions)},
    POSITION: {"GET": Endpoint(trade_endpoints.get_position)},
    f"{POSITION}/close": {"PUT": Endpoint(trade_endpoints.close_position, reads_body=True)},
    TRANSACTIONS: {"GET": Endpoint(transaction_endpoints.list_transactions)},
    f"{TRANSACTIONS}/idrange": {"GET": Endpoint(transaction_endpoints.transactions_range)},
    f"{TRANSACTIONS}/sinceid": {"GET": Endpoint(transaction_endpoints.transactions_since)},
    f"{TRANSACTIONS}/stream": {"GET": StreamEndpoint(transaction_endpoints.stream_transactions)},
    f"{TRANSACTIONS}/{{transactionID}}": {"GET": Endpoint(transaction_endpoints.get_transaction)},
    f"{ACCOUNT}/candles/latest": {"GET": Endpoint(market_data_endpoints.latest_candles)},
    f"{ACCOUNT}/instruments/{{instrument}}/candles": {
        "GET": Endpoint(market_data_endpoints.account_instrument_candles)
    },
    f"{INSTRUMENT}/candles": {"GET": Endpoint(market_data_endpoints.instrument_candles)},
    f"{INSTRUMENT}/orderBook": {"GET": Endpoint(market_data_endpoints.get_order_book)},
    f"{INSTRUMENT}/positionBook": {"GET": Endpoint(market_data_endpoints.get_position_book)},
}


def make_application(
    broker: Broker,
    tokens: Iterable[str],
    rate_limit: int,
    *,
    trusts_proxy: bool = False,
) -> RequestMiddleware:
    """Return the ASGI application of a broker; it accepts the tokens, each at `rate_limit` requests a second."""
    router, authenticator = Router(broker, PATHS), Authenticator(tokens, rate_limit)
    return RequestMiddleware(router, authenticator, broker.budget, trusts_proxy=trusts_proxy)
