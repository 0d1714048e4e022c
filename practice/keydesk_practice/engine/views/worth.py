"""What everything in an account is worth at an instant, worked out once for all the places that show it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal

from keydesk_practice.engine.money import NOTHING, home
from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account
from keydesk_practice.engine.state.records import Position
from keydesk_practice.engine.valuation import (
    closing_price,
    counted_units,
    margin_of_units,
    quote_conversion,
    unrealized,
    value_of_units,
)


@dataclass(frozen=True, slots=True)
class TradeWorth:
    """One open trade."""

    unrealized: Decimal
    at_mid: Decimal
    margin: Decimal


@dataclass(frozen=True, slots=True)
class PositionWorth:
    """One open position."""

    long: Decimal
    short: Decimal
    at_mid: Decimal
    margin: Decimal
    value: Decimal

    @property
    def unrealized(self) -> Decimal:
        """Both sides."""
        return self.long + self.short


FLAT = PositionWorth(NOTHING, NOTHING, NOTHING, NOTHING, NOTHING)


class Worth:
    """The values of an account's open trades and positions; trades add up to positions, positions to the account."""

    def __init__(
        self, account: Account, market: Market, trades: Mapping[int, TradeWorth] | None = None
    ) -> None:
        self.trades = dict(trade_worths(account, market)) if trades is None else trades
        self.positions = {
            name: position_worth(account, position, market, self.trades)
            for name, position in account.positions.items()
            if position.is_open
        }

    def position(self, instrument: str) -> PositionWorth:
        """Return the worth of a position, nothing for a flat one."""
        return self.positions.get(instrument, FLAT)

    def total(self, name: str) -> Decimal:
        """Return one of a position's numbers, summed over the account."""
        return sum((getattr(one, name) for one in self.positions.values()), NOTHING)


def trade_worths(account: Account, market: Market) -> Iterator[tuple[int, TradeWorth]]:
    """Return the worth of every open trade by its id, worked out as it is asked for."""
    return ((id_, trade_worth(account, id_, market)) for id_ in account.trades)


def trade_worth(account: Account, trade_id: int, market: Market) -> TradeWorth:
    """Return what one open trade is worth."""
    trade = account.trades[trade_id]
    quote = market.quote(trade.instrument)
    conversion = quote_conversion(account, market, trade.instrument)
    return TradeWorth(
        unrealized=unrealized(trade, closing_price(quote, trade.long), conversion),
        at_mid=unrealized(trade, quote.mid, conversion),
        margin=margin_of_units(account, market, trade.instrument, trade.current_units),
    )


def position_worth(
    account: Account,
    position: Position,
    market: Market,
    known: Mapping[int, TradeWorth] | None = None,
) -> PositionWorth:
    """Return what one position is worth; a flat one nothing."""
    if not position.is_open:
        return FLAT

    def of(ids: tuple[int, ...]) -> list[TradeWorth]:
        return [known[id_] if known else trade_worth(account, id_, market) for id_ in ids]

    long, short = of(position.long.trade_ids), of(position.short.trade_ids)
    units = counted_units(position)
    return PositionWorth(
        long=sum((one.unrealized for one in long), NOTHING),
        short=sum((one.unrealized for one in short), NOTHING),
        at_mid=sum((one.at_mid for one in (*long, *short)), NOTHING),
        margin=margin_of_units(account, market, position.instrument, units),
        value=home(value_of_units(account, market, position.instrument, units)),
    )
