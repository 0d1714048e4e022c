"""Each script of client/examples runs as it stands, its broker's JSON line on standard input."""

import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from keydesk_client import sync
from keydesk_client._sync_bridge import SyncResource
from support.broker import PracticeServer

FOLDER = Path(__file__).parents[2] / "client" / "examples"

TOLD = {
    "accounts": ": ['CLIENT_CONFIGURE']",
    "books": "% of the positions are long",
    "bot": '"held": ',
    "candles": " minutes between ",
    "orders": "not sent, because of price: price: 1.123456 has more than the 5 decimals of EUR_USD",
    "positions": "closed for ",
    "pricing": "EUR_USD: ",
    "sending": "filled, trade ",
    "streams": "filled: 100 at ",
    "tables": "365 rows",
    "trades": " earned ",
    "trading": "full_vwap,pl,account_balance\n",
    "transactions": "True",
    "without_async": "filled, trade ",
}
"""What a script says when it went well."""


def test_each_area_has_its_script() -> None:
    kinds = (kind for kind in vars(sync).values() if isinstance(kind, type))
    waiting = {kind for kind in kinds if SyncResource in kind.__bases__}
    areas = {kind.__name__.lower() for kind in waiting - {sync.Sender}}
    scripts = {path.stem for path in FOLDER.iterdir() if path.suffix == ".py"}
    assert scripts == TOLD.keys()
    assert areas <= scripts


@pytest.mark.parametrize("name", TOLD)
async def test_the_script_runs(name: str, desk_of_my_own: PracticeServer) -> None:
    desk = desk_of_my_own
    place = {
        "rest_url": desk.rest_url,
        "stream_url": desk.stream_url,
        "token": desk.token,
        "accounts": [asdict(account) for account in desk.accounts],
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", str(FOLDER / f"{name}.py")),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, complained = await process.communicate(json.dumps(place).encode() + b"\n")
    assert complained.decode() == ""
    assert process.returncode == 0
    assert TOLD[name] in said.decode()
