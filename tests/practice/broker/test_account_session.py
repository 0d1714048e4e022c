"""What ended is read back from the ledger as it was, newest first, filtered, and at once."""

import itertools
from collections.abc import Iterable
from decimal import Decimal

import pytest

from keydesk_practice.broker.account_session import ENDED_IDS_PER_PORTION, LedgerArchive, Portion
from keydesk_practice.engine.state.account import Trade
from keydesk_practice.ledger.interface import LedgerInterface
from keydesk_practice.ledger.records import LedgerAccount
from support.ledgers import OpenLedger

ACCOUNT = "101-001-1-001"


@pytest.fixture
def ledger(open_ledger: OpenLedger) -> LedgerInterface:
    ledger = open_ledger()
    ledger.create_account(LedgerAccount(ACCOUNT, 0, "USD", hedging=False), [])
    return ledger


def closed_trade(id_: int, instrument: str = "EUR_USD") -> Trade:
    return Trade(
        id=id_,
        instrument=instrument,
        price=Decimal("1.10000"),
        open_time=id_,
        initial_units=Decimal(100),
        initial_margin_required=Decimal("3.6641"),
        current_units=Decimal(0),
        state="CLOSED",
    )


def ids(portions: Iterable[Portion[Trade]]) -> list[int]:
    return [trade.id for portion in portions for trade in portion.records]


def test_what_was_kept_can_be_read_before_it_is_committed(ledger: LedgerInterface) -> None:
    archive = LedgerArchive(ledger, ACCOUNT)
    archive.keep_trade(closed_trade(5))
    assert archive.trade(5) == closed_trade(5)
    ledger.commit()
    assert archive.trade(5) == closed_trade(5)
    assert archive.trade(6) is None
    assert archive.order(5) is None


def test_lists_come_newest_first_and_filtered(ledger: LedgerInterface) -> None:
    archive = LedgerArchive(ledger, ACCOUNT)
    for id_, instrument in zip(range(1, 7), itertools.cycle(["EUR_USD", "USD_JPY"]), strict=False):
        archive.keep_trade(closed_trade(id_, instrument))
    ledger.commit()
    assert ids(archive.trade_portions(6)) == [6, 5, 4, 3, 2, 1]
    assert ids(archive.trade_portions(4, instrument="EUR_USD")) == [3, 1]
    assert ids(archive.trade_portions(6, state="OPEN")) == []


def test_a_portion_covers_few_ids_and_says_which(ledger: LedgerInterface) -> None:
    archive = LedgerArchive(ledger, ACCOUNT)
    archive.keep_trade(closed_trade(1))
    archive.keep_trade(closed_trade(3 * ENDED_IDS_PER_PORTION))
    ledger.commit()
    portions = list(archive.trade_portions(3 * ENDED_IDS_PER_PORTION))
    assert [(one.lowest, len(one.records)) for one in portions] == [
        (2 * ENDED_IDS_PER_PORTION + 1, 1),
        (ENDED_IDS_PER_PORTION + 1, 0),
        (1, 1),
    ]


def test_each_account_has_an_archive_of_its_own(ledger: LedgerInterface) -> None:
    LedgerArchive(ledger, ACCOUNT).keep_trade(closed_trade(5))
    ledger.commit()
    assert LedgerArchive(ledger, "101-001-2-001").trade(5) is None


def test_what_is_forgotten_is_gone(ledger: LedgerInterface) -> None:
    archive = LedgerArchive(ledger, ACCOUNT)
    archive.keep_trade(closed_trade(5))
    ledger.commit()
    ledger.forget_ended(ACCOUNT)
    assert ids(archive.trade_portions(9)) == []
