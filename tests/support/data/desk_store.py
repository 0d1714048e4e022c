"""A store as it is in the middle of a day: two trades, a position, a pending order, the example prices."""

from decimal import Decimal

from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.values import AccountState, DependentOrder, OrderRow, PositionRow, Quote, TradeRow
from keydesk_client.models import HomeConversions, Instrument
from support.data.trading_contexts import FACTORS, MARKET

D = Decimal
NOW = 1_000.0  # monotonic seconds
WALL_NS = 1_772_000_000_000_000_000  # 2026-02-25 06:13 UTC


def example_instrument(name: str) -> Instrument:
    """An instrument of the example market."""
    _, _, pip, precision, units_precision, rate = MARKET[name]
    return Instrument(
        name=name,
        type="CURRENCY",
        display_name=name.replace("_", "/"),
        pip_location=D(pip).adjusted(),
        display_precision=precision,
        trade_units_precision=units_precision,
        minimum_trade_size=D(1).scaleb(-units_precision),
        maximum_trailing_stop_distance=10_000 * D(pip),
        minimum_trailing_stop_distance=5 * D(pip),
        maximum_position_size=D(0),
        maximum_order_units=D(100_000_000),
        margin_rate=D(rate),
    )


def example_quote(name: str) -> Quote:
    """The example price, 0.4 s old."""
    bid, ask = MARKET[name][:2]
    return Quote(name, D(bid), D(ask), WALL_NS, tradeable=True, received=NOW - 0.4)


def example_account() -> AccountState:
    """Ten thousand dollars of practice money."""
    return AccountState(
        id="101-004-1234567-001",
        alias="main",
        currency="USD",
        hedging=False,
        balance=D("9990.00"),
        nav=D(10_000),
        unrealized_pl=D("10.00"),
        margin_used=D("722.58"),
        margin_available=D("9277.42"),
        margin_closeout_percent=D("0.036"),
        margin_rate=D("0.0333"),
        pl=D(0),
        financing=D(0),
        last_transaction_id=6417,
        created_time_ns=WALL_NS,
        mid_nav=D(10_000),
    )


def long_euro() -> TradeRow:
    """20,000 EUR_USD long with a stop and a target, one pip up."""
    return TradeRow(
        id="6411",
        instrument="EUR_USD",
        units=D(20_000),
        initial_units=D(20_000),
        price=D("1.08440"),
        open_time_ns=WALL_NS,
        realized_pl=D(0),
        financing=D("-0.41"),
        initial_margin=D("722.58"),
        stop_loss=DependentOrder("6412", D("1.08200")),
        take_profit=DependentOrder("6413", D("1.08900")),
        now=D("1.08490"),
        pips=D("5.0"),
        unrealized_pl=D("10.00"),
        risk=D("48.00"),
    )


def short_yen() -> TradeRow:
    """5,000 USD_JPY short without any stop."""
    return TradeRow(
        id="6398",
        instrument="USD_JPY",
        units=D(-5_000),
        initial_units=D(-5_000),
        price=D("155.100"),
        open_time_ns=WALL_NS,
        realized_pl=D(0),
        financing=D(0),
        initial_margin=D("166.50"),
        now=D("155.214"),
        pips=D("-11.4"),
        unrealized_pl=D("-3.69"),
    )


def limit_order() -> OrderRow:
    """A buy limit of 20,000 EUR_USD under the market."""
    return OrderRow(
        id="6415",
        type="LIMIT",
        instrument="EUR_USD",
        units=D(20_000),
        price=D("1.08200"),
        distance=None,
        time_in_force="GTC",
        gtd_ns=None,
        trade_id=None,
        stop_loss=D("1.08000"),
        take_profit=D("1.08600"),
        client_id=None,
        create_time_ns=WALL_NS,
    )


def example_store() -> Store:
    """All of it."""
    store = Store()
    for name in MARKET:
        store.instruments[name] = example_instrument(name)
        store.quotes[name] = example_quote(name)
        store.watchlist.append(name)
    for (currency, home), (value, gain, loss) in FACTORS.items():
        if home == "USD":
            store.conversions[currency] = HomeConversions(
                currency=currency,
                account_gain=D(gain),
                account_loss=D(loss),
                position_value=D(value),
            )
    store.account = example_account()
    store.trades = {trade.id: trade for trade in (long_euro(), short_yen())}
    store.positions = {
        "EUR_USD": PositionRow(
            "EUR_USD", D(20_000), D("1.08440"), D(0), None, D("10.00"), D("722.58"), ("6411",)
        ),
        "USD_JPY": PositionRow(
            "USD_JPY", D(0), None, D(-5_000), D("155.100"), D("-3.69"), D("166.50"), ("6398",)
        ),
    }
    store.orders = {"6415": limit_order()}
    store.focus = "EUR_USD"
    store.arming = Arming("ARMED")
    store.sent.distance_unit = "price"  # tests type the levels of trades as prices
    return store
