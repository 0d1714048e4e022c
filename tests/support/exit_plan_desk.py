"""A desk without a screen that carries out exit plans, on an account of a real practice broker."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from pathlib import Path

from keydesk.app.account_connection import Connection, open_account
from keydesk.app.account_sources import AccountAddress
from keydesk.calc.orders.instructions import SetExitPlan
from keydesk.calc.orders.plans.exit_plans import NO_RULES, ExitPlan, ExitRules
from keydesk.records.desk_records import DeskRecords
from keydesk.store.store import Store
from keydesk.trading.commands import Instruction
from keydesk.values import TradeRow
from keydesk_client.auth.secret import Secret
from support.broker import PracticeServer
from support.data.entry_orders import open_order

D = Decimal
PIP, FAR = D("0.0001"), D("0.01")
TIGHTENS = ExitPlan(trail_after=-50 * PIP, trail_distance=20 * PIP, trail_step=1000 * PIP)
"""Moves the stop to 70 pips from the entry wherever the price is near it; no form takes a profit below 0."""


def plan_records(folder: Path) -> DeskRecords:
    """Return the records that the desks of a folder share."""
    return DeskRecords.of(folder, "account")


class PlanDesk:
    """A connected desk; its plans are in records beside its journal."""

    def __init__(self, connection: Connection, store: Store, folder: Path) -> None:
        self.connection, self.store, self.folder = connection, store, folder

    async def until(self, holds: Callable[[], bool], patience: float = 20.0) -> None:
        async with asyncio.timeout(patience):
            while not holds():  # noqa: ASYNC110 - the store calls nobody back, by design
                await asyncio.sleep(0.01)

    async def does(self, instruction: Instruction) -> None:
        await self.connection.commands.execute(instruction)

    async def buys(self, units: int = 10_000, rules: ExitRules = NO_RULES) -> TradeRow:
        """Buy with a stop a cent away; return the trade."""
        quote = self.store.quotes["EUR_USD"]
        before = set(self.store.trades)
        await self.does(
            open_order(
                "EUR_USD",
                "MARKET",
                D(units),
                bound=quote.ask + FAR,
                stop=quote.bid - FAR,
                exit_rules=rules,
            )
        )
        await self.until(
            lambda: any(
                each.stop_loss for id_, each in self.store.trades.items() if id_ not in before
            )
        )
        [new] = set(self.store.trades) - before
        return self.store.trades[new]

    async def plans(self, trade: TradeRow, plan: ExitPlan | None) -> None:
        await self.does(SetExitPlan(trade.id, trade.instrument, plan))

    def stop_of(self, trade: TradeRow) -> Decimal | None:
        return trade.stop_loss.price if trade.stop_loss else None

    def passes_a_minute(self) -> None:
        """Let the plans see that a trade is gone, and a minute go by."""
        plans = self.connection.exit_plans
        plans.check()
        now = plans.now
        plans.now = lambda: now() + 60

    @property
    def said(self) -> list[str]:
        return [str(notice.text) for notice in self.store.notices]

    @property
    def audited(self) -> str:
        return (self.folder / "audit").read_text()


@asynccontextmanager
async def plan_desk(
    server: PracticeServer,
    folder: Path,
    *,
    rest_url: str = "",
    name: str = "journal",
    patience: float = 20.0,
) -> AsyncIterator[PlanDesk]:
    """Open the first account of a broker; several desks in one folder share the plans."""
    store = Store()
    target = AccountAddress(
        rest_url or server.rest_url,
        server.stream_url,
        Secret(server.token),
        server.account_id,
        own_broker=True,
    )
    with suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    async with open_account(target, store, folder / name, folder / "audit") as connection:
        connection.exit_plans.open(plan_records(folder))
        running = asyncio.create_task(connection.run())
        desk = PlanDesk(connection, store, folder)
        try:
            await desk.until(
                lambda: "EUR_USD" in store.quotes and connection.recovered.is_set(), patience
            )
            yield desk
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)


async def actions_at_broker(server: PracticeServer, kind: str) -> list[dict[str, str]]:
    """Return the account's transactions of a type."""
    answer = await server.get("{a}/transactions/sinceid", id="1")
    return [each for each in answer.json()["transactions"] if each["type"] == kind]
