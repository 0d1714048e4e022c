"""Keep a CSV file of candles up to date: each run appends those that finished since its last row, also after a kill.

keydesk practice serve > practice.json &
python candle_file.py candles.csv 2026-11-26T00:00:00Z < practice.json    # where the file begins
"""

import csv
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from keydesk_client import Client, sync

line = json.loads(sys.stdin.readline())
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}
usual = ("candles.csv", (datetime.now(UTC) - timedelta(hours=6)).isoformat())
path, begin = (*sys.argv[1:], *usual[len(sys.argv) - 1 :])

Path(path).touch()
with Path(path).open("r+", newline="") as file, sync.Client(Client(**place)) as client:
    text = file.read()
    whole = text[: text.rfind("\n") + 1]  # a last line without an end was cut off by a kill
    rows = whole.splitlines()
    last = rows[-1].partition(",")[0] if len(rows) > 1 else ""
    file.seek(len(whole))
    file.truncate()
    added, table = 0, csv.writer(file)
    for candle in client.candles.iterate(
        "EUR_USD", granularity="M1", from_=last or begin, include_first=not last
    ):
        row = candle.row(numbers=str, times=str)
        if not rows:
            table.writerow(row)
            rows.append("the names of the columns")
        if candle.complete:  # the newest one may be forming
            table.writerow(row.values())
            added += 1

print(f"{added} candles after {last or begin}")
