"""The order protocol: a request that changes the account is sent once, and its outcome is known or said to be unknown.

1. An intent is written to the journal and synced. Where that fails (a full disk) only exits leave, and say so.
2. The request leaves once, with the intent's id as client id (new orders) and as ClientRequestID.
3. A good answer is Done, an explained refusal Rejected; 429 and a failed connection are NotSent. All else is Unknown.
4. Unknown is looked up in the transactions since the id that was noted before.
5. Not found is Unconfirmed. It is never sent again: its transactions are watched for, and raise the alarm.
6. `recover` looks up what an earlier process left open, before anything new is sent; `resolve` any one of them again.

A blind repeat would double a third of such orders: a client id is only checked against orders that are still pending.
"""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Literal, TypeAlias, TypeVar

from keydesk_client.areas.positions import SideUnits
from keydesk_client.became import WriteResponse
from keydesk_client.client import Client
from keydesk_client.errors import UnsafeFile
from keydesk_client.intent import Action, Intent, new_intent_id
from keydesk_client.journal import Journal
from keydesk_client.look_up import PAUSES_S, LookUps
from keydesk_client.matching import concerns, verdict
from keydesk_client.models.details import (
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.names import wire_name
from keydesk_client.models.record import Record
from keydesk_client.models.requested import RequestedOrder
from keydesk_client.models.requests import OrderRequest
from keydesk_client.models.scalars import Number
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.outcome import (
    Done,
    NotSent,
    Outcome,
    Progress,
    Rejected,
    Sending,
    Unconfirmed,
    Unknown,
)
from keydesk_client.sent_once import sent_once
from keydesk_client.unset import UNSET, Unset

LATE_NS = 120 * 1_000_000_000
"""A request that a process left behind this long ago has arrived by now, or never will."""

Alarm = Callable[[Done | Rejected], object]
Order = TypeVar("Order", bound=RequestedOrder)
Units: TypeAlias = Literal["ALL"] | Number
EXITS = frozenset(
    {
        Action.CANCEL,
        Action.CLOSE_TRADE,
        Action.CLOSE_POSITION,
        Action.SET_DEPENDENT_ORDERS,
    }
)
"""What takes risk away or protects: never held back by trouble of our own."""
SEEN_AT_MOST = 200
"""Transactions held for a request that shows up after it was given up: more than any batch."""


class Sender:
    """Sends what changes the account, each request once, and says what became of it.

    `last_transaction_id` tells the newest transaction that the caller has applied; `on_progress` hears of every step
    and of the outcome; `alarm` hears of a request that shows up after it was given up as Unconfirmed: hand every
    transaction to `watch` for that. Accounts that are linked to a third-party platform take no `client_ids`.
    """

    def __init__(
        self,
        client: Client,
        journal: Journal,
        last_transaction_id: Callable[[], int],
        on_progress: Callable[[Progress], object] | None = None,
        alarm: Alarm | None = None,
        *,
        client_ids: bool = True,
        new_id: Callable[[], str] = new_intent_id,
        wall_ns: Callable[[], int] = time.time_ns,
        pauses: tuple[float, ...] = PAUSES_S,
    ) -> None:
        self._client, self._journal = client, journal
        self._last_transaction_id = last_transaction_id
        self._tell = on_progress or _tell_nobody
        self._alarm = alarm or _tell_nobody
        self._client_ids = client_ids
        self._new_id, self._wall_ns = new_id, wall_ns
        self._claimed = set(journal.claimed())
        self._look_ups = LookUps(client, self._claimed, self._tell, pauses)
        self._given_up: dict[str, tuple[Intent, deque[Transaction]]] = {}

    async def create(
        self,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        account_id: str | None = None,
    ) -> Outcome:
        """Send an order. Without a client id of the caller's, it gets the intent's."""
        name = self._new_id()
        tagged = _tagged(order, name) if self._client_ids else order
        intent = self._intent(Action.CREATE, "", tagged.to_wire(), account_id, name)
        return await self._carried_out(
            intent,
            lambda: self._client.orders.create(
                tagged, instrument=instrument, client_request_id=name, account_id=account_id
            ),
        )

    async def replace(
        self,
        specifier: str,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        account_id: str | None = None,
    ) -> Outcome:
        """Put another order in the place of a pending one; its client extensions stay unless new ones are given."""
        intent = self._intent(Action.REPLACE, specifier, order.to_wire(), account_id)
        return await self._carried_out(
            intent,
            lambda: self._client.orders.replace(
                specifier,
                order,
                instrument=instrument,
                client_request_id=intent.id,
                account_id=account_id,
            ),
        )

    async def cancel(self, specifier: str, *, account_id: str | None = None) -> Outcome:
        """Cancel a pending order."""
        intent = self._intent(Action.CANCEL, specifier, {}, account_id)
        return await self._carried_out(
            intent,
            lambda: self._client.orders.cancel(
                specifier, client_request_id=intent.id, account_id=account_id
            ),
        )

    async def close_trade(
        self, specifier: str, *, units: Units = "ALL", account_id: str | None = None
    ) -> Outcome:
        """Close a trade, or `units` of it."""
        body = {"units": str(units)}
        intent = self._intent(Action.CLOSE_TRADE, specifier, body, account_id)
        return await self._carried_out(
            intent,
            lambda: self._client.trades.close(
                specifier, units=units, client_request_id=intent.id, account_id=account_id
            ),
        )

    async def close_position(
        self,
        instrument: str,
        *,
        long_units: SideUnits | None = None,
        short_units: SideUnits | None = None,
        account_id: str | None = None,
    ) -> Outcome:
        """Close one side of a position or both; name only sides that are open."""
        sides = {"longUnits": long_units, "shortUnits": short_units}
        body = {side: str(units) for side, units in sides.items() if units is not None}
        intent = self._intent(Action.CLOSE_POSITION, instrument, body, account_id)
        return await self._carried_out(
            intent,
            lambda: self._client.positions.close(
                instrument, long_units=long_units, short_units=short_units, account_id=account_id
            ),
        )

    async def set_dependent_orders(
        self,
        specifier: str,
        *,
        take_profit: TakeProfitDetails | Unset | None = UNSET,
        stop_loss: StopLossDetails | Unset | None = UNSET,
        trailing_stop_loss: TrailingStopLossDetails | Unset | None = UNSET,
        guaranteed_stop_loss: GuaranteedStopLossDetails | Unset | None = UNSET,
        instrument: Instrument | None = None,
        account_id: str | None = None,
    ) -> Outcome:
        """Create, change (details) or cancel (None) what protects a trade; UNSET leaves it as it is."""
        body = _edits(
            take_profit=take_profit,
            stop_loss=stop_loss,
            trailing_stop_loss=trailing_stop_loss,
            guaranteed_stop_loss=guaranteed_stop_loss,
        )
        intent = self._intent(Action.SET_DEPENDENT_ORDERS, specifier, body, account_id)
        return await self._carried_out(
            intent,
            lambda: self._client.trades.set_dependent_orders(
                specifier,
                take_profit=take_profit,
                stop_loss=stop_loss,
                trailing_stop_loss=trailing_stop_loss,
                guaranteed_stop_loss=guaranteed_stop_loss,
                instrument=instrument,
                account_id=account_id,
            ),
        )

    async def recover(self) -> tuple[Outcome, ...]:
        """Look up every intent that an earlier process left open. Enable trading when this returns."""
        found = self._journal.open_intents()
        return tuple(await asyncio.gather(*(self._recovered(intent) for intent in found)))

    async def _recovered(self, intent: Intent) -> Outcome:
        unknown = Unknown(intent, "an earlier session ended before the answer came")
        is_old = self._wall_ns() - intent.at_ns > LATE_NS
        outcome = await self._look_ups.settle(unknown, at_once=True, only_once=is_old)
        self._settled(outcome)
        if is_old and isinstance(outcome, Unconfirmed):
            with suppress(OSError):
                self._journal.settle(intent, "unconfirmed")
        return outcome

    async def resolve(self, intent: Intent) -> Outcome:
        """Look up once more, now, what became of an intent: of one that ended as Unconfirmed above all."""
        unknown = Unknown(intent, "looked up again, and not found")
        outcome = await self._look_ups.settle(unknown, only_once=True)
        if not isinstance(outcome, Unconfirmed):
            self._given_up.pop(intent.id, None)
        return self._settled(outcome)

    def watch(self, transaction: Transaction) -> None:
        """Hand every transaction of the account here: it may be the one that is being waited for."""
        self._look_ups.watch(transaction)
        for intent, seen in tuple(self._given_up.values()):
            if not seen and not concerns(intent, transaction):
                continue
            seen.append(transaction)
            found = verdict(intent, seen, self._claimed)
            if found is not None:
                del self._given_up[intent.id]
                self._settled(found)
                self._alarm(found)

    def _intent(
        self,
        action: Action,
        target: str,
        body: dict[str, Any],
        account_id: str | None,
        name: str = "",
    ) -> Intent:
        since = self._last_transaction_id()
        return Intent(
            name or self._new_id(), action, since, self._wall_ns(), account_id, target, body
        )

    async def _carried_out(
        self, intent: Intent, send: Callable[[], Awaitable[WriteResponse]]
    ) -> Outcome:
        trouble = self._journalled(intent)
        if trouble and intent.action not in EXITS:
            return self._told(NotSent(intent, f"the order journal can not be written: {trouble}"))
        self._tell(Sending(intent, trouble))
        answered = await sent_once(intent, send)
        if isinstance(answered, Unknown):
            return self._settled(await self._look_ups.settle(answered))
        return self._settled(answered)

    def _journalled(self, intent: Intent) -> str:
        """Write the intent down; returns why that failed, empty when it is on disk."""
        try:
            self._journal.write(intent)
        except (OSError, UnsafeFile) as error:
            return str(error)
        return ""

    def _settled(self, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Unconfirmed):
            self._given_up[outcome.intent.id] = (outcome.intent, deque(maxlen=SEEN_AT_MOST))
        else:
            claims = _claims(outcome)
            self._claimed.update(claims)
            with suppress(
                OSError, UnsafeFile
            ):  # a full disk: it is looked up once more at the next start
                self._journal.settle(outcome.intent, type(outcome).__name__.lower(), claims)
        return self._told(outcome)

    def _told(self, outcome: Outcome) -> Outcome:
        self._tell(outcome)
        return outcome


def _claims(outcome: Done | Rejected | NotSent) -> tuple[str, ...]:
    return () if isinstance(outcome, NotSent) else outcome.related_transaction_ids


def _tagged(order: Order, name: str) -> Order:
    """The order with the intent's id, when the caller gave it none."""
    extensions = order.client_extensions or ClientExtensions()
    if extensions.id is not None:
        return order
    named = extensions.model_copy(update={"id": name})
    return order.model_copy(update={"client_extensions": named})


def _edits(**details: Record | Unset | None) -> dict[str, Any]:
    """The edit as it is sent, for the journal."""
    return {
        wire_name(name): None if value is None else value.to_wire()
        for name, value in details.items()
        if not isinstance(value, Unset)
    }


def _tell_nobody(_: object) -> None:
    """Nobody wants to know."""
