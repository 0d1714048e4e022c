"""A lost transaction stream is counted once, whichever way it becomes known."""

from keydesk.feeds.session import check
from keydesk_client.errors import ConnectionLost
from keydesk_client.following.feeds import apply_transaction, stream_transactions
from keydesk_client.streams.settings import Reconnected
from support.data.account_history import transaction
from support.fakes.scripted_broker import ScriptedBroker, link_to, running, until


async def test_a_stream_that_ends_in_an_error_is_a_loss() -> None:
    broker = ScriptedBroker()
    async with running(link_to(broker), stream_transactions) as feed:
        broker.event_line.say(transaction(4, "ORDER_CANCEL"), ConnectionLost("cut"))
        await until(lambda: len(broker.event_line.opened) > 1)
        assert feed.store.health.event_losses == 1


async def test_a_broker_that_never_answered_is_down_before_the_stream_is_entered() -> None:
    broker = ScriptedBroker()
    broker.event_line.answers.clear()
    async with running(link_to(broker), stream_transactions) as feed:
        await until(lambda: len(broker.event_line.opened) == 1)
        broker.event_line.health.last_error = ConnectionLost("nobody listens")
        check(feed)
        assert feed.store.health.events == "DOWN"


async def test_an_interruption_between_two_looks_is_a_loss() -> None:
    feed = link_to(ScriptedBroker())
    apply_transaction(feed.follower, transaction(4, "ORDER_CANCEL"))
    apply_transaction(feed.follower, Reconnected(ConnectionLost("cut"), 1.0))
    assert feed.store.health.event_losses == 1
    await feed.client.close()


async def test_an_interruption_that_was_seen_is_not_counted_again_when_it_ends() -> None:
    broker = ScriptedBroker()
    feed = link_to(broker)
    health = feed.follower.streams["transactions"] = broker.event_line.health
    apply_transaction(feed.follower, transaction(4, "ORDER_CANCEL"))
    health.connected, health.last_error = False, ConnectionLost("cut")
    check(feed)
    check(feed)
    apply_transaction(feed.follower, Reconnected(ConnectionLost("cut"), 1.0))
    assert feed.store.health.event_losses == 1
    await feed.client.close()
