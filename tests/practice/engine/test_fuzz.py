"""Invalid input of every kind gets an error response: never a 500, never a half-applied transaction."""

import json
import random
from typing import Any

import pytest

from keydesk_practice.http.routes import PATHS
from support.broker import PracticeServer

ODD: list[Any] = [
    None, True, False, 0, -1, 1, 10**30, 1.5, 1e300, "", " ", "0", "-0", "1", "-1", "1e5", "NaN", "ALL", "NONE",
    "0.000000000000000000000000001", "9" * 39, "9" * 400, "EUR_USD", "USD_JPY", "EUR_XXX", "eur_usd", "MARKET", "LIMIT",
    "STOP_LOSS", "TRAILING_STOP_LOSS", "GTC", "GTD", "IOC", "@x", "@", "4", "\x00", "\ud800", "💥" * 10, "<script>",
    "../..", "%00", "2015-01-15T09:30:00Z", "1512446222.2", "9999999999999999", "-99999999-01-01T00:00:00Z",
    [], {}, [[]], {"id": "x"}, {"id": 5}, {"price": "1.2"}, {"price": "-1", "distance": "0"}, {"distance": "0.01"},
]  # fmt: skip
MEMBERS = (
    "type", "instrument", "units", "price", "priceBound", "distance", "timeInForce", "gtdTime", "positionFill",
    "triggerCondition", "tradeID", "clientTradeID", "clientExtensions", "tradeClientExtensions", "takeProfitOnFill",
    "stopLossOnFill", "trailingStopLossOnFill", "guaranteedStopLossOnFill", "guaranteed", "alias", "marginRate",
    "longUnits", "shortUnits", "longClientExtensions", "takeProfit", "stopLoss", "trailingStopLoss",
    "guaranteedStopLoss", "order", "surprise",
)  # fmt: skip
QUERY = (
    "instruments", "since", "snapshot", "count", "from", "to", "price", "granularity", "smooth", "includeFirst", "units",
    "dailyAlignment", "alignmentTimezone", "weeklyAlignment", "candleSpecifications", "sinceTransactionID", "id", "type",
    "pageSize", "ids", "state", "instrument", "beforeID", "time", "includeHomeConversions",
)  # fmt: skip
SANE = {
    "type": ["MARKET", "LIMIT", "STOP", "MARKET_IF_TOUCHED", "TAKE_PROFIT", "STOP_LOSS"],
    "instrument": ["EUR_USD", "USD_JPY"],
    "units": ["1", "-1", "100", "1000000"],
    "price": ["1.1", "0.5", "100", "200.5"],
    "tradeID": ["5", "6"],
}


class Fuzz:
    """Makes requests that are almost valid."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def value(self) -> Any:  # noqa: ANN401
        return self._chance.choice(ODD)

    def members(self) -> dict[str, Any]:
        names = self._chance.sample(MEMBERS, self._chance.randint(0, 7))
        found = {name: self.value() for name in names}
        if self._chance.random() < 0.7:
            found |= {name: self._chance.choice(values) for name, values in SANE.items()}
        if self._chance.random() < 0.3 and found:
            found.pop(self._chance.choice(list(found)))
        return found

    def body(self) -> bytes | None:
        kind = self._chance.random()
        if kind < 0.1:
            return self._chance.choice([None, b"", b"{", b"[]", b"null", b"\xff", b'{"order":[]}'])
        members = self.members()
        wrapped = {"order": members} if self._chance.random() < 0.6 else members
        return json.dumps(wrapped).encode()

    def query(self) -> dict[str, str]:
        names = self._chance.sample(QUERY, self._chance.randint(0, 5))
        return {name: _printable(self.value()) for name in names}

    def path(self, account: str) -> tuple[str, str]:
        template = self._chance.choice([path for path in PATHS if not path.endswith("stream")])
        method = self._chance.choice([*PATHS[template], *PATHS[template], "GET", "PUT", "DELETE"])
        path = template.replace("{accountID}", account if self._chance.random() < 0.9 else "1-2")
        for name in ("orderSpecifier", "tradeSpecifier", "instrument", "transactionID"):
            path = path.replace(
                f"{{{name}}}",
                self._chance.choice(["4", "5", "@x", "EUR_USD", "%00", "%2F", "x" * 300]),
            )
        return method, path


def _printable(value: object) -> str:
    return str(value).encode("utf-8", "replace").decode()


async def send_invalid_requests(practice: PracticeServer, seed: int, requests: int) -> None:
    fuzz = Fuzz(seed)
    for _ in range(requests):
        method, path = fuzz.path(practice.account_id)
        query, body = fuzz.query(), fuzz.body()
        answer = await practice.http.request(method, path, params=query, content=body)
        told = f"{method} {path} {query} {body!r} -> {answer.status_code} {answer.text[:300]}"
        assert answer.status_code < 500 or answer.status_code == 501, told
        assert answer.headers["RequestID"], told
        if answer.status_code >= 400 and method != "HEAD":
            assert answer.json()["errorMessage"], told
    await assert_nothing_is_half_applied(practice)


async def assert_nothing_is_half_applied(practice: PracticeServer) -> None:
    account = (await practice.get("{a}")).json()["account"]
    last = int(account["lastTransactionID"])
    seen = 0
    balance = "100000.0000"
    while seen < last:
        page = (await practice.get("{a}/transactions/sinceid", id=str(seen))).json()
        for one in page["transactions"]:
            seen += 1
            assert one["id"] == str(seen)
            balance = one.get("accountBalance", balance)
    assert account["balance"] == balance


async def test_invalid_requests_never_break_the_broker(desk_of_my_own: PracticeServer) -> None:
    await send_invalid_requests(desk_of_my_own, seed=1, requests=150)


@pytest.mark.e2e
@pytest.mark.soak
async def test_twenty_thousand_invalid_requests(practice: PracticeServer) -> None:
    await send_invalid_requests(practice, seed=2, requests=20_000)
