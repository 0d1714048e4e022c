"""Answers that are older than what the stream brought while they were under way: snapshots, and the account's changes."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk_client.account import fold
from keydesk_client.account.synchronizer import Comparison, Continuity, Synchronizer
from keydesk_client.following.book import FollowedAccount
from keydesk_client.models import Account, Transaction, TransactionID
from keydesk_client.models.responses import AccountChangesResponse
from keydesk_client.sequencer import MAX_HELD
from support.data.account_history import (
    account,
    changes,
    fill,
    open_trade,
    reduction,
    state,
    transaction,
)

LIMIT = {"instrument": "EUR_USD", "units": "100", "price": "1.05", "timeInForce": "GTC"}
LIMIT |= {"positionFill": "DEFAULT", "triggerCondition": "DEFAULT", "reason": "CLIENT_ORDER"}


class Followed:
    """A book that is kept by a synchronizer, what made it doubt, and what its listener heard."""

    def __init__(self) -> None:
        self.book = FollowedAccount()
        self.doubts: list[str] = []
        self.heard: list[int] = []
        apply = partial(fold.apply, self.book)
        self.synchronizer = Synchronizer(self.book, apply, self.doubts.append)
        self.gate = self.synchronizer.gate
        self.gate.listen(lambda each: self.heard.append(int(each.id)))


@pytest.fixture
def followed() -> Followed:
    """A book after the first snapshot, which holds everything up to 3."""
    made = Followed()
    made.synchronizer.apply_snapshot(account())
    return made


def held(id_: int, units: str = "100", **members: object) -> dict[str, object]:
    return open_trade(id_, **({"initialUnits": units, "currentUnits": units} | members))


def opening(id_: int, instrument: str = "EUR_USD") -> Transaction:
    """The fill of an order that nothing else names."""
    opened = {"tradeID": f"{id_}", "units": "100", "price": "1.1"}
    opened["initialMarginRequired"] = "100.0000"
    return fill(id_, instrument, orderID="1", units="100", tradeOpened=opened)


def answer(last: int, *open_ids: int, **members: object) -> AccountChangesResponse:
    """What the service said of the account when `last` was its newest transaction."""
    priced = [
        {"id": f"{id_}", "unrealizedPL": "0.0000", "marginUsed": "0.0000"} for id_ in open_ids
    ]
    return AccountChangesResponse(
        changes=changes(**members),
        state=state(trades=priced, NAV="9990.0000"),
        last_transaction_id=TransactionID(last),
    )


def closing(id_: int, trade_id: int, instrument: str = "EUR_USD") -> Transaction:
    closed = [reduction(trade_id, "-100", "1.1", "0.0000")]
    return fill(id_, instrument, orderID="1", tradesClosed=closed)


def test_a_snapshot_that_is_older_than_the_stream_gets_the_later_transactions_on_top(
    followed: Followed,
) -> None:
    with followed.synchronizer.asking() as request:
        followed.gate.offer(opening(4))
        followed.gate.offer(opening(5))
        older = account(lastTransactionID="4", trades=[held(4)])
        assert followed.synchronizer.apply_snapshot(older, request) is Continuity.SAME
    assert {id_: row.units for id_, row in followed.book.trades.items()} == {"4": 100, "5": 100}
    assert followed.gate.applied == 5
    assert followed.synchronizer.checked == 4
    assert followed.heard == [4, 5], "each once"
    assert followed.doubts == []
    followed.gate.offer(opening(6))
    assert followed.heard == [4, 5, 6]


def test_a_history_that_went_back_before_it_was_asked_for_replaces_everything(
    followed: Followed,
) -> None:
    followed.gate.offer(opening(4))
    with followed.synchronizer.asking() as request:
        followed.gate.offer(opening(5))
        assert followed.synchronizer.apply_snapshot(account(), request) is Continuity.WENT_BACK
    assert followed.book.trades == {}
    assert followed.gate.applied == 3


@dataclass
class Replica:
    """Answers with these copies of an account, and notes the pauses between the requests."""

    answers: list[Account]
    pauses: list[float] = field(default_factory=list[float])

    async def read(self) -> Account:
        return self.answers.pop(0)

    async def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


async def test_a_snapshot_of_a_replica_that_lags_behind_is_asked_for_again(
    followed: Followed,
) -> None:
    followed.gate.offer(opening(4))
    followed.gate.offer(opening(5))
    caught_up = account(lastTransactionID="5", trades=[held(4), held(5)])
    replica = Replica([account(), account(lastTransactionID="4", trades=[held(4)]), caught_up])
    synchronizer = followed.synchronizer
    with synchronizer.asking() as request:
        followed.gate.offer(opening(6))  # since the first request, and in no answer
        read = await synchronizer.read_snapshot(replica.read, request, sleep=replica.sleep)
        assert synchronizer.apply_snapshot(read, request) is Continuity.SAME
    assert replica.pauses == [0.5, 1.0]
    assert set(followed.book.trades) == {"4", "5", "6"}
    assert followed.heard == [4, 5, 6], "each once"


async def test_a_history_that_stays_shorter_is_believed_after_the_pauses(
    followed: Followed,
) -> None:
    followed.gate.offer(opening(4))
    replica = Replica([account()] * 4)
    synchronizer = followed.synchronizer
    with synchronizer.asking() as request:
        read = await synchronizer.read_snapshot(replica.read, request, sleep=replica.sleep)
        assert synchronizer.apply_snapshot(read, request) is Continuity.WENT_BACK
    assert replica.pauses == [0.5, 1.0, 2.0]
    assert followed.book.trades == {}


@pytest.mark.parametrize(
    "answer",
    [account(lastTransactionID="9"), account(createdTime="2026-01-05T00:00:00.000000000Z")],
    ids=["a newer one", "another account"],
)
async def test_no_other_snapshot_is_asked_for_twice(followed: Followed, answer: Account) -> None:
    followed.gate.offer(opening(4))
    replica = Replica([answer])
    with followed.synchronizer.asking() as request:
        read = followed.synchronizer.read_snapshot
        assert await read(replica.read, request, sleep=replica.sleep) is answer
    assert replica.pauses == []


def test_a_later_transaction_that_cannot_be_applied_again_asks_for_another_snapshot(
    followed: Followed,
) -> None:
    with followed.synchronizer.asking() as request:
        followed.gate.offer(opening(4))
        followed.gate.offer(closing(5, 4))
        assert followed.doubts == []
        # The snapshot is wrong: it holds transaction 4 without its trade.
        followed.synchronizer.apply_snapshot(account(lastTransactionID="4"), request)
    assert followed.doubts != []


def test_changes_that_are_older_than_the_stream_are_compared_and_not_asked_for_again(
    followed: Followed,
) -> None:
    with followed.synchronizer.asking() as request:
        followed.gate.offer(opening(4))
        followed.gate.offer(opening(5))
        seen = answer(4, 4, tradesOpened=[held(4)])
        assert followed.synchronizer.apply_changes(seen, request) is Comparison.PARTLY
    assert followed.synchronizer.checked == 4
    assert followed.doubts == []
    assert followed.book.account is not None
    assert followed.book.account.nav == 10_000, "that of transaction 4 is out of date"


def test_what_no_later_transaction_concerns_is_compared(followed: Followed) -> None:
    followed.gate.offer(opening(4, "USD_JPY"))
    with followed.synchronizer.asking() as request:
        followed.gate.offer(opening(5))
        assert followed.synchronizer.apply_changes(answer(4), request) is Comparison.DIFFERENT
    assert followed.doubts == ["Differs from the broker: trade 4 is open here, not at the broker"]
    assert followed.synchronizer.checked == 3


BOTH = {"takeProfitOrderID": "5"}
LATER: tuple[tuple[Transaction, AccountChangesResponse], ...] = (
    (closing(6, 4), answer(5, 4, tradesOpened=[held(4, **BOTH)])),
    (
        transaction(6, "ORDER_CANCEL", orderID="5", reason="CLIENT_REQUEST"),
        answer(5, 4, tradesOpened=[held(4, **BOTH)]),
    ),
    (
        fill(6, tradeReduced=reduction(4, "-40", "1.1", "4.0000")),
        answer(5, 4, tradesOpened=[held(4, **BOTH)]),
    ),
    (
        transaction(6, "LIMIT_ORDER", **LIMIT),
        answer(5, 4, tradesOpened=[held(4, **BOTH)]),
    ),
)


@pytest.mark.parametrize(("later_one", "seen"), LATER, ids=lambda each: getattr(each, "type", ""))
def test_what_a_later_transaction_concerns_is_no_difference(
    followed: Followed, later_one: Transaction, seen: AccountChangesResponse
) -> None:
    followed.gate.offer(opening(4))
    target = {"tradeID": "4", "price": "1.2", "timeInForce": "GTC", "reason": "CLIENT_ORDER"}
    followed.gate.offer(transaction(5, "TAKE_PROFIT_ORDER", triggerCondition="DEFAULT", **target))
    with followed.synchronizer.asking() as request:
        followed.gate.offer(later_one)
        assert followed.synchronizer.apply_changes(seen, request) is Comparison.PARTLY
    assert followed.doubts == []


REDUCED = fill(5, orderID="1", tradeReduced=reduction(4, "-30", "1.1", "0.0000"))
STOP = {"tradeID": "4", "price": "1.0", "timeInForce": "GTC", "reason": "CLIENT_ORDER"}


def test_what_was_left_out_is_listed_and_compared_by_the_next_changes(followed: Followed) -> None:
    followed.gate.offer(opening(4))
    with followed.synchronizer.asking() as request:
        followed.gate.offer(REDUCED)
        stop = transaction(6, "STOP_LOSS_ORDER", triggerCondition="DEFAULT", **STOP)
        followed.gate.offer(stop)
        wrong = held(4, "100", currentUnits="60")  # 70 here
        sent = [REDUCED.to_wire()]
        seen = answer(5, 4, tradesReduced=[wrong], transactions=sent)
        assert followed.synchronizer.apply_changes(seen, request) is Comparison.PARTLY
    assert followed.synchronizer.checked == 4, "so that the trade is listed again"
    wrong |= {"stopLossOrderID": "6"}
    seen = answer(6, 4, tradesReduced=[wrong], transactions=[*sent, stop.to_wire()])
    assert followed.synchronizer.apply_changes(seen) is Comparison.DIFFERENT
    assert followed.doubts == [
        "Differs from the broker: trade 4 has 70 units here, 60 at the broker"
    ]


def test_an_answer_to_what_was_asked_before_the_account_was_replaced_is_not_compared(
    followed: Followed,
) -> None:
    with followed.synchronizer.asking() as of_snapshot:
        followed.gate.offer(opening(4))
        followed.gate.offer(opening(5))
        seen = answer(5, 4, 5, transactions=[])
        assert followed.synchronizer.apply_changes(seen) is Comparison.EQUAL
        with followed.synchronizer.asking() as of_changes:
            assert of_changes.since == 5
            older = account(lastTransactionID="4", trades=[held(4, currentUnits="60")])
            followed.synchronizer.apply_snapshot(older, of_snapshot)
            compared = followed.synchronizer.apply_changes(seen, of_changes)
            assert compared is Comparison.NOT_YET
    assert followed.synchronizer.checked == 4, "5 is compared with the replaced account"


def test_changes_of_an_account_that_never_rests_are_not_asked_for_again_and_again(
    followed: Followed,
) -> None:
    newest = 3
    for _ in range(30):
        with followed.synchronizer.asking() as request:
            before = [opening(newest + 1), closing(newest + 2, newest + 1)]
            followed.gate.offer_all(before)
            later = [opening(newest + 3), closing(newest + 4, newest + 3)]
            followed.gate.offer_all(later)
            flat = {"instrument": "EUR_USD", "long": {"units": "0"}, "short": {"units": "0"}}
            sent = [each.to_wire() for each in before]
            seen = answer(newest + 2, positions=[flat], transactions=sent)
            assert followed.synchronizer.apply_changes(seen, request) is Comparison.PARTLY
        newest += 4
        assert newest - followed.synchronizer.checked <= 4
    assert followed.doubts == []


def replaced(followed: Followed) -> None:
    followed.synchronizer.apply_snapshot(account(lastTransactionID="9"))


def flooded(followed: Followed) -> None:
    for id_ in range(6, 6 + MAX_HELD):
        followed.gate.offer(transaction(id_, "CLIENT_CONFIGURE", alias="a"))


@pytest.mark.parametrize("meanwhile", [replaced, flooded])
def test_nothing_is_compared_where_the_later_transactions_are_not_all_known(
    followed: Followed, meanwhile: Callable[[Followed], None]
) -> None:
    with followed.synchronizer.asking() as request:
        followed.gate.offer(opening(4))
        followed.gate.offer(opening(5))
        meanwhile(followed)
        checked = followed.synchronizer.checked
        assert followed.synchronizer.apply_changes(answer(4), request) is Comparison.NOT_YET
    assert followed.synchronizer.checked == checked
    assert followed.doubts == []


@dataclass
class Service:
    """An account that trades all the time, and its history."""

    history: list[Transaction] = field(default_factory=list)
    trades: dict[int, str] = field(default_factory=dict)  # open ones, and their instruments
    pending: set[int] = field(default_factory=set)
    opened: dict[int, str] = field(default_factory=dict)  # all of them
    created: list[int] = field(default_factory=list)
    ended: dict[int, int] = field(
        default_factory=dict
    )  # orders, by the transaction that ended them

    @property
    def last(self) -> int:
        return 3 + len(self.history)

    def trade(self, dice: random.Random) -> None:
        """Open or close a trade, or place or cancel an order."""
        id_ = self.last + 1
        done = [each for each in (self.trades, self.pending) if each and dice.random() < 0.5]
        if done and done[0] is self.trades:
            trade_id = dice.choice(sorted(self.trades))
            made = closing(id_, trade_id, self.trades.pop(trade_id))
        elif done:
            order_id = dice.choice(sorted(self.pending))
            self.pending.remove(order_id)
            self.ended[order_id] = id_
            made = transaction(id_, "ORDER_CANCEL", orderID=f"{order_id}", reason="CLIENT_REQUEST")
        elif dice.random() < 0.5:
            self.trades[id_] = self.opened[id_] = dice.choice(("EUR_USD", "USD_JPY"))
            made = opening(id_, self.trades[id_])
        else:
            self.pending.add(id_)
            self.created.append(id_)
            made = transaction(id_, "LIMIT_ORDER", **LIMIT)
        self.history.append(made)

    def changes(self, since: int) -> AccountChangesResponse:
        opened = [id_ for id_ in self.opened if id_ > since and id_ in self.trades]
        created = [id_ for id_ in self.created if id_ > since and id_ in self.pending]
        return answer(
            self.last,
            *self.trades,
            tradesOpened=[held(id_, instrument=self.opened[id_]) for id_ in opened],
            ordersCreated=[self._order(id_, "PENDING") for id_ in created],
            ordersCancelled=[
                self._order(id_, "CANCELLED") for id_, by in self.ended.items() if by > since
            ],
            transactions=[each.to_wire() for each in self.history[since - 3 :]],
        )

    def snapshot(self) -> Account:
        return account(
            lastTransactionID=f"{self.last}",
            trades=[held(id_, instrument=name) for id_, name in self.trades.items()],
            orders=[self._order(id_, "PENDING") for id_ in sorted(self.pending)],
        )

    def _order(self, id_: int, now: str) -> dict[str, object]:
        created = {"id": f"{id_}", "createTime": self.history[id_ - 4].time.text}
        return {**LIMIT, **created, "state": now, "type": "LIMIT"}


@given(st.integers(0, 2**32))
def test_a_busy_account_is_compared_at_every_answer_and_never_doubted(seed: int) -> None:
    dice, followed, service = random.Random(seed), Followed(), Service()
    followed.synchronizer.apply_snapshot(service.snapshot())
    brought = 0

    def meanwhile() -> None:
        """The account trades, and the stream brings some of it."""
        nonlocal brought
        for _ in range(dice.randrange(4)):
            service.trade(dice)
        for _ in range(dice.randrange(5)):
            if brought < len(service.history):
                followed.gate.offer(service.history[brought])
                brought += 1

    for _ in range(12):
        meanwhile()
        with followed.synchronizer.asking() as request:
            meanwhile()
            if dice.random() < 0.3:
                whole = service.snapshot()
                meanwhile()
                is_same = followed.synchronizer.apply_snapshot(whole, request) is Continuity.SAME
                assert is_same
                assert followed.synchronizer.checked == int(whole.last_transaction_id)
            else:
                seen = service.changes(followed.synchronizer.checked)
                meanwhile()
                compared = followed.synchronizer.apply_changes(seen, request)
                last = int(seen.last_transaction_id)
                is_older = followed.gate.applied != last
                assert compared is (Comparison.PARTLY if is_older else Comparison.EQUAL)
                assert request.since <= followed.synchronizer.checked <= last
                assert is_older or followed.synchronizer.checked == last
    seen = service.changes(followed.synchronizer.checked)
    assert followed.synchronizer.apply_changes(seen) is Comparison.EQUAL
    assert followed.doubts == []
    assert set(followed.book.trades) == {f"{id_}" for id_ in service.trades}
    assert set(followed.book.orders) == {f"{id_}" for id_ in service.pending}
    held_units = {name: each.units for name, each in followed.book.positions.items() if each.units}
    names = set(service.trades.values())
    count = {name: sum(each == name for each in service.trades.values()) for name in names}
    assert held_units == {name: Decimal(100) * number for name, number in count.items()}
    assert followed.heard == sorted(set(followed.heard)), "each transaction at most once, in order"
