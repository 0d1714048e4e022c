"""Turn records into rows for a CSV file or a database; with pandas installed, into data frames.

keydesk practice serve > practice.json &
python tables.py < practice.json
"""

import json
import sys

from keydesk_client import Client, sync

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}

with sync.Client(Client(**place, account_id=account_id)) as client:
    year = client.candles.iterate(
        "EUR_USD", granularity="D", from_="2023-01-01T00:00:00Z", to="2024-01-01T00:00:00Z"
    )
    rows = [candle.row(numbers=float, times=str) for candle in year]
    print(*rows[0], sep=",")
    print(*rows[0].values(), sep=",")

    book = client.books.order("EUR_USD").order_book
    levels = [bucket.row() for bucket in book.buckets]  # Decimal, digit for digit
    print(levels[0])

    history = [each.row(times=str) for each in client.transactions.iterate()]
    print(sorted({name for row in history for name in row}))

    try:
        import pandas as pd
    except ImportError:
        print(f"{len(rows)} rows, and no pandas here to make a frame of them")
    else:
        frame = pd.DataFrame(rows).set_index("time")
        frame.index = pd.to_datetime(frame.index, utc=True)
        print(frame.describe(), pd.DataFrame(levels), pd.DataFrame(history), sep="\n")
        print(f"{len(rows)} rows")
