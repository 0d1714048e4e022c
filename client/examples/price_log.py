"""Log prices as CSV without async; what was missed is a line of the log, too.

keydesk practice serve > practice.json &
python price_log.py 1000 < practice.json    # how many prices
"""

import csv
import json
import sys

from keydesk_client import Client, Gap, sync
from keydesk_client.errors import TimedOut
from keydesk_client.models import ClientPrice

SILENCE_S = 15.0

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}
left = int((sys.argv[1:] or ["4"])[0])
log = csv.writer(sys.stdout)
log.writerow(("time", "instrument", "bid", "ask", "spread"))

with (
    sync.Client(Client(**place, account_id=account_id)) as client,
    client.pricing.stream(["EUR_USD", "USD_JPY"]) as prices,
):
    while left:
        try:
            item = prices.next(timeout=SILENCE_S)
        except TimedOut:  # the stream reconnects by itself; nothing is lost by asking again
            log.writerow(("", f"nothing for {SILENCE_S:g} s", prices.health.last_error))
            continue
        if isinstance(item, ClientPrice):
            log.writerow((item.time, item.instrument, item.bid, item.ask, item.spread))
            left -= 1
        elif isinstance(item, Gap):
            log.writerow(("", f"{item.seconds:.1f} s were missed", item.reason))
