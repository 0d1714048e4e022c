"""What a ticket needs to know of an account, read by the feeds of the desk until it is complete."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.daily_loss import LossLock, advance
from keydesk.calc.market.watchlists import DEFAULT_WATCHLIST, Watchlist, Watchlists
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.cli.account_access import OpenAccount
from keydesk.cli.script_output import Refusal
from keydesk.feeds import session
from keydesk.feeds.account_feed import AccountFeed
from keydesk.feeds.session import Feed
from keydesk.records.desk_records import DeskRecords
from keydesk.records.errors import FAILURES
from keydesk.records.loss_lock import LossRecord, read_record, write_record
from keydesk.store.risk import day_result, exit_only_text
from keydesk.store.store import Store
from keydesk.store.trading_context import Snapshot
from keydesk.store.valuation import revalue
from keydesk.text.format import pair
from keydesk.trading.desk_session import DeskLock
from keydesk.words.outages import Broker

WITHIN = 30.0  # seconds
PATIENCE = 5.0  # seconds that a desk may write
LOOK_EVERY = 0.05  # seconds
FEEDS: Mapping[str, Feed] = {
    name: session.FEEDS[name]
    for name in (
        *("instruments", "transaction stream", "account", "price stream", "watched instruments"),
        *("conversions", "gaps", "history", "average ranges", "health"),
    )
}


class MarketSnapshot(Struct, frozen=True):
    """The account, the market of one instrument, and the trader's limits."""

    store: Store
    context: TradingContext
    limits: Limits


@asynccontextmanager
async def knowledge_of(
    account: OpenAccount, instrument: str, limits: Limits
) -> AsyncIterator[MarketSnapshot]:
    """Read account, price and the day so far; the feeds go on within the block.

    Raises:
        Refusal: it is not known within half a minute.
    """
    store = Store()
    store.zone = account.zone
    store.health.environment = account.environment
    store.lists = Watchlists((DEFAULT_WATCHLIST, Watchlist("order", (instrument,))))
    store.list_name = "order"
    broker = Broker(account.target.rest_url, account.target.login)
    feed = AccountFeed(client=account.client, store=store, broker=broker)
    tasks = [
        asyncio.create_task(session.supervise(feed, name, worker), name=name)
        for name, worker in FEEDS.items()
    ]
    try:
        yield MarketSnapshot(store, await _context(store, instrument), limits)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _context(store: Store, instrument: str) -> TradingContext:
    snapshot, began = Snapshot(store, monotonic), monotonic()
    while monotonic() - began < WITHIN:
        revalue(store, monotonic())
        context = snapshot.context(instrument)
        if context is not None and store.today is not None:
            return context
        outage = store.health.outage
        if outage is not None and monotonic() - began > WITHIN / 3:
            raise Refusal(f"NOTHING WAS SENT: {outage.text}", "network")
        await asyncio.sleep(LOOK_EVERY)
    missing = "account" if store.account is None else f"price of {pair(instrument)}"
    raise Refusal(f"NOTHING WAS SENT: the {missing} is not known after {WITHIN:.0f} s", "network")


def why_exits_only(account: OpenAccount, knowledge: MarketSnapshot) -> str:
    """Return why no risk may be opened now, "" if it may: `keydesk lock`, the daily loss lock, a pause after losses."""
    store = knowledge.store
    lock = DeskLock.of(account.folder, account.target.profile)
    if lock.check(monotonic()):
        return (
            "the desk is locked (keydesk lock): it closes, cancels and tightens, and opens nothing"
        )
    store.loss_lock = _daily_loss_lock(account, knowledge)
    return exit_only_text(store, knowledge.limits, store.now_ns)


def _daily_loss_lock(account: OpenAccount, knowledge: MarketSnapshot) -> LossLock:
    """Return the lock of the day as a desk would: from the records, and from the loss so far; keep it if it is reached."""
    store = knowledge.store
    known = store.account
    kept_by_desks = DeskRecords.of(account.folder, account.target.shared_records)
    records = replace(kept_by_desks, patience=PATIENCE)
    created_ns = 0 if known is None else known.created_time_ns
    kept = read_record(records, created_ns)
    before = LossLock() if kept is None else kept.lock
    lock, _ = advance(before, store.now_ns, day_result(store), knowledge.limits)
    if lock.is_on and lock != before and known is not None:
        newest = known.last_transaction_id
        with suppress(*FAILURES):  # the loss itself still locks
            write_record(records, LossRecord(created_ns, newest, store.clock_ns or 0, lock), kept)
    return lock
