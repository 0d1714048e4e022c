"""`keydesk order close`, `protect` and `cancel`: what closes, cancels or tightens is refused by no limit, lock or old price."""

import asyncio
import os
from argparse import Namespace
from decimal import Decimal
from typing import Literal

from keydesk.calc.orders.instructions import Change, SetProtection
from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.option_values import instrument_of
from keydesk.cli.order.knowledge import knowledge_of, why_exits_only
from keydesk.cli.order.sending import Proposal, carry_out
from keydesk.cli.script_output import Refusal, UsageError, refusal_of
from keydesk.config.folders import find_folders
from keydesk.config.templates import load_templates
from keydesk.text.format import pair, units
from keydesk.text.sanitize import clean_name
from keydesk.trading.order_requests import (
    TILL_CANCELLED,
    LifetimeMembers,
    price_edit,
    trail_edit,
)
from keydesk.values import Command
from keydesk.words.order_text import change_text
from keydesk_client.errors import KeydeskClientError, NotFound
from keydesk_client.models import (
    StopLossDetails,
    StopLossOrder,
    TakeProfitDetails,
    TakeProfitOrder,
    Trade,
    TrailingStopLossOrder,
)
from keydesk_client.unset import UNSET

ALL: Literal["ALL"] = "ALL"
AGAIN = "the same command"


def close(options: Namespace) -> int:
    """Close a trade, or the position in an instrument; return the exit code."""
    return asyncio.run(_close(options))


async def _close(options: Namespace) -> int:
    async with open_account(options, for_exit=True) as account:
        if options.what.isdecimal():
            proposal = await _close_trade(account, options.what, options.units)
        else:
            proposal = await _close_position(account, options)
        return await carry_out(account, options, proposal, opens=False)


async def _close_trade(account: OpenAccount, trade_id: str, part: Decimal | None) -> Proposal:
    trade = await _trade(account, trade_id)
    held = abs(trade.current_units)
    amount = ALL if part is None or part >= held else part
    size = "all" if isinstance(amount, str) else units(amount)
    text = f"CLOSE {size} of #{clean_name(trade_id)} {pair(trade.instrument)}"
    return Proposal(
        "close",
        Command(text, AGAIN, instrument=trade.instrument, kind="close trade"),
        {"trade": trade_id, "units": str(amount)},
        lambda sender: sender.close_trade(trade_id, units=amount),
    )


async def _close_position(account: OpenAccount, options: Namespace) -> Proposal:
    if options.units is not None:
        raise UsageError("UNITS goes with the id of a trade; an instrument closes all of it")
    name = await instrument_of(account, options.what.upper().replace("/", "_"))
    position = (await account.client.positions.get(name)).position
    held = {"long": position.long.units, "short": position.short.units}
    sides = {side: ALL for side, amount in held.items() if amount}
    if not sides:
        raise Refusal(f"NOTHING WAS SENT: {pair(name)} has no position", "invalid")
    words = " and ".join(f"{side.upper()} {units(abs(held[side]))}" for side in sides)
    long_units, short_units = sides.get("long"), sides.get("short")
    return Proposal(
        "close",
        Command(
            f"CLOSE position {pair(name)} {words}", AGAIN, instrument=name, kind="close position"
        ),
        {"instrument": name, **{f"{side}Units": ALL for side in sides}},
        lambda sender: sender.close_position(name, long_units=long_units, short_units=short_units),
    )


def protect(options: Namespace) -> int:
    """Set, move or take away stop, target and trailing stop of a trade; return the exit code."""
    return asyncio.run(_protect(options))


async def _protect(options: Namespace) -> int:
    async with open_account(options, for_exit=True) as account:
        trade = await _trade(account, options.trade)
        change = SetProtection(
            options.trade,
            trade.instrument,
            _change(options.stop),
            _change(options.target),
            _change(options.trail),
        )
        await _refuse_more_risk_under_a_lock(account, trade, change, options.data)
        edits = {"stop": change.stop, "target": change.target, "trail": change.trail}
        proposal = Proposal(
            "protect",
            Command(
                f"{change_text(change, None)} on #{clean_name(options.trade)}",
                AGAIN,
                instrument=trade.instrument,
                kind="protection",
            ),
            {
                "trade": options.trade,
                **{
                    name: None if each is None else str(each)
                    for name, each in edits.items()
                    if each is not UNSET
                },
            },
            lambda sender: sender.set_dependent_orders(
                options.trade,
                stop_loss=price_edit(StopLossDetails, change.stop, _life_of(trade.stop_loss_order)),
                take_profit=price_edit(
                    TakeProfitDetails, change.target, _life_of(trade.take_profit_order)
                ),
                trailing_stop_loss=trail_edit(
                    change.trail, _life_of(trade.trailing_stop_loss_order)
                ),
            ),
        )
        return await carry_out(account, options, proposal, opens=False)


def _change(typed: Decimal | Literal["none"] | None) -> Change:
    if typed is None:
        return UNSET
    return None if isinstance(typed, str) else typed


async def _refuse_more_risk_under_a_lock(
    account: OpenAccount, trade: Trade, change: SetProtection, data: str | None
) -> None:
    """Refuse a stop that is taken away or moved away where no risk may be opened; a tighter one is an exit."""
    now = None if trade.stop_loss_order is None else trade.stop_loss_order.price
    removed = now is not None and change.stop is None
    side = 1 if trade.current_units > 0 else -1
    wider = isinstance(change.stop, Decimal) and now is not None and side * (change.stop - now) < 0
    if not (removed or wider):
        return
    limits = load_templates(find_folders(data, os.environ).config).limits
    async with knowledge_of(account, trade.instrument, limits) as known:
        if why := why_exits_only(account, known):
            raise Refusal(
                f"NOTHING WAS SENT: {why}. The stop of #{clean_name(trade.id)} may only be tightened"
            )


def _life_of(
    order: StopLossOrder | TakeProfitOrder | TrailingStopLossOrder | None,
) -> LifetimeMembers:
    """Return the time in force of the order in whose place another one comes."""
    if order is None or order.time_in_force is None:
        return TILL_CANCELLED
    return {"time_in_force": order.time_in_force, "gtd_time": order.gtd_time}


async def _trade(account: OpenAccount, trade_id: str) -> Trade:
    try:
        return (await account.client.trades.get(trade_id)).trade
    except NotFound as error:
        raise refusal_of(error, f"NOTHING WAS SENT: no trade {trade_id}", "invalid") from error


def cancel(options: Namespace) -> int:
    """Cancel an order; return the exit code."""
    return asyncio.run(_cancel(options))


async def _cancel(options: Namespace) -> int:
    async with open_account(options, for_exit=True) as account:
        await _refuse_unknown_order(account, options.order)
        proposal = Proposal(
            "cancel",
            Command(f"CANCEL order #{clean_name(options.order)}", AGAIN, kind="cancel"),
            {"order": options.order},
            lambda sender: sender.cancel(options.order),
        )
        return await carry_out(account, options, proposal, opens=False)


async def _refuse_unknown_order(account: OpenAccount, order_id: str) -> None:
    """Refuse an id that no order has, as for a trade; where that cannot be read, the cancel is sent and answered."""
    try:
        await account.client.orders.get(order_id)
    except NotFound as error:
        raise refusal_of(error, f"NOTHING WAS SENT: no order {order_id}", "invalid") from error
    except KeydeskClientError:
        return
