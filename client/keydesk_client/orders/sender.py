"""What changes an account, never doubled: every verb of a `Sender` follows the order protocol of `order_protocol`.

Not among the verbs, because none of them moves money or can be doubled: changing the client extensions of an order or
a trade, and the alias or margin rate of an account. Sent twice they leave what sent once leaves, so that after a lost
answer they may simply be asked for again: `orders.set_client_extensions`, `trades.set_client_extensions`,
`accounts.configure`.
"""

import time
from collections.abc import Callable, Mapping
from copy import copy
from typing import TypeVar

from keydesk_client.client import Client
from keydesk_client.errors import InvalidRequest, InvalidSettings
from keydesk_client.http.pacing import SteadyTime, steady_time
from keydesk_client.models._core.json import JsonObject, JsonValue
from keydesk_client.models._core.record import Wire
from keydesk_client.models._core.wire_names import UNSET, Unset, wire_name
from keydesk_client.models.accounts import AccountChanges
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.requests import Details, OrderRequest, RequestedOrder
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.journal import Journal
from keydesk_client.orders.outcome import Action, Intent, Outcome, Progress, new_intent_id
from keydesk_client.orders.protocol import Alarm, OrderProtocol
from keydesk_client.orders.reconciler import PAUSES_S
from keydesk_client.resources._base import (
    CloseUnits,
    SideUnits,
    edited,
    name_of,
    position_close,
    trade_close,
)

Order = TypeVar("Order", bound=RequestedOrder)


class Sender:
    """Sends what changes the account, each request once, and says what became of it.

    `last_transaction_id` tells the newest transaction that the caller has applied; `on_progress` hears of every step
    and of the outcome; `alarm` hears of a request that shows up after it was given up as Unconfirmed: hand every
    transaction to `watch` for that. Accounts that are linked to a third-party platform (`mt4_account_id`) take no
    `client_ids`: their new orders and closed positions are found by their terms. `instrument_of` tells the instrument of an order or trade by the action and
    its target, for the journal. Several senders, also of several processes, may share a journal. InvalidSettings when the
    first three are something else.
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
        steady: Callable[[], SteadyTime] = steady_time,
        pauses: tuple[float, ...] = PAUSES_S,
        instrument_of: Callable[[Action, str], str] | None = None,
    ) -> None:
        _refuse_other(client, journal, last_transaction_id)
        self._client = client
        self._last_transaction_id = last_transaction_id
        self.client_ids: bool = client_ids
        """Whether new orders and closes of positions carry an id of their own; may change when the account turns out to take none."""
        self._new_id, self._wall_ns, self._steady = new_id, wall_ns, steady
        self._instrument_of = instrument_of or _unknown_instrument
        self._protocol = OrderProtocol(
            client,
            journal,
            on_progress or _tell_nobody,
            alarm or _tell_nobody,
            wall_ns=wall_ns,
            steady=steady,
            pauses=pauses,
        )

    async def create(
        self,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        account_id: str | None = None,
    ) -> Outcome:
        """Send an order. Without a client id of the caller's, it gets the intent's."""
        name = self._new_id()
        tagged = _tagged(order, name) if self.client_ids else order
        intent = self._intent(Action.CREATE, "", tagged.to_wire(), account_id, name)
        return await self._protocol.carried_out(
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
        return await self._protocol.carried_out(
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
        return await self._protocol.carried_out(
            intent,
            lambda: self._client.orders.cancel(
                specifier, client_request_id=intent.id, account_id=account_id
            ),
        )

    async def close_trade(
        self,
        specifier: str,
        *,
        units: CloseUnits = "ALL",
        instrument: Instrument | None = None,
        account_id: str | None = None,
    ) -> Outcome:
        """Close a trade, or `units` of it; with `instrument`, units with too many decimals are NotSent."""
        body = _body(lambda: trade_close(units, instrument))
        intent = self._intent(Action.CLOSE_TRADE, specifier, body, account_id)
        return await self._protocol.carried_out(
            intent,
            lambda: self._client.trades.close(
                specifier,
                units=units,
                instrument=instrument,
                client_request_id=intent.id,
                account_id=account_id,
            ),
        )

    async def close_position(
        self,
        instrument: str | Instrument,
        *,
        long_units: SideUnits | None = None,
        short_units: SideUnits | None = None,
        account_id: str | None = None,
    ) -> Outcome:
        """Close one side of a position or both; name only sides that are open.

        Hand over the Instrument itself, and units with too many decimals are NotSent.
        """
        name = self._new_id()
        long_tag = self._side_tag(f"{name}-long", long_units)
        short_tag = self._side_tag(f"{name}-short", short_units)
        body = _body(
            lambda: position_close(long_units, short_units, long_tag, short_tag, instrument)
        )
        intent = self._intent(Action.CLOSE_POSITION, name_of(instrument), body, account_id, name)
        return await self._protocol.carried_out(
            intent,
            lambda: self._client.positions.close(
                instrument,
                long_units=long_units,
                short_units=short_units,
                long_client_extensions=long_tag,
                short_client_extensions=short_tag,
                account_id=account_id,
            ),
        )

    def _side_tag(self, name: str, units: SideUnits | None) -> ClientExtensions | None:
        """The id of the order that closes a side."""
        closes = units is not None and units != "NONE"
        return ClientExtensions(id=name) if closes and self.client_ids else None

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
        return await self._protocol.carried_out(
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
        return await self._protocol.recover()

    async def resolve(self, intent: Intent) -> Outcome:
        """Look up once more, now, what became of an intent: of one that ended as Unconfirmed above all."""
        return await self._protocol.resolve(intent)

    def unconfirmed(self) -> tuple[Intent, ...]:
        """Return the intents that ended as Unconfirmed, and are watched for."""
        return self._protocol.unconfirmed()

    async def reconcile(self, changes: AccountChanges, since: int) -> None:
        """Compare what is Unconfirmed with the account's changes after `since`; what shows up raises the alarm.

        Hand over what `accounts.changes` says from time to time, asked with the lowest `since` of `unconfirmed`: what a
        stream lost, or a snapshot passed over, is found by it.
        """
        await self._protocol.reconcile(changes, since)

    def watch(self, transaction: Transaction) -> None:
        """Hand every transaction of the account here, in the client's loop: one may be what is waited for."""
        self._protocol.watch(transaction)

    def _intent(
        self,
        action: Action,
        target: str,
        body: Mapping[str, JsonValue],
        account_id: str | None,
        name: str = "",
    ) -> Intent:
        return Intent(
            id=name or self._new_id(),
            action=action,
            since=self._last_transaction_id(),
            at_ns=self._wall_ns(),
            account_id=account_id,
            target=target,
            body=body,
            instrument=_named_instrument(action, target, body)
            or self._instrument_of(action, target),
            steady=self._steady(),
        )


def with_intent_id(sender: Sender, intent_id: str) -> Sender:
    """Return a sender over the same journal whose next request has this intent id.

    The id joins the progress of the request to the caller's command. Use the returned sender for one request.
    """
    named = copy(sender)
    named._new_id = lambda: intent_id  # noqa: SLF001 - of its own class
    return named


def _named_instrument(action: Action, target: str, body: Mapping[str, JsonValue]) -> str:
    """The instrument that a request names itself; empty when it names a trade or an order only."""
    if action is Action.CLOSE_POSITION:
        return target
    named = body.get("instrument")
    return named if isinstance(named, str) else ""


def _unknown_instrument(_action: Action, _target: str) -> str:
    return ""


def _tagged(order: Order, name: str) -> Order:
    """The order with the intent's id, when the caller gave it none."""
    extensions = order.client_extensions or ClientExtensions()
    if extensions.id is not None:
        return order
    named = extensions.model_copy(update={"id": name})
    return order.model_copy(update={"client_extensions": named})


def _body(made: Callable[[], Wire]) -> JsonObject:
    """What will be sent, for the journal; nothing when the call is about to refuse it."""
    try:
        return made()
    except InvalidRequest:
        return {}


def _edits(**details: Details | Unset | None) -> JsonObject:
    """The edit as it is sent, for the journal."""
    return {
        wire_name(name): edited(value)
        for name, value in details.items()
        if not isinstance(value, Unset)
    }


def _refuse_other(client: object, journal: object, last_transaction_id: object) -> None:
    """InvalidSettings for what the first order would stumble over, where no type checker says so."""
    if not isinstance(client, Client):
        remedy = "a Client, or both from sync" if hasattr(client, "asynchronous") else "a Client"
        raise InvalidSettings(f"client: give {remedy}; this is of type {type(client).__name__}")
    if not hasattr(journal, "open_intents"):
        raise InvalidSettings(
            "journal: give a journal, as in FileJournal('private/orders.jsonl');"
            f" this is of type {type(journal).__name__}"
        )
    if not callable(last_transaction_id):
        raise InvalidSettings(
            "last_transaction_id: give a function that tells the newest one, as in `lambda: newest`;"
            f" this is of type {type(last_transaction_id).__name__}"
        )


def _tell_nobody(_: object) -> None:
    """Nobody wants to know."""
