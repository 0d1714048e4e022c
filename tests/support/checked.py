"""The practice broker with every response compared with the wire reference.

    answer = await broker.ask("create_order", expect=201, body={"order": {...}})

An operation is named as in `v20.yaml`; path parameters are keywords, `accountID` is the first account unless given.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import httpx

from support.broker import PracticeServer
from support.wire import Wire, wire
from support.wire_record import WireRecord


class CheckedBroker:
    """Sends requests, checks the responses, and notes in the record what was checked."""

    def __init__(self, server: PracticeServer, record: WireRecord) -> None:
        self.server = server
        self.record = record
        self.wire: Wire = wire()
        self.last: httpx.Response | None = None

    async def learn(self) -> "CheckedBroker":
        """Learn the instruments' precisions from the broker itself."""
        found = (await self.server.get("{a}/instruments")).json()["instruments"]
        self.wire = wire({one["name"]: one["displayPrecision"] for one in found})
        return self

    async def ask(
        self,
        operation: str,
        expect: int = 200,
        query: Mapping[str, str] | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        **path: str,
    ) -> dict[str, Any]:
        """Call an operation, check its response, and return the body."""
        described = self.wire.endpoints[operation]
        names = {"accountID": self.server.account_id, **path}
        address = described["path"]
        for name, value in names.items():
            address = address.replace(f"{{{name}}}", quote(value, safe=""))
        answer = await self.server.http.request(
            described["method"], address, params=query, json=body, headers=headers
        )
        self.last = answer
        assert answer.status_code == expect, answer.text
        found = answer.json()
        assert self.wire.problems(operation, answer.status_code, found) == []
        assert answer.headers["RequestID"].isdecimal()
        assert answer.headers["Content-Type"] == "application/json"
        for name in described["response"]["headers"] if expect < 300 else ():
            assert name == "Link" or name in answer.headers, name
        asked = [*(query or {}), *(headers or {})]
        self.record.note(operation, expect, found, answer.headers, asked)
        return dict(found)
