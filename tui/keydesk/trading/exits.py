"""Send what closes, cancels and protects.

Nothing is refused here: no lock, limit, duplicate rule or stale price precedes a close, a cancel or a tighter stop.
"""

import asyncio
from collections.abc import Mapping
from decimal import Decimal
from functools import partial
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.instructions import (
    Change,
    CloseParts,
    ClosePosition,
    CloseSide,
    CloseTrades,
    SetProtection,
)
from keydesk.calc.orders.order_options import TRIGGERS, Trigger
from keydesk.store.store import Store
from keydesk.text.format import pair, units
from keydesk.trading.dispatcher import Dispatcher
from keydesk.trading.open_items import OpenItems
from keydesk.trading.order_requests import (
    LifetimeMembers,
    dependent_request,
    lifetime_of,
    price_edit,
    trail_edit,
)
from keydesk.values import Command, CommandKind, DependentOrder, OrderRow
from keydesk.words.order_text import change_text, order_name
from keydesk_client.account.records import DependentType
from keydesk_client.arithmetic.profit import closing_price, pip
from keydesk_client.client import Client
from keydesk_client.errors import KeydeskClientError
from keydesk_client.models import GuaranteedStopLossDetails, StopLossDetails, TakeProfitDetails
from keydesk_client.orders.outcome import Done, Outcome, new_intent_id
from keydesk_client.orders.sender import Sender
from keydesk_client.unset import UNSET

ALL: Literal["ALL"] = "ALL"
READ_AGAIN_WITHIN = 1.0  # seconds that an exit waits for the size to be read again


class Exits(Struct, frozen=True):
    """Carries out closes, cancels and edits of protection; one per account."""

    client: Client
    sender: Sender
    dispatcher: Dispatcher

    @property
    def store(self) -> Store:
        """The state of account and market."""
        return self.dispatcher.store

    async def close_parts(self, close: CloseParts) -> None:
        """Close these units of each trade."""
        await asyncio.gather(
            *(self.close_trade(id_, close.instrument, part) for id_, part in close.parts)
        )

    async def close_trades(self, close: CloseTrades) -> None:
        """Close trades, or a part of each."""
        await asyncio.gather(
            *(
                self.close_trade(trade_id, close.instrument, close.units)
                for trade_id in close.trade_ids
            )
        )

    async def close_trade(
        self, trade_id: str, instrument: str, part: Decimal | None, prefix: str = ""
    ) -> Outcome:
        """Close a trade, or a part of it; `prefix` comes before the words of the command."""
        amount = ALL if part is None else await self._no_more_than_open(trade_id, part)
        size = "all" if isinstance(amount, str) else units(amount)
        text = f"{prefix}CLOSE {size} of #{trade_id} {pair(instrument)}"
        command = self.command(text, "close", instrument, "close trade")
        command = replace(command, expected=self._price_seen(trade_id))
        return await self.dispatcher.send(
            command, self.sender.close_trade(trade_id, units=amount, intent_id=command.id)
        )

    async def _no_more_than_open(self, trade_id: str, part: Decimal) -> Literal["ALL"] | Decimal:
        """Return the units to close, after reading the trade's size again; use the store's if that fails."""
        try:
            async with asyncio.timeout(READ_AGAIN_WITHIN):
                still_open = abs((await self.client.trades.get(trade_id)).trade.current_units)
        except (KeydeskClientError, TimeoutError):
            trade = self.store.trades.get(trade_id)
            still_open = abs(trade.units) if trade is not None else part
        return part if part < still_open else ALL

    async def close_position(self, close: ClosePosition) -> None:
        """Close one side of a position, or both."""
        long_held, short_held = await self._sides_held(close)
        long_units = _of_side(close.long_units, long_held)
        short_units = _of_side(close.short_units, short_held)
        name = f"CLOSE position {pair(close.instrument)}"
        if long_units is None and short_units is None:
            self.dispatcher.notify("warn", f"NOT SENT {name}: it is closed already")
            return
        sides: tuple[tuple[str, CloseSide | None], ...] = (
            ("LONG", long_units),
            ("SHORT", short_units),
        )
        phrases = [f"{side} {_amount(size)}" for side, size in sides if size is not None]
        command = self.command(
            f"{name} {' '.join(phrases)}", "close", close.instrument, "close position"
        )
        quote = self.store.quotes.get(close.instrument)
        if quote is not None and (long_units is None or short_units is None):
            command = replace(command, expected=quote.ask if long_units is None else quote.bid)
        sending = self.sender.close_position(
            close.instrument, long_units=long_units, short_units=short_units, intent_id=command.id
        )
        await self.dispatcher.send(command, sending)

    async def _sides_held(self, close: ClosePosition) -> tuple[CloseSide, CloseSide]:
        """Return the units of both sides, read again just before the close; use the store's if that fails.

        The broker refuses the whole request when it names a side that is flat or more than a side has.
        """
        try:
            async with asyncio.timeout(READ_AGAIN_WITHIN):
                position = (await self.client.positions.get(close.instrument)).position
            return abs(position.long.units), abs(position.short.units)
        except (KeydeskClientError, TimeoutError):
            known = self.store.positions.get(close.instrument)
        if known is None:
            return close.long_units, close.short_units
        return abs(known.long_units), abs(known.short_units)

    async def protect(self, change: SetProtection, prefix: str = "") -> Outcome:
        """Set, move or cancel what protects a trade; `prefix` comes before the words of the command."""
        together, alone = self._by_request(change)
        outcomes = [await self._protect_together(together, prefix)] if together else []
        for dependent_type, one in alone.items():
            outcomes.append(await self._protect_alone(one, dependent_type, prefix))
        return next((each for each in outcomes if not isinstance(each, Done)), outcomes[-1])

    def _by_request(
        self, change: SetProtection
    ) -> tuple[SetProtection | None, Mapping[DependentType, SetProtection]]:
        """Divide a change: the edit of a trade has no trigger condition, so a level with one is an order request of its own."""
        together, alone = dict[DependentType, Change](), dict[DependentType, SetProtection]()
        for dependent_type, level in change.levels.items():
            before = self._dependent(change, dependent_type)
            now = "DEFAULT" if before is None else before.trigger
            known: Trigger = TRIGGERS[TRIGGERS.index(now)] if now in TRIGGERS else "DEFAULT"
            trigger = change.trigger or known
            if isinstance(level, Decimal) and {now, trigger} != {"DEFAULT"}:
                alone[dependent_type] = change.with_levels({dependent_type: level}, trigger)
            elif level is not UNSET:
                together[dependent_type] = level
        return change.with_levels(together, "") if together or not alone else None, alone

    async def _protect_alone(
        self, change: SetProtection, dependent_type: DependentType, prefix: str
    ) -> Outcome:
        """Replace, or create, one dependent order with its trigger condition."""
        before = self._dependent(change, dependent_type)
        request = dependent_request(dependent_type, change, self._lifetime(change, dependent_type))
        command = self._protection_command(change, prefix)
        sending = (
            self.sender.create(request, intent_id=command.id)
            if before is None
            else self.sender.replace(before.id, request, intent_id=command.id)
        )
        return await self.dispatcher.send(command, sending)

    def _protection_command(self, change: SetProtection, prefix: str) -> Command:
        command = self.command("", "modify", change.instrument, "protection")
        return replace(
            command, text=f"{prefix}{change_text(change, command.pip)} on #{change.trade_id}"
        )

    async def _protect_together(self, change: SetProtection, prefix: str) -> Outcome:
        lives = partial(self._lifetime, change)
        command = self._protection_command(change, prefix)
        sending = self.sender.set_dependent_orders(
            change.trade_id,
            stop_loss=price_edit(StopLossDetails, change.stop, lives("stop_loss")),
            take_profit=price_edit(TakeProfitDetails, change.target, lives("take_profit")),
            trailing_stop_loss=trail_edit(change.trail, lives("trailing_stop")),
            guaranteed_stop_loss=price_edit(
                GuaranteedStopLossDetails, change.guaranteed, lives("guaranteed_stop")
            ),
            intent_id=command.id,
        )
        return await self.dispatcher.send(command, sending)

    def _lifetime(self, change: SetProtection, dependent_type: DependentType) -> LifetimeMembers:
        """Return how long a level lives: as chosen, else as the one in whose place it comes."""
        now_ns = self.store.clock_ns or self.dispatcher.wall_ns()
        return lifetime_of(change.lifetime, now_ns, self._dependent(change, dependent_type))

    def _dependent(self, change: SetProtection, dependent_type: DependentType) -> OrderRow | None:
        """Return the dependent order that the trade has there."""
        trade = self.store.trades.get(change.trade_id)
        before: DependentOrder | None = None if trade is None else getattr(trade, dependent_type)
        return None if before is None else self.store.orders.get(before.order_id)

    async def cancel(self, order_id: str) -> None:
        """Cancel an order."""
        order = self.store.orders.get(order_id)
        name = order_name(order) if order else f"order #{order_id}"
        instrument = order.instrument if order else ""
        command = self.command(f"CANCEL {name}", "cancel", instrument, "cancel")
        command = replace(command, done=f"CANCELLED {name}")
        await self.dispatcher.send(command, self.sender.cancel(order_id, intent_id=command.id))

    async def close_and_cancel_all(self, open_items: OpenItems) -> None:
        """Close these trades and cancel these orders concurrently."""
        await asyncio.gather(
            *(self.close_trade(id_, instrument, None) for id_, instrument in open_items.trades),
            *(self.cancel(id_) for id_ in open_items.orders),
        )

    def command(self, text: str, again: str, instrument: str, kind: CommandKind) -> Command:
        """Return a command in words, with the id of its intent and what its outcome is measured by."""
        known = self.store.instruments.get(instrument)
        return Command(
            text,
            again,
            new_intent_id(),
            pip=pip(known.pip_location) if known else None,
            instrument=instrument or None,
            kind=kind,
        )

    def _price_seen(self, trade_id: str) -> Decimal | None:
        trade = self.store.trades.get(trade_id)
        quote = self.store.quotes.get(trade.instrument) if trade else None
        if trade is None or quote is None:
            return None
        return closing_price(trade.units, quote.bid, quote.ask)


def _of_side(wanted: CloseSide, held: CloseSide) -> CloseSide:
    """Return what to close of a side: at most what it holds, None if it is flat."""
    if wanted is None or not held:
        return None
    if isinstance(wanted, Decimal) and (not isinstance(held, Decimal) or wanted < held):
        return wanted
    return ALL


def _amount(size: Literal["ALL"] | Decimal) -> str:
    return units(size) if isinstance(size, Decimal) else "all"
