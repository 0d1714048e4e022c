"""Unusual transactions after a lost answer, and the outcome of each."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from keydesk_client.models import (
    ClientExtensions,
    LimitOrderRequest,
    MarketOrderRequest,
    StopLossDetails,
)
from keydesk_client.models._core.json import JsonObject
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import (
    Action,
    Done,
    Intent,
    OrderResult,
    Outcome,
    Rejected,
    Unconfirmed,
)
from keydesk_client.orders.sender import Sender
from support.fakes.lossy_broker import Fate, LossyBroker, Members
from support.fakes.lossy_desk import Desk, at_desk, buy, outcome_of

Act = Callable[[Sender], Awaitable[Outcome]]
MONEY = {"pl": "0", "financing": "0", "commission": "0", "accountBalance": "100"}
BOUGHT = {
    "type": "MARKET_ORDER",
    "instrument": "EUR_USD",
    "units": "100",
    "reason": "CLIENT_ORDER",
}


def fill(
    order_id: str, units: str = "100", reason: str = "MARKET_ORDER", **more: object
) -> Members:
    order = {"type": "ORDER_FILL", "orderID": order_id, "instrument": "EUR_USD", "units": units}
    return {**order, "reason": reason, **MONEY, **more}


def closing(side: str, units: str = "ALL", name: str | None = "kd-1-") -> Members:
    closeout = {"instrument": "EUR_USD", "units": units}
    order = {"type": "MARKET_ORDER", "instrument": "EUR_USD", "units": "-100"}
    named = {} if name is None else {"clientExtensions": {"id": name + side}}
    return {**order, **named, "reason": "POSITION_CLOSEOUT", f"{side}PositionCloseout": closeout}


def limit() -> LimitOrderRequest:
    return LimitOrderRequest(instrument="EUR_USD", units=100, price="1.06")


def found_in(
    folder: Path, act: Act, *batches: tuple[Members, ...], since: int | None = None
) -> Outcome:
    """Return the outcome of a request without an answer when these batches of transactions follow."""
    broker = LossyBroker(Fate.LOST_REQUEST, first_id=10)
    outcomes: list[Outcome] = []

    async def body(desk: Desk) -> None:
        desk.since = since
        sending = asyncio.ensure_future(act(desk.sender))
        await broker.has_met(writes=1)
        for batch in batches:
            broker.batch(*batch)
        outcomes.append(await sending)

    at_desk(folder, broker, body)
    return outcomes[0]


def test_a_fill_in_two_parts_is_filled_and_holds_both(tmp_path: Path) -> None:
    tagged = BOUGHT | {"clientExtensions": {"id": "kd-1"}}
    done = found_in(
        tmp_path,
        lambda sender: sender.create(buy()),
        (tagged, fill("10", "60")),
        (fill("10", "40"),),
    )
    assert isinstance(done, Done)
    assert done.result is OrderResult.FILLED
    assert [each.id for each in done.transactions] == ["10", "11", "12"]
    assert done.related_transaction_ids == ("10", "11")  # the second part is of a batch of its own


def test_a_part_filled_and_the_rest_cancelled_says_both(tmp_path: Path) -> None:
    tagged = BOUGHT | {"clientExtensions": {"id": "kd-1"}}
    rest = {"type": "ORDER_CANCEL", "orderID": "10", "reason": "TIME_IN_FORCE_EXPIRED"}
    done = found_in(tmp_path, lambda sender: sender.create(buy()), (tagged, fill("10", "60"), rest))
    assert isinstance(done, Done)
    assert (done.result, done.reason) == (OrderResult.FILLED, "TIME_IN_FORCE_EXPIRED")


def test_the_end_of_protection_that_came_with_a_fill_is_not_the_end_of_the_order(
    tmp_path: Path,
) -> None:
    tagged = BOUGHT | {"clientExtensions": {"id": "kd-1"}}
    stop = {"type": "STOP_LOSS_ORDER", "tradeID": "11", "price": "1.04", "reason": "ON_FILL"}
    gone = {"type": "ORDER_CANCEL", "orderID": "12", "reason": "CLIENT_REQUEST"}
    done = found_in(
        tmp_path, lambda sender: sender.create(buy()), (tagged, fill("10"), stop), (gone,)
    )
    assert isinstance(done, Done)
    assert (done.result, done.reason) == (OrderResult.FILLED, "")


ENDED = {"type": "ORDER_CANCEL", "orderID": "7", "reason": "CLIENT_REQUEST_REPLACED"}


@pytest.mark.parametrize("fate", [Fate.HALF_REPLACED, Fate.LOST_REQUEST])
def test_a_replacement_that_only_cancelled_is_not_believed_to_rest_nor_to_have_changed_nothing(
    tmp_path: Path, fate: Fate
) -> None:
    if fate is Fate.HALF_REPLACED:  # the service says so, in a refusal
        broker = LossyBroker(fate, first_id=10)
        outcome = outcome_of(tmp_path, broker, lambda sender: sender.replace("7", limit()))
    else:  # and it says nothing
        order = {"type": "LIMIT_ORDER_REJECT", "instrument": "EUR_USD", "units": "100"}
        reasons = {"rejectReason": "UNITS_INVALID", "intendedReplacesOrderID": "7"}
        batch = (ENDED, order | reasons)
        outcome = found_in(tmp_path, lambda sender: sender.replace("7", limit()), batch)
    assert isinstance(outcome, Done)
    assert (outcome.result, outcome.reason) == (OrderResult.CANCELLED, "UNITS_INVALID")
    assert outcome.order_id is None


def test_a_replacement_by_another_client_is_not_taken_for_ours(tmp_path: Path) -> None:
    theirs = {"type": "LIMIT_ORDER", "instrument": "EUR_USD", "units": "100", "price": "1.07000"}
    batch = (ENDED | {"replacedByOrderID": "11"}, theirs | {"reason": "REPLACEMENT"})
    outcome = found_in(tmp_path, lambda sender: sender.replace("7", limit()), batch)
    assert isinstance(outcome, Rejected)
    assert outcome.message == "the order ended first: CLIENT_REQUEST_REPLACED"


@pytest.mark.parametrize("reason", ["CLIENT_REQUEST_ANEW", "\x1b]0;4242\x07", ""])
def test_an_order_that_ended_for_a_reason_nobody_knows_refuses_neither_cancel_nor_replacement(
    tmp_path: Path, reason: str
) -> None:
    """It may have ended by the very request that got no answer."""
    ended = (ENDED | {"reason": reason},)
    for act in (lambda sender: sender.replace("7", limit()), lambda sender: sender.cancel("7")):
        outcome = found_in(tmp_path, act, ended)
        assert isinstance(outcome, Unconfirmed)


def test_a_trade_closed_by_an_order_of_a_kind_nobody_knows_may_have_been_closed_by_ours(
    tmp_path: Path,
) -> None:
    closed = {"tradeID": "5", "units": "-100", "price": "1.04", "realizedPL": "0", "financing": "0"}
    order = {"type": "\x1b]0;4242\x07", "instrument": "EUR_USD", "units": "-100"}
    filled = fill("10", "-100", "MARKET_ORDER_TRADE_CLOSE", tradesClosed=[closed])
    outcome = found_in(tmp_path, lambda sender: sender.close_trade("5"), (order, filled))
    assert isinstance(outcome, Unconfirmed)


@pytest.mark.parametrize("units", ["\x1b]0;4242\x07", "", "EVERYTHING"])
@pytest.mark.parametrize("reason", ["MARKET_ORDER_TRADE_CLOSE", "CLOSED_ANEW"])
def test_a_trade_closed_by_units_that_cannot_be_read_may_have_been_closed_by_ours(
    tmp_path: Path, units: str, reason: str
) -> None:
    closed = {"tradeID": "5", "units": "-100", "price": "1.04", "realizedPL": "0", "financing": "0"}
    order = {"type": "MARKET_ORDER", "instrument": "EUR_USD", "units": "-100"}
    asked = {"reason": "TRADE_CLOSE", "tradeClose": {"tradeID": "5", "units": units}}
    filled = fill("10", "-100", reason, tradesClosed=[closed])
    outcome = found_in(tmp_path, lambda sender: sender.close_trade("5"), (order | asked, filled))
    assert isinstance(outcome, Unconfirmed)


def test_a_trade_that_somebody_else_closed_part_by_part_can_not_be_closed_any_more(
    tmp_path: Path,
) -> None:
    closed = {"tradeID": "5", "units": "-40", "price": "1.04", "realizedPL": "0", "financing": "0"}
    order = {"type": "MARKET_ORDER", "instrument": "EUR_USD", "units": "-40"}
    asked = {"reason": "TRADE_CLOSE", "tradeClose": {"tradeID": "5", "units": "40"}}
    filled = fill("10", "-40", "MARKET_ORDER_TRADE_CLOSE", tradesClosed=[closed])
    outcome = found_in(tmp_path, lambda sender: sender.close_trade("5"), (order | asked, filled))
    assert isinstance(outcome, Rejected)


def test_a_replacement_whose_order_comes_in_a_batch_of_its_own_is_ours(tmp_path: Path) -> None:
    ours = {"type": "LIMIT_ORDER", "instrument": "EUR_USD", "units": "100", "price": "1.06000"}
    first = (ENDED | {"replacedByOrderID": "11"},)
    second = (ours | {"reason": "REPLACEMENT", "replacesOrderID": "7"},)
    done = found_in(tmp_path, lambda sender: sender.replace("7", limit()), first, second)
    assert isinstance(done, Done)
    assert (done.result, done.order_id) == (OrderResult.RESTING, "11")


def test_a_close_of_a_trade_that_its_stop_closed_first_is_rejected(tmp_path: Path) -> None:
    closed = {"tradeID": "5", "units": "-100", "price": "1.04", "realizedPL": "0", "financing": "0"}
    stopped = fill("6", "-100", "STOP_LOSS_ORDER", tradesClosed=[closed])
    outcome = found_in(tmp_path, lambda sender: sender.close_trade("5"), (stopped,))
    assert isinstance(outcome, Rejected)
    assert outcome.message == "the trade was closed first: STOP_LOSS_ORDER"


def test_unreadable_records_are_neither_an_outcome_nor_an_exception(tmp_path: Path) -> None:
    broker = LossyBroker(*[Fate.LOST_REQUEST] * 3, first_id=10)
    spoilt = [
        fill("6", tradesClosed="nonsense"),
        {"type": "ORDER_CANCEL"},
        {"type": "ORDER_FILL"},
        {"type": "MARKET_ORDER", "tradeClose": {"tradeID": "5", "units": "sNaN"}},
    ]

    async def body(desk: Desk) -> None:
        closing = asyncio.create_task(desk.sender.close_trade("5"))
        closing_part = asyncio.create_task(desk.sender.close_trade("5", units="40"))
        cancelling = asyncio.create_task(desk.sender.cancel("7"))
        await broker.has_met(writes=3)
        broker.batch(*spoilt)
        assert isinstance(await closing, Unconfirmed)
        assert isinstance(await closing_part, Unconfirmed)
        assert isinstance(await cancelling, Unconfirmed)
        desk.watch_all()

    at_desk(tmp_path, broker, body)


def test_a_close_that_was_refused_because_the_trade_is_gone_is_rejected(tmp_path: Path) -> None:
    refused = {"type": "MARKET_ORDER_REJECT", "reason": "TRADE_CLOSE", "instrument": "EUR_USD"}
    close = {"tradeClose": {"tradeID": "5", "units": "ALL"}, "rejectReason": "TRADE_DOESNT_EXIST"}
    outcome = found_in(tmp_path, lambda sender: sender.close_trade("5"), (refused | close,))
    assert isinstance(outcome, Rejected)
    assert outcome.reject_reason == "TRADE_DOESNT_EXIST"


def both_sides(sender: Sender) -> Awaitable[Outcome]:
    return sender.close_position("EUR_USD", long_units="ALL", short_units="ALL")


def test_a_close_of_both_sides_is_done_when_both_are(tmp_path: Path) -> None:
    batch = (closing("long"), fill("10", "-100"), closing("short"), fill("12"))
    done = found_in(tmp_path, both_sides, batch)
    assert isinstance(done, Done)
    assert done.result is OrderResult.FILLED
    assert done.related_transaction_ids == ("10", "11", "12", "13")


def test_a_close_of_one_side_by_somebody_else_is_not_taken_for_a_close_of_both(
    tmp_path: Path,
) -> None:
    outcome = found_in(tmp_path, both_sides, (closing("long"), fill("10", "-100")))
    assert isinstance(outcome, Unconfirmed)


@pytest.mark.parametrize("name", [None, "kd-of-another-"])
def test_a_like_close_by_somebody_else_is_not_taken_for_ours(
    tmp_path: Path, name: str | None
) -> None:
    theirs = (closing("long", "40", name), fill("10", "-40"))
    ours = (closing("long", "40.0"), fill("12", "-40"))

    def part(sender: Sender) -> Awaitable[Outcome]:
        return sender.close_position("EUR_USD", long_units=40)

    assert isinstance(found_in(tmp_path / "not ours", part, theirs), Unconfirmed)
    done = found_in(tmp_path / "ours", part, theirs, ours)
    assert isinstance(done, Done)
    assert done.related_transaction_ids == ("12", "13")


def test_without_client_ids_a_close_of_a_position_is_found_by_its_terms(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER, first_id=10)

    async def body(desk: Desk) -> None:
        done = await desk.sender.close_position("EUR_USD", long_units=40)
        assert isinstance(done, Done)
        assert done.looked_up
        assert b"ClientExtensions" not in broker.writes[0].content

    at_desk(tmp_path, broker, body, client_ids=False)


def test_a_close_that_a_journal_without_ids_of_its_own_left_open_is_found_by_its_terms(
    tmp_path: Path,
) -> None:
    broker = LossyBroker(first_id=10)

    async def body(desk: Desk) -> None:
        asked = {"longUnits": "40"}
        desk.journal.write(Intent("kd-9", Action.CLOSE_POSITION, 9, 0, None, "EUR_USD", asked))
        broker.batch(closing("long", "40", None), fill("10", "-40"))
        (outcome,) = await desk.sender.recover()
        assert isinstance(outcome, Done)

    at_desk(tmp_path, broker, body)


def test_a_close_of_both_sides_of_which_one_is_cancelled_says_so(tmp_path: Path) -> None:
    halted = {"type": "ORDER_CANCEL", "orderID": "12", "reason": "MARKET_HALTED"}
    batch = (closing("long"), fill("10", "-100"), closing("short"), halted)
    done = found_in(tmp_path, both_sides, batch)
    assert isinstance(done, Done)
    assert (done.result, done.reason) == (OrderResult.FILLED, "MARKET_HALTED")


def mine(sender: Sender) -> Awaitable[Outcome]:
    extensions = ClientExtensions(id="mine")
    return sender.create(
        MarketOrderRequest(instrument="EUR_USD", units=100, client_extensions=extensions)
    )


@pytest.mark.parametrize(
    ("second", "expected"), [(Fate.LOST_REQUEST, Unconfirmed), (Fate.LOST_ANSWER, Done)]
)
def test_a_client_id_that_the_caller_used_twice_means_two_orders(
    tmp_path: Path, second: Fate, expected: type[Outcome]
) -> None:
    broker = LossyBroker(Fate.ANSWERED, second)

    async def body(desk: Desk) -> None:
        desk.since = 0  # the feed lags behind: both are in what is looked up
        first = await mine(desk.sender)
        other = await mine(desk.sender)
        assert isinstance(first, Done)
        assert isinstance(other, expected)
        if isinstance(other, Done):
            assert not set(first.related_transaction_ids) & set(other.related_transaction_ids)

    at_desk(tmp_path, broker, body)


def test_orders_of_other_senders_are_not_taken_for_ours(tmp_path: Path) -> None:
    theirs = BOUGHT | {"clientExtensions": {"id": "kd-of-another"}}
    outcome = found_in(tmp_path, lambda sender: sender.create(buy()), (theirs, fill("10")))
    assert isinstance(outcome, Unconfirmed)


def test_without_client_ids_an_order_that_has_one_is_not_ours(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_REQUEST)

    async def body(desk: Desk) -> None:
        sending = asyncio.create_task(desk.sender.create(buy()))
        await broker.has_met(writes=1)
        broker.batch(BOUGHT | {"clientExtensions": {"id": "of-the-platform"}}, fill("1"))
        assert isinstance(await sending, Unconfirmed)

    at_desk(tmp_path, broker, body, client_ids=False)


def test_a_history_that_begins_anew_ends_the_look_up_and_says_so(tmp_path: Path) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER)

    async def body(desk: Desk) -> None:
        desk.since = 500
        outcome = await desk.sender.create(buy())
        assert isinstance(outcome, Unconfirmed)
        assert "416" in outcome.message
        assert len(broker.looked_up_at) == 1
        desk.watch_all()  # numbers below the noted one prove nothing
        assert desk.alarms == []

    at_desk(tmp_path, broker, body)


def test_an_order_is_found_in_a_new_history_whose_numbers_the_old_one_claims(
    tmp_path: Path,
) -> None:
    journal = FileJournal(tmp_path / "j" / "orders.jsonl")
    old = Intent("old", Action.CREATE, 0, 0, None, "", {})
    journal.write(old)
    journal.settle(old, "done", [str(number) for number in range(1, 100)])
    broker = LossyBroker(Fate.LOST_ANSWER)
    outcome = outcome_of(tmp_path, broker, lambda sender: sender.create(buy()))
    assert isinstance(outcome, Done)


async def close_and_the_like(sender: Sender) -> list[Outcome]:
    """Buy, and then send every request whose id the transactions do not repeat."""
    await sender.create(buy())
    return [
        await sender.close_trade("2", units="40"),
        await sender.cancel("2"),
        await sender.replace("1", limit()),
        await sender.set_dependent_orders("2", stop_loss=StopLossDetails(distance="0.02")),
    ]


@pytest.mark.parametrize("fate", [Fate.ANSWERED, Fate.LOST_ANSWER])
@pytest.mark.parametrize("same_sender", [True, False])
def test_exits_and_edits_are_done_in_a_new_history_whose_ids_the_old_one_claims(
    tmp_path: Path, *, same_sender: bool, fate: Fate
) -> None:
    broker = LossyBroker()

    async def earlier(desk: Desk) -> None:
        await close_and_the_like(desk.sender)
        broker.resync()
        if same_sender:
            await later(desk)

    async def later(desk: Desk) -> None:
        broker.fates = [Fate.ANSWERED, *[fate] * 4]
        outcomes = await close_and_the_like(desk.sender)
        assert [type(each) for each in outcomes] == [Done] * 4
        assert desk.alarms == []

    at_desk(tmp_path, broker, earlier)
    if not same_sender:
        at_desk(tmp_path, broker, later, names="later-")


@pytest.mark.parametrize("fate", [Fate.PAGE, Fate.BUSY])
def test_an_error_page_of_a_proxy_does_not_end_the_look_ups(tmp_path: Path, fate: Fate) -> None:
    broker = LossyBroker(Fate.LOST_ANSWER)
    broker.look_ups_to_meet = [fate] * 3
    outcome = outcome_of(tmp_path, broker, lambda sender: sender.create(buy()))
    assert isinstance(outcome, Done)


@pytest.mark.parametrize("at_ns", [5 * 10**18, -(10**18)])
def test_a_wall_clock_that_jumped_only_changes_how_long_the_look_ups_take(
    tmp_path: Path, at_ns: int
) -> None:
    broker = LossyBroker()
    broker.batch(BOUGHT | {"clientExtensions": {"id": "kd-old"}}, fill("1"))
    body_sent: JsonObject = {"clientExtensions": {"id": "kd-old"}}
    journal = FileJournal(tmp_path / "j" / "orders.jsonl")
    journal.write(Intent("kd-old", Action.CREATE, 0, at_ns, None, "", body_sent))

    async def body(desk: Desk) -> None:
        (done,) = await desk.sender.recover()
        assert isinstance(done, Done)

    at_desk(tmp_path, broker, body)
