"""The application: every path of the interface and the handler of each of its methods."""

from collections.abc import Iterable

from keydesk_practice.broker.broker import Broker
from keydesk_practice.http import accounts, orders, pricing, trades, transactions
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
        "GET": Endpoint(orders.list_orders),
        "POST": Endpoint(orders.create_order, reads_body=True),
    },
    "/v3/accounts": {"GET": Endpoint(accounts.list_accounts)},
    ACCOUNT: {"GET": Endpoint(accounts.get_account)},
    f"{ACCOUNT}/summary": {"GET": Endpoint(accounts.get_account_summary)},
    f"{ACCOUNT}/instruments": {"GET": Endpoint(accounts.list_instruments)},
    f"{ACCOUNT}/configuration": {
        "PATCH": Endpoint(accounts.configure_account, reads_body=True, optional_body=True)
    },
    f"{ACCOUNT}/changes": {"GET": Endpoint(accounts.poll_changes)},
    f"{ACCOUNT}/pricing": {"GET": Endpoint(pricing.get_pricing)},
    f"{ACCOUNT}/pricing/stream": {"GET": StreamEndpoint(pricing.stream_pricing)},
    f"{ACCOUNT}/pendingOrders": {"GET": Endpoint(orders.list_pending_orders)},
    ORDER: {
        "GET": Endpoint(orders.get_order),
        "PUT": Endpoint(orders.replace_order, reads_body=True),
    },
    f"{ORDER}/cancel": {"PUT": Endpoint(orders.cancel_order)},
    f"{ORDER}/clientExtensions": {
        "PUT": Endpoint(orders.set_order_client_extensions, reads_body=True)
    },
    f"{ACCOUNT}/trades": {"GET": Endpoint(trades.list_trades)},
    f"{ACCOUNT}/openTrades": {"GET": Endpoint(trades.list_open_trades)},
    TRADE: {"GET": Endpoint(trades.get_trade)},
    f"{TRADE}/close": {"PUT": Endpoint(trades.close_trade, reads_body=True, optional_body=True)},
    f"{TRADE}/clientExtensions": {
        "PUT": Endpoint(trades.set_trade_client_extensions, reads_body=True)
    },
    f"{TRADE}/orders": {"PUT": Endpoint(trades.set_trade_dependent_orders, reads_body=True)},
    f"{ACCOUNT}/positions": {"GET": Endpoint(trades.list_positions)},
    f"{ACCOUNT}/openPositions": {"GET": Endpoint(trades.list_open_positions)},
    POSITION: {"GET": Endpoint(trades.get_position)},
    f"{POSITION}/close": {"PUT": Endpoint(trades.close_position, reads_body=True)},
    TRANSACTIONS: {"GET": Endpoint(transactions.list_transactions)},
    f"{TRANSACTIONS}/idrange": {"GET": Endpoint(transactions.transactions_range)},
    f"{TRANSACTIONS}/sinceid": {"GET": Endpoint(transactions.transactions_since)},
    f"{TRANSACTIONS}/stream": {"GET": StreamEndpoint(transactions.stream_transactions)},
    f"{TRANSACTIONS}/{{transactionID}}": {"GET": Endpoint(transactions.get_transaction)},
    f"{ACCOUNT}/candles/latest": {"GET": Endpoint(pricing.latest_candles)},
    f"{ACCOUNT}/instruments/{{instrument}}/candles": {
        "GET": Endpoint(pricing.account_instrument_candles)
    },
    f"{INSTRUMENT}/candles": {"GET": Endpoint(pricing.instrument_candles)},
    f"{INSTRUMENT}/orderBook": {"GET": Endpoint(pricing.get_order_book)},
    f"{INSTRUMENT}/positionBook": {"GET": Endpoint(pricing.get_position_book)},
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
