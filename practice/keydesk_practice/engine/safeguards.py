"""The FIFO rules of a US division; other accounts have none of them.

The oldest trade of a size closes first. So that no dependent order can break that, trades of one instrument that have
the same size may not carry any.
"""

from decimal import Decimal

from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Trade


def has_elder_twin(account: Account, trade: Trade) -> bool:
    """Return whether an older trade of the same size would have to close before this one."""
    twins = _of_size(account, trade.instrument, trade.current_units)
    return account.terms.fifo and any(twin.id < trade.id for twin in twins)


def has_twin(account: Account, trade: Trade) -> bool:
    """Return whether another trade has the same size, so that this one may not carry dependent orders."""
    twins = _of_size(account, trade.instrument, trade.current_units)
    return account.terms.fifo and any(twin.id != trade.id for twin in twins)


def would_break(account: Account, instrument: str, units: Decimal, *, protected: bool) -> bool:
    """Return whether opening a trade would put dependent orders on trades of the same size."""
    twins = _of_size(account, instrument, units)
    return account.terms.fifo and any(protected or twin.dependents for twin in twins)


def _of_size(account: Account, instrument: str, units: Decimal) -> list[Trade]:
    return [
        trade
        for trade in account.trades.values()
        if trade.instrument == instrument and trade.current_units == units
    ]
