"""Use the client without async, in a script or a notebook, and send an order without duplicates.

keydesk practice serve > practice.json &
python without_async.py < practice.json
"""

import json
import queue
import sys
import tempfile
from pathlib import Path

from keydesk_client import Client, Done, FileJournal, Outcome, sync
from keydesk_client.models import ClientPrice, MarketOrderRequest

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}

late: queue.SimpleQueue[Outcome] = queue.SimpleQueue()  # alarms come in the client's own thread

with (
    sync.Client(Client(**place, account_id=account_id)) as client,
    tempfile.TemporaryDirectory() as folder,
):
    summary = client.accounts.summary()
    print(summary.account.nav)

    newest = summary.last_transaction_id
    journal = FileJournal(Path(folder) / "orders.jsonl")
    sender = sync.Sender(client, journal, lambda: newest, alarm=late.put)
    for outcome in sender.recover():
        print(f"left open by an earlier run: {outcome}")
    match sender.create(MarketOrderRequest(instrument="EUR_USD", units=100)):
        case Done(result=result, trade_id=trade_id):
            print(f"{result}, trade {trade_id}")
        case outcome:
            print(f"check before you send it again: {outcome}")

    for trade in client.trades.iterate(state="ALL"):
        print(trade.instrument, trade.current_units, trade.unrealized_pl)
    with client.pricing.stream(["EUR_USD"]) as prices:
        for item in prices:
            if isinstance(item, ClientPrice):
                print(item.instrument, item.closeout_bid)
                break
