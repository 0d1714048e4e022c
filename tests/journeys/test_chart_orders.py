"""An order placed at the crosshair of the chart, and its stop moved from there, by the keyboard alone."""

from decimal import Decimal
from pathlib import Path

from support.broker import practice_server
from support.confirming import FORM, confirm
from support.terminal import Terminal, keydesk


async def test_an_order_from_the_crosshair_and_its_stop_moved_on_the_chart(
    practice_folder: Path,
) -> None:
    home = practice_folder / "home"
    with Terminal(keydesk(), (120, 35), {"KEYDESK_HOME": str(home)}) as terminal:
        terminal.see("prices ok")
        terminal.until(lambda: "to enter" in terminal.text)
        terminal.press("g", "c", "i")
        terminal.see("from last")
        terminal.press(*["."] * 2, *[","] * 3)
        terminal.press("B")
        terminal.see("new stop")
        terminal.see("BUY 10,000 EUR/USD")
        terminal.see("limit ")
        confirm(terminal)
        terminal.see("Orders 1")

        terminal.press("M")
        terminal.see("MOVE")
        terminal.press("s", "Up", "Up", "Up")
        terminal.see("→")
        confirm(terminal)
        terminal.see_no_more(FORM)
        terminal.press("g", "l")
        terminal.until(lambda: "REPLACE" in terminal.text.upper(), what="the replaced order")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    async with practice_server(practice_folder, "--data", str(home / "practice")) as practice:
        told = (await practice.get("{a}/transactions/sinceid", id="1")).json()["transactions"]
    placed, moved = (each for each in told if each["type"] == "LIMIT_ORDER")
    price = Decimal(placed["price"])
    assert price % Decimal("0.0001") == 0
    assert Decimal(moved["price"]) == price
    stops = [Decimal(each["stopLossOnFill"]["price"]) for each in (placed, moved)]
    assert stops[1] - stops[0] == Decimal("0.0003")
