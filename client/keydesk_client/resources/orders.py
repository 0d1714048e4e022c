"""Orders: ask for them, look at them, replace them, take them back."""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from collections.abc import AsyncIterator
from typing import Unpack

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.caller import json_body
from keydesk_client.http.messages import Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import LIST, WRITE
from keydesk_client.models._core.record import Wire
from keydesk_client.models._core.wire_names import enum_values
from keydesk_client.models.enumerations import OrderStateFilter
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import ClientExtensions
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
    MOST_LISTED,
    Area,
    ListOptions,
    in_form,
    list_query,
    next_before,
)

CREATED = Reader(OrderCreateResponse, WRITE)
LISTED = Reader(OrdersResponse, LIST)
ONE = Reader(OrderResponse)
REPLACED = Reader(OrderReplaceResponse, WRITE)
CANCELLED = Reader(OrderCancelResponse, WRITE)
MODIFIED = Reader(OrderClientExtensionsResponse)

STATES = enum_values(OrderStateFilter)


class Orders(Area):
    """Orders of an account. A specifier is an order id, or `@` and a client id."""

    async def create(
        self,
        order: OrderRequest,
        *,
        instrument: Instrument | None = None,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> OrderCreateResponse:
        """Send an order, once. Being accepted is not being filled: the answer says what became of it.

        With `instrument`, an order that does not fit its precision and sizes is refused before it is sent.
        Refused when the service says no: `reject_reason` tells why. An error with `sent` leaves open whether the order
        exists: `keydesk_client.Sender` settles that.
        """
        body = self._body(order, instrument)
        request = Request(
            "POST", self._account(account_id, "orders"), {}, self._headers(client_request_id), body
        )
        return await self._caller.ask(request, CREATED)

    async def list(
        self,
        *,
        state: OrderStateFilter | None = None,
        account_id: str | None = None,
        **options: Unpack[ListOptions],
    ) -> OrdersResponse:
        """Orders, newest first; by default the 50 newest pending ones.

        Options: `instrument`, `count` (at most 500), `before_id`, `ids`.
        """
        query = list_query(options, state, STATES)
        request = Request("GET", self._account(account_id, "orders"), query, self._headers())
        return await self._caller.ask(request, LISTED)

    async def iterate(
        self,
        *,
        state: OrderStateFilter = "PENDING",
        instrument: str | None = None,
        page: int = MOST_LISTED,
        account_id: str | None = None,
    ) -> AsyncIterator[Order]:
        """Every order of a state, newest first, however many."""
        options: ListOptions = {"count": page}
        if instrument is not None:
            options["instrument"] = instrument
        while True:
            answer = await self.list(state=state, account_id=account_id, **options)
            before = next_before(answer, answer.orders, page, options)
            for order in answer.orders:
                yield order
            if before is None:
                return
            options["before_id"] = before

    async def pending(self, *, account_id: str | None = None) -> OrdersResponse:
        """Every pending order."""
        request = Request(
            "GET", self._account(account_id, "pendingOrders"), headers=self._headers()
        )
        return await self._caller.ask(request, LISTED)

    async def get(self, specifier: str, *, account_id: str | None = None) -> OrderResponse:
        """One order, whatever its state, by its id or as "@" and your client id; NotFound when there is none."""
        where = self._order(specifier, account_id)
        return await self._caller.ask(Request("GET", where, headers=self._headers()), ONE)

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
        where = self._order(specifier, account_id)
        body = self._body(order, instrument)
        request = Request("PUT", where, {}, self._headers(client_request_id), body)
        return await self._caller.ask(request, REPLACED)

    async def cancel(
        self,
        specifier: str,
        *,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> OrderCancelResponse:
        """Cancel a pending order, by its id or as "@" and your client id; goes before everything that waits.

        Refused when it is pending no more: filled, cancelled, or (NotFound) never there.
        """
        where = self._order(specifier, account_id, "cancel")
        headers = self._headers(client_request_id)
        return await self._caller.ask(Request("PUT", where, {}, headers, urgent=True), CANCELLED)

    async def set_client_extensions(
        self,
        specifier: str,
        *,
        client_extensions: ClientExtensions | None = None,
        trade_client_extensions: ClientExtensions | None = None,
        account_id: str | None = None,
    ) -> OrderClientExtensionsResponse:
        """Change the tags of a pending order, and of the trade that it will open.

        Not for accounts that are linked to a third-party platform. Moves no money, and twice is as once: after a lost
        answer ask again; it needs no Sender.
        """
        members: Wire = {}
        if client_extensions is not None:
            members["clientExtensions"] = client_extensions.to_wire()
        if trade_client_extensions is not None:
            members["tradeClientExtensions"] = trade_client_extensions.to_wire()
        if not members:
            raise InvalidRequest(
                "client_extensions: nothing to change was given", field="client_extensions"
            )
        where = self._order(specifier, account_id, "clientExtensions")
        request = Request("PUT", where, {}, self._headers(), json_body(members))
        return await self._caller.ask(request, MODIFIED)

    def _order(self, specifier: str, account_id: str | None, *rest: str) -> str:
        return self._account(account_id, "orders", ("specifier", specifier), *rest)

    def _body(self, order: OrderRequest, instrument: Instrument | None) -> bytes:
        require_order_request(order)
        if instrument is not None:
            validate_for_instrument(order, instrument)
        return json_body({"order": in_form(order.to_wire(), self._defaults.datetime_format)})
