"""Closed trades of the journal by their result."""

from collections.abc import Sequence
from decimal import Decimal

from keydesk.calc.trade_journal.trades import Execution, JournalTrade

D = Decimal
HOUR = 3_600_000_000_000
MONDAY = 1_709_553_600_000_000_000  # 2024-03-04 12:00 UTC


def closed_trade(
    result: str | Decimal,
    number: int = 1,
    *,
    opened_ns: int | None = None,
    hold_ns: int = HOUR,
    risk: str | None = "100",
    instrument: str = "EUR_USD",
    units: int = 10_000,
) -> JournalTrade:
    """Return a trade with one exit; the numbers follow one another by two hours."""
    opened = MONDAY + number * 2 * HOUR if opened_ns is None else opened_ns
    entry = Execution(opened, D(units), D("1.08500"), "MARKET_ORDER")
    leaves = Execution(
        opened + hold_ns, D(-units), D("1.08600"), "MARKET_ORDER_TRADE_CLOSE", D(result)
    )
    id_ = str(number)
    return JournalTrade(
        id_,
        id_,
        (id_,),
        instrument,
        (entry,),
        (leaves,),
        initial_risk=None if risk is None else D(risk),
    )


def closed_trades(rs: Sequence[str], risk: str = "100") -> list[JournalTrade]:
    """Return trades by their R, one after another."""
    return [closed_trade(D(r) * D(risk), number, risk=risk) for number, r in enumerate(rs, 1)]
