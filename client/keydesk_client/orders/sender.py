"""`Sender`: the requests that change an account, each sent once, by the order protocol of `orders.protocol`.

A Sender does not change client extensions of orders and trades, nor the alias and margin rate of an account: these
requests move no money and are idempotent. After a lost answer repeat the call itself (`orders.set_client_extensions`,
`trades.set_client_extensions`, `accounts.configure`).
"""

import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Unpack

from keydesk_client.errors import InvalidRequest, InvalidSettings, KeydeskClientError
from keydesk_client.models._core.json import JsonValue
from keydesk_client.models._core.scalars import AnyTransactionID, Number
from keydesk_client.models.accounts import AccountChanges
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    LimitOptions,
    MarketOptions,
    StopLossDetails,
    StopOptions,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.requests import OrderRequest
from keydesk_client.models.transactions.unions import Transaction
from keydesk_client.orders.classify import WriteResponse
from keydesk_client.orders.journal import Journal
from keydesk_client.orders.outcome import (
    Action,
    Intent,
    MonotonicTime,
    NotSent,
    Outcome,
    Progress,
    monotonic_time,
    new_intent_id,
)
from keydesk_client.orders.protocol import Alarm, OrderProtocol
from keydesk_client.orders.reconciler import PAUSES_S
from keydesk_client.resources._base import (
    CloseUnits,
    SideUnits,
    WriteRequest,
    name_of,
    numeric_id,
)
from keydesk_client.resources.brackets import (
    Bracket,
    StopLoss,
    TakeProfit,
    limit_order,
    market_order,
    stop_order,
)
from keydesk_client.resources.resource_client import ResourceClient
from keydesk_client.unset import UNSET, Unset


class Sender:
    """Send requests that change the account, each once, and return the outcome of each.

    Several senders, also of several processes, may share a journal.

    Args:
        client: Sends the requests and looks up lost answers.
        journal: Holds each request before it is sent.
        last_transaction_id: Returns the id of the newest transaction that the caller has applied.
        on_progress: Called with each step of a request, and with its outcome.
        alarm: Called when a request takes effect after it ended as Unconfirmed; this needs every transaction of the
            account to be passed to `watch`.
        client_ids: False for an account that is linked to a third-party platform (`mt4_account_id`), which accepts no
            client ids: its new orders and closed positions are found by their terms.
        new_id: Returns a unique intent id, which is also the client id of a new order.
        wall_ns: Returns nanoseconds since 1970.
        steady: Reads a monotonic clock.
        pauses: Seconds before each look-up of a lost answer.
        give_up_after: Seconds of failing look-ups after which a request whose answer was lost ends as Unconfirmed; it is
            still watched, and open in the journal. None: the look-ups go on until the service answers one.
        instrument_of: Returns the instrument of the order or trade that an action names, for the journal.
        before_return: Awaited with each outcome of a request before it is returned, and not after `recover`.

    Raises:
        InvalidSettings: one of the first three arguments is of another type.
    """

    def __init__(
        self,
        client: ResourceClient,
        journal: Journal,
        last_transaction_id: Callable[[], AnyTransactionID],
        on_progress: Callable[[Progress], object] | None = None,
        alarm: Alarm | None = None,
        *,
        client_ids: bool = True,
        new_id: Callable[[], str] = new_intent_id,
        wall_ns: Callable[[], int] = time.time_ns,
        monotonic: Callable[[], MonotonicTime] = monotonic_time,
        pauses: tuple[float, ...] = PAUSES_S,
        give_up_after: float | None = None,
        instrument_of: Callable[[Action, str], str] | None = None,
        before_return: Callable[[Outcome], Awaitable[object]] | None = None,
    ) -> None:
        _check_arguments(client, journal, last_transaction_id)
        self._client, self._account_id = client, client.account_id
        self._last_transaction_id = last_transaction_id
        self.client_ids: bool = client_ids
        """Whether new orders and closes of positions carry a client id; may be changed at any time."""
        self._new_id, self._wall_ns, self._steady = new_id, wall_ns, monotonic
        self._instrument_of = instrument_of or _unknown_instrument
        self._before_return = before_return
        self._protocol = OrderProtocol(
            client,
            journal,
            on_progress or _ignore,
            alarm or _ignore,
            wall_ns=wall_ns,
            monotonic=monotonic,
            pauses=pauses,
            give_up_after=give_up_after,
        )

    async def create(
        self,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        account_id: str | None = None,
        intent_id: str | None = None,
    ) -> Outcome:
        """Send an order. One without a client id gets the intent's id as its client id."""
        intent_id = intent_id or self._new_id()
        return await self._send(
            Action.CREATE,
            "",
            account_id,
            intent_id,
            lambda: self._client.orders.build_create(
                order,
                instrument=instrument,
                client_id=intent_id if self.client_ids else None,
                client_request_id=intent_id,
                account_id=account_id,
            ),
        )

    async def market(
        self,
        instrument: str | Instrument,
        units: Number,
        *,
        stop_loss: StopLoss = None,
        take_profit: TakeProfit = None,
        account_id: str | None = None,
        intent_id: str | None = None,
        **options: Unpack[MarketOptions],
    ) -> Outcome:
        """Send a market order with its bracket, described as for `orders.market`."""
        return await self._enter(
            instrument,
            lambda pair: market_order(pair, units, Bracket(stop_loss, take_profit), options),
            account_id,
            intent_id,
        )

    async def limit(
        self,
        instrument: str | Instrument,
        units: Number,
        price: Number,
        *,
        stop_loss: StopLoss = None,
        take_profit: TakeProfit = None,
        account_id: str | None = None,
        intent_id: str | None = None,
        **options: Unpack[LimitOptions],
    ) -> Outcome:
        """Send a limit order with its bracket, described as for `orders.limit`."""
        return await self._enter(
            instrument,
            lambda pair: limit_order(pair, units, price, Bracket(stop_loss, take_profit), options),
            account_id,
            intent_id,
        )

    async def stop(
        self,
        instrument: str | Instrument,
        units: Number,
        price: Number,
        *,
        stop_loss: StopLoss = None,
        take_profit: TakeProfit = None,
        account_id: str | None = None,
        intent_id: str | None = None,
        **options: Unpack[StopOptions],
    ) -> Outcome:
        """Send a stop order with its bracket, described as for `orders.stop`."""
        return await self._enter(
            instrument,
            lambda pair: stop_order(pair, units, price, Bracket(stop_loss, take_profit), options),
            account_id,
            intent_id,
        )

    async def _enter(
        self,
        instrument: str | Instrument,
        build: Callable[[Instrument], OrderRequest],
        account_id: str | None,
        intent_id: str | None,
    ) -> Outcome:
        """Send an order that is described in the terms of its instrument; without these it is NotSent."""
        client = self._client if account_id is None else self._client.for_account(account_id)
        try:
            pair = instrument
            if isinstance(pair, str):
                pair = await client.instrument(pair)
            order = build(pair)
        except KeydeskClientError as error:
            intent = self._intent(Action.CREATE, "", {}, account_id, intent_id or self._new_id())
            field = error.field if isinstance(error, InvalidRequest) else ""
            return self._protocol.report(NotSent(intent, str(error), field))
        return await self.create(order, instrument=pair, account_id=account_id, intent_id=intent_id)

    async def replace(
        self,
        specifier: str,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        account_id: str | None = None,
        intent_id: str | None = None,
    ) -> Outcome:
        """Replace a pending order; the new one keeps its client extensions unless others are given."""
        intent_id = intent_id or self._new_id()
        return await self._send(
            Action.REPLACE,
            specifier,
            account_id,
            intent_id,
            lambda: self._client.orders.build_replace(
                specifier,
                order,
                instrument=instrument,
                client_request_id=intent_id,
                account_id=account_id,
            ),
        )

    async def cancel(
        self,
        specifier: str,
        *,
        account_id: str | None = None,
        intent_id: str | None = None,
    ) -> Outcome:
        """Cancel a pending order."""
        intent_id = intent_id or self._new_id()
        return await self._send(
            Action.CANCEL,
            specifier,
            account_id,
            intent_id,
            lambda: self._client.orders.build_cancel(
                specifier, client_request_id=intent_id, account_id=account_id
            ),
        )

    async def close_trade(
        self,
        specifier: str,
        *,
        units: CloseUnits = "ALL",
        instrument: Instrument | None = None,
        account_id: str | None = None,
        intent_id: str | None = None,
    ) -> Outcome:
        """Close a trade, or `units` of it; with `instrument`, units with too many decimals are NotSent."""
        intent_id = intent_id or self._new_id()
        return await self._send(
            Action.CLOSE_TRADE,
            specifier,
            account_id,
            intent_id,
            lambda: self._client.trades.build_close(
                specifier,
                units=units,
                instrument=instrument,
                client_request_id=intent_id,
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
        intent_id: str | None = None,
    ) -> Outcome:
        """Close one side of a position or both; name only sides that are open.

        With an Instrument instead of a name, units with too many decimals are NotSent.
        """
        intent_id = intent_id or self._new_id()
        return await self._send(
            Action.CLOSE_POSITION,
            name_of(instrument),
            account_id,
            intent_id,
            lambda: self._client.positions.build_close(
                instrument,
                long_units=long_units,
                short_units=short_units,
                long_client_extensions=self._side_extensions(f"{intent_id}-long", long_units),
                short_client_extensions=self._side_extensions(f"{intent_id}-short", short_units),
                account_id=account_id,
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
        intent_id: str | None = None,
    ) -> Outcome:
        """Create or change (details) or cancel (None) the dependent orders of a trade; UNSET keeps an order."""
        return await self._send(
            Action.SET_DEPENDENT_ORDERS,
            specifier,
            account_id,
            intent_id or self._new_id(),
            lambda: self._client.trades.build_set_dependent_orders(
                specifier,
                take_profit=take_profit,
                stop_loss=stop_loss,
                trailing_stop_loss=trailing_stop_loss,
                guaranteed_stop_loss=guaranteed_stop_loss,
                instrument=instrument,
                account_id=account_id,
            ),
        )

    async def recover(
        self, on_outcome: Callable[[Outcome], object] | None = None
    ) -> tuple[Outcome, ...]:
        """Look up every intent that an earlier process left open. Enable trading when this returns.

        Args:
            on_outcome: Called with each outcome as soon as it is known, while others are still looked up.
        """
        return await self._protocol.recover(on_outcome)

    async def resolve(self, request: Intent | Outcome) -> Outcome:
        """Look up a request once more, now, by its intent or its outcome; meant for one that ended as Unconfirmed."""
        return await self._protocol.resolve(_intent_of(request))

    def dismiss(self, request: Intent | Outcome) -> None:
        """Settle a request by hand, by its intent or its outcome; meant for one that ended as Unconfirmed.

        Compare the account's trades and orders first: the request may have been executed, and may still be. The journal
        notes it as "dismissed", so that no later start looks it up. While this sender lives, the alarm is raised all the
        same if it takes effect.

        Raises:
            InvalidRequest: it is being sent or looked up.
            OSError, UnsafeFile: the journal cannot be written; nothing was dismissed.
        """
        self._protocol.dismiss(_intent_of(request))

    def unconfirmed(self) -> tuple[Intent, ...]:
        """Return the intents that ended as Unconfirmed, were not dismissed, and showed no transaction since."""
        return self._protocol.unconfirmed.intents

    async def reconcile(
        self, changes: AccountChanges, since: AnyTransactionID
    ) -> tuple[Intent, ...]:
        """Compare Unconfirmed intents with the account's changes after `since`; raise the alarm for those that took effect.

        Call it from time to time with the answer of `accounts.changes`, requested with the lowest `since` of
        `unconfirmed`: this finds what a stream lost or a snapshot skipped. Return the intents that none of the changes
        concerns: for these the next call needs only the changes after this answer's last transaction.
        """
        return await self._protocol.reconcile(changes, int(numeric_id("since", since)))

    def watch(self, transaction: Transaction) -> None:
        """Check a transaction against the intents without a known outcome.

        Call it in the client's event loop with every transaction of the account.
        """
        self._protocol.watch(transaction)

    def _side_extensions(self, client_id: str, units: SideUnits | None) -> ClientExtensions | None:
        """Return the client extensions of the order that closes a side; None when the side stays open."""
        closes = units is not None and units != "NONE"
        return ClientExtensions(id=client_id) if closes and self.client_ids else None

    async def _send(
        self,
        action: Action,
        target: str,
        account_id: str | None,
        intent_id: str,
        build: Callable[[], WriteRequest[WriteResponse]],
    ) -> Outcome:
        """Build the request once, journal its body and send it; an invalid request is NotSent and not journalled."""
        try:
            write = build()
        except InvalidRequest as error:
            intent = self._intent(action, target, {}, account_id, intent_id)
            return self._protocol.report(NotSent(intent, str(error), error.field))
        intent = self._intent(action, target, write.body, account_id, intent_id)
        outcome = await self._protocol.execute(intent, write.send)
        if self._before_return is not None:
            await self._before_return(outcome)
        return outcome

    def _intent(
        self,
        action: Action,
        target: str,
        body: Mapping[str, JsonValue],
        account_id: str | None,
        intent_id: str,
    ) -> Intent:
        return Intent(
            id=intent_id,
            action=action,
            since=int(numeric_id("last_transaction_id", self._last_transaction_id())),
            at_ns=self._wall_ns(),
            account_id=account_id or self._account_id,
            target=target,
            body=body,
            instrument=_instrument_in_request(action, target, body)
            or self._instrument_of(action, target),
            monotonic=self._steady(),
        )


def _intent_of(request: Intent | Outcome) -> Intent:
    return request if isinstance(request, Intent) else request.intent


def _instrument_in_request(action: Action, target: str, body: Mapping[str, JsonValue]) -> str:
    """Return the instrument that a request itself names; empty when it names only a trade or an order."""
    if action is Action.CLOSE_POSITION:
        return target
    instrument = body.get("instrument")
    return instrument if isinstance(instrument, str) else ""


def _unknown_instrument(_action: Action, _target: str) -> str:
    return ""


def _check_arguments(client: object, journal: object, last_transaction_id: object) -> None:
    """Raise InvalidSettings for an argument that would fail at the first order, for callers without a type checker."""
    if not isinstance(client, ResourceClient):
        remedy = "a Client, or both from sync" if hasattr(client, "asynchronous") else "a Client"
        raise InvalidSettings(f"client: give {remedy}; this is of type {type(client).__name__}")
    if not hasattr(journal, "open_intents"):
        raise InvalidSettings(
            "journal: give a journal, as in FileJournal('private/orders.jsonl');"
            f" this is of type {type(journal).__name__}"
        )
    if not callable(last_transaction_id):
        raise InvalidSettings(
            "last_transaction_id: give a function that returns the newest id, as in `lambda: newest`;"
            f" this is of type {type(last_transaction_id).__name__}"
        )


def _ignore(_: object) -> None:
    """Do nothing, for a caller without a callback."""
