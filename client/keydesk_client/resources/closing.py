"""What a close sends, and what an edit of a trade's orders sends: the call and the order journal write the same."""

from typing import Literal, TypeAlias

from keydesk_client.errors import InvalidRequest
from keydesk_client.http.paths import number
from keydesk_client.models._core.record import Wire
from keydesk_client.models._core.scalars import Number, decimal_of
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.possible import Details
from keydesk_client.models.precision import refuse_unfit_close

CloseUnits: TypeAlias = Literal["ALL"] | Number
SideUnits: TypeAlias = Literal["ALL", "NONE"] | Number


def trade_close(units: CloseUnits, instrument: Instrument | None) -> Wire:
    """The body that closes a trade or a part of it."""
    if isinstance(units, str) and units == "ALL":
        return {"units": units}
    return {"units": _size("units", units, instrument)}


def position_close(
    long_units: SideUnits | None,
    short_units: SideUnits | None,
    long_client_extensions: ClientExtensions | None,
    short_client_extensions: ClientExtensions | None,
    instrument: Instrument | str,
) -> Wire:
    """The body that closes one side of a position or both."""
    known = instrument if isinstance(instrument, Instrument) else None
    members = _side("long", long_units, long_client_extensions, known)
    members |= _side("short", short_units, short_client_extensions, known)
    if all(members.get(side, "NONE") == "NONE" for side in ("longUnits", "shortUnits")):
        raise InvalidRequest("long_units: give a side to close", field="long_units")
    return members


def name_of(instrument: Instrument | str) -> str:
    """The instrument's name."""
    return instrument.name if isinstance(instrument, Instrument) else instrument


def edited(details: Details | None) -> Wire | None:
    """What an edit of a dependent order mentions; None cancels it."""
    if details is None:
        return None
    return {member: value for member, value in details.to_wire().items() if value is not None}


def _side(
    side: str,
    units: SideUnits | None,
    extensions: ClientExtensions | None,
    instrument: Instrument | None,
) -> Wire:
    members: Wire = {}
    if isinstance(units, str) and units in {"ALL", "NONE"}:
        members[f"{side}Units"] = units
    elif units is not None:
        members[f"{side}Units"] = _size(f"{side}_units", units, instrument)
    if extensions is not None:
        members[f"{side}ClientExtensions"] = extensions.to_wire()
    return members


def _size(field: str, units: Number, instrument: Instrument | None) -> str:
    asked = number(field, units, above_zero=True)
    if instrument is not None:
        refuse_unfit_close(field, decimal_of(asked), instrument)
    return asked
