"""Finding what a specifier names: an id, or `@` and a client id."""

from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Order, Trade


def number_in(specifier: str) -> int | None:
    """Return the id that a specifier is, None for a client id or anything else."""
    plain = specifier.isascii() and specifier.isdecimal() and len(specifier) <= 18  # noqa: PLR2004 - beyond any id
    return int(specifier) if plain else None


def label_in(specifier: str) -> str | None:
    """Return the client id that a specifier names, None for an id."""
    return specifier[1:] if specifier.startswith("@") else None


def pending_order(account: Account, specifier: str) -> Order | None:
    """Return the pending order that a specifier names."""
    label = label_in(specifier)
    order_id = number_in(specifier) if label is None else account.order_ids.get(label)
    return account.orders.get(order_id or 0)


def open_trade(account: Account, specifier: str) -> Trade | None:
    """Return the open trade that a specifier names."""
    label = label_in(specifier)
    trade_id = number_in(specifier) if label is None else account.trade_ids.get(label)
    return account.trades.get(trade_id or 0)
