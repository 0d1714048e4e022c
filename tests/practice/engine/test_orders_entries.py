from decimal import Decimal
from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from keydesk_practice.engine.commands import (
    ClientExtensions,
    EntryRequest,
    GuaranteedStopLossDetails,
    LimitRequest,
    MarketIfTouchedRequest,
    MarketRequest,
    PlaceOrder,
    StopLossDetails,
    StopRequest,
    TakeProfitDetails,
    Tick,
    TrailingStopLossDetails,
)
from keydesk_practice.engine.state.account import Terms
from keydesk_practice.engine.transactions import (
    EntryOrderCreated,
    EntryOrderRejected,
    FundsTransferred,
    OrderCancelled,
    OrderFilled,
    OrderRejected,
    StopLossCreated,
    TakeProfitCreated,
    to_wire,
)
from keydesk_practice.engine.wire_form import parse_time
from support.fakes.still_market import NOON, SECOND
from support.practised_account import PractisedAccount, only, types

D = Decimal


def buy(units: str = "50000", **members: object) -> MarketRequest:
    return MarketRequest(instrument="EUR_USD", units=D(units), **members)  # type: ignore[arg-type]


def test_an_account_begins_with_create_alias_and_deposit() -> None:
    account = PractisedAccount()
    assert types(tuple(account.transactions)) == ["CREATE", "CLIENT_CONFIGURE", "TRANSFER_FUNDS"]
    assert [one.id for one in account.transactions] == [1, 2, 3]
    assert only(FundsTransferred, tuple(account.transactions)).account_balance == D("10000.0000")


def test_a_buy_is_filled_at_the_ask_and_a_sell_at_the_bid() -> None:
    account = PractisedAccount()
    assert only(OrderFilled, account.place(buy("1000"))).price == D("1.08500")
    sold = account.place(MarketRequest(instrument="EUR_GBP", units=D(-1000)))
    assert only(OrderFilled, sold).price == D("0.85600")


def test_a_market_order_with_stop_and_target_makes_one_batch_in_order() -> None:
    account = PractisedAccount()
    order = buy(
        stop_loss_on_fill=StopLossDetails(price=D("1.083")),
        take_profit_on_fill=TakeProfitDetails(price=D("1.089")),
    )
    made = account.do(PlaceOrder(request_id="42", order=order))
    assert types(made) == ["MARKET_ORDER", "ORDER_FILL", "TAKE_PROFIT_ORDER", "STOP_LOSS_ORDER"]
    assert [one.id for one in made] == [4, 5, 6, 7]
    assert {one.batch_id for one in made} == {4}
    assert {one.request_id for one in made} == {"42"}
    assert {one.time for one in made} == {NOON}
    stop = only(StopLossCreated, made)
    assert to_wire(stop) == {
        "type": "STOP_LOSS_ORDER",
        "id": "7",
        "accountID": "101-001-1000001-001",
        "userID": 1000001,
        "batchID": "4",
        "requestID": "42",
        "time": "2024-03-06T12:00:00.000000000Z",
        "timeInForce": "GTC",
        "reason": "ON_FILL",
        "tradeID": "5",
        "triggerCondition": "DEFAULT",
        "orderFillTransactionID": "5",
        "price": "1.08300",
    }


def test_distances_on_fill_count_from_the_open_price() -> None:
    account = PractisedAccount()
    made = account.place(
        buy(
            stop_loss_on_fill=StopLossDetails(distance=D("0.002")),
            take_profit_on_fill=TakeProfitDetails(distance=D("0.004")),
        )
    )
    assert only(StopLossCreated, made).price == D("1.08300")
    assert only(TakeProfitCreated, made).price == D("1.08900")


def test_a_size_beyond_the_best_level_costs_the_weighted_average() -> None:
    account = PractisedAccount(deposit="1000000")
    account.market.levels(
        "EUR_USD", [("1.08490", 10_000)], [("1.08500", 10_000), ("1.08520", 30_000)]
    )
    assert only(OrderFilled, account.place(buy("40000"))).price == D("1.08515")


def test_fill_or_kill_takes_all_or_nothing_and_ioc_what_there_is() -> None:
    account = PractisedAccount(deposit="1000000")
    account.market.price("EUR_USD", "1.08490", "1.08500", depth=20_000)
    killed = account.place(buy("40000"))
    assert only(OrderCancelled, killed).reason == "INSUFFICIENT_LIQUIDITY"
    filled = only(OrderFilled, account.place(buy("40000", time_in_force="IOC")))
    assert (filled.units, filled.requested_units) == (D(20000), D(40000))


def test_a_price_bound_cancels_what_would_cost_more() -> None:
    account = PractisedAccount()
    made = account.place(buy("1000", price_bound=D("1.08499")))
    assert only(OrderCancelled, made).reason == "BOUNDS_VIOLATION"
    assert only(OrderFilled, account.place(buy("1000", price_bound=D("1.08500"))))


def test_margin_that_is_not_there_cancels_the_order() -> None:
    account = PractisedAccount(deposit="1000")
    made = account.place(buy("50000"))
    assert types(made) == ["MARKET_ORDER", "ORDER_CANCEL"]
    assert only(OrderCancelled, made).reason == "INSUFFICIENT_MARGIN"


def test_a_halted_market_cancels_market_orders_and_keeps_others_pending() -> None:
    account = PractisedAccount()
    account.market.halt("EUR_USD")
    assert only(OrderCancelled, account.place(buy("1000"))).reason == "MARKET_HALTED"
    rests = account.place(LimitRequest(instrument="EUR_USD", units=D(1000), price=D("1.2")))
    assert types(rests) == ["LIMIT_ORDER"]


def test_a_reduction_needs_no_margin() -> None:
    account = PractisedAccount(deposit="1900")
    account.trade("EUR_USD", 50000)
    account.market.price("EUR_USD", "1.06000", "1.06010")
    made = account.place(buy("-50000"))
    assert only(OrderFilled, made).trades_closed is not None


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (buy("0"), "UNITS_INVALID"),
        (buy("0.5"), "UNITS_PRECISION_EXCEEDED"),
        (buy("100000001"), "UNITS_LIMIT_EXCEEDED"),
        (buy("1", time_in_force="GTC"), "TIME_IN_FORCE_INVALID"),
        (buy("1", price_bound=D("1.084999")), "PRICE_BOUND_PRECISION_EXCEEDED"),
        (buy("1", price_bound=D(0)), "PRICE_BOUND_INVALID"),
        (MarketRequest(instrument="XXX_YYY", units=D(1)), "INSTRUMENT_UNKNOWN"),
        (LimitRequest(instrument="EUR_USD", units=D(1)), "PRICE_MISSING"),
        (
            LimitRequest(instrument="EUR_USD", units=D(1), price=D("1.084555")),
            "PRICE_PRECISION_EXCEEDED",
        ),
        (LimitRequest(instrument="EUR_USD", units=D(1), price=D(-1)), "PRICE_INVALID"),
        (
            LimitRequest(instrument="EUR_USD", units=D(1), price=D(1), time_in_force="GTD"),
            "TIME_IN_FORCE_GTD_TIMESTAMP_MISSING",
        ),
        (
            LimitRequest(
                instrument="EUR_USD", units=D(1), price=D(1), time_in_force="GTD", gtd_time=NOON
            ),
            "TIME_IN_FORCE_GTD_TIMESTAMP_IN_PAST",
        ),
        (
            MarketIfTouchedRequest(
                instrument="EUR_USD", units=D(1), price=D(1), time_in_force="FOK"
            ),
            "TIME_IN_FORCE_INVALID",
        ),
        (buy("1", client_extensions=ClientExtensions(id="x" * 129)), "CLIENT_ORDER_ID_INVALID"),
        (buy("1", client_extensions=ClientExtensions(tag="x" * 129)), "CLIENT_ORDER_TAG_INVALID"),
        (
            buy("1", trade_client_extensions=ClientExtensions(comment="x" * 129)),
            "CLIENT_TRADE_COMMENT_INVALID",
        ),
        (buy("1", take_profit_on_fill=TakeProfitDetails()), "TAKE_PROFIT_ON_FILL_PRICE_MISSING"),
        (
            buy("1", take_profit_on_fill=TakeProfitDetails(price=D("1.123456"))),
            "TAKE_PROFIT_ON_FILL_PRICE_PRECISION_EXCEEDED",
        ),
        (
            buy("1", stop_loss_on_fill=StopLossDetails()),
            "STOP_LOSS_ON_FILL_PRICE_AND_DISTANCE_BOTH_MISSING",
        ),
        (
            buy("1", stop_loss_on_fill=StopLossDetails(price=D(1), distance=D("0.1"))),
            "STOP_LOSS_ON_FILL_PRICE_AND_DISTANCE_BOTH_SPECIFIED",
        ),
        (
            buy("1", stop_loss_on_fill=StopLossDetails(price=D(1), time_in_force="IOC")),
            "STOP_LOSS_ON_FILL_TIME_IN_FORCE_INVALID",
        ),
        (
            buy("1", stop_loss_on_fill=StopLossDetails(price=D(1), time_in_force="GTD")),
            "STOP_LOSS_ON_FILL_GTD_TIMESTAMP_MISSING",
        ),
        (
            buy("1", trailing_stop_loss_on_fill=TrailingStopLossDetails(distance=D("0.0001"))),
            "TRAILING_STOP_LOSS_ON_FILL_PRICE_DISTANCE_MINIMUM_NOT_MET",
        ),
        (
            buy("1", trailing_stop_loss_on_fill=TrailingStopLossDetails(distance=D(2))),
            "TRAILING_STOP_LOSS_ON_FILL_PRICE_DISTANCE_MAXIMUM_EXCEEDED",
        ),
        (
            buy("1", trailing_stop_loss_on_fill=TrailingStopLossDetails()),
            "TRAILING_STOP_LOSS_ON_FILL_PRICE_DISTANCE_MISSING",
        ),
        (
            buy(
                "1",
                stop_loss_on_fill=StopLossDetails(price=D(1)),
                guaranteed_stop_loss_on_fill=GuaranteedStopLossDetails(price=D(1)),
            ),
            "ORDERS_ON_FILL_RMO_MUTUAL_EXCLUSIVITY_GSLO_EXCLUDES_OTHERS_VIOLATION",
        ),
        (
            buy(
                "1",
                client_extensions=ClientExtensions(id="a"),
                stop_loss_on_fill=StopLossDetails(
                    price=D(1), client_extensions=ClientExtensions(id="a")
                ),
            ),
            "ORDERS_ON_FILL_DUPLICATE_CLIENT_ORDER_IDS",
        ),
    ],
)
def test_an_invalid_request_is_rejected_with_its_reason(order: EntryRequest, reason: str) -> None:
    account = PractisedAccount()
    made = account.place(order)  # type: ignore[arg-type]
    assert [one.id for one in made] == [4], "a refused order consumes an id"
    assert only(OrderRejected, made).reject_reason == reason
    assert not account.state.orders


@pytest.mark.parametrize("kind", [MarketRequest, LimitRequest, StopRequest, MarketIfTouchedRequest])
@pytest.mark.parametrize("units", ["1000", "0"])
def test_what_an_order_asks_for_is_in_its_transaction_also_in_that_of_its_rejection(
    kind: type[EntryRequest], units: str
) -> None:
    """Also what was added to the request: its members are walked, those of one word with their last word."""
    members: dict[str, Any] = {
        name: get_args(hint)[-1]
        for name, hint in get_type_hints(kind).items()
        if get_origin(hint) is Literal and name != "time_in_force"
    }
    if kind is not MarketRequest:
        members["price"] = D("1.08000")
    request = kind(instrument="EUR_USD", units=D(units), **members)
    [made, *_] = PractisedAccount().place(request)  # type: ignore[arg-type]
    assert isinstance(made, EntryOrderCreated if D(units) else EntryOrderRejected)
    asked = {name: getattr(request, name) for name in kind.__struct_fields__}
    assert {name: getattr(made, name) for name in asked} == asked


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        (
            {"take_profit_on_fill": TakeProfitDetails(price=D("1.08490"))},
            "TAKE_PROFIT_ON_FILL_LOSS",
        ),
        ({"stop_loss_on_fill": StopLossDetails(price=D("1.08490"))}, "STOP_LOSS_ON_FILL_LOSS"),
        (
            {"guaranteed_stop_loss_on_fill": GuaranteedStopLossDetails(price=D("1.08400"))},
            "GUARANTEED_STOP_LOSS_ON_FILL_MINIMUM_DISTANCE_NOT_MET",
        ),
    ],
)
def test_a_problem_that_only_the_fill_shows_cancels_the_order(
    members: dict[str, object], reason: str
) -> None:
    account = PractisedAccount()
    made = account.place(buy("1000", **members))
    assert types(made) == ["MARKET_ORDER", "ORDER_CANCEL"]
    assert only(OrderCancelled, made).reason == reason
    assert not account.state.trades


def test_a_limit_stays_pending_and_fills_at_the_better_price() -> None:
    account = PractisedAccount()
    rests = account.place(LimitRequest(instrument="EUR_USD", units=D(1000), price=D("1.084")))
    assert types(rests) == ["LIMIT_ORDER"]
    assert account.price("EUR_USD", "1.08391", "1.08401") == ()
    filled = account.price("EUR_USD", "1.08370", "1.08380")
    assert types(filled) == ["ORDER_FILL"]
    fill = only(OrderFilled, filled)
    assert (fill.price, fill.reason, fill.request_id) == (D("1.08380"), "LIMIT_ORDER", None)


def test_a_marketable_limit_fills_in_the_batch_that_creates_it() -> None:
    account = PractisedAccount()
    made = account.place(LimitRequest(instrument="EUR_USD", units=D(1000), price=D("1.09")))
    assert types(made) == ["LIMIT_ORDER", "ORDER_FILL"]
    assert only(OrderFilled, made).price == D("1.08500")


def test_a_stop_fills_at_the_market_after_its_trigger_and_may_slip() -> None:
    account = PractisedAccount()
    account.place(StopRequest(instrument="EUR_USD", units=D(1000), price=D("1.086")))
    fill = only(OrderFilled, account.price("EUR_USD", "1.08640", "1.08650"))
    assert (fill.price, fill.reason) == (D("1.08650"), "STOP_ORDER")


def test_a_stop_whose_gap_jumps_its_bound_is_cancelled() -> None:
    account = PractisedAccount()
    account.place(
        StopRequest(instrument="EUR_USD", units=D(1000), price=D("1.086"), price_bound=D("1.0861"))
    )
    gone = account.price("EUR_USD", "1.08640", "1.08650")
    assert only(OrderCancelled, gone).reason == "BOUNDS_VIOLATION"


@pytest.mark.parametrize(
    ("price", "bid", "ask"), [("1.084", "1.08390", "1.08400"), ("1.086", "1.08590", "1.08600")]
)
def test_if_touched_triggers_when_the_price_comes_from_its_first_side(
    price: str, bid: str, ask: str
) -> None:
    account = PractisedAccount()
    account.place(MarketIfTouchedRequest(instrument="EUR_USD", units=D(1000), price=D(price)))
    assert account.price("EUR_USD", "1.08480", "1.08490") == ()
    fill = only(OrderFilled, account.price("EUR_USD", bid, ask))
    assert fill.reason == "MARKET_IF_TOUCHED_ORDER"


@pytest.mark.parametrize(
    ("condition", "bid", "ask", "acts"),
    [
        ("DEFAULT", "1.08390", "1.08400", True),
        ("INVERSE", "1.08400", "1.08410", True),
        ("BID", "1.08400", "1.08410", True),
        ("ASK", "1.08391", "1.08401", False),
        ("MID", "1.08395", "1.08405", True),
        ("MID", "1.08396", "1.08406", False),
    ],
)
def test_the_trigger_condition_chooses_the_side_that_is_watched(
    condition: str, bid: str, ask: str, acts: bool
) -> None:
    account = PractisedAccount()
    account.place(
        LimitRequest(
            instrument="EUR_USD",
            units=D(1000),
            price=D("1.084"),
            trigger_condition=condition,  # type: ignore[arg-type]
        )
    )
    made = account.price("EUR_USD", bid, ask)
    assert bool(made) == acts
    if acts:
        assert only(OrderFilled, made).price == D(ask), "a buy is filled at the ask, always"


def test_gtd_ends_at_its_instant_and_gfd_at_five_in_new_york() -> None:
    account = PractisedAccount()
    account.place(
        LimitRequest(
            instrument="EUR_USD",
            units=D(1),
            price=D(1),
            time_in_force="GTD",
            gtd_time=NOON + 60 * SECOND,
        )
    )
    account.place(LimitRequest(instrument="EUR_USD", units=D(1), price=D(1), time_in_force="GFD"))
    account.market.wait(59)
    assert account.do(Tick()) == ()
    account.market.wait(1)
    assert only(OrderCancelled, account.do(Tick())).reason == "TIME_IN_FORCE_EXPIRED"
    account.market.now = parse_time("2024-03-06T22:00:00Z") - 1
    assert account.do(Tick()) == ()
    account.market.now += 1
    assert only(OrderCancelled, account.do(Tick())).reason == "TIME_IN_FORCE_EXPIRED"


def test_an_immediate_limit_that_cannot_fill_is_cancelled() -> None:
    account = PractisedAccount()
    made = account.place(
        LimitRequest(instrument="EUR_USD", units=D(1), price=D(1), time_in_force="FOK")
    )
    assert types(made) == ["LIMIT_ORDER", "ORDER_CANCEL"]
    assert only(OrderCancelled, made).reason == "TIME_IN_FORCE_EXPIRED"


def test_a_client_id_is_free_again_once_its_order_ended() -> None:
    account = PractisedAccount()
    extensions = ClientExtensions(id="mine")
    order = LimitRequest(
        instrument="EUR_USD", units=D(1), price=D("1.084"), client_extensions=extensions
    )
    account.place(order)
    clash = only(OrderRejected, account.place(order))
    assert clash.reject_reason == "CLIENT_ORDER_ID_ALREADY_EXISTS"
    account.price("EUR_USD", "1.08390", "1.08400")
    assert types(account.place(order)) == ["LIMIT_ORDER", "ORDER_FILL"]


def test_a_trade_client_id_that_is_taken_when_the_order_fills_cancels_it() -> None:
    account = PractisedAccount()
    extensions = ClientExtensions(id="mine")
    for price in ("1.084", "1.083"):
        account.place(
            LimitRequest(
                instrument="EUR_USD",
                units=D(1),
                price=D(price),
                trade_client_extensions=extensions,
            )
        )
    account.price("EUR_USD", "1.08390", "1.08400")
    gone = account.price("EUR_USD", "1.08290", "1.08300")
    assert only(OrderCancelled, gone).reason == "CLIENT_TRADE_ID_ALREADY_EXISTS"


def test_where_guaranteed_stops_are_required_an_opening_order_without_one_is_cancelled() -> None:
    account = PractisedAccount(Terms(currency="USD", guaranteed_mode="REQUIRED"))
    made = account.place(buy("1000"))
    assert only(OrderCancelled, made).reason == "GUARANTEED_STOP_LOSS_ON_FILL_REQUIRED"
    rests = account.place(LimitRequest(instrument="EUR_USD", units=D(1), price=D(1)))
    reason = only(OrderRejected, rests).reject_reason
    assert reason == "GUARANTEED_STOP_LOSS_ON_FILL_REQUIRED_FOR_PENDING_ORDER"


def test_ioc_takes_what_there_is_within_its_price() -> None:
    account = PractisedAccount(deposit="1000000")
    levels = [("1.08500", 10_000), ("1.08520", 30_000)]
    account.market.levels("EUR_USD", [("1.08490", 10_000)], levels)
    order = buy("40000", time_in_force="IOC", price_bound=D("1.08510"))
    fill = only(OrderFilled, account.place(order))
    assert (fill.units, fill.price) == (D(10000), D("1.08500"))
    nothing = account.place(buy("40000", time_in_force="IOC", price_bound=D("1.08400")))
    assert only(OrderCancelled, nothing).reason == "BOUNDS_VIOLATION"


def test_a_limit_larger_than_the_depth_at_its_price_stays_pending() -> None:
    account = PractisedAccount(deposit="1000000")
    account.place(LimitRequest(instrument="EUR_USD", units=D(40_000), price=D("1.084")))
    levels = [("1.08400", 10_000), ("1.08420", 90_000)]
    account.market.levels("EUR_USD", [("1.08390", 10_000)], levels)
    assert account.do(Tick()) == ()
    assert types(account.price("EUR_USD", "1.08390", "1.08400")) == ["ORDER_FILL"]


@pytest.mark.parametrize("number", ["1" + "0" * 39, "0." + "0" * 38 + "1", "9" * 30 + ".5"])
def test_extreme_numbers_are_rejected_like_other_invalid_ones(number: str) -> None:
    account = PractisedAccount()
    absurd = D(number)
    orders: list[MarketRequest | LimitRequest] = [
        buy(number),
        LimitRequest(instrument="EUR_USD", units=D(1), price=absurd),
        buy("1", price_bound=absurd),
        buy("1", take_profit_on_fill=TakeProfitDetails(price=absurd)),
        buy("1", take_profit_on_fill=TakeProfitDetails(distance=absurd)),
        buy("1", stop_loss_on_fill=StopLossDetails(distance=absurd)),
        buy("1", trailing_stop_loss_on_fill=TrailingStopLossDetails(distance=absurd)),
    ]
    for order in orders:
        made = account.place(order)
        assert only(OrderRejected, made)
        assert to_wire(made[0])


def test_a_stop_whose_time_is_over_when_the_order_fills_cancels_it() -> None:
    account = PractisedAccount()
    soon = NOON + 60 * SECOND
    stop = StopLossDetails(price=D("1.08"), time_in_force="GTD", gtd_time=soon)
    account.place(
        LimitRequest(instrument="EUR_USD", units=D(1000), price=D("1.084"), stop_loss_on_fill=stop)
    )
    account.market.wait(60)
    gone = account.price("EUR_USD", "1.08390", "1.08400")
    assert only(OrderCancelled, gone).reason == "STOP_LOSS_ON_FILL_GTD_TIMESTAMP_IN_PAST"


@pytest.mark.parametrize(
    "number", ["1.00000000000000000000000000000000001", "1.1000000000000000000000000000000001"]
)
def test_every_digit_of_a_number_counts(number: str) -> None:
    account = PractisedAccount()
    units = MarketRequest(instrument="EUR_USD", units=Decimal(number))
    refused = only(EntryOrderRejected, account.place(units))
    assert (refused.reject_reason, str(refused.units)) == ("UNITS_PRECISION_EXCEEDED", number)
    price = LimitRequest(instrument="EUR_USD", units=Decimal(1), price=Decimal(number))
    refused_price = only(OrderRejected, account.place(price))
    assert refused_price.reject_reason == "PRICE_PRECISION_EXCEEDED"
