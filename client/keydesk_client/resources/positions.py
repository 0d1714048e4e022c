"""Positions: all trades of an instrument at once."""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from keydesk_client.http.calls import json_body
from keydesk_client.http.exchange import Request
from keydesk_client.models._core.body_limits import LIST, WRITE
from keydesk_client.models._core.reading import Reader
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.responses_positions import (
    PositionCloseResponse,
    PositionResponse,
    PositionsResponse,
)
from keydesk_client.resources.area import Area
from keydesk_client.resources.closing import SideUnits, name_of, position_close

POSITIONS = Reader(PositionsResponse, LIST)
POSITION = Reader(PositionResponse)
POSITION_CLOSE = Reader(PositionCloseResponse, WRITE)


class Positions(Area):
    """Positions of an account."""

    async def list(self, *, account_id: str | None = None) -> PositionsResponse:
        """Every position that the account ever held, flat ones too."""
        return await self._caller.ask(
            Request("GET", self._account(account_id, "positions")), POSITIONS
        )

    async def open(self, *, account_id: str | None = None) -> PositionsResponse:
        """Every open position."""
        where = self._account(account_id, "openPositions")
        return await self._caller.ask(Request("GET", where), POSITIONS)

    async def get(self, instrument: str, *, account_id: str | None = None) -> PositionResponse:
        """The position in an instrument; NotFound when it was never traded."""
        where = self._account(account_id, "positions", ("instrument", instrument))
        return await self._caller.ask(Request("GET", where), POSITION)

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
        """Close one side or both, in full or by positive units; goes before everything that waits.

        Name only the sides that are open: with a flat side named, the service refuses both.
        Hand over the Instrument itself, and units that have more decimals than it takes are refused before they are sent.
        """
        members = position_close(
            long_units, short_units, long_client_extensions, short_client_extensions, instrument
        )
        request = Request(
            "PUT",
            self._account(account_id, "positions", ("instrument", name_of(instrument)), "close"),
            headers=self._headers(),
            body=json_body(members),
            urgent=True,
        )
        return await self._caller.ask(request, POSITION_CLOSE)
