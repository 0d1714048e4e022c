"""The same calls without async: for scripts and notebooks.

keydesk practice serve > practice.json &
python without_async.py < practice.json
"""

import json
import sys

from keydesk_client import Client, sync
from keydesk_client.models import ClientPrice, MarketOrderRequest

place = json.loads(sys.stdin.readline())
account_id = place.pop("accounts")[0]["id"]

with sync.Client(Client(**place, account_id=account_id)) as client:
    print(client.accounts.summary().account.nav)
    client.orders.create(MarketOrderRequest(instrument="EUR_USD", units=100))
    for trade in client.trades.iterate(state="ALL"):
        print(trade.instrument, trade.current_units, trade.unrealized_pl)
    with client.pricing.stream(["EUR_USD"]) as prices:
        for item in prices:
            if isinstance(item, ClientPrice):
                print(item.instrument, item.closeout_bid)
                break
