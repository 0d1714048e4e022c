"""The state protocol without a network: snapshots, transactions in any order, changes, and another history."""

from decimal import Decimal
from functools import partial

import pytest

from keydesk_client.account import fold
from keydesk_client.account.synchronizer import Comparison, Continuity, Synchronizer
from keydesk_client.following.book import FollowedAccount
from keydesk_client.models import TransactionID
from keydesk_client.models.responses import AccountChangesResponse
from support.data.account_history import (
    account,
    changes,
    conversions,
    instrument,
    open_trade,
    opening,
    price,
    state,
)


class Followed:
    """A book that is kept by a synchronizer, and what made it doubt."""

    def __init__(self) -> None:
        self.book = FollowedAccount()
        self.doubts: list[str] = []
        self.synchronizer = Synchronizer(
            self.book, partial(fold.apply, self.book), self.doubts.append
        )
        self.gate = self.synchronizer.gate

    @property
    def units(self) -> Decimal:
        position = self.book.positions.get("EUR_USD")
        return Decimal(0) if position is None else position.units


@pytest.fixture
def followed() -> Followed:
    return Followed()


def changed(last: int, trades: tuple[int, ...] = (), **figures: object) -> AccountChangesResponse:
    """The service's newest transaction, and the trades that are open there."""
    open_there = [
        {"id": str(each), "unrealizedPL": "0.0000", "marginUsed": "0.0000"} for each in trades
    ]
    return AccountChangesResponse(
        changes=changes(),
        state=state(trades=open_there, **figures),
        last_transaction_id=TransactionID(last),
    )


def test_what_came_before_the_snapshot_is_applied_after_it_and_once(followed: Followed) -> None:
    followed.gate.offer(opening(5, "200", "1.1"))
    followed.gate.offer(opening(4, "100", "1.1"))
    assert followed.synchronizer.apply_snapshot(account()) is Continuity.SAME  # up to 3
    followed.gate.offer(opening(4, "100", "1.1"))
    assert followed.units == 300
    assert followed.gate.applied == 5


def test_what_the_snapshot_holds_is_not_applied_again(followed: Followed) -> None:
    followed.gate.offer(opening(3, "100", "1.1"))
    followed.synchronizer.apply_snapshot(account())
    assert followed.units == 0


def test_equal_accounts_take_the_figures_of_the_service(followed: Followed) -> None:
    followed.synchronizer.apply_snapshot(account())
    followed.gate.offer(opening(4, "100", "1.1"))
    answer = changed(4, (4,), NAV="9990.0000")
    assert followed.synchronizer.apply_changes(answer) is Comparison.EQUAL
    assert followed.synchronizer.checked == 4
    assert followed.book.account is not None
    assert followed.book.account.nav == 9990
    assert followed.doubts == []


def test_a_trade_that_only_one_side_has_is_a_doubt(followed: Followed) -> None:
    followed.synchronizer.apply_snapshot(account())
    followed.gate.offer(opening(4, "100", "1.1"))
    assert followed.synchronizer.apply_changes(changed(4)) is Comparison.DIFFERENT
    assert followed.doubts == ["Differs from the broker: trade 4 is open here, not at the broker"]
    assert followed.synchronizer.checked == 3


def test_nothing_is_compared_while_transactions_are_missing(followed: Followed) -> None:
    followed.synchronizer.apply_snapshot(account())
    assert followed.synchronizer.apply_changes(changed(5, (5,))) is Comparison.NOT_YET
    assert followed.gate.missing == (4, 5)
    assert followed.doubts == []


def test_a_service_that_knows_less_replaces_what_came_after(followed: Followed) -> None:
    followed.synchronizer.apply_snapshot(account())
    followed.gate.offer(opening(4, "100", "1.1"))
    assert followed.synchronizer.apply_snapshot(account()) is Continuity.WENT_BACK
    assert followed.units == 0
    assert followed.gate.applied == 3


def test_another_account_under_the_id_begins_anew(followed: Followed) -> None:
    followed.synchronizer.apply_snapshot(account())
    other = account(createdTime="2026-02-01T00:00:00.000000000Z", lastTransactionID="9")
    assert followed.synchronizer.apply_snapshot(other) is Continuity.ANOTHER_ACCOUNT
    assert followed.gate.applied == 9


def test_transactions_that_waited_are_not_those_of_another_history(followed: Followed) -> None:
    followed.synchronizer.apply_snapshot(account())
    followed.gate.offer(opening(6, "100", "1.1"))  # 4 and 5 are missing
    other = account(createdTime="2026-02-01T00:00:00.000000000Z", lastTransactionID="5")
    followed.synchronizer.apply_snapshot(other)
    assert followed.units == 0
    assert followed.gate.applied == 5


def test_profit_margin_and_nav_follow_a_price(followed: Followed) -> None:
    book = followed.book
    book.instruments["EUR_USD"] = instrument("EUR_USD")
    followed.synchronizer.apply_snapshot(account(trades=[open_trade(3)]))  # 50,000 at 1.08500
    book.apply_price(price("EUR_USD", "1.08600", "1.08610"), 0.0)
    assert book.account is not None
    assert book.trades["3"].unrealized_pl == 50
    assert book.account.nav == 10_050
    margin = 50_000 * Decimal("0.0333") * Decimal("1.08605")
    assert book.account.margin_used == round(margin, 4), "as the service rounds it"


def test_an_older_price_is_dropped(followed: Followed) -> None:
    newer, older = (f"2026-03-02T10:00:0{second}.000000000Z" for second in (2, 1))
    assert followed.book.apply_price(price("EUR_USD", "1.2", "1.3", newer), 0.0) is not None
    assert followed.book.apply_price(price("EUR_USD", "1.0", "1.1", older), 0.0) is None
    assert followed.book.quotes["EUR_USD"].bid == Decimal("1.2")


def test_a_conversion_out_of_range_is_refused(followed: Followed) -> None:
    with pytest.raises(ValueError, match="out of range"):
        followed.book.apply_conversion(conversions("JPY", "0", "1", "1"))
    assert "JPY" not in followed.book.conversions
