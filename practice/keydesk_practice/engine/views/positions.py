"""A position as the wire shows it; flat sides are there too."""

from decimal import Decimal
from typing import Any

from keydesk_practice.engine.money import bare, text
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Side
from keydesk_practice.engine.valuation import specification_of
from keydesk_practice.engine.views.worth import PositionWorth, position_worth


def position(
    account: Account, instrument: str, market: Market, worth: PositionWorth | None = None
) -> dict[str, Any]:
    """Return the position of an instrument."""
    one = account.position(instrument)
    found = worth or position_worth(account, one, market)
    pl = text(one.long.pl + one.short.pl)
    shown = {
        "instrument": instrument,
        "pl": pl,
        "unrealizedPL": text(found.unrealized),
        "resettablePL": pl,
        "financing": text(one.long.financing + one.short.financing),
        "commission": text(one.commission),
        "dividendAdjustment": text(one.long.dividend_adjustment + one.short.dividend_adjustment),
        "guaranteedExecutionFees": text(
            one.long.guaranteed_execution_fees + one.short.guaranteed_execution_fees
        ),
        "long": _side(one.long, found.long, instrument, market),
        "short": _side(one.short, found.short, instrument, market),
    }
    return {**shown, "marginUsed": text(found.margin)} if one.is_open else shown


def _side(side: Side, unrealized: Decimal, instrument: str, market: Market) -> dict[str, Any]:
    shown: dict[str, Any] = {"units": text(bare(side.units))}
    if side.units:
        step = specification_of(market, instrument).price_step
        shown["averagePrice"] = text((side.value / side.units).quantize(step))
        shown["tradeIDs"] = [str(id_) for id_ in side.trade_ids]
    return {
        **shown,
        "pl": text(side.pl),
        "unrealizedPL": text(unrealized),
        "resettablePL": text(side.pl),
        "financing": text(side.financing),
        "dividendAdjustment": text(side.dividend_adjustment),
        "guaranteedExecutionFees": text(side.guaranteed_execution_fees),
    }


def moving_position(instrument: str, worth: PositionWorth) -> dict[str, str]:
    """Return the moving part of an open position."""
    return {
        "instrument": instrument,
        "netUnrealizedPL": text(worth.unrealized),
        "longUnrealizedPL": text(worth.long),
        "shortUnrealizedPL": text(worth.short),
        "marginUsed": text(worth.margin),
    }
