"""Older lines of the log from a broker that answers, answers slowly, refuses, or sends hostile text."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.history import read_history
from keydesk.feeds.past_log import load_past, update_past_log
from keydesk.store.past_log import PAGE, PastLog
from keydesk.store.transactions.past_pages import want_past
from keydesk_client.errors import UnreadableAnswer
from keydesk_client.following.feeds import update_snapshot
from keydesk_client.models import Transaction
from support.data.account_history import transaction
from support.data.hostile_text import FRAGMENTS
from support.fakes.scripted_broker import ScriptedBroker, link_to, running, until

NEWEST = datetime(2026, 3, 2, 10, tzinfo=UTC)


class Endless(dict[int, Transaction]):
    """A history of any length whose transactions are made when they are asked for."""

    def __init__(self, last: int) -> None:
        super().__init__()
        self.last, self.read = last, 0

    def __contains__(self, id_: object) -> bool:
        return isinstance(id_, int) and 1 <= id_ <= self.last

    def __getitem__(self, id_: int) -> Transaction:
        self.read += 1
        made = NEWEST - timedelta(minutes=self.last - id_)
        time = f"{made:%Y-%m-%dT%H:%M:%S}.000000000Z"
        return transaction(id_, "CLIENT_CONFIGURE", alias=f"name {id_}", time=time)


async def opened(last: int) -> tuple[AccountFeed, ScriptedBroker, Endless]:
    history = Endless(last)
    broker = ScriptedBroker(last_id=last, history=history)
    feed = link_to(broker)
    async with running(feed, update_snapshot):
        await feed.follower.ready.wait()
    feed = link_to(broker, feed.store)
    feed.follower.gate.open_at(last)
    feed.store.clock_ns = 1_772_445_600_000_000_000
    await read_history(feed)
    return feed, broker, history


def past_of(feed: AccountFeed) -> PastLog:
    assert feed.store.past_log is not None
    return feed.store.past_log


async def test_an_account_of_a_million_transactions_opens_with_the_requests_of_a_small_one() -> (
    None
):
    _, small, few = await opened(1_200)
    feed, large, many = await opened(1_000_000)
    assert len(large.asked) <= len(small.asked)
    assert many.read <= few.read
    want_past(feed.store, "first")
    await load_past(feed)
    assert [line.id for line in past_of(feed).lines][:2] == ["1", "2"]
    assert many.read <= few.read + PAGE


async def test_a_newest_transaction_that_is_made_up_is_not_looked_for_page_after_page() -> None:
    feed, broker, history = await opened(1_200)
    broker.last_id = 10**18
    feed.follower.gate.open_at(10**18)
    asked = len(broker.asked)
    with pytest.raises(UnreadableAnswer, match="has no transactions"):
        await asyncio.wait_for(read_history(feed), 5)
    assert len(broker.asked) == asked + 1
    assert history.last == 1_200


async def test_a_page_that_is_refused_says_why_and_is_read_when_it_is_wanted_again() -> None:
    feed, broker, _ = await opened(2_000)
    broker.statuses = {"/idrange": 503}
    want_past(feed.store, "older")
    await load_past(feed)
    past = past_of(feed)
    assert "scripted" in past.trouble
    assert "scroll on to try again" in past.trouble
    assert not past.loading
    broker.statuses = {}
    want_past(feed.store, "older")
    await load_past(feed)
    assert past.trouble == ""
    assert [line.id for line in past.lines] == [str(id_) for id_ in range(1_001, 1_501)]


@pytest.mark.parametrize(("status", "remedy"), [(401, "keydesk login"), (403, "rights")])
async def test_a_refused_token_names_the_remedy(status: int, remedy: str) -> None:
    feed, broker, _ = await opened(2_000)
    broker.statuses = {"/idrange": status}
    want_past(feed.store, "older")
    await load_past(feed)
    assert remedy in past_of(feed).trouble


async def test_a_search_stops_after_some_pages_and_goes_on_when_it_is_wanted_again() -> None:
    feed, broker, _ = await opened(5_000)
    want_past(feed.store, "older", "nothing has these words")
    for searched in (1, 2):
        before = len(broker.asked)
        want_past(feed.store, "older", "nothing has these words")
        await load_past(feed, most_pages=2)
        assert len(broker.asked) == before + 2
        assert past_of(feed).oldest == 4_501 - searched * 2 * PAGE
    assert past_of(feed).lines == []


async def test_who_leaves_while_a_page_is_read_gets_what_was_asked_for_last() -> None:
    feed, _, _ = await opened(5_000)
    async with running(feed, update_past_log):
        feed.follower.ready.set()
        want_past(feed.store, "older")
        await asyncio.sleep(0)
        want_past(feed.store, "first")
        await until(lambda: past_of(feed).lines)
        await until(lambda: not past_of(feed).loading)
    assert past_of(feed).lines[0].id == "1"


async def test_hostile_text_and_records_without_their_members_do_no_harm() -> None:
    feed, broker, history = await opened(2_000)
    history.last = 0
    broker.history = {
        1_001: transaction(1_001, "CLIENT_CONFIGURE", alias="".join(FRAGMENTS)),
        1_002: transaction(1_002, "STOP_LOSS_ORDER"),
        1_003: transaction(1_003, "ORDER_CANCEL"),
        1_004: transaction(1_004, "MOON_LANDING"),
    }
    want_past(feed.store, "older")
    await load_past(feed)
    texts = [line.text for line in past_of(feed).lines]
    assert len(texts) == 2
    assert all(text.isprintable() for text in texts)
    assert feed.store.health.unreadable == 2
