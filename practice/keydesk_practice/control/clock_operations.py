"""Pause, play, speed, step and jump."""

from keydesk_practice.broker.market_clock import COARSE_STEP, GRID
from keydesk_practice.control.bodies import Jump, NoMembers, Play, Speed, State, Step
from keydesk_practice.control.context import Control
from keydesk_practice.engine.wire_form import SECOND, rfc3339
from keydesk_practice.http.error_responses import HttpError, invalid_value
from keydesk_practice.market.bar_builder import Alignment
from keydesk_practice.market.candles import boundaries
from keydesk_practice.market.hours import CELL

MAX_SPEED = 100_000.0
MAX_CANDLES = 5_000
_HOUR, _DAY = 3_600 * SECOND, 86_400 * SECOND
MAX_JUMP = 366 * _DAY
_STEPS = ((6 * _HOUR, GRID), (7 * _DAY, 12 * GRID))  # distance up to which each step is taken


async def state(control: Control, _: NoMembers) -> State:
    """Return the market and its accounts."""
    return control.state()


async def pause(control: Control, _: NoMembers) -> State:
    """Stop the market's time."""
    await settle(control)
    return control.state()


async def play(control: Control, request: Play) -> State:
    """Let the market run on."""
    control.broker.play(None if request.speed is None else _checked_speed(request.speed))
    return control.state()


async def set_speed(control: Control, request: Speed) -> State:
    """Change the speed; a paused market stays paused."""
    clock = control.broker.clock
    clock.set(clock(), _checked_speed(request.speed))
    return control.state()


async def step(control: Control, request: Step) -> State:
    """Pause, then go on to the end of a candle."""
    if not 1 <= request.candles <= MAX_CANDLES:
        raise invalid_value("candles", f": use 1 to {MAX_CANDLES}")
    await settle(control)
    await _go_to(control, _end_of_step(control, request))
    return control.state()


def _end_of_step(control: Control, request: Step) -> int:
    """Return the end of the candle in progress, or of the `candles`-th one."""
    cell = control.real(control.broker.now()) // CELL
    for _ in range(request.candles):
        cell = int(boundaries(request.granularity, Alignment(), cell, cell + 1)[-1])
    return control.shown(cell * CELL)


async def jump(control: Control, request: Jump) -> State:
    """Go on to a later time."""
    now = control.broker.now()
    if request.time <= now:
        raise HttpError(
            409,
            f"The market is at {rfc3339(now)} and its time does not go back: begin a replay, "
            "which has a ledger of its own, or restore a checkpoint",
        )
    await _go_to(control, request.time)
    return control.state()


async def settle(control: Control) -> None:
    """Pause, and bring prices and accounts up to the clock."""
    control.broker.clock.pause()
    await control.broker.advance(control.broker.clock())


async def _go_to(control: Control, until: int) -> None:
    distance = until - control.broker.now()
    if distance > MAX_JUMP:  # the market's time does not go back
        raise invalid_value("time", ": more than a year ahead: begin a replay there")
    step = next((step for limit, step in _STEPS if distance <= limit), COARSE_STEP)
    await control.broker.advance(until, step)


def _checked_speed(value: float) -> float:
    """Return a speed; raise a 400 `HttpError` for one that the market cannot have."""
    if not 0 < value <= MAX_SPEED:
        raise invalid_value("speed", f": use a number above 0, at most {MAX_SPEED:g}")
    return value
