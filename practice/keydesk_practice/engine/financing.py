"""The daily financing at 17:00 New York: a year's rate on each open trade for the days that the weekday counts."""

from decimal import Decimal

from keydesk_practice.engine.fills.home_factors import conversion_factors
from keydesk_practice.engine.moments import weekday
from keydesk_practice.engine.money import NOTHING, ZERO, bare
from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.state.decision import Decision
from keydesk_practice.engine.state.records import Position, Trade
from keydesk_practice.engine.transactions import (
    DailyFinanced,
    OpenTradeFinancing,
    PositionFinancing,
)
from keydesk_practice.engine.valuation import in_home, specification_of

DAYS_OF_A_YEAR = 365
DAILY = "DAILY"
_STEP = Decimal("0.00000001")


def finance(decision: Decision) -> None:
    """Book the financing of the day that ends now; nothing happens when nothing is open or no day is charged."""
    account = decision.account
    found = [
        _position_financing(decision, position)
        for position in account.positions.values()
        if position.is_open
    ]
    charged = tuple(part for part in found if part is not None)
    if not charged:
        return
    total = sum((part.financing for part in charged), NOTHING)
    decision.record(
        DailyFinanced,
        financing=total,
        account_balance=account.balance + total,
        account_financing_mode=DAILY,
        position_financings=charged,
    )


def _position_financing(decision: Decision, position: Position) -> PositionFinancing | None:
    market = decision.market
    specification = specification_of(market, position.instrument)
    days = specification.financing_days[weekday(market.now)]
    if not days:
        return None
    ids = sorted((*position.long.trade_ids, *position.short.trade_ids))
    parts = tuple(
        _trade_financing(decision, decision.account.trades[id_], specification, days) for id_ in ids
    )
    return PositionFinancing(
        instrument=position.instrument,
        financing=sum((part.financing for part in parts), NOTHING),
        base_financing=bare(sum((part.base_financing or ZERO for part in parts), ZERO)),
        quote_financing=bare(sum((part.quote_financing or ZERO for part in parts), ZERO)),
        home_conversion_factors=conversion_factors(
            specification, market, decision.account.currency
        ),
        open_trade_financings=parts,
        account_financing_mode=DAILY,
    )


def _trade_financing(
    decision: Decision, trade: Trade, specification: Specification, days: int
) -> OpenTradeFinancing:
    """Return a trade's financing, on its base units or on their value in the quote currency, as the terms say.

    Something that is no currency has no base amount to be converted: it is always financed on its value.
    """
    account, market = decision.account, decision.market
    rate = specification.long_rate if trade.long else specification.short_rate
    base = abs(trade.current_units) * rate * days / DAYS_OF_A_YEAR
    quote = base * market.quote(trade.instrument).mid
    on_base = account.terms.financing_in == "BASE" and specification.type == "CURRENCY"
    currency = specification.base if on_base else specification.quote_currency
    amount = base if on_base else quote
    return OpenTradeFinancing(
        trade_id=trade.id,
        financing=in_home(amount, market.conversion(currency, account.currency)),
        base_financing=bare(base.quantize(_STEP)),
        quote_financing=bare(quote.quantize(_STEP)),
        financing_rate=bare(rate),
    )
