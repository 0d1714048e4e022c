"""Shocks on demand."""

from decimal import Decimal

from keydesk_practice.broker.replay_facts import save_shocks
from keydesk_practice.control.bodies import AddShock, NoMembers, State
from keydesk_practice.control.context import Control
from keydesk_practice.engine.wire_form import SECOND, rfc3339
from keydesk_practice.http.error_responses import HttpError, invalid_value, missing_value
from keydesk_practice.market.hours import CELL
from keydesk_practice.market.shocks import Shock, moving_currency

MAX_SHOCKS = 1_000
MAX_SECONDS = 7 * 86_400
MAX_AHEAD = 100 * 366 * 86_400 * SECOND  # of a shock: its times can be written and stored
_USUAL_SIZE = {
    "spike": Decimal("0.005"),
    "gap": Decimal("-0.01"),
    "spread": Decimal(8),
    "depth": Decimal("0.1"),
    "halt": Decimal(1),
}
_LIMITS = {  # of the size
    "spike": (Decimal("-0.5"), Decimal(1)),
    "gap": (Decimal("-0.5"), Decimal(1)),
    "spread": (Decimal("0.1"), Decimal(1_000)),
    "depth": (Decimal("0.0001"), Decimal(100)),
    "halt": (Decimal(1), Decimal(1)),
}
_UNITS = {  # of the size, in words
    "spike": "a fraction of the price (0.01 is 1 %)",
    "gap": "a fraction of the price (0.01 is 1 %)",
    "spread": "a factor of the spread",
    "depth": "a factor of the depth",
    "halt": "as a halt has no size",
}
_MOVES = frozenset({"spike", "gap"})


async def add_shock(control: Control, request: AddShock) -> State:
    """Add a shock from the next grid point on, or from a later time."""
    if len(control.broker.shocks) >= MAX_SHOCKS:
        raise HttpError(409, f"This market has {MAX_SHOCKS} shocks already: begin a new replay")
    _set(control, (*control.broker.shocks, _shock(control, request)))
    return control.state()


async def cancel_shocks(control: Control, _: NoMembers) -> State:
    """Cancel the shocks that have not begun; those in progress continue."""
    now = control.real(control.broker.now())
    _set(control, tuple(one for one in control.broker.shocks if one.begins <= now))
    return control.state()


def _set(control: Control, shocks: tuple[Shock, ...]) -> None:
    """Store the shocks before any price follows them."""
    broker = control.broker
    save_shocks(broker.ledger, shocks)
    broker.overlay(shocks, broker.anonymizer)


def _shock(control: Control, request: AddShock) -> Shock:
    cell = _cell(control, request)
    size = _USUAL_SIZE[request.kind] if request.size is None else request.size
    low, high = _LIMITS[request.kind]
    if not low <= size <= high or not size:
        text = f"A {request.kind} cannot have the size {size}: use {low} to {high}, {_UNITS[request.kind]}"
        raise HttpError(400, text if size else f"{text}; 0 is no {request.kind}")
    if not 1 <= request.seconds <= MAX_SECONDS:
        raise invalid_value("seconds", f": use 1 to {MAX_SECONDS}")
    instrument = request.instrument
    real = None if instrument is None else control.real_instrument(instrument)
    if request.kind not in _MOVES:
        names = () if real is None else (real,)
        cells = -(-request.seconds * SECOND // CELL)
        return Shock(request.kind, cell, names, size=float(size), cells=cells)
    if real is None:
        raise missing_value("instrument")
    return _move(request, cell, real, size)


def _move(request: AddShock, cell: int, instrument: str, size: Decimal) -> Shock:
    """Return the move of one currency that moves the instrument's price by `size`."""
    currency = moving_currency(instrument)
    fraction = float(size)
    if not instrument.startswith(currency):  # its rise lets the pair's price fall
        fraction = 1 / (1 + fraction) - 1
    return Shock(request.kind, cell, currency=currency, size=fraction)


def _cell(control: Control, request: AddShock) -> int:
    now = control.broker.now()
    if request.time is not None and request.time <= now:
        raise HttpError(
            409,
            f"The market is at {rfc3339(now)}: past prices cannot be changed; choose a later time",
        )
    if request.time is None:
        return control.real(now) // CELL + 1
    if request.time - now > MAX_AHEAD:
        raise invalid_value("time", ": more than a hundred years ahead")
    return -(-control.real(request.time) // CELL)
