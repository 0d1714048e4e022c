"""A watch of alerts without a desk: what it told, and prices into its store."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from msgspec.structs import replace

from keydesk.alerts.alert_list import add_alert
from keydesk.alerts.alert_records import AlertRecords
from keydesk.alerts.watch import AlertWatch
from keydesk.calc.alerts.alert import Alert, FiringRecord
from keydesk.calc.alerts.condition_base import Condition
from keydesk.calc.alerts.price_conditions import PriceCross
from keydesk.records.desk_records import DeskRecords
from keydesk.store.prices import apply_price
from keydesk.store.store import Store
from support.data.account_history import instrument, price

TEN = 1_772_445_600_000_000_000  # 2026-03-02 10:00 UTC
SECOND = 1_000_000_000
D = Decimal
ABOVE = PriceCross(instrument="EUR_USD", side="mid", direction="up", level=D("1.1"))


@dataclass
class Watching:
    """A watch, what it told, and prices into its store."""

    store: Store
    path: Path
    told: list[tuple[str, bool]] = field(default_factory=list)
    late: list[FiringRecord] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.watch = AlertWatch(
            self.store,
            AlertRecords(DeskRecords(self.path)),
            self.deliver,
            lambda _, text: self.words.append(text),
        )

    def deliver(self, fired: FiringRecord, mine: bool) -> None:
        self.told.append((fired.text, mine))
        if fired.late:
            self.late.append(fired)

    async def price(self, mid: str, second: int = 0) -> None:
        middle = D(mid)
        time = f"2026-03-02T10:{second // 60:02}:{second % 60:02}.000000000Z"
        bid, ask = (str(middle + D(each)) for each in ("-0.0001", "0.0001"))
        apply_price(self.store, price("EUR_USD", bid, ask, time), float(second))
        await self.watch.settled()

    async def add(self, condition: Condition, **members: object) -> None:
        self.watch.change(add_alert(replace(Alert("", condition, made_ns=TEN), **members)))
        await self.watch.settled()


def known_market() -> Store:
    store = Store()
    store.instruments = {"EUR_USD": instrument("EUR_USD")}
    store.health.prices = "OK"
    return store


@asynccontextmanager
async def watching(path: Path, store: Store | None = None) -> AsyncIterator[Watching]:
    desk = Watching(store or known_market(), path)
    task = asyncio.create_task(desk.watch.run())
    await desk.watch.settled()
    try:
        yield desk
    finally:
        task.cancel()
