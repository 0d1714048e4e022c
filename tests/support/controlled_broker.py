"""A practice broker in this process, with its control interface: no socket, no wall clock, ready at once.

    async with controlled_broker(tmp_path, "2015-01-15T09:00Z") as market:
        await market.control("POST", "/clock/step", candles=3)
        await market.v20("POST", "{a}/orders", {"order": {...}})

It begins paused. `{a}` stands for the path of the first account.
"""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx

from keydesk_practice.broker.broker import Broker
from keydesk_practice.broker.startup import open_broker, open_on
from keydesk_practice.control.application import ControlApplication
from keydesk_practice.control.context import Control
from keydesk_practice.control.operations import BASE
from keydesk_practice.http.middleware import PublicPaths
from keydesk_practice.http.routes import make_application
from keydesk_practice.ledger.kept_ledgers import FolderLedgerStore
from keydesk_practice.ledger.ledger_file import make_private
from keydesk_practice.ledger.ledger_store import LedgerStore
from keydesk_practice.options import Options
from support.data.practice_market import instant, store_rates

TOKEN, CONTROL_TOKEN = "token-of-a-client", "token-of-the-control"
ACCOUNT = "/v3/accounts/101-001-1000001-001"


@dataclass(slots=True)
class ControlledBroker:
    """A broker and both of its interfaces."""

    broker: Broker
    application: PublicPaths
    stopped: list[str] = field(default_factory=list)

    def client(
        self, token: str = TOKEN, address: tuple[str, int] | None = None
    ) -> httpx.AsyncClient:
        """Return an HTTP client that seems to come from an address."""
        transport = httpx.ASGITransport(self.application, client=address or ("127.0.0.1", 1))
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.AsyncClient(transport=transport, base_url="http://broker", headers=headers)

    async def control(self, method: str, path: str, expect: int = 200, **body: Any) -> Any:  # noqa: ANN401 - JSON
        """Ask the control interface."""
        async with self.client(CONTROL_TOKEN) as http:
            answer = await http.request(method, f"/control/v1{path}", json=body or None)
        assert answer.status_code == expect, answer.text
        return answer.json()

    async def v20(
        self,
        method: str,
        path: str,
        body: object = None,
        expect: int | None = None,
        **query: Any,  # noqa: ANN401 - JSON
    ) -> Any:  # noqa: ANN401 - JSON
        """Ask the v20 interface."""
        path = path.replace("{a}", ACCOUNT)
        async with self.client() as http:
            answer = await http.request(method, path, json=body, params=query or None)
        assert expect in {None, answer.status_code}, answer.text
        return answer.json()

    async def buy(self, instrument: str, units: str = "1000", **members: object) -> dict[str, Any]:
        """Buy at the market and return the fill."""
        order = {"type": "MARKET", "instrument": instrument, "units": units, **members}
        made = await self.v20("POST", "{a}/orders", {"order": order}, expect=201)
        return dict(made["orderFillTransaction"])

    def ledger_lines(self, account: str = ACCOUNT.rpartition("/")[2]) -> list[str]:
        """Return the JSON text of every transaction of an account."""
        ledger = self.broker.ledger
        return ledger.bodies(account, 1, ledger.last_id(account))


def _opened(options: Options, database: str | None) -> tuple[Broker, LedgerStore]:
    if database is None:
        return open_broker(options, owners=1), FolderLedgerStore(options.data)
    # Imported here: without the extra `postgres` the tests of the file still run.
    from keydesk_practice.ledger.postgres_ledger import PostgresLedger  # noqa: PLC0415
    from keydesk_practice.ledger.postgres_store import PostgresLedgerStore  # noqa: PLC0415

    ledger = PostgresLedger.open(database)
    return open_on(ledger, options, owners=1), PostgresLedgerStore(ledger)


@contextlib.asynccontextmanager
async def controlled_broker(
    folder: Path,
    start: str = "2019-06-05T10:00Z",
    database: str | None = None,
    **options: Any,  # noqa: ANN401 - of any type
) -> AsyncIterator[ControlledBroker]:
    """Run a broker whose ledger is in a folder or a database; without `start` it goes on with the ledger there."""
    make_private(folder / "data")
    store_rates(folder / "data")
    found = Options("serve", folder / "data", start=instant(start) if start else None, paused=True)
    found = replace(found, rate_limit=1_000_000, **options)
    broker, store = _opened(found, database)
    interface = make_application(broker, [TOKEN], found.rate_limit)
    interface.restart_request_ids(broker.now())
    stopped: list[str] = []
    control = Control(broker, found, interface, store, lambda: stopped.append("stopped"))
    controlled = ControlApplication(control, CONTROL_TOKEN, anywhere=found.control_anywhere)
    application = PublicPaths(broker, interface, mount=(f"{BASE}/", controlled))
    try:
        yield ControlledBroker(broker, application, stopped)
    finally:
        broker.close()
