"""Read an account: its amounts, its instruments, and its changes since a transaction.

keydesk practice serve > practice.json &
python accounts.py < practice.json
"""

import asyncio
import json
import sys

from keydesk_client import Client

line = json.loads(sys.stdin.readline())
account_id = line["accounts"][0]["id"]
place = {name: line[name] for name in ("rest_url", "stream_url", "token")}


async def main() -> None:
    async with Client(**place, account_id=account_id) as client:
        for each in (await client.accounts.list()).accounts:
            print(each.id)

        summary = (await client.accounts.summary()).account
        print(f"{summary.alias}: {summary.nav} {summary.currency}, {summary.margin_used} in use")

        instruments = (await client.accounts.instruments(["EUR_USD", "USD_JPY"])).instruments
        for instrument in instruments:
            print(f"{instrument.name}: {instrument.display_precision} decimals")

        changed = await client.accounts.configure(alias="Practice")
        seen = summary.last_transaction_id
        news = (await client.accounts.changes(seen)).changes
        print(f"since {seen}: {[each.type for each in news.transactions]}")
        print(f"the newest transaction is {changed.last_transaction_id}")


asyncio.run(main())
