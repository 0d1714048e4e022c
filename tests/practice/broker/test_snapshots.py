"""A restart brings an account back from what was kept of it, without reading its past again."""

from keydesk_practice.broker.snapshots import (
    account_to_json,
    new_account,
    restore_account,
    save_snapshot,
    state_format,
)
from keydesk_practice.engine.state.apply import apply
from keydesk_practice.engine.transactions import to_wire
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.records import LedgerAccount, WireTransaction, entry_of
from support.practised_account import PractisedAccount

ACCOUNT = LedgerAccount("101-001-1000001-001", 0, "USD", hedging=False)


def practised(trades: int) -> PractisedAccount:
    account = PractisedAccount()
    for _ in range(trades):
        account.trade("EUR_USD", 1000)
    return account


def written(ledger: LedgerInterface, account: PractisedAccount) -> None:
    history = [entry_of(WireTransaction(to_wire(one)), one.time) for one in account.transactions]
    ledger.create_account(ACCOUNT, history)


def test_without_anything_kept_the_past_is_folded(ledger: LedgerInterface) -> None:
    account = practised(3)
    written(ledger, account)
    assert account_to_json(restore_account(ledger, ACCOUNT)) == account_to_json(account.state)


def test_what_was_kept_is_taken_and_only_the_tail_is_folded(ledger: LedgerInterface) -> None:
    account = practised(3)
    written(ledger, account)
    early = new_account(ACCOUNT)
    for transaction in account.transactions[:5]:
        apply(early, transaction)
    early.alias = "as it was kept"
    save_snapshot(ledger, early)
    found = restore_account(ledger, ACCOUNT)
    assert found.alias == "as it was kept"
    assert found.last_transaction_id == account.state.last_transaction_id
    assert found.trades == account.state.trades


def test_what_was_kept_in_another_form_is_passed_over(ledger: LedgerInterface) -> None:
    account = practised(1)
    written(ledger, account)
    ledger.save_snapshot(ACCOUNT.id, 4, "an older form", b"not JSON")
    assert restore_account(ledger, ACCOUNT).balance == account.state.balance


def test_the_form_is_the_same_in_every_run() -> None:
    assert state_format() == state_format()
    assert state_format().startswith("1-")
