"""`keydesk cancel-all`: cancel every entry order, from a second login; what protects trades stays."""

import asyncio
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace

from keydesk.cli.arguments import parse_out_of_band
from keydesk.cli.asking import confirmed
from keydesk.cli.out_of_band import get_out
from keydesk.cli.reaching import account_parser, reached
from keydesk.cli.refusal import Refusal
from keydesk.keys.guard import SEND
from keydesk.terminal.output import say
from keydesk.text.sanitize import safe
from keydesk.trading.flattening import Standing, standing_at_broker


def cancel_all(words: Sequence[str]) -> int:
    """Do it; returns the exit code: 0 means that none is left."""
    parser = account_parser(
        "cancel-all", "Cancel every entry order; stops and targets of trades stay."
    )
    return asyncio.run(_cancel_all(parse_out_of_band(parser, words)))


async def _cancel_all(options: Namespace) -> int:
    async with reached(options) as reach:
        standing = _entries(await standing_at_broker(reach.client))
        if standing.is_flat:
            say(safe(f"{reach.name} has no entry order"))
            return 0
        say(safe(f"CANCEL {reach.name}: {standing.words}"))
        if not (options.yes or confirmed(SEND, "cancel them")):
            raise Refusal("nothing was sent")
        left = await get_out(reach, "cancel-all", _entries, standing)
        if left.is_flat:
            say(safe(f"{reach.name} has no entry order"))
            return 0
        raise Refusal(f"NOT CANCELLED, still there: {left.words}; again: keydesk cancel-all")


def _entries(standing: Standing) -> Standing:
    return replace(standing, trades=(), unreadable_trades=0)
