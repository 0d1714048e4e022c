"""Cancel every order, then close every position, and say what became of each; exit with 1 if anything is left.

keydesk practice serve > practice.json &
python close_everything.py private/orders.jsonl < practice.json    # the journal
"""

import json
import sys
from pathlib import Path
from tempfile import mkdtemp

from keydesk_client import Client, FileJournal, sync

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}
journal = FileJournal(sys.argv[1] if sys.argv[1:] else Path(mkdtemp()) / "orders.jsonl")

with sync.Client(Client(**place, account_id=account_id), timeout=60) as client:
    newest = client.accounts.summary().last_transaction_id
    sender = sync.Sender(client, journal, lambda: newest)
    for outcome in sender.recover():
        print(f"left open by an earlier run: {outcome}")

    for order, outcome in client.orders.cancel_all(sender):  # orders could open positions again
        print(f"order {order.id}: {outcome}")
    for position, outcome in client.positions.close_all(sender):
        print(f"{position.instrument}: {outcome}")

    left = (*client.orders.pending().orders, *client.positions.open().positions)
    print(f"{len(left)} left")
    sys.exit(1 if left else 0)
