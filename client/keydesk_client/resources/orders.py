"""Orders: create, read, replace and cancel them."""

from __future__ import annotations  # help() shows the names of types instead of their members

from collections.abc import AsyncIterator
from typing import Unpack

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.messages import Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import LIST, WRITE
from keydesk_client.models._core.record import Wire
from keydesk_client.models._core.wire_names import words
from keydesk_client.models.enumerations import OrderStateFilter
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import ClientExtensions
from keydesk_client.models.orders import Order
from keydesk_client.models.requests import OrderRequest, refuse_other, refuse_unfit
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
    ListOptions,
    Resource,
    list_query,
    next_before,
)

CREATED = Reader(OrderCreateResponse, WRITE)
LISTED = Reader(OrdersResponse, LIST)
ONE = Reader(OrderResponse)
REPLACED = Reader(OrderReplaceResponse, WRITE)
CANCELLED = Reader(OrderCancelResponse, WRITE)
MODIFIED = Reader(OrderClientExtensionsResponse)

STATES = words(OrderStateFilter)


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
            KeydeskClientError: when its `sent` is true, the order may exist: `keydesk_client.Sender` finds out.
        """
        headers = self._headers(client_request_id)
        body = self._order_body(order, instrument)
        request = Request("POST", self._account(account_id, "orders"), {}, headers, body)
        return await self._caller.call(request, CREATED)

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

    async def iterate(
        self,
        *,
        state: OrderStateFilter = "PENDING",
        instrument: str | None = None,
        page: int = MOST_LISTED,
        account_id: str | None = None,
    ) -> AsyncIterator[Order]:
        """Yield every order in a state, newest first, over as many pages as there are."""
        options: ListOptions = {"count": page}
        if instrument is not None:
            options["instrument"] = instrument
        while True:
            response = await self.list(state=state, account_id=account_id, **options)
            before = next_before(response, response.orders, page, options)
            for order in response.orders:
                yield order
            if before is None:
                return
            options["before_id"] = before

    async def pending(self, *, account_id: str | None = None) -> OrdersResponse:
        """Return every pending order."""
        request = Request(
            "GET", self._account(account_id, "pendingOrders"), headers=self._headers()
        )
        return await self._caller.call(request, LISTED)

    async def get(self, specifier: str, *, account_id: str | None = None) -> OrderResponse:
        """Return an order in any state; raise NotFound when there is none."""
        request = Request("GET", self._order(specifier, account_id), headers=self._headers())
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
        """Cancel a pending order and create one of the same type in its place, atomically; sent once."""
        headers = self._headers(client_request_id)
        body = self._order_body(order, instrument)
        request = Request("PUT", self._order(specifier, account_id), {}, headers, body)
        return await self._caller.call(request, REPLACED)

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
        cancel_path = self._order(specifier, account_id, "cancel")
        request = Request("PUT", cancel_path, {}, self._headers(client_request_id), urgent=True)
        return await self._caller.call(request, CANCELLED)

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
            members["clientExtensions"] = client_extensions.to_wire()
        if trade_client_extensions is not None:
            members["tradeClientExtensions"] = trade_client_extensions.to_wire()
        if not members:
            raise InvalidRequest(
                "client_extensions: nothing to change: pass client_extensions, trade_client_extensions or both",
                field="client_extensions",
            )
        extensions_path = self._order(specifier, account_id, "clientExtensions")
        request = Request("PUT", extensions_path, {}, self._headers(), self._body(members))
        return await self._caller.call(request, MODIFIED)

    def _order(self, specifier: str, account_id: str | None, *rest: str) -> str:
        return self._account(account_id, "orders", ("specifier", specifier), *rest)

    def _order_body(self, order: OrderRequest, instrument: Instrument | None) -> bytes:
        refuse_other(order)
        if instrument is not None:
            refuse_unfit(order, instrument)
        return self._body({"order": order.to_wire()})
