"""Connect to an account: client, feeds, order protocol and commands, until they are closed.

Models, HTTP and the keyring are imported inside functions, after the first paint.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct, field

from keydesk.app.account_sources import AccountAddress
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.settings.values import Reconciliation
from keydesk_client.errors import KeydeskClientError

if TYPE_CHECKING:
    from keydesk.feeds.account_feed import AccountFeed
    from keydesk.store.store import Store
    from keydesk.trading.commands import Commands
    from keydesk.trading.desk_session import DeskSession
    from keydesk.trading.exit_plans import ExitPlans
    from keydesk.trading.notifications import Notifier
    from keydesk_client.orders.sender import Sender

USUAL_CHECKS = Reconciliation()
PRACTICE_POLL = 1.0  # seconds


class Connection(Struct):
    """An open account; `run` feeds the store until it is cancelled."""

    feed: AccountFeed
    sender: Sender
    commands: Commands
    linked: bool | None  # to a third-party platform; None: not known yet
    exit_plans: ExitPlans
    notifier: Notifier
    shown: asyncio.Event | None = (
        None  # set once its first prices are on the screen; None: nobody waits for that
    )
    recovered: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Run the feeds, and resolve open intents of the last session before new risk can be opened."""
        from keydesk.feeds import session  # noqa: PLC0415 - see the head of the module

        async with asyncio.TaskGroup() as group:
            group.create_task(session.run(self.feed, self.shown), name="feeds")
            recovery = session.supervise(self.feed, "orders left open", lambda _: self._recover())
            group.create_task(recovery, name="recovery")
            plans = session.supervise(self.feed, "exit plans", lambda _: self.exit_plans.run())
            group.create_task(plans, name="exit plans")

    async def _recover(self) -> None:
        self.commands.hold_openings()
        await self.feed.follower.ready.wait()
        await self._learn_whether_linked()
        await self.commands.recover()
        self.recovered.set()

    async def _learn_whether_linked(self) -> None:
        """Ask whether the account is linked, if not known yet; orders of a linked account carry no client id.

        Without an answer they carry none either: they are found by their terms then, and no broker refuses them.
        """
        if self.linked is None:
            with suppress(KeydeskClientError):
                client = self.feed.client
                accounts = (await client.accounts.list()).accounts
                ours = (each for each in accounts if each.id == client.account_id)
                self.linked = any(each.mt4_account_id is not None for each in ours)
        self.sender.client_ids = self.linked is False


def load_all() -> None:
    """Import what opening an account needs, while the broker starts."""
    import_module("keydesk_client.http.session")
    for name in (
        "trading.commands",
        "trading.dispatcher",
        "trading.exit_plans",
        "feeds.session",
        "store.valuation",
    ):
        import_module(f"keydesk.{name}")
    import_module("keydesk_client.orders.sender")


@asynccontextmanager
async def open_account(
    target: AccountAddress,
    store: Store,
    journal: Path,
    audit: Path,
    keymap: KeyMap = KEYMAP,
    *,
    reconciliation: Reconciliation = USUAL_CHECKS,
    session: DeskSession | None = None,
) -> AsyncIterator[Connection]:
    """Open the account; leaving the block closes all connections."""
    from keydesk.feeds.account_feed import CHECK_EVERY_S, AccountFeed  # noqa: PLC0415
    from keydesk.feeds.reconciliation import Reconciler  # noqa: PLC0415
    from keydesk.trading.audit import AuditLog  # noqa: PLC0415
    from keydesk.trading.commands import Commands  # noqa: PLC0415
    from keydesk.trading.dispatcher import (  # noqa: PLC0415
        Dispatcher,
        instrument_of_target,
    )
    from keydesk.trading.executions import ExecutionLog  # noqa: PLC0415
    from keydesk.trading.exit_plan_keeper import ExitPlanKeeper  # noqa: PLC0415
    from keydesk.trading.exit_plans import ExitPlans  # noqa: PLC0415
    from keydesk.trading.journal import (  # noqa: PLC0415
        UnavailableJournal,
        open_journal,
    )
    from keydesk.trading.notifications import Notifier  # noqa: PLC0415 - see the head of the module
    from keydesk.words.outages import Broker  # noqa: PLC0415
    from keydesk_client.client import Client  # noqa: PLC0415
    from keydesk_client.http.retry import Retries  # noqa: PLC0415
    from keydesk_client.orders.sender import Sender  # noqa: PLC0415

    async with Client(
        token=target.token,
        rest_url=target.rest_url,
        stream_url=target.stream_url,
        account_id=target.account_id,
        proxy=target.proxy,
        retries=Retries(max_retries=3),  # a person waits, and the feeds have their own pauses
    ) as client:
        feed = AccountFeed(
            client=client,
            store=store,
            check_every_s=PRACTICE_POLL if target.own_broker else CHECK_EVERY_S,
            broker=Broker() if target.own_broker else Broker(target.rest_url, target.login),
        )
        executions = ExecutionLog(audit.with_suffix(".executions"))
        dispatcher = Dispatcher(
            store,
            feed.follower.gate,
            audit=AuditLog(audit, redact=target.token.redact, market_ns=store.own_time_ns),
            keymap=keymap,
            session=session,
            executions=executions,
        )
        journal_file = open_journal(journal)
        store.sent.no_orders = (
            journal_file.why if isinstance(journal_file, UnavailableJournal) else ""
        )
        sender = Sender(
            client,
            journal_file,
            lambda: feed.follower.gate.applied or 0,
            dispatcher.on_progress,
            dispatcher.on_late_outcome,
            client_ids=target.linked is False,
            instrument_of=lambda action, about: instrument_of_target(action, about, store),
        )
        feed.reconcile = Reconciler(sender, reconciliation).check
        feed.follower.gate.listen(sender.watch)
        notifier = Notifier(store, executions=executions)
        feed.follower.gate.listen(notifier.on_transaction)
        keeper = ExitPlanKeeper(dispatcher)
        feed.follower.gate.listen(keeper.on_transaction)
        commands = Commands(client, sender, dispatcher, exit_plans=keeper)
        commands.show_left_open(journal_file.open_intents())  # also while the broker is away
        exit_plans = ExitPlans(commands, keeper, dispatcher.now)
        try:
            yield Connection(feed, sender, commands, target.linked, exit_plans, notifier)
        finally:
            exit_plans.close()
