import itertools
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk_practice.engine import views
from keydesk_practice.engine.commands import (
    CancelOrder,
    ClientExtensions,
    GuaranteedStopLossDetails,
    OrderRequest,
    ReplaceOrder,
    SetDependents,
    StopLossDetails,
    StopLossRequest,
    TakeProfitDetails,
    TakeProfitRequest,
    TrailingStopLossDetails,
    TrailingStopLossRequest,
)
from keydesk_practice.engine.state.account import Terms, Trade
from keydesk_practice.engine.transactions import (
    DependentOrderRejected,
    OrderCancelled,
    OrderCancelRejected,
    OrderFilled,
    StopLossCreated,
    TakeProfitCreated,
)
from support.practised_account import PractisedAccount, only, types

D = Decimal


def with_trade(units: int = 50000) -> tuple[PractisedAccount, Trade]:
    account = PractisedAccount()
    return account, account.trade("EUR_USD", units)


def protect(account: PractisedAccount, **kinds: object) -> list[str]:
    trade = next(iter(account.state.trades.values()))
    made = account.do(SetDependents(specifier=str(trade.id), **kinds))  # type: ignore[arg-type]
    return types(made)


def test_all_kinds_are_created_in_the_order_of_the_api() -> None:
    account, _ = with_trade()
    made = protect(
        account,
        trailing_stop_loss=TrailingStopLossDetails(distance=D("0.002")),
        stop_loss=StopLossDetails(price=D("1.083")),
        take_profit=TakeProfitDetails(price=D("1.089")),
    )
    assert made == ["TAKE_PROFIT_ORDER", "STOP_LOSS_ORDER", "TRAILING_STOP_LOSS_ORDER"]


def test_a_change_cancels_and_creates_and_inherits_what_is_left_out() -> None:
    account, trade = with_trade()
    extensions = ClientExtensions(id="stop", comment="mine")
    protect(account, stop_loss=StopLossDetails(price=D("1.083"), client_extensions=extensions))
    old = account.last_order()
    made = account.do(
        SetDependents(specifier=str(trade.id), stop_loss=StopLossDetails(price=D("1.084")))
    )
    assert types(made) == ["ORDER_CANCEL", "STOP_LOSS_ORDER"]
    gone, new = only(OrderCancelled, made), only(StopLossCreated, made)
    assert (gone.reason, gone.replaced_by_order_id) == ("CLIENT_REQUEST_REPLACED", new.id)
    assert (new.reason, new.replaces_order_id) == ("REPLACEMENT", old.id)
    assert (new.cancelling_transaction_id, new.client_extensions) == (gone.id, extensions)
    kept = account.do(
        SetDependents(
            specifier=str(trade.id), stop_loss=StopLossDetails(client_extensions=extensions)
        )
    )
    assert only(StopLossCreated, kept).price == D("1.08400")


def test_null_cancels_and_an_omitted_member_changes_nothing() -> None:
    account, _ = with_trade()
    protect(
        account,
        stop_loss=StopLossDetails(price=D("1.083")),
        take_profit=TakeProfitDetails(price=D("1.089")),
    )
    assert protect(account, take_profit=None) == ["ORDER_CANCEL"]
    assert protect(account, take_profit=None) == [], "what is not there cannot be cancelled"
    assert [order.created.order_type for order in account.state.orders.values()] == ["STOP_LOSS"]


def test_one_invalid_member_leaves_everything_as_it_was() -> None:
    account, _ = with_trade()
    made = protect(
        account,
        take_profit=TakeProfitDetails(price=D("1.089")),
        stop_loss=StopLossDetails(price=D("1.0834567")),
    )
    assert made == ["STOP_LOSS_ORDER_REJECT"]
    assert not account.state.orders


def test_a_take_profit_behind_the_market_fills_at_once_and_its_siblings_are_cancelled() -> None:
    account, _ = with_trade()
    made = protect(
        account,
        take_profit=TakeProfitDetails(price=D("1.08000")),
        stop_loss=StopLossDetails(price=D("1.083")),
    )
    assert made == ["TAKE_PROFIT_ORDER", "ORDER_FILL"]
    assert not account.state.trades
    assert not account.state.orders


def test_a_take_profit_fills_at_the_bid_and_cancels_its_siblings() -> None:
    account, trade = with_trade()
    protect(
        account,
        take_profit=TakeProfitDetails(price=D("1.089")),
        stop_loss=StopLossDetails(price=D("1.083")),
    )
    assert account.price("EUR_USD", "1.08899", "1.08909") == ()
    made = account.price("EUR_USD", "1.08905", "1.08915")
    assert types(made) == ["ORDER_FILL", "ORDER_CANCEL"]
    fill = only(OrderFilled, made)
    assert (fill.reason, fill.price, fill.pl) == (
        "TAKE_PROFIT_ORDER",
        D("1.08905"),
        D("202.5000"),
    )
    assert [part.trade_id for part in fill.trades_closed or ()] == [trade.id]
    assert only(OrderCancelled, made).reason == "LINKED_TRADE_CLOSED"


def test_a_stop_of_a_short_watches_the_ask() -> None:
    account, _ = with_trade(-50000)
    protect(account, stop_loss=StopLossDetails(price=D("1.087")))
    assert account.price("EUR_USD", "1.08689", "1.08699") == ()
    fill = only(OrderFilled, account.price("EUR_USD", "1.08740", "1.08750"))
    assert (fill.reason, fill.price) == ("STOP_LOSS_ORDER", D("1.08750"))


def test_a_trailing_stop_follows_only_in_the_winning_direction() -> None:
    account, _ = with_trade()
    protect(account, trailing_stop_loss=TrailingStopLossDetails(distance=D("0.0015")))

    def level() -> str:
        shown = views.order(account.last_order(), account.market)
        return str(shown["trailingStopValue"])

    assert level() == "1.08340"
    account.price("EUR_USD", "1.08720", "1.08730")
    assert level() == "1.08570"
    account.price("EUR_USD", "1.08650", "1.08660")
    assert level() == "1.08570"
    made = account.price("EUR_USD", "1.08570", "1.08580")
    fill = only(OrderFilled, made)
    assert (fill.reason, fill.pl) == ("TRAILING_STOP_LOSS_ORDER", D("35.0000"))


@pytest.mark.parametrize(
    ("order", "reason"),
    [
        (StopLossRequest(price=D("1.083")), "TRADE_ID_UNSPECIFIED"),
        (StopLossRequest(trade_id=99, price=D("1.083")), "TRADE_DOESNT_EXIST"),
        (
            StopLossRequest(trade_id=5, client_trade_id="no", price=D("1.083")),
            "TRADE_IDENTIFIER_INCONSISTENCY",
        ),
        (StopLossRequest(trade_id=5), "STOP_LOSS_ORDER_PRICE_AND_DISTANCE_BOTH_MISSING"),
        (
            StopLossRequest(trade_id=5, price=D(1), distance=D(1)),
            "STOP_LOSS_ORDER_PRICE_AND_DISTANCE_BOTH_SPECIFIED",
        ),
        (
            StopLossRequest(trade_id=5, price=D("1.083"), time_in_force="FOK"),
            "TIME_IN_FORCE_INVALID",
        ),
        (TakeProfitRequest(trade_id=5), "PRICE_MISSING"),
        (TakeProfitRequest(trade_id=5, price=D("1.0000001")), "PRICE_PRECISION_EXCEEDED"),
        (TrailingStopLossRequest(trade_id=5), "PRICE_DISTANCE_MISSING"),
        (
            TrailingStopLossRequest(trade_id=5, distance=D("0.0001")),
            "PRICE_DISTANCE_MINIMUM_NOT_MET",
        ),
    ],
)
def test_a_stand_alone_dependent_is_rejected_with_its_reason(
    order: OrderRequest, reason: str
) -> None:
    account, _ = with_trade()
    assert only(DependentOrderRejected, account.place(order)).reject_reason == reason


def test_a_second_of_a_kind_and_a_stop_beside_a_guaranteed_one_are_rejected() -> None:
    account, trade = with_trade()
    stop = StopLossRequest(trade_id=trade.id, price=D("1.083"))
    account.place(stop)
    again = only(DependentOrderRejected, account.place(stop))
    assert again.reject_reason == "STOP_LOSS_ORDER_ALREADY_EXISTS"
    assert protect(account, guaranteed_stop_loss=GuaranteedStopLossDetails(price=D("1.08"))) == [
        "GUARANTEED_STOP_LOSS_ORDER_REJECT"
    ]


def test_a_stand_alone_distance_counts_from_the_price_now() -> None:
    account, trade = with_trade()
    account.market.price("EUR_USD", "1.08590", "1.08600")
    made = account.place(StopLossRequest(trade_id=trade.id, distance=D("0.002")))
    assert only(StopLossCreated, made).price == D("1.08400")


def test_some_divisions_allow_only_one_of_stop_and_trailing_stop() -> None:
    account = PractisedAccount(Terms(currency="USD", exclusive_stops=True))
    trade = account.trade("EUR_USD", 1000, stop_loss_on_fill=StopLossDetails(price=D("1.08")))
    made = account.place(TrailingStopLossRequest(trade_id=trade.id, distance=D("0.002")))
    reason = only(DependentOrderRejected, made).reject_reason
    assert reason == "TRAILING_STOP_LOSS_ORDER_RMO_MUTUAL_EXCLUSIVITY_MUTUALLY_EXCLUSIVE_VIOLATION"


def test_replacing_a_take_profit_keeps_its_trade_and_its_kind() -> None:
    account, trade = with_trade()
    protect(account, take_profit=TakeProfitDetails(price=D("1.089")))
    order_id = str(account.last_order().id)
    other_kind = account.do(
        ReplaceOrder(specifier=order_id, order=StopLossRequest(trade_id=trade.id, price=D("1.083")))
    )
    assert only(DependentOrderRejected, other_kind).reject_reason == "REPLACING_ORDER_INVALID"
    moved = account.do(
        ReplaceOrder(
            specifier=order_id, order=TakeProfitRequest(trade_id=trade.id, price=D("1.09"))
        )
    )
    assert types(moved) == ["ORDER_CANCEL", "TAKE_PROFIT_ORDER"]
    assert only(TakeProfitCreated, moved).price == D("1.09000")


def test_a_cancelled_order_cannot_be_cancelled_again() -> None:
    account, _ = with_trade()
    protect(account, take_profit=TakeProfitDetails(price=D("1.089")))
    order = account.last_order()
    assert only(OrderCancelled, account.do(CancelOrder(specifier=str(order.id)))).reason == (
        "CLIENT_REQUEST"
    )
    again = account.do(CancelOrder(specifier=str(order.id)))
    assert only(OrderCancelRejected, again).reject_reason == "ORDER_DOESNT_EXIST"


STOP = StopLossDetails(price=D("1.083"))
TRAIL = TrailingStopLossDetails(distance=D("0.002"))
GUARANTEED = GuaranteedStopLossDetails(price=D("1.08"))
STOPS: dict[str, object] = {
    "stop_loss": STOP,
    "trailing_stop_loss": TRAIL,
    "guaranteed_stop_loss": GUARANTEED,
}


def on_book(account: PractisedAccount) -> set[str]:
    (trade,) = account.state.trades.values()
    assert set(trade.dependents.values()) == set(account.state.orders)
    return set(trade.dependents)


@pytest.mark.parametrize("hedging", [False, True])
@pytest.mark.parametrize(
    "before", [{"stop_loss"}, {"trailing_stop_loss"}, set(STOPS) - {"guaranteed_stop_loss"}]
)
def test_stops_are_exchanged_for_a_guaranteed_one_and_back_in_one_request(
    before: set[str], hedging: bool
) -> None:
    account = PractisedAccount(Terms(currency="USD", hedging=hedging))
    account.trade("EUR_USD", 50000)
    protect(account, **{kind: STOPS[kind] for kind in before})
    there = protect(account, **dict.fromkeys(before), guaranteed_stop_loss=GUARANTEED)
    assert there == ["ORDER_CANCEL"] * len(before) + ["GUARANTEED_STOP_LOSS_ORDER"]
    assert on_book(account) == {"guaranteed_stop_loss"}
    back = protect(
        account, guaranteed_stop_loss=None, **{kind: STOPS[kind] for kind in sorted(before)}
    )
    assert back[0] == "ORDER_CANCEL", "no other stop ever stands beside the guaranteed one"
    assert on_book(account) == before


EVERY_CHANGE = [
    dict(zip(STOPS, wanted, strict=True))
    for wanted in itertools.product(["keep", "set", "cancel"], repeat=len(STOPS))
]


def test_every_combination_of_stops_is_judged_by_what_stands_afterwards() -> None:
    for case in itertools.product(
        EVERY_CHANGE, [set(), *({kind} for kind in STOPS)], (False, True)
    ):
        change, before, exclusive = case
        account = PractisedAccount(Terms(currency="USD", exclusive_stops=exclusive))
        account.trade("EUR_USD", 50000)
        protect(account, **{kind: STOPS[kind] for kind in before})
        requests = {kind: wanted for kind, wanted in change.items() if wanted != "keep"}
        made = protect(
            account,
            **{
                kind: None if wanted == "cancel" else STOPS[kind]
                for kind, wanted in requests.items()
            },
        )
        kept = {kind for kind in before if change[kind] == "keep"}
        after = kept | {kind for kind, wanted in change.items() if wanted == "set"}
        most = 1 if exclusive or "guaranteed_stop_loss" in after else len(STOPS)
        if len(after) <= most:
            assert on_book(account) == after, case
        else:
            assert on_book(account) == before, f"all that is requested, or nothing: {case}"
            assert all(one.endswith("_REJECT") for one in made), case


def test_the_client_id_of_a_cancelled_order_is_free_for_its_successor_and_for_one_only() -> None:
    account, _ = with_trade()
    mine = ClientExtensions(id="mine")
    protect(account, stop_loss=replace(STOP, client_extensions=mine))
    protect(
        account,
        stop_loss=None,
        guaranteed_stop_loss=replace(GUARANTEED, client_extensions=mine),
    )
    assert on_book(account) == {"guaranteed_stop_loss"}
    assert account.last_order().client_id == "mine"
    twice = protect(
        account,
        guaranteed_stop_loss=None,
        stop_loss=replace(STOP, client_extensions=mine),
        trailing_stop_loss=replace(TRAIL, client_extensions=mine),
    )
    assert twice == ["TRAILING_STOP_LOSS_ORDER_REJECT"]
    assert on_book(account) == {"guaranteed_stop_loss"}


def test_a_guaranteed_stop_requested_in_both_ways_at_once_is_rejected() -> None:
    account, _ = with_trade()
    made = protect(
        account, stop_loss=replace(STOP, guaranteed=True), guaranteed_stop_loss=GUARANTEED
    )
    assert made == ["GUARANTEED_STOP_LOSS_ORDER_REJECT"]
    assert not account.state.orders


def test_partial_client_extensions_of_a_change_keep_the_other_members() -> None:
    account, _ = with_trade()
    whole = ClientExtensions(id="stop", tag="plan", comment="first")
    protect(account, stop_loss=replace(STOP, client_extensions=whole))
    for part in (ClientExtensions(comment="second"), ClientExtensions()):
        protect(account, stop_loss=StopLossDetails(client_extensions=part))
        assert account.last_order().client_extensions == replace(whole, comment="second")
    assert account.state.order_ids == {"stop": account.last_order().id}
