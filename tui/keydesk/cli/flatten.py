"""`keydesk flatten`: close every position and cancel every entry order, from a second login."""

import asyncio
import random
from argparse import Namespace
from collections.abc import Sequence

from keydesk.cli.arguments import parse_out_of_band
from keydesk.cli.asking import confirmed
from keydesk.cli.out_of_band import get_out
from keydesk.cli.reaching import account_parser, reached
from keydesk.cli.refusal import Refusal
from keydesk.keys.confirm import Letters
from keydesk.terminal.output import say
from keydesk.text.sanitize import safe
from keydesk.trading.flattening import Standing, standing_at_broker


def flatten(words: Sequence[str]) -> int:
    """Do it; returns the exit code: 0 means flat."""
    parser = account_parser("flatten", "Close every position and cancel every entry order.")
    return asyncio.run(_flatten(parse_out_of_band(parser, words)))


async def _flatten(options: Namespace) -> int:
    async with reached(options) as reach:
        standing = await standing_at_broker(reach.client)
        if standing.is_flat:
            say(safe(f"FLAT: {reach.name} has no position and no entry order"))
            return 0
        say(safe(f"FLATTEN {reach.name}: {_counted(standing)}: {standing.words}"))
        letter = Letters(random.SystemRandom().choice).draw()
        if not (options.yes or confirmed(letter, "flatten")):
            raise Refusal("nothing was sent")
        left = await get_out(reach, "flatten", lambda whole: whole, standing)
        if left.is_flat:
            say(safe(f"FLAT: {reach.name} has no position and no entry order"))
            return 0
        raise Refusal(f"NOT FLAT, still there: {left.words}; again: keydesk flatten")


def _counted(standing: Standing) -> str:
    trades, orders = len(standing.trades), len(standing.orders)
    return (
        f"close {trades} {'trade' if trades == 1 else 'trades'}, "
        f"cancel {orders} entry {'order' if orders == 1 else 'orders'}"
    )
