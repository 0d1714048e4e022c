"""The transaction stream into the door, and the keeper who fetches what it left out."""

from keydesk.feeds.link import FAILURES, Link, reason
from keydesk.store.state import Topic
from keydesk.store.unreadable import moment, number_of, try_to
from keydesk_client.errors import KeydeskClientError, NotFound, OutOfRange
from keydesk_client.models import TransactionHeartbeat
from keydesk_client.models.transactions.base import TransactionIdentity
from keydesk_client.sequencer import PATIENCE_S, Range
from keydesk_client.streams.health import HistoryLost

LARGEST_RANGE = 1000


async def stream_transactions(link: Link) -> None:
    """Keep the transaction stream open and pass what it brings through the door."""
    tries = 0
    while True:
        words = "the stream ended"
        try:
            stream = link.streams.transactions()
            link.event_health = stream.health  # entering waits until the broker answers
            async with stream as line:
                async for item in line:
                    tries = 0
                    take_transaction(link, item)
        except KeydeskClientError as error:
            words = reason(error)
        _transactions_down(link, words)
        await link.back_off(tries)
        tries += 1


def take_transaction(link: Link, item: object) -> None:
    """Pass one item of the stream on."""
    health = link.store.health
    health.events_heard = link.now()
    known_lost, health.events = health.events == "DOWN", "OK"
    link.store.mark(Topic.HEALTH)
    match item:
        case TransactionHeartbeat():
            try_to(link.store, lambda: link.door.saw_last(item.last_transaction_id))
            try_to(link.store, lambda: link.store.see_clock(moment(item.time)))
        case TransactionIdentity():
            link.door.offer(item)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType] - the union's members share this base
        case HistoryLost():
            link.doubt(f"The broker does not know what came after transaction {item.applied}")
        case (
            _
        ):  # it was interrupted and is back; what came in between follows, and is in the changes
            link.write("The transaction stream was interrupted and is back")
            health.event_losses += not known_lost
            link.poll_wanted.set()


async def fill_gaps(link: Link) -> None:
    """Fetch transactions that are known to exist and did not come."""
    tries = 0
    while True:
        await link.pause(PATIENCE_S / 2)
        missing = link.door.overdue(link.now())
        if missing is None or await backfill(link, missing):
            tries = 0
        else:
            await link.back_off(tries)
            tries += 1


async def backfill(link: Link, missing: Range) -> bool:
    """Ask for missing transactions; False when that brought nothing."""
    asked = missing[0], min(missing[1], missing[0] + LARGEST_RANGE - 1)
    try:
        answer = await link.ask(link.client.transactions.range(*asked))
        newest, transactions = number_of(answer.last_transaction_id), answer.transactions
    except (OutOfRange, NotFound):
        link.doubt(f"The broker does not know transactions {asked[0]} to {asked[1]}")
        return False
    except FAILURES as error:
        link.count_unreadable(error)
        link.write(f"Transactions {asked[0]} to {asked[1]} could not be read: {reason(error)}")
        return False
    before = link.door.applied
    link.door.backfilled(asked, transactions, newest)
    return link.door.applied != before


def _transactions_down(link: Link, words: str) -> None:
    if link.store.health.events != "DOWN":
        link.store.health.events = "DOWN"
        link.store.health.event_losses += 1
        link.write(f"The transaction stream is down: {words}")
        link.store.mark(Topic.HEALTH)
    link.poll_wanted.set()
