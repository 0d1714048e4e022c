"""Guaranteed stops: where one may stand, and how much of them a price window may hold."""

from decimal import Decimal

from keydesk_practice.engine.money import ZERO
from keydesk_practice.engine.quotes import Quote, Specification
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.transactions import GuaranteedStopLossCreated
from keydesk_practice.engine.valuation import closing_price


def offered(account: Account, specification: Specification) -> bool:
    """Return whether the account may have guaranteed stops on the instrument."""
    return "DISABLED" not in (account.terms.guaranteed_mode, specification.guaranteed_mode)


def required(account: Account, specification: Specification) -> bool:
    """Return whether every trade of the instrument must have a guaranteed stop."""
    modes = (account.terms.guaranteed_mode, specification.guaranteed_mode)
    return "REQUIRED" in modes and "DISABLED" not in modes


def guaranteed_problem(
    account: Account,
    specification: Specification,
    quote: Quote,
    units: Decimal,
    level: Decimal,
    *,
    replaces: int | None = None,
) -> str | None:
    """Return why a guaranteed stop cannot stand at a level, as the end of a reject reason's name."""
    if not offered(account, specification):
        return "NOT_ALLOWED"
    position = account.position(specification.name)
    if position.short.units if units > 0 else position.long.units:
        return "HEDGING_NOT_ALLOWED"
    away = abs(closing_price(quote, units > 0) - level)
    if away < specification.guaranteed_minimum_distance:
        return "MINIMUM_DISTANCE_NOT_MET"
    window = specification.guaranteed_level_range
    most = specification.guaranteed_level_volume
    if (
        most
        and _volume_near(account, specification.name, level, window, replaces) + abs(units) > most
    ):
        return "LEVEL_RESTRICTION_VOLUME_EXCEEDED"
    return None


def _volume_near(
    account: Account, instrument: str, level: Decimal, window: Decimal, except_order: int | None
) -> Decimal:
    """Return the units whose guaranteed stops stand within a window round a level."""
    total = ZERO
    for order in account.orders.values():
        created = order.created
        if order.instrument != instrument or not isinstance(created, GuaranteedStopLossCreated):
            continue
        if order.id != except_order and abs(created.price - level) <= window / 2:
            total += abs(account.trades[created.trade_id].current_units)
    return total
