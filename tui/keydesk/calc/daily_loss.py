"""The daily loss lock: exits only until 17:00 New York once the day has lost as much as its limit.

The loss is that of the day since 17:00 New York, counted from transactions; a limit in per cent is one of NAV at the day's
start plus transfers since, so that it follows what is paid in. `LossLock` is what has to survive a restart beside it: that
the limit was reached although the loss is smaller now, and the early unlock. A limit that is raised or removed counts from
the next day on: changing the settings on a bad day does not prevent the lock, nor does setting a clock back: a day that has
begun ends only at its own 17:00 New York. While the loss is not known nothing changes.
"""

from decimal import Decimal
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.market.trading_day import DAY_END_TEXT, day_start, next_day_start
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.text.format import duration, money
from keydesk_client.arithmetic.constants import PERCENT, SECOND, ZERO

WARN_AT = (70, 90)  # per cent of the limit
REACHED = 100
UNLOCK_AFTER_NS = 10 * 60 * SECOND
SENTENCE = "I accept a further loss today"


class LossEvent(Enum):
    """What happened to the lock."""

    WARNED = "warned"
    LOCKED = "locked"
    UNLOCKED = "unlocked early"
    NEW_DAY = "released by the new day"


class DayResult(Struct, frozen=True):
    """The result of the day, home currency; without a figure it is not known yet."""

    loss: Decimal | None = None  # negative: a profit
    base: Decimal | None = None  # NAV at the day's start plus transfers since
    currency: str = ""


class LossLock(Struct, frozen=True):
    """The lock of one trading day."""

    day_ns: int = 0  # when its day began; 0: none yet
    amount: Decimal | None = None  # the least limit of the day in home currency
    percent: Decimal | None = None  # the least one in per cent of the day's base
    limit: Decimal | None = None  # what follows from both, home currency
    is_on: bool = False
    warned: int = 0  # the highest share of the limit that was announced, per cent
    accepted: Decimal = ZERO  # the loss that an early unlock accepted: the limit counts from there
    unlock_at_ns: int | None = None  # when an early unlock takes effect
    start_nav: Decimal | None = None  # of a day whose start cannot be counted: as it was taken

    @property
    def ends_ns(self) -> int:
        """When the day ends, and the lock with it."""
        return next_day_start(self.day_ns)


def limit_of(
    amount: Decimal | None, percent: Decimal | None, base: Decimal | None
) -> Decimal | None:
    """Return the loss limit of a day in home currency: the smaller of amount and share of its base; None: there is none."""
    share = None
    if percent is not None and base is not None:
        share = percent / PERCENT * max(base, ZERO)
    return _least(amount, share)


def _least(*limits: Decimal | None) -> Decimal | None:
    return min((each for each in limits if each is not None), default=None)


def refused_limit(lock: LossLock, result: DayResult, limits: Limits) -> str:
    """Return why limits that are being typed would lock at once, "" if they would not."""
    limit = limit_of(limits.daily_loss, limits.daily_loss_percent, result.base)
    if lock.is_on or limit is None or result.loss is None:
        return ""
    lost = result.loss - lock.accepted
    if lost <= 0 or lost < limit:
        return ""
    share = f" ({money(lost / result.base * PERCENT)} %)" if result.base else ""
    return (
        f"{money(limit)} {result.currency} would lock the desk at once, {money(lost)}{share} are lost today: "
        f"type more, or wait for {DAY_END_TEXT}"
    )


def is_set(limits: Limits) -> bool:
    """Return whether the trader set a daily loss limit."""
    return limits.daily_loss is not None or limits.daily_loss_percent is not None


def kept_today(lock: LossLock, name: str, value: Decimal | None) -> Decimal | None:
    """Return the limit that stays in force until the day ends although `value` is set now; None: `value` counts at once."""
    least = {"daily_loss": lock.amount, "daily_loss_percent": lock.percent}.get(name)
    return least if least is not None and (value is None or value > least) else None


def share_used(lock: LossLock, loss: Decimal | None) -> Decimal | None:
    """Return the used share of the limit in per cent, None without a limit or a known loss."""
    if lock.limit is None or loss is None:
        return None
    lost = max(ZERO, loss - lock.accepted)
    if not lock.limit:
        return PERCENT if lost else ZERO
    return lost / lock.limit * PERCENT


def advance(
    lock: LossLock, now_ns: int, result: DayResult, limits: Limits
) -> tuple[LossLock, tuple[LossEvent, ...]]:
    """Return the lock at a time of the broker's clock, and what happened to it."""
    if result.loss is None:
        return lock, ()
    events: list[LossEvent] = []
    day = day_start(now_ns)
    if day > lock.day_ns:
        events += [LossEvent.NEW_DAY] if lock.is_on else []
        lock = LossLock(day)
    elif day < lock.day_ns and not lock.is_on:  # the clock was ahead, and is right again
        lock = replace(lock, day_ns=day)
    lock = _limited(lock, result, limits)
    if lock.unlock_at_ns is not None and now_ns >= lock.unlock_at_ns:
        accepted = max(lock.accepted, result.loss)
        lock = replace(lock, is_on=False, warned=0, accepted=accepted, unlock_at_ns=None)
        events.append(LossEvent.UNLOCKED)
    used = share_used(lock, result.loss)
    if used is None or lock.is_on:
        return lock, tuple(events)
    if used >= REACHED:
        return replace(lock, is_on=True, warned=REACHED), (*events, LossEvent.LOCKED)
    reached = max((share for share in WARN_AT if used >= share), default=0)
    if reached > lock.warned:
        return replace(lock, warned=reached), (*events, LossEvent.WARNED)
    return lock, tuple(events)


def _limited(lock: LossLock, result: DayResult, limits: Limits) -> LossLock:
    """Return the lock with the least limits of the day; a limit that was reached stays as it was."""
    amount = _least(lock.amount, limits.daily_loss)
    percent = _least(lock.percent, limits.daily_loss_percent)
    limit = lock.limit if lock.is_on else limit_of(amount, percent, result.base)
    return replace(lock, amount=amount, percent=percent, limit=limit)


def ask_unlock(lock: LossLock, now_ns: int) -> LossLock:
    """Return the lock with an early unlock under way; one that is under way is not begun anew."""
    if not lock.is_on or lock.unlock_at_ns is not None:
        return lock
    return replace(lock, unlock_at_ns=now_ns + UNLOCK_AFTER_NS)


def lock_text(lock: LossLock, now_ns: int) -> str:
    """Return why only exits are sent, and until when; "" while the lock is off."""
    if not lock.is_on:
        return ""
    limit = "" if lock.limit is None else f" of {money(lock.limit)}"
    left = f"until {DAY_END_TEXT}, in {duration((lock.ends_ns - now_ns) / SECOND)}"
    text = f"EXIT-ONLY: the daily loss limit{limit} was reached; {left}"
    if lock.unlock_at_ns is None:
        return text
    return f"{text}; early unlock in {duration(max(0, lock.unlock_at_ns - now_ns) / SECOND)}"


def event_text(event: LossEvent, lock: LossLock, result: DayResult, now_ns: int) -> str:
    """Return the message of an event."""
    currency = result.currency
    lost = money(result.loss)
    match event:
        case LossEvent.WARNED:
            return (
                f"DAILY LOSS {lost} {currency}: over {lock.warned} % of your limit of "
                f"{money(lock.limit)}; at the limit the desk is exit-only until {DAY_END_TEXT}"
            )
        case LossEvent.LOCKED:
            return f"{lock_text(lock, now_ns)}. Lost today: {lost} {currency}. Exits work"
        case LossEvent.UNLOCKED:
            again = lock.accepted + (lock.limit or ZERO)
            return f"The daily loss lock was released early; it locks again at a loss of {money(again)} {currency}"
        case LossEvent.NEW_DAY:
            return f"A new trading day began at {DAY_END_TEXT}: the daily loss lock is released"
