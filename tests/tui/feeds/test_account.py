"""The account: snapshot, stream, gaps and polls, against a scripted broker."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal

import httpx

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.session import check
from keydesk.values import ClosedTrade, Today
from keydesk_client.errors import ConnectionLost
from keydesk_client.following.feeds import (
    check_changes,
    check_once,
    fill_gaps,
    stream_transactions,
    update_snapshot,
)
from keydesk_client.models import TransactionHeartbeat, TransactionID
from keydesk_client.models._core.scalars import DateTime
from support.data.account_history import open_trade, opening, transaction
from support.fakes.scripted_broker import ScriptedBroker, link_to, running, until

EVERYTHING = (stream_transactions, update_snapshot, check_changes, fill_gaps)
OPEN_NOW = {"unrealizedPL": "1.5000", "marginUsed": "3.6000"}


@dataclass
class SlowBroker(ScriptedBroker):
    """While its answer about the account is under way, the stream brings more."""

    meanwhile: Callable[[], None] | None = None  # once

    def answer(self, request: httpx.Request) -> httpx.Response:
        made, meanwhile = super().answer(request), self.meanwhile
        if meanwhile is not None and request.url.path.endswith(("/changes", "-001")):
            self.meanwhile = None
            meanwhile()
        return made


def heartbeat(last: int) -> TransactionHeartbeat:
    moment = DateTime("2026-03-02T10:00:05.000000000Z")
    return TransactionHeartbeat(last_transaction_id=TransactionID(last), time=moment)


def log_of(feed: AccountFeed) -> str:
    return "\n".join(line.text for line in feed.store.log)


async def test_the_account_is_on_the_desk_after_the_snapshot() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), *EVERYTHING) as feed:
        await feed.follower.ready.wait()
        assert feed.store.account is not None
        assert feed.store.account.balance == Decimal(10000)
        assert feed.follower.gate.applied == 3


async def test_a_transaction_on_the_stream_reaches_the_store() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), *EVERYTHING) as feed:
        await feed.follower.ready.wait()
        fill = opening(4, "100", "1.08500")
        broker.now = {"trades": [OPEN_NOW | {"id": "4"}]}
        broker.happens(fill)
        broker.event_line.say(fill)
        await until(lambda: "4" in feed.store.trades)
        assert feed.store.health.events == "OK"


async def test_what_the_stream_left_out_is_fetched() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), stream_transactions, update_snapshot, fill_gaps) as feed:
        await feed.follower.ready.wait()
        broker.happens(opening(4, "100", "1.08500"), opening(6, "50", "1.08510"))
        broker.happens(transaction(5, "MARGIN_CALL_EXIT"))
        broker.event_line.say(heartbeat(6))
        await until(lambda: feed.follower.gate.applied == 6)
        assert set(feed.store.trades) == {"4", "6"}
        assert broker.asked.count("idrange") == 1


async def test_the_poll_brings_what_no_stream_told() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), update_snapshot, check_changes) as feed:
        await feed.follower.ready.wait()
        broker.now = {"trades": [OPEN_NOW | {"id": "4"}], "NAV": "10001.5000"}
        broker.happens(opening(4, "100", "1.08500"))
        await until(lambda: "4" in feed.store.trades)
        await until(lambda: feed.store.account and feed.store.account.nav == Decimal("10001.5"))
        assert feed.follower.synchronizer.checked == 4


async def test_a_difference_is_said_and_healed_by_a_snapshot() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), update_snapshot, check_changes) as feed:
        await feed.follower.ready.wait()
        broker.members = {"balance": "9000.0000"}
        broker.now = {"balance": "9000.0000"}
        await until(lambda: feed.store.account and feed.store.account.balance == Decimal(9000))
        assert "balance 10000.0000 here, 9000.0000 at the broker" in log_of(feed)
        await until(lambda: not feed.store.health.warning)


async def test_an_unknown_transaction_makes_the_account_be_read_again() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), *EVERYTHING) as feed:
        await feed.follower.ready.wait()
        broker.members = {"balance": "10012.0000"}
        strange = transaction(4, "MOON_ADJUSTMENT", amount="12")
        broker.happens(strange)
        broker.event_line.say(strange)
        await until(lambda: feed.store.account and feed.store.account.balance == Decimal(10012))
        assert feed.follower.gate.applied == 4


async def test_a_broker_that_knows_less_than_we_do_is_believed() -> None:
    broker = ScriptedBroker(last_id=9)
    async with running(link_to(broker), update_snapshot, check_changes) as feed:
        await feed.follower.ready.wait()
        broker.last_id, broker.statuses = 3, {"/changes": 416}
        await until(lambda: feed.follower.gate.applied == 3)
        broker.statuses = {}
        assert "now ends at transaction 3" in log_of(feed)
        broker.members = {"trades": [open_trade(4)]}
        broker.now = {"trades": [OPEN_NOW | {"id": "4"}]}
        broker.happens(opening(4, "50000", "1.08500"))
        await until(lambda: "4" in feed.store.trades)


async def test_a_replica_that_lags_behind_is_not_taken_for_a_history_that_went_back() -> None:
    broker = ScriptedBroker()
    feed = link_to(broker)
    async with running(feed, update_snapshot):
        await feed.follower.ready.wait()
        on_item: list[str] = []
        feed.follower.gate.listen(lambda each: on_item.append(each.id))
        feed.follower.gate.offer(opening(4, "100", "1.08500"))
        asked = len(broker.asked)
        wait = feed.timing.sleep

        async def catch_up(seconds: float) -> None:
            if broker.last_id == 3 and len(broker.asked) > asked:
                broker.members = {"trades": [open_trade(4, initialUnits="100", currentUnits="100")]}
                broker.happens(opening(4, "100", "1.08500"))
            await wait(seconds)

        feed.follower.timing = replace(feed.timing, sleep=catch_up)
        feed.follower.request_snapshot("The test doubts it")
        await until(lambda: broker.last_id == 4 and not feed.follower.snapshot_wanted.is_set())
        await until(lambda: feed.follower.synchronizer.checked == 4)
        assert set(feed.store.trades) == {"4"}
        assert on_item == ["4"]
        assert "now ends at" not in log_of(feed)


async def test_what_the_desk_itself_took_back_is_shown_at_once() -> None:
    broker = ScriptedBroker(last_id=9)
    feed = link_to(broker)
    async with running(feed, update_snapshot):
        await feed.follower.ready.wait()
        pauses: list[float] = []
        wait = feed.timing.sleep

        async def note(seconds: float) -> None:
            pauses.append(seconds)
            await wait(seconds)

        feed.follower.timing = replace(feed.timing, sleep=note)
        broker.last_id = 3
        feed.follower.ready.clear()  # as `restart_market` does after a checkpoint was restored
        feed.follower.snapshot_wanted.set()
        await feed.follower.ready.wait()
        assert feed.follower.gate.applied == 3
        assert pauses == []


async def test_a_snapshot_that_is_slower_than_the_stream_loses_and_repeats_nothing() -> None:
    broker = SlowBroker()
    feed = link_to(broker)
    async with running(feed, update_snapshot):
        await feed.follower.ready.wait()
        on_item: list[str] = []
        feed.follower.gate.listen(lambda each: on_item.append(each.id))
        today = feed.store.today = Today(start_ns=0)
        broker.members = {"trades": [open_trade(4, initialUnits="100", currentUnits="100")]}
        broker.happens(opening(4, "100", "1.08500"))
        paid_in = {"amount": "1000.0000", "accountBalance": "11000.0000"}
        streamed = [
            opening(4, "100", "1.08500"),
            opening(5, "200", "1.08500"),
            transaction(6, "TRANSFER_FUNDS", fundingReason="CLIENT_FUNDING", **paid_in),
        ]
        broker.meanwhile = lambda: feed.follower.gate.offer_all(streamed)
        feed.follower.request_snapshot("The test doubts it")
        await until(lambda: broker.meanwhile is None and not feed.follower.snapshot_wanted.is_set())
        await until(lambda: feed.follower.synchronizer.checked == 4)
        assert {id_: row.units for id_, row in feed.store.trades.items()} == {"4": 100, "5": 200}
        assert on_item == ["4", "5", "6"]
        assert [line.id for line in feed.store.log if line.id] == ["4", "5", "6"]
        assert today.transfers == 1000, "once"
        assert feed.store.account is not None
        assert feed.store.account.balance == 11_000
        assert "now ends at" not in log_of(feed)


async def test_changes_that_are_slower_than_the_stream_are_not_asked_for_again() -> None:
    broker = SlowBroker()
    feed = link_to(broker)
    async with running(feed, update_snapshot):
        await feed.follower.ready.wait()
        health = feed.store.health
        health.unchecked = True
        broker.now = {"trades": [OPEN_NOW | {"id": "4"}]}
        broker.happens(opening(4, "100", "1.08500"))
        broker.meanwhile = lambda: feed.follower.gate.offer_all(
            [opening(4, "100", "1.08500"), opening(5, "200", "1.08500")]
        )
        assert await check_once(feed.follower) is None
        assert health.unchecked, "not all of it was compared"
        broker.now = {"trades": [OPEN_NOW | {"id": "4"}, OPEN_NOW | {"id": "5"}]}
        broker.happens(opening(5, "200", "1.08500"))
        assert await check_once(feed.follower) is None
        assert broker.changes_since == [3, 4]
        assert feed.follower.synchronizer.checked == 5
        assert (health.unchecked, health.warning) == (False, "")


async def test_another_account_under_the_same_id_begins_a_new_log() -> None:
    broker = ScriptedBroker(last_id=9)
    async with running(link_to(broker), update_snapshot, check_changes) as feed:
        await feed.follower.ready.wait()
        feed.write("before")
        account = feed.store.account
        assert account is not None
        account.day_pl = account.day_start_nav = account.day_transfers = Decimal(-300)
        feed.store.closed.append(ClosedTrade("2", 1, Decimal(-300)))
        broker.members = {"createdTime": "2026-03-01T00:00:00.000000000Z"}
        broker.last_id, broker.statuses = 3, {"/changes": 416}
        await until(lambda: feed.follower.gate.applied == 3)
        broker.statuses = {}
        assert "before" not in log_of(feed)
        assert "a new account under this id" in log_of(feed)
        account = feed.store.account
        assert account is not None
        assert account.day_pl is account.day_start_nav is None
        assert account.day_transfers == 0
        assert not feed.store.closed


async def test_a_lost_stream_is_said_and_opened_again() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), *EVERYTHING) as feed:
        await feed.follower.ready.wait()
        broker.event_line.say(heartbeat(3))
        await until(lambda: feed.store.health.events == "OK")
        broker.event_line.say(ConnectionLost("cut"))
        await until(lambda: len(broker.event_line.opened) > 1)
        assert "The transaction stream is down: cut" in log_of(feed)
        broker.event_line.say(heartbeat(3))
        await until(lambda: feed.store.health.events == "OK")


async def test_an_unreadable_account_is_asked_for_until_it_comes() -> None:
    broker = ScriptedBroker(statuses={"101-001-1-001": 503})
    async with running(link_to(broker), update_snapshot) as feed:
        await until(lambda: len(broker.asked) > 3)
        assert not feed.follower.ready.is_set()
        broker.statuses = {}
        await feed.follower.ready.wait()


async def test_a_429_is_counted() -> None:
    broker = ScriptedBroker()
    feed = link_to(broker)
    async with running(feed, update_snapshot):
        await feed.follower.ready.wait()
        broker.statuses = {"/changes": 429}
        await check_once(feed.follower)
        check(feed)
        assert feed.store.health.throttled == 1


async def test_an_account_that_cannot_be_read_at_the_start_is_said_where_it_is_seen() -> None:
    broker = ScriptedBroker(answers={"/101-001-1-001": "<html>Sign in</html>"})
    async with running(link_to(broker), update_snapshot, check_changes) as feed:
        await until(lambda: feed.store.health.outage is not None)
        broker.answers.clear()
        await feed.follower.ready.wait()
        await until(lambda: feed.store.health.outage is None)
