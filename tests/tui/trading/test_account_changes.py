"""Tag, comment, name and margin rate against the practice broker, and what is said of each outcome."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from keydesk.forms.account.configure import margin_before_and_after
from keydesk.store.store import Store
from keydesk.trading.account_changes import ChangeSender, ConfigureAccount, LabelOrder, LabelTrade
from keydesk.trading.dispatcher import Dispatcher
from keydesk_client.errors import ConnectionLost, KeydeskClientError, Refused
from keydesk_client.models import ClientExtensions, LimitOrder
from support.broker import PracticeServer
from support.data.entry_orders import open_order
from support.exit_plan_desk import plan_desk
from support.fakes.recording_gate import RecordingGate

D = Decimal


@pytest.mark.e2e
async def test_labels_and_settings_at_the_broker(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    async with plan_desk(desk_of_my_own, tmp_path / "orders") as desk:
        client = desk.connection.commands.client
        trade = await desk.buys(100_000)
        labels = LabelTrade(trade.id, "EUR_USD", tag="swing", comment="as planned")
        await desk.does(labels)
        assert desk.said[-1] == f"DONE tag swing, comment as planned on #{trade.id} EUR/USD"
        assert (trade.tag, trade.comment) == ("swing", "as planned")

        await desk.does(LabelTrade(trade.id, "EUR_USD", tag=""))
        kept = (await client.trades.get(trade.id)).trade.client_extensions
        assert kept is not None
        assert (kept.tag or "", kept.comment, trade.tag) == ("", "as planned", "")

        entry = open_order("EUR_USD", "LIMIT", D(1_000), price=D("0.9"))
        await desk.does(entry)
        order = next(each for each in desk.store.orders.values() if each.trade_id is None)
        await desk.does(LabelOrder(order.id, "EUR_USD", tag="dip", with_trade=True))
        assert desk.said[-1] == f"DONE tag dip on order #{order.id} EUR/USD"
        assert (order.tag, order.client_id is None) == ("dip", False)
        resting = (await client.orders.get(order.id)).order
        assert isinstance(resting, LimitOrder)
        assert resting.trade_client_extensions is not None
        assert resting.trade_client_extensions.tag == "dip"

        await desk.does(LabelTrade("999999", "EUR_USD", tag="swing"))
        assert desk.said[-1].startswith("REJECTED tag swing on #999999 EUR/USD: ")
        assert "_" not in desk.said[-1]

        account = desk.store.account
        assert account is not None
        held = desk.store.positions
        await desk.until(lambda: bool(account.margin_used and held["EUR_USD"].margin_used))
        _, expected = margin_before_and_after(desk.store, account, D("0.25"))
        await desk.does(ConfigureAccount(alias="Swing", margin_rate=D("0.25")))
        assert desk.said[-1] == "DONE ACCOUNT name Swing, margin rate 25.00 %"
        now = (await client.accounts.summary()).account
        assert (now.alias, now.margin_rate) == ("Swing", D("0.25"))
        assert now.margin_used is not None
        assert abs(now.margin_used / expected.used - 1) < D("0.001")  # the price moves on
        assert (account.alias, account.margin_rate) == ("Swing", D("0.25"))

        await desk.buys(200_000)
        await desk.does(ConfigureAccount(margin_rate=D(1)))
        refused = "REJECTED ACCOUNT margin rate 100.00 %: the margin rate would"
        assert desk.said[-1].startswith(refused)


class FailingTrades:
    """Loses the first answers."""

    def __init__(self, losses: int, failure: KeydeskClientError) -> None:
        self.losses, self.sent = losses, 0
        self.failure = failure

    async def set_client_extensions(self, _id: str, _labels: ClientExtensions) -> SimpleNamespace:
        self.sent += 1
        if self.sent <= self.losses:
            raise self.failure
        made: Any = SimpleNamespace(id="7")
        return SimpleNamespace(
            trade_client_extensions_modify_transaction=made, last_transaction_id="7"
        )


CUT = ConnectionLost("the connection was cut")


async def said_after(
    losses: int, failure: KeydeskClientError = CUT
) -> tuple[str, int, Sequence[object]]:
    trades, gate, pauses = FailingTrades(losses, failure), RecordingGate(), list[float]()
    store = Store()

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    client: Any = SimpleNamespace(trades=trades)
    sender = ChangeSender(client, Dispatcher(store, gate), sleep)
    await sender.send(LabelTrade("12", "EUR_USD", tag="swing"))
    return store.notices[-1].text, trades.sent, gate.came


async def test_a_lost_answer_is_followed_by_the_same_request() -> None:
    said, sent, offered = await said_after(2)
    assert (said, sent, len(offered)) == ("DONE tag swing on #12 EUR/USD", 3, 1)


async def test_after_three_lost_answers_the_desk_says_that_it_does_not_know() -> None:
    said, sent, offered = await said_after(3)
    assert said.startswith("NOT CONFIRMED tag swing on #12 EUR/USD: the connection was cut")
    assert (sent, offered) == (3, [])


async def test_a_refusal_that_a_proxy_may_have_sent_is_a_lost_answer() -> None:
    by_service = Refused("no such trade", status=404, request_id="7")
    assert (await said_after(1, by_service))[:2] == (
        "REJECTED tag swing on #12 EUR/USD: 404: no such trade",
        1,
    )
    by_proxy = Refused("Bad gateway said no", status=400)
    assert (await said_after(1, by_proxy))[:2] == ("DONE tag swing on #12 EUR/USD", 2)
