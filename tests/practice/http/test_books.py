"""The book endpoints: a snapshot by its time, its neighbours, and nothing in between."""

from decimal import Decimal

import pytest

from support.broker import PracticeServer

KINDS = ("orderBook", "positionBook")


@pytest.mark.parametrize("kind", KINDS)
async def test_the_newest_snapshot_sums_to_a_hundred(
    desk_of_my_own: PracticeServer, kind: str
) -> None:
    answer = await desk_of_my_own.get(f"/v3/instruments/EUR_USD/{kind}")
    assert answer.status_code == 200
    assert answer.headers["Content-Encoding"] == "gzip"
    book = answer.json()[kind]
    assert book["instrument"] == "EUR_USD"
    assert book["bucketWidth"] == "0.00050"
    shares = [
        Decimal(bucket[side])
        for bucket in book["buckets"]
        for side in ("longCountPercent", "shortCountPercent")
    ]
    assert sum(shares) == 100


@pytest.mark.parametrize("kind", KINDS)
async def test_links_lead_back_and_forth(desk_of_my_own: PracticeServer, kind: str) -> None:
    newest = await desk_of_my_own.get(f"/v3/instruments/USD_JPY/{kind}")
    assert set(newest.links) == {"prev"}
    earlier = await desk_of_my_own.http.get(newest.links["prev"]["url"])
    assert set(earlier.links) == {"prev", "next"}
    again = await desk_of_my_own.http.get(earlier.links["next"]["url"])
    assert again.json() == newest.json()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "time",
    [
        "2024-05-15T14:20:01Z",
        "2024-05-15T14:10:00Z",
        "2090-01-01T00:00:00Z",
        "1990-01-01T00:00:00Z",
    ],
)
async def test_other_times_have_no_snapshot(
    desk_of_my_own: PracticeServer, kind: str, time: str
) -> None:
    answer = await desk_of_my_own.get(f"/v3/instruments/EUR_USD/{kind}", time=time)
    assert answer.status_code == 404
    assert answer.json() == {"errorMessage": "The snapshot specified does not exist"}


async def test_unknown_instruments_and_ones_without_books_are_told_apart(
    desk_of_my_own: PracticeServer,
) -> None:
    assert (await desk_of_my_own.get("/v3/instruments/EUR_XYZ/orderBook")).status_code == 404
    assert (await desk_of_my_own.get("/v3/instruments/EURUSD/orderBook")).status_code == 400
    assert (await desk_of_my_own.get("/v3/instruments/USD_TRY/orderBook")).status_code == 404
