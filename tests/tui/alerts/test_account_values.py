"""Alerts on what is no price: margin, money, the rollover, the clients' positions."""

from pathlib import Path

import pytest

from keydesk.alerts.alert_list import add_alert
from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.condition_base import Condition
from keydesk.calc.alerts.fact_conditions import (
    AccountResult,
    ClientLongPercent,
    MarginLevel,
    RolloverSoon,
    TradeResult,
)
from keydesk.feeds.alerts import BOOK_EVERY, NextReads, read_books
from support.alert_watch import SECOND, TEN, D, watching
from support.data.desk_store import example_store, long_euro
from support.fakes.scripted_broker import Clock, ScriptedBroker, link_to

HOUR = 3600 * SECOND
SEVENTEEN = TEN + 12 * HOUR  # 17:00 New York, in winter


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "orders"
    folder.mkdir(mode=0o700)
    return folder / "101.alerts"


@pytest.mark.parametrize(
    ("condition", "member", "before", "after"),
    [
        (MarginLevel(direction="up", level=D(50)), "margin_closeout_percent", "0.49", "0.50"),
        (
            AccountResult(of="open", unit="money", direction="up", level=D(500)),
            "unrealized_pl",
            "499.99",
            "500",
        ),
        (
            AccountResult(of="day", unit="money", direction="down", level=D(-300)),
            "day_pl",
            "-299",
            "-301",
        ),
    ],
)
async def test_a_value_of_the_account_that_crosses_its_level_is_told_once(
    path: Path, condition: Condition, member: str, before: str, after: str
) -> None:
    store = example_store()
    async with watching(path, store) as desk:
        setattr(store.account, member, D(before))
        await desk.add(condition)
        for now, value in enumerate((before, after, after)):
            setattr(store.account, member, D(value))
            desk.watch.check(float(now))
            await desk.watch.settled()
        assert len(desk.told) == 1


async def test_the_result_of_a_trade_in_money(path: Path) -> None:
    async with watching(path) as desk:
        trade = desk.store.trades["6411"] = long_euro()
        await desk.add(TradeResult(trade_id="6411", unit="money", direction="up", level=D(50)))
        for now, result in enumerate(("49", "51")):
            trade.unrealized_pl = D(result)
            desk.watch.check(float(now))
            await desk.watch.settled()
        assert len(desk.told) == 1


async def test_the_rollover_is_told_so_many_minutes_before(path: Path) -> None:
    async with watching(path) as desk:
        await desk.add(RolloverSoon(direction="down", level=D(10 * 60)))
        for now, before in enumerate((11 * 60, 601, 600, 599)):
            desk.store.clock_ns = SEVENTEEN - before * SECOND
            desk.watch.check(float(now))
            await desk.watch.settled()
            assert len(desk.told) == (before <= 600)


async def test_the_clients_positions_are_read_also_of_the_instrument_in_focus_and_told(
    path: Path,
) -> None:
    long, clock = "55.0", Clock(0.0)

    def book() -> dict[str, object]:
        short = str(100 - float(long))
        bucket = {"price": "1.08400", "longCountPercent": long, "shortCountPercent": short}
        return {
            "instrument": "EUR_USD",
            "time": f"2026-03-02T1{int(clock.seconds // BOOK_EVERY)}:00:00.000000000Z",
            "price": "1.08431",
            "bucketWidth": "0.00050",
            "buckets": [bucket],
        }

    broker = ScriptedBroker(answers={"positionBook": {"positionBook": book()}})
    store = example_store()
    store.set_focus("EUR_USD")  # what `keydesk watch` has as well, though it shows no books
    feed, due = link_to(broker, store, clock=clock), NextReads()
    async with watching(path, store) as desk:
        desk.watch.change(
            add_alert(
                Alert(
                    "",
                    ClientLongPercent(instrument="EUR_USD", direction="up", level=D(60)),
                    made_ns=TEN,
                )
            )
        )
        await desk.watch.settled()
        for value in ("55.0", "61.0"):
            long = value
            broker.answers["positionBook"] = {"positionBook": book()}
            await read_books(feed, due)
            await read_books(feed, due)  # not asked for again at once
            desk.watch.check(clock.seconds)
            await desk.watch.settled()
            clock.seconds += BOOK_EVERY
        assert len(desk.told) == 1
        newest = desk.store.books["EUR_USD", "positions"].snapshot
        assert newest is not None
        [fired] = desk.store.alert_history
        assert fired.time_ns == newest.time_ns  # every program reads the same
    await feed.client.close()
    assert broker.asked.count("positionBook") == 2
