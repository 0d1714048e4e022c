"""What is UNCONFIRMED is compared with the account's changes: found though no stream ever brings its transaction."""

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.reconciliation import Reconciler
from keydesk.settings.values import Reconciliation
from keydesk_client.following.feeds import check_changes, update_snapshot
from keydesk_client.models import Transaction
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Ambiguous, Done, Rejected, Unconfirmed
from keydesk_client.orders.sender import Sender
from support.data.account_history import fill, open_trade, reduction, transaction
from support.fakes.scripted_broker import ScriptedBroker, link_to, running, until

SENT_AGO_S = 30
EVERY_POLL = Reconciliation(check_after=5, check_every=0, look_back=60)


def closing_fill() -> tuple[Transaction, Transaction]:
    """The close of trade 2 as the broker wrote it down."""
    return closing_from(4)


def closing_from(first: int) -> tuple[Transaction, Transaction]:
    """The close of trade 2, its transactions numbered from `first`."""
    close = {"tradeClose": {"tradeID": "2", "units": "ALL"}, "reason": "TRADE_CLOSE"}
    order = transaction(first, "MARKET_ORDER", instrument="EUR_USD", units="-100", **close)
    closed = [reduction(2, "-100", "1.08500", "0.0000")]
    id_ = str(first)
    return order, fill(first + 1, orderID=id_, batchID=id_, units="-100", tradesClosed=closed)


def other_order(id_: int) -> Transaction:
    """An order that has nothing to do with trade 2."""
    return transaction(
        id_, "MARKET_ORDER", instrument="USD_JPY", units="300", reason="CLIENT_ORDER"
    )


@dataclass
class Desk:
    """A link with a sender whose close of trade 2 ended as Unconfirmed."""

    broker: ScriptedBroker
    feed: AccountFeed
    sender: Sender
    alarms: list[Done | Rejected | Ambiguous] = field(default_factory=list)

    def happens_unseen(self, *made: Transaction) -> None:
        """The account changes, and a snapshot that was taken meanwhile passes over the transactions."""
        self.broker.happens(*made)
        self.feed.follower.gate.open_at(self.broker.last_id)
        self.feed.follower.synchronizer.checked = self.broker.last_id
        self.feed.store.trades.clear()

    async def polls(self, times: int) -> None:
        asked = self.broker.asked.count("changes")
        await until(lambda: self.broker.asked.count("changes") >= asked + times)


@asynccontextmanager
async def unconfirmed_close(
    folder: Path, thresholds: Reconciliation = EVERY_POLL
) -> AsyncIterator[Desk]:
    broker = ScriptedBroker(members={"trades": [open_trade(2, currentUnits="100")]})
    broker.now = {"trades": []}
    broker.statuses["/close"] = 503
    broker.answers["/sinceid"] = {"transactions": [], "lastTransactionID": "3"}  # it lags behind
    feed = link_to(broker)
    alarms: list[Done | Rejected | Ambiguous] = []
    sender = Sender(
        feed.client,
        FileJournal(folder / "j" / "orders.jsonl"),
        lambda: 3,
        alarm=alarms.append,
        wall_ns=lambda: feed.wall_ns() - SENT_AGO_S * 10**9,
        pauses=(0.0,),
    )
    outcome = await sender.close_trade("2")
    assert isinstance(outcome, Unconfirmed)
    feed.reconcile = Reconciler(sender, thresholds).check
    feed.follower.gate.listen(sender.watch)
    async with running(feed, update_snapshot, check_changes):
        await feed.follower.ready.wait()
        yield Desk(broker, feed, sender, alarms)


async def test_a_transaction_that_a_snapshot_passed_over_is_found_by_the_check(
    tmp_path: Path,
) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        await desk.polls(2)
        assert desk.alarms == []
        desk.happens_unseen(*closing_fill())
        await until(lambda: desk.alarms)
        (alarm,) = desk.alarms
        assert isinstance(alarm, Done)
        assert alarm.related_transaction_ids == ("4", "5")
        assert desk.sender.unconfirmed() == ()
        assert FileJournal(tmp_path / "j" / "orders.jsonl").open_intents() == ()


async def test_a_trade_that_is_closed_has_the_history_read_again(tmp_path: Path) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        closed = open_trade(2, currentUnits="0", state="CLOSED")
        desk.broker.changed = {"tradesClosed": [closed], "transactions": []}
        looked_up = desk.broker.asked.count("sinceid")
        await until(lambda: desk.broker.asked.count("sinceid") > looked_up)
        assert desk.alarms == []
        made = [each.to_wire() for each in closing_fill()]
        desk.broker.answers["/sinceid"] = {"transactions": made, "lastTransactionID": "5"}
        await until(lambda: desk.alarms)


@pytest.mark.parametrize(
    "thresholds",
    [
        replace(EVERY_POLL, check_after=SENT_AGO_S + 3600),
        replace(EVERY_POLL, look_back=0),
    ],
    ids=["too young", "too old"],
)
async def test_what_is_too_young_or_too_old_is_not_asked_for(
    tmp_path: Path, thresholds: Reconciliation
) -> None:
    async with unconfirmed_close(tmp_path, thresholds) as desk:
        desk.happens_unseen(*closing_fill())
        await desk.polls(5)
        assert desk.alarms == []


@pytest.mark.parametrize("hours", [-3, 3])
async def test_a_wall_clock_that_is_set_does_not_end_the_check(tmp_path: Path, hours: int) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        await desk.polls(2)
        set_to = desk.feed.wall_ns() + hours * 3600 * 10**9
        desk.feed.timing = dataclasses.replace(desk.feed.timing, wall_ns=lambda: set_to)
        desk.happens_unseen(*closing_fill())
        await until(lambda: desk.alarms)


async def test_the_check_comes_no_more_often_than_it_is_set_to(tmp_path: Path) -> None:
    async with unconfirmed_close(tmp_path, replace(EVERY_POLL, check_every=3600)) as desk:
        await desk.polls(2)
        desk.happens_unseen(*closing_fill())
        await desk.polls(5)
        assert desk.alarms == []


async def test_nothing_is_asked_for_while_nothing_is_unconfirmed(tmp_path: Path) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        made = [each.to_wire() for each in closing_fill()]
        desk.broker.answers["/sinceid"] = {"transactions": made, "lastTransactionID": "5"}
        for each in closing_fill():
            desk.sender.watch(each)
        await until(lambda: len(desk.alarms) == 1)
        assert desk.sender.unconfirmed() == ()
        quiet = ScriptedBroker()
        await Reconciler(desk.sender, EVERY_POLL).check(link_to(quiet))
        assert quiet.asked == []


async def test_a_check_without_an_answer_is_made_again(tmp_path: Path) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        desk.happens_unseen(*closing_fill())
        desk.broker.statuses["/changes"] = 503
        check = desk.feed.reconcile
        assert check is not None
        await check(desk.feed)
        del desk.broker.statuses["/changes"]
        await until(lambda: desk.alarms)


async def test_changes_that_concern_no_unconfirmed_command_are_asked_for_once(
    tmp_path: Path,
) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        broker = ScriptedBroker()
        broker.happens(*map(other_order, range(4, 204)))
        feed, checker = link_to(broker), Reconciler(desk.sender, EVERY_POLL)
        await checker.check(feed)
        broker.happens(*map(other_order, range(204, 214)))
        await checker.check(feed)
        await checker.check(feed)
        assert broker.changes_since == [3, 203, 213]


async def test_what_later_changes_show_is_looked_up_in_the_whole_history(tmp_path: Path) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        broker = ScriptedBroker()
        broker.happens(*map(other_order, range(4, 204)))
        feed, checker = link_to(broker), Reconciler(desk.sender, EVERY_POLL)
        await checker.check(feed)
        close = closing_from(204)
        broker.happens(*close)
        looked_up = desk.broker.asked.count("sinceid")
        await checker.check(feed)
        assert desk.broker.asked.count("sinceid") == looked_up + 1
        assert desk.alarms == []  # the history that was read lags behind
        made = [each.to_wire() for each in close]
        desk.broker.answers["/sinceid"] = {"transactions": made, "lastTransactionID": "205"}
        await checker.check(feed)
        assert broker.changes_since == [3, 203, 203]
        (alarm,) = desk.alarms
        assert isinstance(alarm, Done)
        assert alarm.related_transaction_ids == ("204", "205")


UNREADABLE: dict[str, dict[str, object]] = {
    "a transaction of an unknown kind": {"type": "SOMETHING_NEW"},
    "a transaction that lacks a member": {"type": "MARKET_ORDER", "reason": "CLIENT_ORDER"},
}


@pytest.mark.parametrize("members", UNREADABLE.values(), ids=UNREADABLE)
async def test_changes_that_cannot_be_read_whole_are_asked_for_again(
    tmp_path: Path, members: dict[str, object]
) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        broker = ScriptedBroker()
        unreadable = {"id": "4", "batchID": "4", "time": "2026-03-02T10:00:00Z"} | members
        broker.last_id, broker.changed = 4, {"transactions": [unreadable]}
        feed, checker = link_to(broker), Reconciler(desk.sender, EVERY_POLL)
        await checker.check(feed)
        await checker.check(feed)
        assert broker.changes_since == [3, 3]


async def test_changes_that_may_concern_the_command_are_asked_for_again(tmp_path: Path) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        closed = open_trade(2, currentUnits="0", state="CLOSED")
        broker = ScriptedBroker(last_id=9, changed={"tradesClosed": [closed]})
        feed, checker = link_to(broker), Reconciler(desk.sender, EVERY_POLL)
        await checker.check(feed)
        await checker.check(feed)
        assert broker.changes_since == [3, 3]


async def test_a_history_that_began_anew_is_compared_from_the_command_on(tmp_path: Path) -> None:
    async with unconfirmed_close(tmp_path) as desk:
        broker = ScriptedBroker()
        broker.happens(*map(other_order, range(4, 204)))
        feed, checker = link_to(broker), Reconciler(desk.sender, EVERY_POLL)
        await checker.check(feed)
        broker.statuses["/changes"] = 416
        await checker.check(feed)
        del broker.statuses["/changes"]
        await checker.check(feed)
        assert broker.changes_since == [3, 3]
