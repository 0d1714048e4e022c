"""Positions: all trades of an instrument at once."""

from __future__ import annotations  # help() shows the names of types, not all that they are made of

from typing import Literal, TypeAlias

from keydesk_client.areas.area import Area
from keydesk_client.calls import json_body
from keydesk_client.errors import InvalidRequest
from keydesk_client.exchange import Request
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.reading import Reader
from keydesk_client.models.record import Wire
from keydesk_client.models.responses.positions import (
    PositionCloseResponse,
    PositionResponse,
    PositionsResponse,
)
from keydesk_client.models.scalars import Number
from keydesk_client.paths import number

LISTED = Reader(PositionsResponse)
ONE = Reader(PositionResponse)
CLOSED = Reader(PositionCloseResponse)

SideUnits: TypeAlias = Literal["ALL", "NONE"] | Number


class Positions(Area):
    """Positions of an account."""

    async def list(self, *, account_id: str | None = None) -> PositionsResponse:
        """Every position that the account ever held, flat ones too."""
        return await self._caller.ask(
            Request("GET", self._account(account_id, "positions")), LISTED
        )

    async def open(self, *, account_id: str | None = None) -> PositionsResponse:
        """Every open position."""
        where = self._account(account_id, "openPositions")
        return await self._caller.ask(Request("GET", where), LISTED)

    async def get(self, instrument: str, *, account_id: str | None = None) -> PositionResponse:
        """The position in an instrument; NotFound when it was never traded."""
        where = self._account(account_id, "positions", ("instrument", instrument))
        return await self._caller.ask(Request("GET", where), ONE)

    async def close(
        self,
        instrument: str,
        *,
        long_units: SideUnits | None = None,
        short_units: SideUnits | None = None,
        long_client_extensions: ClientExtensions | None = None,
        short_client_extensions: ClientExtensions | None = None,
        account_id: str | None = None,
    ) -> PositionCloseResponse:
        """Close one side or both, in full or by positive units; goes before everything that waits.

        Name only the sides that are open: with a flat side named, the service refuses both.
        """
        members = _side("long", long_units, long_client_extensions)
        members |= _side("short", short_units, short_client_extensions)
        if all(members.get(side, "NONE") == "NONE" for side in ("longUnits", "shortUnits")):
            raise InvalidRequest("long_units: give a side to close", field="long_units")
        request = Request(
            "PUT",
            self._account(account_id, "positions", ("instrument", instrument), "close"),
            headers=self._headers(),
            body=json_body(members),
            urgent=True,
        )
        return await self._caller.ask(request, CLOSED)


def _side(side: str, units: SideUnits | None, extensions: ClientExtensions | None) -> Wire:
    members: Wire = {}
    if isinstance(units, str) and units in {"ALL", "NONE"}:
        members[f"{side}Units"] = units
    elif units is not None:
        members[f"{side}Units"] = number(f"{side}_units", units, above_zero=True)
    if extensions is not None:
        members[f"{side}ClientExtensions"] = extensions.to_wire()
    return members
