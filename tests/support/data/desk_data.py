"""A made-up desk: 70 instruments, trades, orders, candles and a log, the same on every run."""

import math
import random
from decimal import Decimal

from keydesk.store.frame import Frame
from keydesk.store.state import Arming, Candle, CandleSeries, Health, Notice, Topic
from keydesk.store.store import Store
from keydesk.values import (
    AccountState,
    Day,
    DependentOrder,
    OrderRow,
    PositionRow,
    Quote,
    TradeRow,
)
from keydesk.words.log_line import LogKind, LogLine
from keydesk_client.models import HomeConversions, Instrument

D = Decimal
NOW = 10_000.0  # monotonic seconds
WALL_NS = 1_772_459_002_000_000_000  # 2026-03-02 13:43:22 UTC
MINUTE_NS = 60_000_000_000
EVERYTHING = {topic: frozenset((None,)) for topic in Topic}

PRICES = {
    "EUR_USD": "1.08431",
    "GBP_USD": "1.26710",
    "USD_JPY": "151.322",
    "AUD_USD": "0.65218",
    "NZD_USD": "0.59820",
    "USD_CAD": "1.36012",
    "USD_CHF": "0.90114",
    "EUR_GBP": "0.85572",
    "EUR_JPY": "164.080",
    "GBP_JPY": "191.741",
    "AUD_JPY": "98.690",
    "EUR_CHF": "0.97712",
    "USD_SEK": "10.41235",
    "USD_NOK": "10.60410",
    "USD_MXN": "17.04560",
    "USD_ZAR": "18.63120",
    "USD_PLN": "3.98150",
    "EUR_HUF": "392.410",
}
CURRENCIES = ["EUR", "GBP", "AUD", "NZD", "USD", "CAD", "CHF", "SEK", "NOK", "PLN", "CZK", "SGD"]


def names(count: int) -> list[str]:
    """The first instruments of the made-up market."""
    crosses = (f"{a}_{b}" for i, a in enumerate(CURRENCIES) for b in CURRENCIES[i + 1 :])
    return list(dict.fromkeys([*PRICES, *crosses]))[:count]


def instrument(name: str) -> Instrument:
    """An instrument as the broker describes it."""
    yen = name.endswith(("JPY", "HUF"))
    return Instrument(
        name=name,
        type="CURRENCY",
        display_name=name.replace("_", "/"),
        pip_location=-2 if yen else -4,
        display_precision=3 if yen else 5,
        trade_units_precision=0,
        minimum_trade_size=D(1),
        maximum_trailing_stop_distance=D(1),
        minimum_trailing_stop_distance=D("0.0005"),
        maximum_position_size=D(0),
        maximum_order_units=D(100_000_000),
        margin_rate=D("0.0333"),
    )


def account() -> AccountState:
    """A small practice account with two trades open."""
    return AccountState(
        id="101-004-1234567-042",
        alias="main",
        currency="USD",
        hedging=False,
        balance=D("10213.65"),
        nav=D("10214.55"),
        unrealized_pl=D("0.90"),
        margin_used=D("528.10"),
        margin_available=D("9686.45"),
        margin_closeout_percent=D("0.026"),
        margin_rate=D("0.0333"),
        pl=D("213.65"),
        financing=D("-4.31"),
        last_transaction_id=6415,
        created_time_ns=WALL_NS - 10_000 * MINUTE_NS,
        mid_nav=D("10214.55"),
        day_pl=D("33.90"),
        open_risk=D("27.78"),
        unprotected_trades=1,
    )


def trades() -> dict[str, TradeRow]:
    """A protected long and an unprotected short."""
    long_euro = TradeRow(
        id="6411",
        instrument="EUR_USD",
        units=D(10_000),
        initial_units=D(10_000),
        price=D("1.08380"),
        open_time_ns=WALL_NS - 12 * MINUTE_NS,
        realized_pl=D(0),
        financing=D("-0.41"),
        initial_margin=D("361.06"),
        take_profit=DependentOrder("6412", D("1.08650")),
        stop_loss=DependentOrder("6413", D("1.08200")),
        now=D("1.08431"),
        pips=D("5.1"),
        unrealized_pl=D("5.10"),
        r_multiple=D("0.28"),
        risk=D("18.00"),
        margin_used=D("361.06"),
    )
    short_yen = TradeRow(
        id="6398",
        instrument="USD_JPY",
        units=D(-5_000),
        initial_units=D(-5_000),
        price=D("151.204"),
        open_time_ns=WALL_NS - 220 * MINUTE_NS,
        realized_pl=D(0),
        financing=D("0.07"),
        initial_margin=D("166.50"),
        now=D("151.331"),
        pips=D("-12.7"),
        unrealized_pl=D("-4.20"),
        margin_used=D("166.50"),
    )
    return {"6398": short_yen, "6411": long_euro}


def positions() -> dict[str, PositionRow]:
    """What the trades add up to."""
    return {
        "EUR_USD": PositionRow(
            "EUR_USD", D(10_000), D("1.08380"), D(0), None, D("5.10"), D("361.06"), ("6411",)
        ),
        "USD_JPY": PositionRow(
            "USD_JPY", D(0), None, D(-5_000), D("151.204"), D("-4.20"), D("166.50"), ("6398",)
        ),
    }


def _order(number: str, kind: str, name: str, units: str | None, price: str) -> OrderRow:
    return OrderRow(
        id=number,
        type=kind,
        instrument=name,
        units=D(units) if units else None,
        price=D(price),
        distance=None,
        time_in_force="GTC",
        gtd_ns=None,
        trade_id=None if units else "6411",
        stop_loss=D("1.08050") if units else None,
        take_profit=None,
        client_id=None,
        create_time_ns=WALL_NS - 40 * MINUTE_NS,
        pips_away=D("23.1"),
    )


def orders() -> dict[str, OrderRow]:
    """A limit order to buy, and the bracket of the long trade."""
    rows = (
        _order("6412", "TAKE_PROFIT", "EUR_USD", None, "1.08650"),
        _order("6413", "STOP_LOSS", "EUR_USD", None, "1.08200"),
        _order("6415", "LIMIT", "EUR_USD", "20000", "1.08200"),
    )
    return {row.id: row for row in rows}


def log() -> list[LogLine]:
    """The day so far, oldest first."""

    def line(
        minutes: int, number: str, kind: LogKind, name: str, text: str, *, pl: str = ""
    ) -> LogLine:
        time = WALL_NS - minutes * MINUTE_NS
        return LogLine(number, time, kind, name, text, None, D(pl) if pl else None)

    return [
        line(
            190,
            "6390",
            "CLOSE",
            "EUR_USD",
            "Closed long 10,000 at 1.08512 #6377, target",
            pl="33.00",
        ),
        line(142, "6396", "FINANCE", "EUR_USD", "Financing of trade 6377", pl="-0.41"),
        line(60, "6402", "REJECT", "GBP_USD", "Market buy 400,000: not enough margin"),
        line(58, "", "LINK", "", "Prices resumed after 4.1 s; 3 transactions caught up"),
        line(40, "6415", "ORDER", "EUR_USD", "Limit buy 20,000 at 1.08200 SL 1.08050"),
        line(12, "6411", "FILL", "EUR_USD", "Bought 10,000 at 1.08380 #6411"),
    ]


def candles(close: float, count: int, seed: int, *, minutes: int = 5) -> list[Candle]:
    """A path that ends at this price, drawn backwards."""
    rng = random.Random(seed)
    found: list[Candle] = []
    pace = close * 0.00025
    for i in range(count):
        opened = close + rng.gauss(math.sin(i / 17) * pace * 0.5, pace)
        high = max(opened, close) + abs(rng.gauss(0, pace * 0.6))
        low = min(opened, close) - abs(rng.gauss(0, pace * 0.6))
        time = WALL_NS - WALL_NS % (minutes * MINUTE_NS) - i * minutes * MINUTE_NS
        found.append(Candle(time, opened, high, low, close, complete=i > 0, volume=50))
        close = opened
    return found[::-1]


def quote(name: str) -> Quote:
    """A quiet price: nothing flashes."""
    shape = instrument(name)
    pip = D(1).scaleb(shape.pip_location)
    bid = D(PRICES.get(name, "1.25430"))
    spread = pip * (8 + len(name) % 3 * 4) / 10
    return Quote(name, bid, bid + spread.quantize(pip / 10), WALL_NS, True, NOW - 0.4)


def desk_store(count: int = 14) -> Store:
    """A store in the middle of a quiet trading day."""
    store = Store()
    store.watchlist = names(count)
    for number, name in enumerate(store.watchlist):
        store.instruments[name] = instrument(name)
        store.quotes[name] = quote(name)
        mid = store.quotes[name].bid
        change = D(number * 37 % 83 - 41) / 10_000
        store.days[name] = Day(mid * (1 - change), mid * D("1.004"), mid * D("0.996"))
    store.conversions["USD"] = HomeConversions(
        currency="USD", account_gain=D(1), account_loss=D(1), position_value=D(1)
    )
    store.focus = "EUR_USD"
    store.account = account()
    store.trades, store.positions, store.orders = trades(), positions(), orders()
    store.log = log()
    for granularity, minutes, seed in (("M5", 5, 3), ("H1", 60, 4)):
        series = CandleSeries("EUR_USD", granularity, loading=False)
        series.candles = candles(1.08435, 300, seed, minutes=minutes)
        store.series["EUR_USD", granularity] = series
    store.health = Health(
        prices="OK",
        events="OK",
        prices_at=NOW - 0.4,
        events_at=NOW - 2.1,
        rtt_ms=48.0,
        rtt_p95_ms=91.0,
    )
    store.arming = Arming("ARMED", "practice money")
    said = "Filled 6411: bought 10,000 EUR/USD at 1.08380, 0.1 pip better, 62 ms"
    store.notices = [
        Notice("good", said, WALL_NS - MINUTE_NS // 12, came=NOW - 5),
    ]
    return store


def frame_of(store: Store, *, now: float = NOW, everything: bool = False) -> Frame:
    """One beat of the made-up desk."""
    dirty = EVERYTHING if everything else store.pop_dirty()
    store.date_notices(now)
    return Frame(store, dirty, now, store.time_ns(now, WALL_NS))
