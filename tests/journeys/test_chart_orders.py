"""An order placed at the crosshair of the chart, and its stop moved from there, by the keyboard alone."""

from decimal import Decimal
from pathlib import Path

import pytest

from support.broker import practice_server
from support.confirming import FORM, confirm
from support.terminal import Terminal, keydesk


async def test_an_order_from_the_crosshair_and_its_stop_moved_on_the_chart(
    practice_folder: Path,
) -> None:
    home = practice_folder / "home"
    with Terminal(keydesk(), (120, 35), {"KEYDESK_HOME": str(home)}) as terminal:
        terminal.see("prices ok")
        terminal.until(lambda: "per pip" in terminal.text)
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


async def crowd(practice_folder: Path, home: Path) -> None:
    """Open trades with stops and targets, and rest orders around the price, before the desk starts."""
    home.mkdir(mode=0o700)
    async with practice_server(practice_folder, "--data", str(home / "practice")) as practice:
        prices = (await practice.get("{a}/pricing", instruments="EUR_USD")).json()["prices"]
        bid = Decimal(prices[0]["bids"][0]["price"])
        for number in range(1, 6):
            away = Decimal(number) * Decimal("0.0007")
            orders: list[dict[str, object]] = [
                {
                    "type": "MARKET",
                    "units": "1000",
                    "stopLossOnFill": {"price": str(bid - away)},
                    "takeProfitOnFill": {"price": str(bid + away)},
                },
                {"type": "LIMIT", "units": "1000", "price": str(bid - 2 * away)},
                {"type": "STOP", "units": "1000", "price": str(bid + 2 * away)},
            ]
            for order in orders:
                body = {"order": {"instrument": "EUR_USD", **order}}
                answer = await practice.send("POST", "{a}/orders", body)
                assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("size", [(80, 24), (120, 35)])
async def test_the_chart_shows_the_open_tickets_prices_among_many_trades_and_orders(
    practice_folder: Path, size: tuple[int, int]
) -> None:
    home = practice_folder / "home"
    await crowd(practice_folder, home)
    with Terminal(keydesk(), size, {"KEYDESK_HOME": str(home)}) as terminal:
        terminal.see("prices ok")
        terminal.see("Trades 5")
        terminal.press("B")
        terminal.see(FORM)
        terminal.press("o", "p", *"-40", "s", *"15", "t", "4")
        for label in ("new entry", "new stop", "new target"):
            terminal.see(label, seconds=20)
        terminal.press("Escape")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
