"""What requests are made from, for type checkers alone: nothing loads this module at run time.

A record holds a Decimal and a DateTime, and may be made from more: an int, decimal text, a datetime. Never from a float.
"""

from typing import Required, TypedDict

from keydesk_client.models.details import (
    GuaranteedStopLossDetails,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
)
from keydesk_client.models.enumerations import OrderPositionFill, OrderTriggerCondition, TimeInForce
from keydesk_client.models.extensions import ClientExtensions
from keydesk_client.models.scalars import Number
from keydesk_client.models.times import Moment


class ExtensionsMembers(TypedDict, total=False):
    """What a client writes on its own orders and trades."""

    id: str | None
    tag: str | None
    comment: str | None


class LifeMembers(TypedDict, total=False):
    """How long an order lives, and what is written on it."""

    time_in_force: TimeInForce
    gtd_time: Moment | None
    client_extensions: ClientExtensions | None


class LevelMembers(LifeMembers, total=False):
    """At which price, or how far away."""

    price: Number | None
    distance: Number | None


class StopLossMembers(LevelMembers, total=False):
    guaranteed: bool | None


class TrailingMembers(LifeMembers, total=False):
    distance: Required[Number]


class OfTrade(TypedDict, total=False):
    """The trade that an order closes."""

    trade_id: Required[str]
    client_trade_id: str | None
    trigger_condition: OrderTriggerCondition


class OfTradeLevelMembers(OfTrade, LevelMembers, total=False):
    pass


class OfTradeStopLossMembers(OfTrade, StopLossMembers, total=False):
    pass


class OfTradeTrailingMembers(OfTrade, TrailingMembers, total=False):
    pass


class EntryMembers(TypedDict, total=False):
    """What an entry order trades, and what it brings along."""

    instrument: Required[str]
    units: Required[Number]
    position_fill: OrderPositionFill
    time_in_force: TimeInForce
    client_extensions: ClientExtensions | None
    take_profit_on_fill: TakeProfitDetails | None
    stop_loss_on_fill: StopLossDetails | None
    guaranteed_stop_loss_on_fill: GuaranteedStopLossDetails | None
    trailing_stop_loss_on_fill: TrailingStopLossDetails | None
    trade_client_extensions: ClientExtensions | None


class MarketMembers(EntryMembers, total=False):
    price_bound: Number | None


class LimitMembers(EntryMembers, total=False):
    price: Required[Number]
    gtd_time: Moment | None
    trigger_condition: OrderTriggerCondition


class StopMembers(LimitMembers, total=False):
    price_bound: Number | None
