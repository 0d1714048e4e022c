"""Send an order without duplicates: journalled first, sent once, looked up when its response is lost.

keydesk practice serve > practice.json &
python sending.py < practice.json
"""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

from keydesk_client import (
    Ambiguous,
    Client,
    Done,
    FileJournal,
    NotSent,
    Rejected,
    Sender,
    Unconfirmed,
)
from keydesk_client.models import MarketOrderRequest

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}


async def main(folder: Path) -> None:
    async with Client(**place, account_id=account_id) as client:
        newest = (await client.accounts.summary()).last_transaction_id
        journal = FileJournal(folder / "orders.jsonl")
        sender = Sender(client, journal, lambda: newest, alarm=print)
        for outcome in await sender.recover():
            print(f"left open by an earlier run: {outcome}")

        match await sender.create(MarketOrderRequest(instrument="EUR_USD", units=1000)):
            case Done(result=result, trade_id=trade_id):
                print(f"{result}, trade {trade_id}")
            case Rejected(message=message) | NotSent(message=message):
                print(f"nothing changed: {message}")
            case Unconfirmed() | Ambiguous() as unsure:
                print(f"check before you send it again: {unsure}")


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(Path(folder)))
