"""What requests are made from, for type checkers alone: nothing loads this module at run time.

A record holds a Decimal and a DateTime, and may be made from more: an int, decimal text, a datetime. Never from a float.
"""

from typing import Required, TypedDict

from keydesk_client.models._core.scalars import Number
from keydesk_client.models._core.times import Moment
from keydesk_client.models.details import (
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.enumerations import OrderPositionFill, OrderTriggerCondition, TimeInForce
from keydesk_client.models.extensions import ClientExtensions


class ExtensionsMembers(TypedDict, total=False):
    """What a client writes on its own orders and trades."""

    id: str | None
    """Unique among live orders, or among open trades."""
    tag: str | None
    """Free label."""
    comment: str | None
    """Free text."""


class LifeMembers(TypedDict, total=False):
    """How long an order lives, and what is written on it."""

    time_in_force: TimeInForce
    """FOK (usual) or IOC for market orders; GTC (usual), GTD or GFD for what rests."""
    gtd_time: Moment | None
    """When it expires; only together with GTD."""
    client_extensions: ClientExtensions | None
    """Id, tag and comment of the order."""


class LevelMembers(LifeMembers, total=False):
    """At which price, or how far away."""

    price: Number | None
    """In quote currency; exactly one of price and distance."""
    distance: Number | None
    """In price units, not pips; exactly one of price and distance."""


class StopLossMembers(LevelMembers, total=False):
    """Of a stop-loss on a trade."""

    guaranteed: bool | None
    """Deprecated: use a guaranteed stop-loss."""


class TrailingMembers(LifeMembers, total=False):
    """Of a trailing stop on a trade."""

    distance: Required[Number]
    """In price units, not pips: 0.0015 is 15 pips of EUR_USD."""


class OfTrade(TypedDict, total=False):
    """The trade that an order closes."""

    trade_id: Required[str]
    """The trade that it closes."""
    client_trade_id: str | None
    """Client id of that trade, if it has one."""
    trigger_condition: OrderTriggerCondition
    """Price side that triggers it."""


class OfTradeLevelMembers(OfTrade, LevelMembers, total=False):
    """Of a take-profit or guaranteed stop-loss as an order of its own."""


class OfTradeStopLossMembers(OfTrade, StopLossMembers, total=False):
    """Of a stop-loss as an order of its own."""


class OfTradeTrailingMembers(OfTrade, TrailingMembers, total=False):
    """Of a trailing stop as an order of its own."""


class EntryMembers(TypedDict, total=False):
    """What an entry order trades, and what it brings along."""

    instrument: Required[str]
    """As in EUR_USD."""
    units: Required[Number]
    """Signed size: plus buys, minus sells."""
    position_fill: OrderPositionFill
    """Whether it may open, reduce, or both."""
    time_in_force: TimeInForce
    """FOK (usual) or IOC for market orders; GTC (usual), GTD or GFD for what rests."""
    client_extensions: ClientExtensions | None
    """Id, tag and comment of the order."""
    take_profit_on_fill: TakeProfitDetails | None
    """Take-profit of the trade that it opens."""
    stop_loss_on_fill: StopLossDetails | None
    """Stop-loss of the trade that it opens."""
    guaranteed_stop_loss_on_fill: GuaranteedStopLossDetails | None
    """Guaranteed stop-loss of the trade that it opens."""
    trailing_stop_loss_on_fill: TrailingStopLossDetails | None
    """Trailing stop of the trade that it opens."""
    trade_client_extensions: ClientExtensions | None
    """Id, tag and comment of the trade that it opens."""


class MarketMembers(EntryMembers, total=False):
    """Of a market order."""

    price_bound: Number | None
    """Worst price accepted, in quote currency."""


class LimitMembers(EntryMembers, total=False):
    """Of a limit order."""

    price: Required[Number]
    """Trigger, in quote currency."""
    gtd_time: Moment | None
    """When it expires; only together with GTD."""
    trigger_condition: OrderTriggerCondition
    """Price side that triggers it."""


class StopMembers(LimitMembers, total=False):
    """Of a stop or market-if-touched order."""

    price_bound: Number | None
    """Worst price accepted, in quote currency."""
