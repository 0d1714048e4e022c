"""One opened account: the client, its feeds and commands, from the moment it is asked for until it is left.

Everything heavy (the models, HTTP, the keyring) is imported here, when the first picture is already on the screen.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from keydesk.app.account_sources import Target
from keydesk.config.config import Reconciliation
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk_client.errors import KeydeskClientError

if TYPE_CHECKING:
    from keydesk.calc.instructions import Instruction
    from keydesk.feeds.link import Link
    from keydesk.store.store import Store
    from keydesk.trading.commands import Commands
    from keydesk.trading.delivery import Unread
    from keydesk_client.orders.sender import Sender

USUAL_CHECKS = Reconciliation()
PRACTICE_POLL = 1.0  # seconds
POLL = 5.0


@dataclass(slots=True)
class Connection:
    """An opened account; `run` feeds the store until it is cancelled."""

    link: Link
    sender: Sender
    commands: Commands
    revalue: Callable[
        [Store, float], None
    ]  # profit, margin and totals after the prices that changed
    linked: bool | None  # to a third-party platform; None: not known yet
    recovered: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Feed the store, and settle what the last session left open before new risk may be opened."""
        from keydesk.feeds import session  # noqa: PLC0415 - see the module's head

        async with asyncio.TaskGroup() as group:
            group.create_task(session.run(self.link), name="feeds")
            recovery = session.supervise(self.link, "orders left open", lambda _: self._recover())
            group.create_task(recovery, name="recovery")

    async def _recover(self) -> None:
        self.commands.hold_openings()
        await self.link.ready.wait()
        await self._learn_whether_linked()
        await self.commands.recover()
        self.recovered.set()

    async def _learn_whether_linked(self) -> None:
        """Ask what was not known when the account was opened; orders of a linked one carry no id of ours.

        Without an answer they carry none either: they are found by their terms then, and refused nowhere.
        """
        if self.linked is None:
            with suppress(KeydeskClientError):
                client = self.link.client
                accounts = (await client.accounts.list()).accounts
                ours = (each for each in accounts if each.id == client.account_id)
                self.linked = any(each.mt4_account_id is not None for each in ours)
        self.sender.client_ids = self.linked is False

    async def carry_out(self, instruction: Instruction) -> None:
        """Do what a form decided."""
        await self.commands.carry_out(instruction)


def load_all() -> None:
    """Import what an account needs, so that opening one waits for the broker only."""
    import_module("keydesk_client.http.transport")
    for name in (
        "trading.commands",
        "trading.delivery",
        "feeds.session",
        "feeds.wire_streams",
        "store.valuation",
    ):
        import_module(f"keydesk.{name}")
    import_module("keydesk_client.orders.sender")
    import_module("httpcore")  # else the first connection would


@asynccontextmanager
async def opened(
    target: Target,
    store: Store,
    journal: Path,
    audit: Path,
    keymap: KeyMap = KEYMAP,
    *,
    reconciliation: Reconciliation = USUAL_CHECKS,
    unread: Unread | None = None,
) -> AsyncIterator[Connection]:
    """Open the account; leaving the block closes every connection."""
    from keydesk.feeds.link import Link  # noqa: PLC0415
    from keydesk.feeds.reconciliation import Reconciler  # noqa: PLC0415
    from keydesk.feeds.wire_streams import WireStreams  # noqa: PLC0415
    from keydesk.store.valuation import revalue  # noqa: PLC0415
    from keydesk.trading.announcing import Announcer  # noqa: PLC0415 - see the module's head
    from keydesk.trading.audit import AuditLog  # noqa: PLC0415
    from keydesk.trading.commands import Commands  # noqa: PLC0415
    from keydesk.trading.delivery import Delivery  # noqa: PLC0415
    from keydesk.trading.in_flight import instrument_of_target  # noqa: PLC0415
    from keydesk.trading.order_journal import NoJournal, open_journal  # noqa: PLC0415
    from keydesk_client.client import Client  # noqa: PLC0415
    from keydesk_client.orders.sender import Sender  # noqa: PLC0415

    async with Client(
        token=target.token,
        rest_url=target.rest_url,
        stream_url=target.stream_url,
        account_id=target.account_id,
    ) as client:
        link = Link(
            client=client,
            store=store,
            streams=WireStreams(client),
            poll_every=PRACTICE_POLL if target.own_broker else POLL,
        )
        delivery = Delivery(
            store,
            link.door.offer_all,
            link.door.saw_last,
            audit=AuditLog(audit),
            keymap=keymap,
            unread=unread,
        )
        kept = open_journal(journal)
        no_orders = kept.why if isinstance(kept, NoJournal) else ""
        sender = Sender(
            client,
            kept,
            lambda: link.door.applied or 0,
            delivery.progress,
            delivery.alarm,
            client_ids=target.linked is False,
            instrument_of=lambda action, about: instrument_of_target(action, about, store),
        )
        link.reconciler = Reconciler(sender, reconciliation)
        link.door.listen(sender.watch)
        link.door.listen(Announcer(store).heard)
        yield Connection(
            link, sender, Commands(client, sender, delivery, no_orders), revalue, target.linked
        )
