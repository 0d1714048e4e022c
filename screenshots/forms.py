"""Take the pictures of alerts, the away card and the page of a transaction for README and docs: fixed data, three sizes.

    python screenshots/forms.py

Needs the test extra (`pip install -c constraints.txt -e '.[test]'`). `take.py` takes those of the running desk.
"""

import asyncio
import sys
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests")]

import pyte  # noqa: E402
from rich.color import ColorSystem  # noqa: E402
from rich.style import Style  # noqa: E402
from take import svg  # noqa: E402
from textual.screen import Screen  # noqa: E402

from keydesk.alerts.away import LastVisit, Outage, away_report  # noqa: E402
from keydesk.calc.alerts.alert import Alert, FiringRecord  # noqa: E402
from keydesk.calc.alerts.fact_conditions import TradeResult  # noqa: E402
from keydesk.calc.alerts.price_conditions import PriceCross, SpreadLevel  # noqa: E402
from keydesk.forms.account.transaction import TransactionForm  # noqa: E402
from keydesk.forms.details_form import DetailsForm  # noqa: E402
from keydesk.forms.market.alerts import AlertsForm  # noqa: E402
from keydesk.forms.market.new_alert import NewAlertForm  # noqa: E402
from keydesk.store.store import Store  # noqa: E402
from keydesk.store.transactions.details import Related, TransactionDetails  # noqa: E402
from keydesk.text.sanitize import safe  # noqa: E402
from keydesk.words.log_line import LogKind, LogLine  # noqa: E402
from support.data.desk_data import WALL_NS, desk_store  # noqa: E402
from support.fakes.desk_app import DeskApp  # noqa: E402

SIZES = ((80, 24), (120, 35), (200, 50))
MINUTE = 60_000_000_000
D = Decimal
UP = PriceCross(instrument="EUR_USD", side="mid", direction="up", level=D("1.08600"))
ALERTS = (
    Alert("1", UP, made_ns=WALL_NS, note="range high of Monday"),
    Alert(
        "2",
        PriceCross(instrument="USD_JPY", side="bid", direction="down", level=D("150.000")),
        made_ns=WALL_NS,
        repeat_s=300,
    ),
    Alert(
        "3",
        SpreadLevel(instrument="GBP_USD", direction="up", level=D(3)),
        made_ns=WALL_NS,
        state="paused",
    ),
    Alert("4", TradeResult(trade_id="6411", unit="R", direction="up", level=D(2)), made_ns=WALL_NS),
)


def alerts(store: Store) -> Screen[Any]:
    """Return the page of alerts, its cursor on the one of EUR/USD, which a chart has."""
    form = AlertsForm(store)
    form.at = [each.id for each in form.alerts].index("1")
    return form


def new_alert(store: Store) -> Screen[Any]:
    """Return a new alert."""
    return NewAlertForm(store, UP)


def away(store: Store) -> Screen[Any]:
    """Return the card of what happened in an hour."""
    account = store.account
    assert account is not None  # noqa: S101 - the made-up store has one
    now = WALL_NS
    seen = LastVisit(account.created_time_ns, 6400, now - 60 * MINUTE, account.nav - 40)
    fired = (FiringRecord("1", 1, now - 9 * MINUTE, "EUR/USD mid crosses up 1.08600"),)
    lost = (Outage("not connected", now - 30 * MINUTE, now - 28 * MINUTE),)
    report = away_report(seen, now, store.log, fired, outages=lost, nav=account.nav, currency="USD")
    return DetailsForm(report.title, report.rows(store.zone))


def transaction(store: Store) -> Screen[Any]:
    """Return the page of the fill that opened a trade."""
    line = LogLine("6411", WALL_NS, "FILL", "EUR_USD", safe("Bought 10,000 at 1.08380 #6411"))

    def related(id_: int, how: str, kind: LogKind, words: str) -> Related:
        return Related(str(id_), how, LogLine(str(id_), WALL_NS, kind, "EUR_USD", safe(words)))

    found = (
        related(6410, "order", "ORDER", "Market buy 10,000 stop 1.08180 target 1.08780"),
        related(6440, "closed trade #6411", "CLOSE", "Closed long 10,000 at 1.08780 #6411, target"),
        related(6412, "stop-loss of trade #6411", "ORDER", "Stop 1.08180 for #6411"),
        related(6413, "same request", "ORDER", "Target 1.08780 for #6411"),
    )
    rows = [
        ("what", line.text),
        ("kind", "fill: order fill"),
        ("time", "2026-03-02 10:00:00 UTC"),
        ("instrument", "EUR/USD"),
        ("units", "+10,000"),
        ("price", "1.08380"),
        ("half the spread cost", "0.4000"),
        ("reason", "market order"),
        ("balance after it", "10,000.00 USD"),
    ]
    known = TransactionDetails("6411", tuple(rows), found)
    return TransactionForm(store, line, lambda _, take: take(known))


FORMS: Mapping[str, Callable[[Store], Screen[Any]]] = {
    "alerts": alerts,
    "new-alert": new_alert,
    "away": away,
    "transaction": transaction,
}


def made_up_store() -> Store:
    """Return the store of the tests, with alerts."""
    store = desk_store(18)
    store.alerts = {alert.id: alert for alert in ALERTS}
    store.alert_history = [
        FiringRecord("0", 1, WALL_NS - minutes * MINUTE, text)
        for minutes, text in (
            (340, "GBP/USD spread >= 3 pips"),
            (52, "EUR/USD mid touches 1.08500"),
        )
    ]
    return store


async def picture(make: Callable[[Store], Screen[Any]], size: tuple[int, int]) -> str:
    """Return a form over the desk as SVG."""
    store = made_up_store()
    app = DeskApp(store)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await app.push_screen(make(store))
        await pilot.pause()
        strips = app.screen._compositor.render_strips()  # noqa: SLF001 - as the tests read the screen
        screen = pyte.Screen(*size)
        stream = pyte.Stream(screen)
        for number, strip in enumerate(strips[: size[1]], 1):
            stream.feed(f"\x1b[{number};1H")
            for text, style, _ in strip:
                look = style or Style()
                stream.feed(look.render(text, color_system=ColorSystem.TRUECOLOR))
    return svg(screen)


def taken() -> Iterator[tuple[str, str]]:
    """Yield each picture's name and SVG text."""
    for name, make in FORMS.items():
        for size in SIZES:
            yield f"{name}-{size[0]}x{size[1]}", asyncio.run(picture(make, size))


def main() -> None:
    """Take all pictures."""
    for name, text in taken():
        (HERE / f"{name}.svg").write_text(text, encoding="utf-8")
        print(name)  # noqa: T201


if __name__ == "__main__":
    main()
