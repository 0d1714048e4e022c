"""The transaction log at a real terminal: back to the first line, a filter, details, and from one relation to the next."""

import asyncio
from pathlib import Path

from support.broker import PracticeServer, practice_server
from support.terminal import Terminal, keydesk

NAMED = 600  # changes of the account's name: more than are read at the start


async def fill_ledger(server: PracticeServer) -> str:
    """Trade once, then write so many lines that the trade is far back; return the trade's id."""
    order = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000", "timeInForce": "FOK"}
    stop = {"stopLossOnFill": {"distance": "0.05000"}}
    answer = (await server.send("POST", "{a}/orders", {"order": order | stop})).json()
    trade_id = str(answer["orderFillTransaction"]["id"])
    await server.send("PUT", f"{{a}}/trades/{trade_id}/close", {"units": "ALL"})
    names = ({"alias": f"name {number}"} for number in range(NAMED))
    await asyncio.gather(*(server.send("PATCH", "{a}/configuration", name) for name in names))
    return trade_id


async def test_the_log_is_read_back_to_the_first_line_filtered_and_followed(
    practice_folder: Path,
) -> None:
    home = practice_folder / "home"
    home.mkdir(mode=0o700)
    served = ("--data", str(home / "practice"), "--rate-limit", "100000")
    async with practice_server(practice_folder, *served) as server:
        trade_id = await fill_ledger(server)
    env = {"KEYDESK_HOME": str(home), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), (120, 35), env) as desk:
        desk.see("prices ok")
        desk.press("g", "l")
        desk.see("alias name")
        desk.press("z")
        desk.press("g", "e")
        desk.see("The first transaction of the account")
        desk.see("Account opened, home currency")
        desk.press("g", "g")
        desk.see("alias name")
        desk.press("w", "f")
        desk.see("only rows with these words")
        desk.write(f"#{trade_id} fill".encode())
        desk.see(f"#{trade_id} fill")
        desk.press("Enter")
        desk.see("Bought 1,000 at")
        desk.press("Enter")
        desk.see(f"Transaction #{trade_id}")
        desk.see("closed trade")
        desk.see("Market buy 1,000")
        desk.press("Enter")  # the order that was filled
        desk.see("→ #")
        desk.see("filled by")
        desk.press("Escape")
        desk.see("closed trade")
        desk.press("q")
        desk.see_no_more("Related transactions")
        desk.quit()
        assert desk.wait_for_exit() == 0
