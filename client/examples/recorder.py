"""Record every transaction of an account, each once and in order, through lost links and kills of either side.

keydesk practice serve > practice.json &
python recorder.py transactions.jsonl 1000000 < practice.json    # the file, and how many it records
"""

import asyncio
import json
import sys
from pathlib import Path
from tempfile import mkdtemp
from typing import TextIO

from keydesk_client import Client, HistoryLost, Reconnected
from keydesk_client.models import TransactionHeartbeat, TransactionID

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}
path = Path(sys.argv[1] if sys.argv[1:] else Path(mkdtemp()) / "transactions.jsonl")
wanted = int((sys.argv[2:] or ["2"])[0])


def last_recorded() -> TransactionID:
    """Return the id of the last whole line; cut off one that a kill left half written."""
    text = path.read_bytes() if path.exists() else b""
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        path.write_bytes(whole)
    lines = whole.splitlines()
    return TransactionID(json.loads(lines[-1])["id"] if lines else "0")


async def record(since: TransactionID, file: TextIO) -> None:
    """Write transactions until as many as wanted are recorded."""
    left = wanted
    async with (
        Client(**place, account_id=account_id) as client,
        client.transactions.stream(since=since) as transactions,
    ):
        async for item in transactions:
            match item:
                case TransactionHeartbeat():
                    continue
                case Reconnected():  # what was missed follows
                    print(f"reconnected after {item.seconds:.1f} s: {item.reason}")
                case HistoryLost():
                    sys.exit(f"the service does not know transaction {since}: start a new file")
                case _:
                    print(json.dumps(item.to_wire()), file=file, flush=True)
                    since, left = item.id, left - 1
            if left == 0:
                break
    print(f"recorded {wanted}, up to transaction {since}")


last = last_recorded()
print(f"continues after transaction {last}")
with path.open("a") as file:
    asyncio.run(record(last, file))
