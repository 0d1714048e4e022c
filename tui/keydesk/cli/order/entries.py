"""`keydesk order buy` and `sell`: a ticket filled by words, with the desk's checks, limits and locks."""

import asyncio
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders.checks import CheckContext, check_ticket
from keydesk.calc.orders.first_draft import first_draft
from keydesk.calc.orders.plans.exit_plans import NO_RULES
from keydesk.calc.orders.ticket import Plan, work_out
from keydesk.calc.orders.ticket_draft import Draft, Side
from keydesk.calc.orders.ticket_settings import Template
from keydesk.calc.risk.trading_context import TradingContext
from keydesk.cli.account_access import OpenAccount, open_account
from keydesk.cli.option_values import instrument_of
from keydesk.cli.order.knowledge import MarketSnapshot, knowledge_of, why_exits_only
from keydesk.cli.order.sending import Proposal, carry_out
from keydesk.cli.script_output import Refusal, UsageError
from keydesk.config.folders import find_folders
from keydesk.config.price_levels import load_levels
from keydesk.config.templates import load_templates
from keydesk.parse.orders import OrderSyntaxError, parse_order
from keydesk.store.risk import open_risk_of, usual_size
from keydesk.text.format import money
from keydesk.text.typed import tokens
from keydesk.trading.entry_requests import OpenOrder, opening_command, order_of
from keydesk.values import Command
from keydesk.words.order_text import open_text

FIRST_PRESET = 1


def buy(options: Namespace) -> int:
    """Buy, or show what would be bought; return the exit code."""
    return asyncio.run(_enter("BUY", options))


def sell(options: Namespace) -> int:
    """Sell, or show what would be sold; return the exit code."""
    return asyncio.run(_enter("SELL", options))


async def _enter(side: Side, options: Namespace) -> int:
    folder = find_folders(options.data, os.environ).config
    try:
        words = tokens(" ".join(options.words))
        typed = parse_order(words, _levels(words, options.instrument, folder))
    except OrderSyntaxError as error:
        raise UsageError(str(error)) from error
    own = load_templates(folder)
    async with open_account(options) as account:
        instrument = await instrument_of(account, options.instrument)
        async with knowledge_of(account, instrument, own.limits) as known:
            draft = typed.on(_blank(side, instrument, known, own.standard), known.store.now_ns)
            proposal = _proposal(account, draft, known)
            return await carry_out(account, options, proposal, opens=True)


def _levels(words: Sequence[str], instrument: str, folder: Path) -> Sequence[PriceLevel]:
    """Return the trader's price levels of an instrument whose name is written out, if the order names one."""
    if not any(sign == "@" and word[0].isalpha() for sign, word in pairwise(words)):
        return ()
    plain = "".join(letter for letter in instrument.upper() if letter.isalnum())
    levels = load_levels(folder).items()
    return next((each for name, each in levels if name.replace("_", "") == plain), ())


def _blank(side: Side, instrument: str, known: MarketSnapshot, template: Template) -> Draft:
    """Return the ticket of the template; exit plans and scale-outs need a desk that is open."""
    draft = first_draft(side, instrument, known.context, template, FIRST_PRESET)
    return replace(draft, members=replace(draft.members, scale=""))


def _proposal(account: OpenAccount, draft: Draft, known: MarketSnapshot) -> Proposal:
    """Return the order of a ticket.

    Raises:
        Refusal: the ticket's checks, a limit or a lock refuse it; never what only reduces a position.
    """
    store, context = known.store, known.context
    plan = work_out(draft, context, known.limits)
    now = CheckContext(
        wall_ns=store.now_ns,
        rtt_ms=store.health.rtt_ms,
        open_risk=open_risk_of(store),
        zone=store.zone,
        usual_size=usual_size(store, draft.instrument),
    )
    verdict = check_ticket(draft, plan, context, known.limits, now)
    locked = "" if plan.reduces else why_exits_only(account, known)
    if refusals := [*verdict.refusals, *([locked] if locked else [])]:
        raise Refusal(f"NOTHING WAS SENT: {'; '.join(refusals)}")
    order = order_of(draft, plan, NO_RULES, (), now_ns=store.now_ns, zone=store.zone)
    if order is None:
        raise Refusal("NOTHING WAS SENT: a field of the order cannot be read", "invalid")
    request = order.request
    return Proposal(
        "buy" if draft.side == "BUY" else "sell",
        _command(order, context),
        request.to_wire(),
        lambda sender: sender.create(request),
        verdict.warnings,
        _figures(order, plan),
    )


def _command(order: OpenOrder, context: TradingContext) -> Command:
    request = order.request
    command = Command(
        open_text(request),
        "the same command",
        pip=context.rules.pip,
        instrument=request.instrument,
    )
    return opening_command(command, request, order.expected)


def _figures(order: OpenOrder, plan: Plan) -> Mapping[str, str]:
    """Return the levels, and the risk in home currency where it is known."""
    levels = plan.levels
    known = {
        "units": order.request.units,
        "price": order.expected,
        "bound": levels.bound,
        "stop": levels.stop,
        "target": levels.target,
        "trail": levels.trail,
        "margin": None if plan.margin is None else money(plan.margin),
        "risk": None if plan.risk is None else money(plan.risk),
    }
    return {name: str(value) for name, value in known.items() if value is not None}
