"""A bot that can be restarted: it trades moves of the price by risk, and continues where a crash or a lost link stopped it.

keydesk practice serve --speed 60 > practice.json &
python bot.py private/orders.jsonl 50 < practice.json    # its journal, and how many trades it makes
"""

import asyncio
import json
import sys
from decimal import Decimal
from pathlib import Path
from tempfile import mkdtemp

from keydesk_client import (
    AccountState,
    Client,
    FileJournal,
    PriceUpdated,
    Timeouts,
    TransactionApplied,
)
from keydesk_client.models import Instrument, MarketOrderRequest, StopLossDetails

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}
journal = FileJournal(sys.argv[1] if sys.argv[1:] else Path(mkdtemp()) / "orders.jsonl")
most_trades = int((sys.argv[2:] or ["3"])[0])
PAIRS = ("EUR_USD", "USD_JPY")
RISK = Decimal("0.002")  # of the NAV, lost when the stop is hit
MOVE, STOP = Decimal("0.1"), 15  # pips: worth a trade, and from entry to stop


def report(account: AccountState, words: str) -> None:
    """Print one line of JSON: newest transaction, time, positions, NAV, and what was done."""
    held = {pair: str(position.units) for pair, position in account.positions.items()}
    now = {"newest": account.newest, "time": account.prices[PAIRS[0]].time.text}
    print(json.dumps(now | {"held": held, "nav": str(account.nav), "did": words}), flush=True)


async def follow_move(account: AccountState, pair: Instrument, pips: Decimal) -> str:
    """Trade with a move; one against the position closes half of it, or what is left."""
    held = account.units(pair)
    if held * pips < 0:
        part = pair.round_units(abs(held) / 2) or abs(held)
        order = MarketOrderRequest(
            instrument=pair, units=part.copy_sign(pips), position_fill="REDUCE_ONLY"
        )
    else:
        distance = pair.round_price(STOP * pair.pip)
        size = pair.units_for_risk(account.nav * RISK, distance, account.conversion(pair.quote))
        order = MarketOrderRequest(
            instrument=pair,
            units=size.copy_sign(pips),
            stop_loss_on_fill=StopLossDetails(distance=distance),
        )
    return str(await account.sender.create(order, instrument=pair))


async def main() -> None:
    timeouts = Timeouts(connect=3.0, read=3.0, whole=6.0)
    async with (
        Client(**place, account_id=account_id, timeouts=timeouts) as client,
        client.follow(journal, instruments=PAIRS) as account,
    ):
        await account.wait_for(lambda: account.prices.keys() >= set(PAIRS))
        report(account, f"began; left open: {[str(each) for each in account.recovered]}")
        traded, last = 0, {pair: account.prices[pair].mid for pair in PAIRS}
        async for event in account.events(prices=True):
            match event:
                case PriceUpdated(price):
                    pair = account.instruments[price.instrument]
                    pips = pair.pips(price.mid - last[pair.name])
                    if abs(pips) >= MOVE and not account.interrupted:
                        last[pair.name] = price.mid
                        report(account, await follow_move(account, pair, pips))
                        traded += 1
                case TransactionApplied(transaction):
                    report(account, f"{transaction.id} {transaction.type}")
                case _:  # read anew, interrupted, restored, or an order that took effect late
                    report(account, str(event))
            if traded == most_trades:
                return


asyncio.run(main())
