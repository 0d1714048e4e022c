"""Trade by risk: size by NAV, with stop and target, trail the stop, close in two parts, write the fills to a CSV file.

keydesk practice serve > practice.json &
python trading.py < practice.json
"""

import asyncio
import csv
import json
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

from keydesk_client import Client, Done, FileJournal, HistoryLost, Reconnected, Sender
from keydesk_client.models import (
    ClientPrice,
    Instrument,
    MarketOrderRequest,
    StopLossDetails,
    TakeProfitDetails,
    TrailingStopLossDetails,
    TransactionHeartbeat,
)

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}
RISK = Decimal("0.005")  # of the NAV, lost when the stop is hit


async def first_price(client: Client, pair: str) -> ClientPrice:
    async with client.pricing.stream([pair], include_home_conversions=True) as prices:
        async for item in prices:
            if isinstance(item, ClientPrice):
                return item
    raise LookupError(f"no price of {pair}")


def bracket(nav: Decimal, price: ClientPrice, pair: Instrument) -> MarketOrderRequest:
    """Buy as much as loses RISK of the NAV over 20 pips; the target is twice as far."""
    distance = 20 * pair.pip
    currency = pair.name.partition("_")[2]
    loss_per_unit = distance * price.home_conversion(currency).account_loss
    return MarketOrderRequest(
        instrument=pair.name,
        units=pair.round_units(nav * RISK / loss_per_unit),
        stop_loss_on_fill=StopLossDetails(price=price.ask - distance),
        take_profit_on_fill=TakeProfitDetails(price=price.ask + 2 * distance),
    )


async def main(folder: Path) -> None:
    async with Client(**place, account_id=account_id) as client:
        summary = await client.accounts.summary()
        newest = began = int(summary.last_transaction_id)
        sender = Sender(client, FileJournal(folder / "orders.jsonl"), lambda: newest, alarm=print)

        async def listen() -> None:
            nonlocal newest
            async with client.transactions.stream(since=began) as transactions:
                async for item in transactions:
                    match item:
                        case TransactionHeartbeat():
                            continue
                        case Reconnected():
                            print(item)  # what was missed follows
                        case HistoryLost():
                            account = (await client.accounts.get()).account
                            newest = int(account.last_transaction_id)
                            print(f"{len(account.trades)} trades after {item}")
                        case _:
                            newest = int(item.id)
                            sender.watch(item)

        listening = asyncio.create_task(listen())
        for settled in await sender.recover():
            print(f"left open by an earlier run: {settled}")

        (pair,) = (await client.accounts.instruments(["USD_JPY"])).instruments
        order = bracket(summary.account.nav, await first_price(client, pair.name), pair)
        opened = await sender.create(order, instrument=pair)
        print(opened)
        if isinstance(opened, Done) and opened.trade_id is not None:
            trail = TrailingStopLossDetails(distance=15 * pair.pip)
            print(
                await sender.set_dependent_orders(
                    opened.trade_id, stop_loss=None, trailing_stop_loss=trail, instrument=pair
                )
            )
            half = pair.round_units(order.units / 2)
            print(await sender.close_trade(opened.trade_id, units=half))
            print(await sender.close_trade(opened.trade_id))
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

        with (folder / "fills.csv").open("w", newline="") as file:
            columns = ["time", "id", "instrument", "units", "full_vwap", "pl", "account_balance"]
            table = csv.DictWriter(file, columns, extrasaction="ignore")
            table.writeheader()
            async for fill in client.transactions.iterate_since(began, type_=["ORDER_FILL"]):
                table.writerow(fill.row())  # Decimal and DateTime are written digit for digit
        print((folder / "fills.csv").read_text())


with tempfile.TemporaryDirectory() as here:
    asyncio.run(main(Path(here)))
