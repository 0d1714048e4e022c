"""Orders: create, read, replace and cancel them."""

from __future__ import annotations  # help() shows the names of types instead of their members

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import TypeVar, Unpack

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.messages import Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import LIST, WRITE
from keydesk_client.models._core.record import Wire, revalidated
from keydesk_client.models._core.scalars import Number
from keydesk_client.models._core.wire_names import enum_values
from keydesk_client.models.enumerations import OrderStateFilter
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import (
    ClientExtensions,
    LimitOptions,
    MarketOptions,
    StopOptions,
)
from keydesk_client.models.orders import Order
from keydesk_client.models.requests import (
    OrderRequest,
    require_order_request,
    validate_for_instrument,
)
from keydesk_client.models.responses import (
    OrderCancelResponse,
    OrderClientExtensionsResponse,
    OrderCreateResponse,
    OrderReplaceResponse,
    OrderResponse,
    OrdersResponse,
)
from keydesk_client.resources._base import (
    Resource,
    WriteRequest,
    name_of,
    require_instrument_name,
    sent_extensions,
)
from keydesk_client.resources._defaults import Defaults
from keydesk_client.resources._paging import (
    MAX_LISTED,
    ListOptions,
    Paged,
    list_query,
    next_before,
)
from keydesk_client.resources.accounts import instrument_of
from keydesk_client.resources.answers import is_new_order, is_replaced_order, is_target_order
from keydesk_client.resources.brackets import (
    Bracket,
    StopLoss,
    TakeProfit,
    limit_order,
    market_order,
    stop_order,
)
from keydesk_client.resources.closing import DEPENDENT, ItemOutcome, OrderCanceller, send_all

R = TypeVar("R")

CREATED = Reader(OrderCreateResponse, WRITE)
LISTED = Reader(OrdersResponse, LIST)
ONE = Reader(OrderResponse)
REPLACED = Reader(OrderReplaceResponse, WRITE)
CANCELLED = Reader(OrderCancelResponse, WRITE)
MODIFIED = Reader(OrderClientExtensionsResponse)

STATES = enum_values(OrderStateFilter)


class Orders(Resource):
    """Orders of an account. A specifier is an order id, or "@" and the client id of a pending order."""

    async def create(
        self,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> OrderCreateResponse:
        """Send an order, once. Success means accepted, not filled: see the transactions in the response.

        With `instrument`, an order that does not fit its precision and sizes is refused before it is sent.

        Raises:
            Refused: the service rejected the order; see `reject_reason`.
            KeydeskClientError: unless its `settled` is true, the order may exist: `keydesk_client.Sender` finds out.
        """
        return await self.build_create(
            order,
            instrument=instrument,
            client_request_id=client_request_id,
            account_id=account_id,
        ).send()

    async def market(
        self,
        instrument: str | Instrument,
        units: Number,
        *,
        stop_loss: StopLoss = None,
        take_profit: TakeProfit = None,
        account_id: str | None = None,
        **options: Unpack[MarketOptions],
    ) -> OrderCreateResponse:
        """Send a market order with its bracket, once: `market("EUR_USD", 10_000, stop_loss="20p", take_profit="2r")`.

        Negative units sell. A level is "20p" (pips from the fill), "2r" (a take-profit at twice the distance of the
        stop-loss) or a price with its decimals, "1.0850"; details, as StopLossDetails(...), are taken as they are. Options
        are the other members of MarketOrderRequest. The first call reads the instruments of the account.

        Raises:
            InvalidRequest: something is invalid for the instrument, or could be meant in two ways; nothing was sent.
            Refused, KeydeskClientError: as in `create`.
        """
        pair = await self._pair(instrument, account_id)
        order = market_order(pair, units, Bracket(stop_loss, take_profit), options)
        return await self.create(order, instrument=pair, account_id=account_id)

    async def limit(
        self,
        instrument: str | Instrument,
        units: Number,
        price: Number,
        *,
        stop_loss: StopLoss = None,
        take_profit: TakeProfit = None,
        account_id: str | None = None,
        **options: Unpack[LimitOptions],
    ) -> OrderCreateResponse:
        """Send a limit order with its bracket, once; see `market`. Options are the other members of LimitOrderRequest."""
        pair = await self._pair(instrument, account_id)
        order = limit_order(pair, units, price, Bracket(stop_loss, take_profit), options)
        return await self.create(order, instrument=pair, account_id=account_id)

    async def stop(
        self,
        instrument: str | Instrument,
        units: Number,
        price: Number,
        *,
        stop_loss: StopLoss = None,
        take_profit: TakeProfit = None,
        account_id: str | None = None,
        **options: Unpack[StopOptions],
    ) -> OrderCreateResponse:
        """Send a stop order with its bracket, once; see `market`. Options are the other members of StopOrderRequest."""
        pair = await self._pair(instrument, account_id)
        order = stop_order(pair, units, price, Bracket(stop_loss, take_profit), options)
        return await self.create(order, instrument=pair, account_id=account_id)

    def build_create(
        self,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        client_id: str | None = None,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> WriteRequest[OrderCreateResponse]:
        """Return the request of `create` without sending it; InvalidRequest as there.

        An order without a client id gets `client_id`.
        """
        body = self._order_members(order, instrument)
        if "instrument" in body and instrument is None:
            is_own = account_id in {None, self._defaults.account_id}
            is_exit = body.get("positionFill") == "REDUCE_ONLY"
            known = self._defaults.instruments if is_own and not is_exit else ()
            require_instrument_name("instrument", str(body["instrument"]), known)
        if client_id is not None:
            given = body.get("clientExtensions")
            extensions: Wire = given if isinstance(given, dict) else {}
            body["clientExtensions"] = {"id": client_id, **extensions}
        return self._write(
            "POST",
            ("orders",),
            CREATED,
            body,
            is_new_order,
            account_id=account_id,
            member="order",
            client_request_id=client_request_id,
        )

    async def list(
        self,
        *,
        state: OrderStateFilter | None = None,
        account_id: str | None = None,
        **options: Unpack[ListOptions],
    ) -> OrdersResponse:
        """Return orders, newest first; by default the 50 newest pending ones.

        Options: `instrument`, `count` (at most 500), `before_id`, `ids`.
        """
        query = list_query(options, state, STATES)
        request = Request("GET", self._account(account_id, "orders"), query, self._headers())
        return await self._caller.call(request, LISTED)

    def iterate(
        self,
        *,
        state: OrderStateFilter = "PENDING",
        instrument: str | Instrument | None = None,
        page: int = MAX_LISTED,
        account_id: str | None = None,
    ) -> Paged[Order]:
        """Yield every order in a state, newest first, over as many pages as there are."""
        options: ListOptions = {"count": page}
        if instrument is not None:
            options["instrument"] = instrument
        return Paged(self._pages(state, page, account_id, options))

    async def _pages(
        self, state: OrderStateFilter, count: int, account_id: str | None, options: ListOptions
    ) -> AsyncGenerator[Sequence[Order], None]:
        while True:
            response = await self.list(state=state, account_id=account_id, **options)
            before = next_before(response, response.orders, count, options)
            yield response.orders
            if before is None:
                return
            options["before_id"] = before

    async def pending(self, account_id: str | None = None) -> OrdersResponse:
        """Return every pending order."""
        request = Request(
            "GET", self._account(account_id, "pendingOrders"), headers=self._headers()
        )
        return await self._caller.call(request, LISTED)

    async def get(self, specifier: str, *, account_id: str | None = None) -> OrderResponse:
        """Return an order in any state; raise NotFound when there is none."""
        order_path = self._account(account_id, "orders", ("specifier", specifier))
        request = Request("GET", order_path, headers=self._headers())
        return await self._caller.call(request, ONE)

    async def replace(
        self,
        specifier: str,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> OrderReplaceResponse:
        """Cancel a pending order and put another of the same type in its place, in one step; sent once."""
        return await self.build_replace(
            specifier,
            order,
            instrument=instrument,
            client_request_id=client_request_id,
            account_id=account_id,
        ).send()

    def build_replace(
        self,
        specifier: str,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> WriteRequest[OrderReplaceResponse]:
        """Return the request of `replace` without sending it; InvalidRequest as there."""
        return self._write(
            "PUT",
            ("orders", ("specifier", specifier)),
            REPLACED,
            self._order_members(order, instrument),
            is_replaced_order,
            account_id=account_id,
            member="order",
            client_request_id=client_request_id,
        )

    async def cancel(
        self,
        specifier: str,
        *,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> OrderCancelResponse:
        """Cancel a pending order, ahead of every waiting request.

        Raises:
            Refused: it is not pending any more: filled, cancelled, or (NotFound) it never existed.
        """
        return await self.build_cancel(
            specifier, client_request_id=client_request_id, account_id=account_id
        ).send()

    def build_cancel(
        self,
        specifier: str,
        *,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> WriteRequest[OrderCancelResponse]:
        """Return the request of `cancel` without sending it."""
        return self._write(
            "PUT",
            ("orders", ("specifier", specifier), "cancel"),
            CANCELLED,
            {},
            is_target_order,
            account_id=account_id,
            client_request_id=client_request_id,
            urgent=True,
        )

    async def cancel_all(
        self,
        sender: OrderCanceller[R],
        *,
        instruments: Iterable[str | Instrument] | None = None,
        include_dependent: bool = False,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Order, R], ...]:
        """Cancel every pending order, or those for `instruments`, all at once.

        Orders that protect a trade (stop-loss, take-profit, trailing and guaranteed stop) stay, unless
        `include_dependent`; they name no instrument, so that `instruments` leaves them out. Each request follows the order
        protocol of `sender` (`Sender`, or `account.sender`); one that was filled meanwhile is Rejected.

        Raises:
            KeydeskClientError: the pending orders could not be read; nothing was sent.
        """
        chosen = None if instruments is None else {name_of(each) for each in instruments}
        found = (await self.pending(account_id=account_id)).orders
        wanted = [
            each
            for each in found
            if (include_dependent or each.type not in DEPENDENT)
            and (chosen is None or getattr(each, "instrument", None) in chosen)
        ]
        return await send_all(
            wanted,
            lambda order: sender.cancel(order.id, account_id=account_id),
            lambda order: order.id,
        )

    async def set_client_extensions(
        self,
        specifier: str,
        *,
        client_extensions: ClientExtensions | None = None,
        trade_client_extensions: ClientExtensions | None = None,
        account_id: str | None = None,
    ) -> OrderClientExtensionsResponse:
        """Change the client extensions of a pending order, and of the trade that it will open.

        Not for accounts that are linked to a third-party platform. Idempotent and without effect on positions: after a
        lost response call it again; it needs no Sender.
        """
        members: Wire = {}
        if client_extensions is not None:
            members["clientExtensions"] = sent_extensions("client_extensions", client_extensions)
        if trade_client_extensions is not None:
            members["tradeClientExtensions"] = sent_extensions(
                "trade_client_extensions", trade_client_extensions
            )
        if not members:
            raise InvalidRequest(
                "client_extensions: nothing to change: pass client_extensions, trade_client_extensions or both",
                field="client_extensions",
            )
        return await self._write(
            "PUT",
            ("orders", ("specifier", specifier), "clientExtensions"),
            MODIFIED,
            members,
            is_target_order,
            account_id=account_id,
        ).send()

    async def _pair(self, instrument: str | Instrument, account_id: str | None) -> Instrument:
        """Return an instrument of the account that the order is for."""
        if isinstance(instrument, Instrument):
            return instrument
        is_own = account_id in {None, self._defaults.account_id}
        defaults = self._defaults if is_own else Defaults(account_id)
        return await instrument_of(self._caller, defaults, instrument, "instrument")

    def _order_members(self, order: OrderRequest, instrument: Instrument | None) -> Wire:
        require_order_request(order)
        order = revalidated(order)
        if instrument is not None:
            validate_for_instrument(order, instrument)
        return self._in_time_form(order.to_wire())
