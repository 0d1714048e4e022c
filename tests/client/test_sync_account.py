"""An account followed from ordinary code: the same account, read from another thread."""

import inspect
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from keydesk_client import (
    AccountState,
    Client,
    Done,
    FileJournal,
    PriceUpdated,
    Rejected,
    TransactionApplied,
    sync,
)
from keydesk_client.errors import InvalidSettings, StreamNotOpen, TimedOut
from keydesk_client.models import MarketOrderRequest, OrderFillTransaction
from support.broker import SharedPractice

LONG_S = 30.0
PAIR = "EUR_USD"


@pytest.fixture
def client(shared_practice: SharedPractice) -> Iterator[sync.Client]:
    desk = shared_practice.open_desk()
    inner = Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
    )
    with sync.Client(inner) as client:
        yield client


@pytest.fixture
def journal(tmp_path: Path) -> FileJournal:
    return FileJournal(tmp_path / "private" / "orders.jsonl")


def buy(units: int) -> MarketOrderRequest:
    return MarketOrderRequest(instrument=PAIR, units=units)


def test_after_an_outcome_the_account_has_its_position(
    client: sync.Client, journal: FileJournal
) -> None:
    with client.follow(journal, instruments=[PAIR]) as account:
        assert account.prices[PAIR].bid < account.prices[PAIR].ask
        assert account.recovered == ()
        outcome = account.sender.create(buy(700))
        assert isinstance(outcome, Done)
        assert account.units(PAIR) == 700
        (trade,) = account.trades.values()
        assert trade.id == outcome.trade_id
        assert account.positions[PAIR].units == 700
        assert int(account.newest) >= int(outcome.last_transaction_id)
        pair = account.instruments[PAIR]
        assert account.conversion(pair.quote).value > 0
        assert account.margin.used > 0
        assert account.figures.balance == account.balance
        (closed,) = client.positions.close_all(account.sender)
        assert isinstance(closed.outcome, Done)
        assert account.units(PAIR) == 0


def test_a_condition_may_read_the_account_that_it_waits_for(client: sync.Client) -> None:
    with client.follow(instruments=[PAIR]) as account:
        before = account.nav
        buying = threading.Thread(target=client.orders.create, args=(buy(100_000),))
        buying.start()
        assert account.wait_for(lambda: account.units(PAIR) == 100_000, LONG_S)
        assert account.wait_for(lambda: account.nav != before, LONG_S)
        buying.join()
        assert account.wait_for(lambda: False, 0.01) is False


def test_what_was_read_stays_as_it_was_while_the_account_changes(
    client: sync.Client, journal: FileJournal
) -> None:
    with client.follow(journal, instruments=[PAIR]) as account:
        account.sender.create(buy(100))
        trades, position, revision = account.trades, account.positions[PAIR], account.revision
        for _ in trades:
            account.sender.create(buy(100))
        assert len(trades) == 1
        assert position.units == 100
        assert account.positions[PAIR].units == 200
        assert account.revision > revision


def test_events_are_iterated_with_for_and_waited_for_a_while(client: sync.Client) -> None:
    with client.follow(instruments=[PAIR]) as account:
        quiet = account.events()
        with pytest.raises(TimedOut, match=r"0\.01 s"):
            quiet.next(timeout=0.01)
        client.orders.create(buy(300))
        for event in quiet:
            if isinstance(event, TransactionApplied) and isinstance(
                event.transaction, OrderFillTransaction
            ):
                break
        assert account.units(PAIR) == 300
        prices = account.events(prices=True)
        assert any(isinstance(event, PriceUpdated) for event in prices)
        prices.close()
        prices.close()
        assert [each for each in prices if isinstance(each, TransactionApplied)] == []
    assert [each for each in quiet if isinstance(each, TransactionApplied)] == []


def test_an_account_is_followed_once_and_not_after_its_block(client: sync.Client) -> None:
    with client.follow() as account, pytest.raises(InvalidSettings, match="journal: give one"):
        _ = account.sender
    account.close()
    with pytest.raises(StreamNotOpen):
        account.wait_for(lambda: False)
    with pytest.raises(StreamNotOpen, match="once"), account:
        pass


def test_a_client_may_be_closed_before_the_block_of_its_account_is_left(
    client: sync.Client,
) -> None:
    with client.follow():
        client.close()


@pytest.mark.e2e
def test_another_account_of_the_token_is_followed_at_the_same_time(
    shared_practice: SharedPractice, tmp_path: Path
) -> None:
    desk = shared_practice.open_desk()
    inner = Client(
        token=desk.token,
        rest_url=desk.rest_url,
        stream_url=desk.stream_url,
        account_id=desk.account_id,
    )
    one, two = (FileJournal(tmp_path / "private" / name) for name in ("one.jsonl", "two.jsonl"))
    with (
        sync.Client(inner) as client,
        client.follow(one, instruments=[PAIR]) as first,
        client.follow(two, instruments=[PAIR], account_id=desk.hedging_id) as second,
    ):
        assert (first.figures.id, second.figures.id) == (desk.account_id, desk.hedging_id)
        assert not isinstance(second.sender.create(buy(50)), Rejected)
        assert [first.units(PAIR), second.units(PAIR)] == [0, 50]


def test_it_has_every_member_of_the_asynchronous_account_with_its_words() -> None:
    members, theirs = (
        {
            name: member
            for name, member in vars(kind).items()
            if not name.startswith("_") and (callable(member) or isinstance(member, property))
        }
        for kind in (sync.AccountState, AccountState)
    )
    assert members.keys() - {"close", "recovered", "revision"} == theirs.keys()
    for name, member in theirs.items():
        if callable(member):
            same = (inspect.signature(each[name]).parameters for each in (members, theirs))
            assert len({str(list(each)) for each in same}) == 1
    assert inspect.signature(sync.Client.follow).parameters.keys() == (
        inspect.signature(Client.follow).parameters.keys()
    )
