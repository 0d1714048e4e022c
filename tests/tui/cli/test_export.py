"""The CSV of `keydesk export trades` has what the columns of the trades declare, in an order that never changes."""

import json
from collections.abc import AsyncIterator
from typing import cast

from keydesk.cli.export import KINDS
from keydesk.tables.trade_columns import TRADE_COLUMNS, CsvMember, TradeColumn, csv_members
from keydesk_client.client import Client
from keydesk_client.models import DateTime, Trade
from keydesk_client.models._core.decoder import Reader

CLOSED = {
    "id": "6411",
    "instrument": "EUR_USD",
    "price": "1.08380",
    "openTime": "2026-03-02T10:00:00.123456789Z",
    "state": "CLOSED",
    "initialUnits": "-10000.0",
    "initialMarginRequired": "361.0600",
    "currentUnits": "0",
    "realizedPL": "-5.1000",
    "averageClosePrice": "1.08431",
    "closingTransactionIDs": ["6420", "6422"],
    "financing": "0.0000",
    "dividendAdjustment": "0.0",
    "closeTime": "2026-03-02T11:00:00Z",
    "clientExtensions": {"id": "mine", "tag": "=news", "comment": "x"},
}
CELLS = {
    "id": "6411",
    "instrument": "EUR_USD",
    "state": "CLOSED",
    "openTime": "2026-03-02T10:00:00.123456789Z",
    "price": "1.08380",
    "initialUnits": "-10000.0",
    "currentUnits": "0",
    "averageClosePrice": "1.08431",
    "closeTime": "2026-03-02T11:00:00Z",
    "realizedPL": "-5.1000",
    "unrealizedPL": "",
    "financing": "0.0000",
    "dividendAdjustment": "0.0",
    "closingTransactionIDs": "6420 6422",
    "clientID": "mine",
    "tag": "=news",
    "comment": "x",
}
"""As written before the columns of the table declared them; spreadsheets rely on the order."""


class OneTrade:
    """A client whose account has one trade."""

    def __init__(self) -> None:
        self.trades = self

    async def iterate(self, state: str) -> AsyncIterator[Trade]:
        """Return the trade."""
        assert state == "ALL"
        yield Reader(Trade).read(json.dumps(CLOSED))


async def test_headings_and_values_are_those_that_the_file_always_had() -> None:
    headings, rows = KINDS["trades"]
    first, last = DateTime.from_ns(0), DateTime("9999-12-31T00:00:00Z")
    [row] = [each async for each in rows(cast("Client", OneTrade()), first, last)]
    assert list(headings())[: len(CELLS)] == list(CELLS)
    assert list(row) == list(headings())
    assert row.items() >= CELLS.items()


def test_a_further_column_is_in_the_csv_by_its_declaration_alone() -> None:
    opened = TradeColumn(
        *("margin_at_open", "margin 0", 9, 16),
        text=lambda line: f"{line.trade.initial_margin:,}",
        value=lambda line: line.trade.initial_margin,
        csv=CsvMember("initialMarginRequired"),
    )
    assert csv_members((*TRADE_COLUMNS, opened)) == (*csv_members(), "initialMarginRequired")
