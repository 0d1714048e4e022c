"""Accounts are read many at a time, as one by one, and their snapshots are those of the node that owns them."""

from collections.abc import Iterator
from decimal import Decimal

import pytest

from keydesk_practice.broker.snapshots import (
    account_to_json,
    encoded_snapshot,
    restore_account,
    restored_state,
    state_format,
)
from keydesk_practice.engine.commands import CloseTrade, TrailingStopLossDetails
from keydesk_practice.engine.state.account import OrderPriceLevel
from keydesk_practice.engine.transactions import to_wire
from keydesk_practice.ledger.records import (
    LedgerAccount,
    LedgerBatch,
    MarkRecord,
    WireTransaction,
    entry_of,
)
from support.postgres import PostgresServer
from support.practised_account import PractisedAccount

pytest.importorskip("psycopg", reason="the extra `cluster` is not installed")
from keydesk_practice.ledger import postgres_accounts
from keydesk_practice.ledger.postgres import PostgresLedger
from keydesk_practice.ledger.postgres_accounts import Snapshot, read_accounts, save_snapshots
from keydesk_practice.ledger.postgres_connection import BoundedConnection, connect

ACCOUNTS = [
    LedgerAccount(f"101-001-1000001-{number:03}", 0, "USD", hedging=False) for number in (1, 2, 3)
]
FIRST, SECOND, THIRD = ACCOUNTS


@pytest.fixture
def address(postgres: PostgresServer) -> str:
    return postgres.new_database()


@pytest.fixture
def ledger(address: str) -> Iterator[PostgresLedger]:
    ledger = PostgresLedger.open(address)
    yield ledger
    ledger.close()


@pytest.fixture
def connection(ledger: PostgresLedger, address: str) -> Iterator[BoundedConnection]:
    assert ledger.text == address
    with connect(ledger.text) as connection:
        yield connection


def write(ledger: PostgresLedger, account: LedgerAccount, practised: PractisedAccount) -> None:
    """Store an account as the broker does: its transactions, then the price levels that its orders have observed."""
    entries = [entry_of(WireTransaction(to_wire(one)), one.time) for one in practised.transactions]
    ledger.create_account(account, entries)
    marks = [one for one in practised.events if isinstance(one, OrderPriceLevel)]
    ledger.commit([LedgerBatch(account.id, [MarkRecord(one.order_id, one.level) for one in marks])])


def trailing() -> PractisedAccount:
    """Return an account with a trailing stop that has followed the price."""
    practised = PractisedAccount()
    trade = practised.trade(
        "EUR_USD",
        1000,
        trailing_stop_loss_on_fill=TrailingStopLossDetails(distance=Decimal("0.00500")),
    )
    practised.price("EUR_USD", "1.20000", "1.20020")
    assert trade.id in practised.state.trades
    return practised


def snapshot_of(account: LedgerAccount, practised: PractisedAccount) -> Snapshot:
    state = practised.state
    return Snapshot(
        account.id,
        state.last_transaction_id,
        state_format(),
        encoded_snapshot(state),
        list(state.orders),
    )


def test_what_is_read_at_once_makes_the_accounts_that_reading_one_by_one_makes(
    ledger: PostgresLedger, connection: BoundedConnection
) -> None:
    practised = trailing()
    early = snapshot_of(SECOND, practised)
    practised.trade("USD_JPY", 500)
    for account, history in ((FIRST, practised), (SECOND, practised), (THIRD, PractisedAccount())):
        write(ledger, account, history)
    save_snapshots(connection, [snapshot_of(FIRST, practised), early], {FIRST.id: 0, SECOND.id: 0})
    found = read_accounts(connection, [one.id for one in ACCOUNTS], state_format())
    assert [len(found[one.id].texts) for one in ACCOUNTS] == [0, 2, 3]
    for account in ACCOUNTS:
        state = restored_state(ledger, account, found[account.id])
        assert state is not None
        assert account_to_json(state) == account_to_json(restore_account(ledger, account))
        assert found[account.id].last_time == ledger.time_of(account.id, state.last_transaction_id)


def test_what_ended_before_the_first_snapshot_is_stored_anew_one_by_one(
    ledger: PostgresLedger, connection: BoundedConnection
) -> None:
    practised = PractisedAccount()
    trade = practised.trade("EUR_USD", 1000)
    practised.do(CloseTrade(specifier=str(trade.id)))
    write(ledger, FIRST, practised)
    found = read_accounts(connection, [FIRST.id], state_format())
    assert restored_state(ledger, FIRST, found[FIRST.id]) is None
    save_snapshots(connection, [snapshot_of(FIRST, practised)], {FIRST.id: 0})
    found = read_accounts(connection, [FIRST.id], state_format())
    assert restored_state(ledger, FIRST, found[FIRST.id]) is not None


def test_an_account_with_a_long_history_since_its_snapshot_is_left_to_be_read_in_portions(
    ledger: PostgresLedger, connection: BoundedConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(ledger, FIRST, trailing())
    monkeypatch.setattr(postgres_accounts, "MAX_TRANSACTIONS", 3)
    assert read_accounts(connection, [FIRST.id], state_format()) == {}


def test_the_number_of_statements_is_that_of_one_account(
    ledger: PostgresLedger, connection: BoundedConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    for account in ACCOUNTS:
        write(ledger, account, trailing())
    statements: list[object] = []
    execute = connection.execute

    def count(query: bytes, values: object) -> object:
        statements.append(query)
        return execute(query, values)  # type: ignore[call-overload]

    monkeypatch.setattr(connection, "execute", count)
    read_accounts(connection, [one.id for one in ACCOUNTS], state_format())
    assert len(statements) == 3


def test_a_node_that_has_lost_an_account_stores_no_snapshot_of_it(
    ledger: PostgresLedger, connection: BoundedConnection
) -> None:
    practised = trailing()
    write(ledger, FIRST, practised)
    for fences in ({FIRST.id: 7}, {}):
        save_snapshots(connection, [snapshot_of(FIRST, practised)], fences)
    assert ledger.snapshot(FIRST.id, state_format()) is None


def test_with_a_snapshot_the_levels_of_ended_orders_go_and_those_of_later_ones_stay(
    ledger: PostgresLedger, connection: BoundedConnection
) -> None:
    practised = trailing()
    write(ledger, FIRST, practised)
    pending, last = next(iter(practised.state.orders)), practised.state.last_transaction_id
    level = Decimal("1.1")
    ledger.commit([LedgerBatch(FIRST.id, [MarkRecord(1, level), MarkRecord(last + 1, level)])])
    save_snapshots(connection, [snapshot_of(FIRST, practised)], {FIRST.id: 0})
    assert [order_id for order_id, _ in ledger.marks(FIRST.id)] == [pending, last + 1]
