"""Whether an order fits its instrument: decimals and sizes, judged before it is sent and never rounded silently."""

from decimal import Decimal

from keydesk_client.errors import InvalidRequest
from keydesk_client.models._core.record import Record
from keydesk_client.models._core.scalars import decimal_text
from keydesk_client.models.details import TrailingStopLossDetails
from keydesk_client.models.instruments import Instrument
from keydesk_client.models.possible import Details, details_on_fill
from keydesk_client.models.requests import OrderRequest, TrailingStopLossOrderRequest
from keydesk_client.models.terms import EntryTerms


def refuse_unfit(order: OrderRequest, instrument: Instrument) -> None:
    """InvalidRequest, naming the member, when the order does not fit the instrument."""
    if isinstance(order, EntryTerms):
        if order.instrument != instrument.name:
            raise InvalidRequest(
                f"instrument: {order.instrument} was checked against {instrument.name}",
                field="instrument",
            )
        _refuse_unfit_units(order.units, instrument)
    _refuse_unfit_levels(order, "", instrument)
    for name, details in details_on_fill(order):
        _refuse_unfit_levels(details, f"{name}.", instrument)


def refuse_unfit_details(name: str, details: Details, instrument: Instrument) -> None:
    """The same for a dependent order of a trade."""
    _refuse_unfit_levels(details, f"{name}.", instrument)


def refuse_unfit_close(field: str, units: Decimal, instrument: Instrument) -> None:
    """InvalidRequest for a size to close that has too many decimals; how much of it there is, is no reason to stay in."""
    _refuse_excess(field, units, instrument)


def decimals(value: Decimal) -> int:
    """Decimals that matter: trailing zeros do not."""
    return len(decimal_text(value).partition(".")[2].rstrip("0"))


def _refuse_unfit_units(units: Decimal, instrument: Instrument) -> None:
    _refuse_excess("units", units, instrument)
    size = abs(units)
    if size < instrument.minimum_trade_size:
        said = f"{units:f} is below the smallest trade, {instrument.minimum_trade_size:f}"
    elif size > instrument.maximum_order_units:
        said = f"{units:f} is above the largest order, {instrument.maximum_order_units:f}"
    else:
        return
    raise InvalidRequest(f"units: {said}", field="units")


def _refuse_excess(field: str, units: Decimal, instrument: Instrument) -> None:
    if decimals(units) > instrument.trade_units_precision:
        raise InvalidRequest(
            f"{field}: {units:f} has more than {instrument.trade_units_precision} decimals",
            field=field,
        )


def _refuse_unfit_levels(holder: Record, prefix: str, instrument: Instrument) -> None:
    for name in ("price", "price_bound", "distance"):
        level = getattr(holder, name, None)
        if level is not None and decimals(level) > instrument.display_precision:
            field = prefix + name
            raise InvalidRequest(
                f"{field}: {level:f} has more than {instrument.display_precision} decimals",
                field=field,
            )
    if isinstance(holder, TrailingStopLossDetails | TrailingStopLossOrderRequest):
        _refuse_unfit_trail(holder.distance, prefix, instrument)


def _refuse_unfit_trail(distance: Decimal, prefix: str, instrument: Instrument) -> None:
    least, most = (
        instrument.minimum_trailing_stop_distance,
        instrument.maximum_trailing_stop_distance,
    )
    if not least <= distance <= most:
        raise InvalidRequest(
            f"{prefix}distance: {distance:f} is not within {least:f} to {most:f}",
            field=f"{prefix}distance",
        )
