"""Trades and positions: read and close them, change the dependent orders of a trade."""

from __future__ import annotations  # help() shows the names of types instead of their members

from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import TypeVar, Unpack

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.messages import Request
from keydesk_client.models._core.decoder import Reader
from keydesk_client.models._core.json import LIST, WRITE
from keydesk_client.models._core.record import Wire, require_record, revalidated
from keydesk_client.models._core.wire_names import enum_values, wire_name
from keydesk_client.models.enumerations import TradeStateFilter
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.order_terms import (
    ClientExtensions,
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.requests import Details, validate_details_for_instrument, validate_edit
from keydesk_client.models.responses import (
    PositionCloseResponse,
    PositionResponse,
    PositionsResponse,
    TradeClientExtensionsResponse,
    TradeCloseResponse,
    TradeDependentOrdersResponse,
    TradeResponse,
    TradesResponse,
)
from keydesk_client.models.trades import Position, Trade
from keydesk_client.resources._base import (
    CloseUnits,
    Resource,
    SideUnits,
    WriteRequest,
    name_of,
    position_close,
    sent_extensions,
    trade_close,
)
from keydesk_client.resources._paging import (
    MAX_LISTED,
    ListOptions,
    Paged,
    list_query,
    next_before,
)
from keydesk_client.resources.answers import (
    is_dependent_edit,
    is_position_close,
    is_target_trade,
    is_trade_close,
)
from keydesk_client.resources.closing import (
    ItemOutcome,
    PositionCloser,
    TradeCloser,
    send_all,
)
from keydesk_client.unset import UNSET, Unset

R = TypeVar("R")

POSITIONS = Reader(PositionsResponse, LIST)
POSITION = Reader(PositionResponse)
POSITION_CLOSE = Reader(PositionCloseResponse, WRITE)
TRADES = Reader(TradesResponse, LIST)
TRADE = Reader(TradeResponse, WRITE)
TRADE_CLOSE = Reader(TradeCloseResponse, WRITE)
MODIFIED = Reader(TradeClientExtensionsResponse)
PROTECTED = Reader(TradeDependentOrdersResponse, WRITE)

STATES = enum_values(TradeStateFilter)


class Positions(Resource):
    """Positions of an account."""

    async def list(self, account_id: str | None = None) -> PositionsResponse:
        """Return every position that the account ever held, closed ones too."""
        request = Request("GET", self._account(account_id, "positions"))
        return await self._caller.call(request, POSITIONS)

    async def open(self, account_id: str | None = None) -> PositionsResponse:
        """Return every open position."""
        request = Request("GET", self._account(account_id, "openPositions"))
        return await self._caller.call(request, POSITIONS)

    async def get(
        self, instrument: str | Instrument, *, account_id: str | None = None
    ) -> PositionResponse:
        """Return the position in an instrument; raise NotFound when it was never traded."""
        position_path = self._account(account_id, "positions", ("instrument", instrument))
        return await self._caller.call(Request("GET", position_path), POSITION)

    async def close(
        self,
        instrument: str | Instrument,
        *,
        long_units: SideUnits | None = None,
        short_units: SideUnits | None = None,
        long_client_extensions: ClientExtensions | None = None,
        short_client_extensions: ClientExtensions | None = None,
        account_id: str | None = None,
    ) -> PositionCloseResponse:
        """Close one side or both, in full or by positive units, ahead of every waiting request.

        Pass only sides that are open: when one is not, the service refuses both. With an Instrument instead of its name,
        units that have too many decimals are refused before they are sent.
        """
        return await self.build_close(
            instrument,
            long_units=long_units,
            short_units=short_units,
            long_client_extensions=long_client_extensions,
            short_client_extensions=short_client_extensions,
            account_id=account_id,
        ).send()

    def build_close(
        self,
        instrument: str | Instrument,
        *,
        long_units: SideUnits | None = None,
        short_units: SideUnits | None = None,
        long_client_extensions: ClientExtensions | None = None,
        short_client_extensions: ClientExtensions | None = None,
        account_id: str | None = None,
    ) -> WriteRequest[PositionCloseResponse]:
        """Return the request of `close` without sending it; InvalidRequest as there."""
        body = position_close(
            long_units, short_units, long_client_extensions, short_client_extensions, instrument
        )
        return self._write(
            "PUT",
            ("positions", ("instrument", instrument), "close"),
            POSITION_CLOSE,
            body,
            is_position_close,
            account_id=account_id,
            urgent=True,
        )

    async def close_all(
        self,
        sender: PositionCloser[R],
        *,
        instruments: Iterable[str | Instrument] | None = None,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Position, R], ...]:
        """Close both sides of every open position, or of those in `instruments`, all at once.

        Pending orders stay, and may open positions again: cancel them first with `orders.cancel_all`. Each request follows
        the order protocol of `sender` (`Sender`, or `account.sender`), so that none is sent twice and each has an outcome.

        Raises:
            KeydeskClientError: the open positions could not be read; nothing was sent.
        """
        chosen = None if instruments is None else {name_of(each) for each in instruments}
        found = (await self.open(account_id=account_id)).positions
        wanted = [each for each in found if chosen is None or each.instrument in chosen]
        return await send_all(
            wanted,
            lambda position: sender.close_position(
                position.instrument,
                long_units="ALL" if position.long.units else None,
                short_units="ALL" if position.short.units else None,
                account_id=account_id,
            ),
            lambda position: position.instrument,
        )


class Trades(Resource):
    """Trades of an account. A specifier is a trade id, or "@" and the client id of an open trade."""

    async def list(
        self,
        *,
        state: TradeStateFilter | None = None,
        account_id: str | None = None,
        **options: Unpack[ListOptions],
    ) -> TradesResponse:
        """Return trades, newest first; by default the 50 newest open ones.

        Options: `instrument`, `count` (at most 500), `before_id`, `ids`.
        """
        query = list_query(options, state, STATES)
        request = Request("GET", self._account(account_id, "trades"), query, self._headers())
        return await self._caller.call(request, TRADES)

    def iterate(
        self,
        *,
        state: TradeStateFilter = "OPEN",
        instrument: str | Instrument | None = None,
        page: int = MAX_LISTED,
        account_id: str | None = None,
    ) -> Paged[Trade]:
        """Yield every trade in a state, newest first, over as many pages as there are."""
        options: ListOptions = {"count": page}
        if instrument is not None:
            options["instrument"] = instrument
        return Paged(self._pages(state, page, account_id, options))

    async def _pages(
        self, state: TradeStateFilter, count: int, account_id: str | None, options: ListOptions
    ) -> AsyncGenerator[Sequence[Trade], None]:
        while True:
            response = await self.list(state=state, account_id=account_id, **options)
            before = next_before(response, response.trades, count, options)
            yield response.trades
            if before is None:
                return
            options["before_id"] = before

    async def open(self, account_id: str | None = None) -> TradesResponse:
        """Return every open trade."""
        request = Request("GET", self._account(account_id, "openTrades"), headers=self._headers())
        return await self._caller.call(request, TRADES)

    async def get(self, specifier: str, *, account_id: str | None = None) -> TradeResponse:
        """Return a trade, open or closed; raise NotFound when there is none."""
        trade_path = self._account(account_id, "trades", ("specifier", specifier))
        request = Request("GET", trade_path, headers=self._headers())
        return await self._caller.call(request, TRADE)

    async def close(
        self,
        specifier: str,
        *,
        units: CloseUnits = "ALL",
        instrument: Instrument | None = None,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> TradeCloseResponse:
        """Close a trade, or `units` of it (positive on either side), ahead of every waiting request.

        With `instrument`, units that have too many decimals are refused before they are sent.

        Raises:
            NotFound: it is closed already.
            KeydeskClientError: unless its `settled` is true, the trade may be closed: `keydesk_client.Sender` finds out.
        """
        return await self.build_close(
            specifier,
            units=units,
            instrument=instrument,
            client_request_id=client_request_id,
            account_id=account_id,
        ).send()

    def build_close(
        self,
        specifier: str,
        *,
        units: CloseUnits = "ALL",
        instrument: Instrument | None = None,
        client_request_id: str | None = None,
        account_id: str | None = None,
    ) -> WriteRequest[TradeCloseResponse]:
        """Return the request of `close` without sending it; InvalidRequest as there."""
        return self._write(
            "PUT",
            ("trades", ("specifier", specifier), "close"),
            TRADE_CLOSE,
            trade_close(units, instrument),
            is_trade_close,
            account_id=account_id,
            client_request_id=client_request_id,
            urgent=True,
        )

    async def close_all(
        self,
        sender: TradeCloser[R],
        *,
        instruments: Iterable[str | Instrument] | None = None,
        account_id: str | None = None,
    ) -> tuple[ItemOutcome[Trade, R], ...]:
        """Close every open trade, or those of `instruments`; in each instrument the oldest first, one after the other.

        That order is the one that accounts under the FIFO rule demand. `positions.close_all` needs fewer requests. Each
        request follows the order protocol of `sender` (`Sender`, or `account.sender`), so that none is sent twice and each
        has an outcome.

        Raises:
            KeydeskClientError: the open trades could not be read; nothing was sent.
        """
        chosen = None if instruments is None else {name_of(each) for each in instruments}
        found = (await self.open(account_id=account_id)).trades
        wanted = [each for each in found if chosen is None or each.instrument in chosen]
        return await send_all(
            sorted(wanted, key=lambda trade: int(trade.id)),
            lambda trade: sender.close_trade(trade.id, account_id=account_id),
            lambda trade: trade.instrument,
        )

    async def set_client_extensions(
        self, specifier: str, client_extensions: ClientExtensions, *, account_id: str | None = None
    ) -> TradeClientExtensionsResponse:
        """Change the client extensions of a trade; not for accounts that are linked to a third-party platform.

        Idempotent and without effect on positions: after a lost response call it again; it needs no Sender.
        """
        return await self._write(
            "PUT",
            ("trades", ("specifier", specifier), "clientExtensions"),
            MODIFIED,
            {"clientExtensions": sent_extensions("client_extensions", client_extensions)},
            is_target_trade,
            account_id=account_id,
        ).send()

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
    ) -> TradeDependentOrdersResponse:
        """Create, change or cancel the dependent orders of a trade, atomically.

        UNSET leaves an order unchanged, None cancels it, details create it or change the members that they set.
        """
        return await self.build_set_dependent_orders(
            specifier,
            take_profit=take_profit,
            stop_loss=stop_loss,
            trailing_stop_loss=trailing_stop_loss,
            guaranteed_stop_loss=guaranteed_stop_loss,
            instrument=instrument,
            account_id=account_id,
        ).send()

    def build_set_dependent_orders(
        self,
        specifier: str,
        *,
        take_profit: TakeProfitDetails | Unset | None = UNSET,
        stop_loss: StopLossDetails | Unset | None = UNSET,
        trailing_stop_loss: TrailingStopLossDetails | Unset | None = UNSET,
        guaranteed_stop_loss: GuaranteedStopLossDetails | Unset | None = UNSET,
        instrument: Instrument | None = None,
        account_id: str | None = None,
    ) -> WriteRequest[TradeDependentOrdersResponse]:
        """Return the request of `set_dependent_orders` without sending it; InvalidRequest as there."""
        edits = {
            "take_profit": take_profit,
            "stop_loss": stop_loss,
            "trailing_stop_loss": trailing_stop_loss,
            "guaranteed_stop_loss": guaranteed_stop_loss,
        }
        members: Wire = {
            wire_name(name): _edit(name, details, instrument)
            for name, details in edits.items()
            if not isinstance(details, Unset)
        }
        if not members:
            raise InvalidRequest(
                "take_profit: nothing to change: pass at least one dependent order",
                field="take_profit",
            )
        return self._write(
            "PUT",
            ("trades", ("specifier", specifier), "orders"),
            PROTECTED,
            self._in_time_form(members),
            is_dependent_edit,
            account_id=account_id,
        )


DEPENDENT: dict[str, type[Details]] = {
    "take_profit": TakeProfitDetails,
    "stop_loss": StopLossDetails,
    "trailing_stop_loss": TrailingStopLossDetails,
    "guaranteed_stop_loss": GuaranteedStopLossDetails,
}
"""The kind of each dependent order."""


def _edit(name: str, details: Details | None, instrument: Instrument | None) -> Wire | None:
    if details is None:
        return None
    require_record(name, details, DEPENDENT[name])
    details = revalidated(details, f"{name}.")
    validate_edit(name, details)
    if instrument is not None:
        validate_details_for_instrument(name, details, instrument)
    return {member: value for member, value in details.to_wire().items() if value is not None}
