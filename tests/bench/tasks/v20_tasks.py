"""The same tasks with v20 3.0.25."""

# ruff: noqa: ANN401, PLW0603, RET503 - other clients have no types, and scripts are as short as can be

from itertools import islice
from typing import Any
from urllib.parse import urlsplit

import v20

ACCOUNT = ""


def connect(url: str, token: str, account: str) -> Any:
    global ACCOUNT
    ACCOUNT = account
    place = urlsplit(url)
    patience = {
        "poll_timeout": 60,
        "stream_timeout": 60,
    }  # by default 2 and 10 seconds: a busy machine takes longer
    return v20.Context(place.hostname, place.port, ssl=False, token=token, **patience)


def nav(api: Any) -> Any:
    return api.account.summary(ACCOUNT).get("account", 200).NAV


def bracket(api: Any, stop: str, target: str) -> Any:
    order = {"instrument": "EUR_USD", "units": 1000, "stopLossOnFill": {"price": stop}}
    answer = api.order.market(ACCOUNT, **order, takeProfitOnFill={"price": target})
    return answer.get("orderFillTransaction", 201).id


def year_of_hours(api: Any) -> Any:
    found: list[Any] = []
    start, end = "2023-01-01T00:00:00Z", "2024"
    wanted = {"granularity": "H1", "count": 5000}
    while True:
        answer = api.instrument.candles("EUR_USD", fromTime=start, **wanted)
        page = [each for each in answer.get("candles", 200) if each.time < end]
        page = page[1:] if found else page
        found += page
        if not page or len(page) < 4999:
            return found
        start = page[-1].time


def ten_prices(api: Any) -> Any:
    stream = api.pricing.stream(ACCOUNT, instruments="EUR_USD").parts()
    return [item.bids[0].price for kind, item in islice(stream, 10) if kind.endswith("Price")]


def no_transaction_lost(api: Any, since: str) -> Any:
    seen = int(since)
    for kind, item in api.transaction.stream(ACCOUNT).parts():
        last = int(item.lastTransactionID if kind.endswith("Heartbeat") else item.id)
        if last > seen:
            found = api.transaction.since(ACCOUNT, id=str(seen)).get("transactions", 200)
            return [each.id for each in found][:3]


def all_transactions(api: Any) -> Any:
    found = []
    for page in api.transaction.list(ACCOUNT).get("pages", 200):
        first, last = (each.split("=")[1] for each in page.split("?")[1].split("&")[:2])
        answer = api.transaction.range(ACCOUNT, fromID=first, toID=last)
        found += answer.get("transactions", 200)
    return found


def close_all(api: Any) -> Any:
    closed = []
    for position in api.position.list_open(ACCOUNT).get("positions", 200):
        sides = {"longUnits": position.long.units, "shortUnits": position.short.units}
        sides = {side: "ALL" if float(units) else "NONE" for side, units in sides.items()}
        closed.append(api.position.close(ACCOUNT, position.instrument, **sides))
    return closed


def reject_reason(api: Any) -> Any:
    answer = api.order.market(ACCOUNT, instrument="EUR_USD", units=10_000_000_000)
    return answer.get("orderRejectTransaction", 400).rejectReason
