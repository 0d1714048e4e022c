"""A scale-out at the real practice broker: trades of their own, whose targets end with their stops; a failure ends it."""

from decimal import Decimal
from pathlib import Path

from keydesk.trading.entry_requests import OpenOrder
from keydesk_client.models import TakeProfitDetails, TrailingStopLossDetails
from support.broker import PracticeServer
from support.data.entry_orders import entry_request
from support.exit_plan_desk import FAR, PIP, PlanDesk, actions_at_broker, plan_desk

D = Decimal


def in_parts(desk: PlanDesk, *sizes: str) -> OpenOrder:
    quote = desk.store.quotes["EUR_USD"]
    far = quote.ask + FAR
    whole = entry_request(
        *("EUR_USD", "MARKET", sum((D(size) for size in sizes), D(0))),
        bound=far,
        stop=quote.bid - FAR,
    )
    *first, last = (whole.with_(units=size) for size in sizes)
    parts = [each.with_(take_profit_on_fill=TakeProfitDetails(price=far)) for each in first]
    trail = TrailingStopLossDetails(distance=50 * PIP)
    return OpenOrder(whole, parts=(*parts, last.with_(trailing_stop_loss_on_fill=trail)))


async def test_every_part_is_a_trade_with_its_own_orders_at_the_broker(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    async with plan_desk(desk_of_my_own, tmp_path / "orders") as desk:
        await desk.does(in_parts(desk, "3300", "3300", "3400"))
        await desk.until(lambda: len(desk.store.trades) == 3)
        await desk.until(lambda: any(each.trailing_stop for each in desk.store.trades.values()))
        trades = sorted(desk.store.trades.values(), key=lambda each: int(each.id))
        assert [each.units for each in trades] == [D(3300), D(3300), D(3400)]
        assert [each.take_profit is not None for each in trades] == [True, True, False]
        assert [each.trailing_stop is not None for each in trades] == [False, False, True]
        assert all(each.stop_loss is not None for each in trades)


async def test_the_first_part_that_is_not_in_ends_it_and_that_is_told(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    async with plan_desk(desk_of_my_own, tmp_path / "orders") as desk:
        await desk.does(in_parts(desk, "3300", "500000000", "3400"))
        await desk.until(lambda: len(desk.store.trades) == 1)
        assert desk.said[-1].endswith("the rest, 3,400 EUR/USD, was NOT SENT")
        assert "SCALE-OUT ended at part 2 of 3" in desk.said[-1]
    assert len(await actions_at_broker(desk_of_my_own, "ORDER_FILL")) == 1
