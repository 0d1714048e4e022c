"""Lines older than the followed log: each transaction once, in order, without a gap, in bounded memory."""

from collections.abc import Iterable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keydesk.store.log_filter import filled_orders, passes
from keydesk.store.past_log import PAGE, WINDOW, PastLog
from keydesk.store.state import PastDirection
from keydesk.store.store import LOG_LIMIT, Store
from keydesk.store.transactions.fold import forget_after, write_earlier
from keydesk.store.transactions.past_pages import take_page, want_past
from keydesk.text.sanitize import safe
from keydesk.words.log_line import LogLine
from keydesk.words.log_lines import line_of
from keydesk_client.models import Transaction
from support.data.account_history import fill, fresh_store, opening, reduction, transaction
from support.examples import examples

LAST = 5_000
FIRST_FOLLOWED = LAST - 499
HISTORY = {
    id_: transaction(id_, "CLIENT_CONFIGURE", alias=f"{'red' if id_ % 7 == 0 else 'blue'} {id_}")
    for id_ in range(1, LAST + 1)
}


def read(first: int, last: int) -> list[Transaction]:
    return [HISTORY[id_] for id_ in range(first, last + 1) if id_ in HISTORY]


def followed_store(first: int = FIRST_FOLLOWED) -> Store:
    store = fresh_store()
    write_earlier(store, read(first, LAST))
    return store


def load(store: Store) -> None:
    """Read one page, as the feed does when the broker answers."""
    past = store.past_log
    assert past is not None
    assert store.log_start is not None
    if (page := past.page(store.log_start)) is not None:
        take_page(store, past, page, read(*page))
    past.wants = ""


def is_joined(store: Store) -> bool:
    return store.past_is_joined


def ids(lines: Iterable[LogLine]) -> list[int]:
    return [int(line.id) for line in lines]


@cache
def all_lines() -> dict[int, LogLine]:
    """Return the lines of the whole history; none of them depends on what is open."""
    return {id_: line_of(each, {}, {}) for id_, each in HISTORY.items()}


Step = tuple[PastDirection, bool, bool]  # direction, the page came, the page came again
steps = st.lists(
    st.tuples(
        st.sampled_from(["older", "older", "older", "newer", "first", ""]),
        st.booleans(),
        st.booleans(),
    ),
    max_size=40,
)


@settings(max_examples=examples(8, soak=100), deadline=None)
@given(steps, st.sampled_from(["", "red"]))
def test_whatever_pages_fail_or_repeat_the_window_is_a_part_of_the_history_without_a_gap(
    taken: list[Step], filter_text: str
) -> None:
    store = followed_store()
    for direction, came, again in taken:
        want_past(store, direction, filter_text, from_followed=store.past_is_joined)
        past = store.past_log
        if past is None or not came:
            continue
        assert store.log_start is not None
        page = past.page(store.log_start)
        for _ in range(1 + again):
            if page is not None:
                take_page(store, past, page, read(*page))
        past.wants = ""
        window = range(past.oldest, past.newest + 1)
        expected = [id_ for id_ in window if passes(all_lines()[id_], filter_text)]
        assert ids(past.lines) == expected
        assert len(past.lines) <= WINDOW
        assert past.newest < FIRST_FOLLOWED


def test_going_back_page_by_page_shows_every_transaction_down_to_the_first() -> None:
    store = followed_store()
    seen = set(ids(store.log))
    while store.past_log is None or not store.past_log.reaches_start:
        want_past(store, "older", from_followed=store.past_is_joined)
        load(store)
        assert store.past_log is not None
        seen |= set(ids(store.past_log.lines))
    assert seen == set(HISTORY)


def test_on_the_way_back_to_the_newest_the_window_joins_the_followed_log_again() -> None:
    store = followed_store()
    want_past(store, "first")
    load(store)
    assert store.past_log is not None
    assert ids(store.past_log.lines)[:1] == [1]
    assert not is_joined(store)
    for _ in range(LAST // PAGE):
        want_past(store, "newer", from_followed=False)
        load(store)
    assert is_joined(store)
    assert ids([*store.past_log.lines, *store.log])[-2:] == [LAST - 1, LAST]


def test_a_search_keeps_the_lines_that_pass_over_any_number_of_others() -> None:
    store = followed_store()
    while store.past_log is None or not store.past_log.reaches_start:
        want_past(store, "older", "red 7")
        load(store)
    assert store.past_log.oldest == 1
    words = [line.text for line in store.past_log.lines]
    assert words
    assert all("red" in each and "7" in each for each in words)


def test_lines_that_the_full_log_gives_up_stay_with_their_reader() -> None:
    store = followed_store()
    want_past(store, "older")
    load(store)
    for id_ in range(LAST + 1, LAST + LOG_LIMIT + 1):
        store.write_log(LogLine(str(id_), 1, "NOTE", "", safe("new")))
    assert store.past_log is not None
    every = ids([*store.past_log.lines, *store.log])
    assert every == list(range(FIRST_FOLLOWED - PAGE, LAST + LOG_LIMIT + 1))


def test_a_gap_of_a_long_interruption_is_not_hidden_between_two_lines() -> None:
    store = followed_store(FIRST_FOLLOWED)
    store.write_log(LogLine("", store.log[-1].time_ns, "LINK", "", safe("The stream is down")))
    later = [
        transaction(id_, "CLIENT_CONFIGURE", alias="later") for id_ in range(LAST + 700, LAST + 800)
    ]
    write_earlier(store, later)
    assert ids(line for line in store.log if line.id) == list(range(LAST + 700, LAST + 800))
    assert [line.text for line in store.log if not line.id] == ["The stream is down"]


def test_what_the_log_lacks_is_filled_in_at_its_place() -> None:
    store = fresh_store()
    write_earlier(store, read(LAST - 100, LAST - 50))
    write_earlier(store, read(LAST - 80, LAST))
    assert ids(store.log) == list(range(LAST - 100, LAST + 1))


def test_a_broker_that_went_back_takes_the_lines_after_that_with_it() -> None:
    store = followed_store()
    want_past(store, "older")
    load(store)
    forget_after(store, LAST - 400)
    assert ids(store.log)[-1] == LAST - 400
    forget_after(store, LAST - 900)
    assert store.past_log is None


def test_a_cancellation_is_named_once_its_order_is_read() -> None:
    store = fresh_store()
    order = transaction(
        499,
        "STOP_LOSS_ORDER",
        tradeID="498",
        price="1.083",
        timeInForce="GTC",
        reason="ON_FILL",
        triggerCondition="DEFAULT",
    )
    cancel = transaction(501, "ORDER_CANCEL", orderID="499", reason="CLIENT_REQUEST")
    past = PastLog(1000, "#498")
    past.want("older")
    take_page(store, past, (501, 1000), [cancel])
    assert past.lines == []
    past.want("older")
    take_page(store, past, (1, 500), [opening(498, "1000", "1.09"), order])
    assert [line.id for line in past.lines] == ["498", "499", "501"]
    assert past.lines[-1].instrument == "EUR_USD"
    assert "Stop 1.083 #499 cancelled" in past.lines[-1].text


@pytest.mark.parametrize(
    ("filter_text", "is_shown"),
    [
        ("fill", True),
        ("close", False),
        ("eurusd bought", True),
        ("gbpusd", False),
        ("#498", True),
        ("#49", False),
        ("#497", True),
        ("#498 fill", True),
        ("#498 cancel", False),
        ("#", True),
    ],
)
def test_lines_are_filtered_by_kind_instrument_words_order_and_trade(
    filter_text: str, is_shown: bool
) -> None:
    line = line_of(opening(498, "1000", "1.09"), {}, {})
    assert passes(line, filter_text) is is_shown


MARKET = {"instrument": "EUR_USD", "units": "1000", "timeInForce": "FOK", "reason": "CLIENT_ORDER"}
STOP = {"tradeID": "5", "price": "1.08", "timeInForce": "GTC", "reason": "ON_FILL"}
TRADE = [
    transaction(3, "LIMIT_ORDER", price="1.07", **(MARKET | {"timeInForce": "GTC"})),
    transaction(4, "MARKET_ORDER", **MARKET),
    opening(5, "1000", "1.09"),
    transaction(6, "STOP_LOSS_ORDER", **STOP),
    transaction(12, "MARKET_ORDER", **(MARKET | {"units": "-400"})),
    fill(13, tradeReduced=reduction(5, "-400", "1.1", "4.0000")),
    transaction(14, "MARKET_ORDER", **(MARKET | {"units": "-900"})),
    fill(
        15,
        tradesClosed=[reduction(5, "-600", "1.1", "6.0000")],
        tradeOpened={"tradeID": "15", "units": "-300", "price": "1.1"},
    ),
    transaction(16, "ORDER_CANCEL", orderID="6", reason="LINKED_TRADE_CLOSED"),
]


@pytest.mark.parametrize(
    ("filter_text", "shown"),
    [
        ("#5", [4, 5, 6, 12, 13, 14, 15, 16]),
        ("#15", [14, 15]),
        ("#15 market", [14]),
        ("#4", [4, 5]),
        ("#3", [3]),
        ("#5 #15", [14, 15]),
    ],
)
def test_a_trade_is_shown_with_the_orders_that_opened_reduced_and_closed_it(
    filter_text: str, shown: list[int]
) -> None:
    store = fresh_store()
    write_earlier(store, TRADE)
    filled = filled_orders(store.log, filter_text)
    assert ids(line for line in store.log if passes(line, filter_text, filled)) == shown


@pytest.mark.parametrize("followed", [4, 5, 13, 16], ids=lambda first: f"followed from {first}")
def test_the_orders_of_a_trade_are_shown_from_pages_as_well(followed: int) -> None:
    store = fresh_store()
    write_earlier(store, [each for each in TRADE if int(each.id) >= followed])
    past = PastLog(followed - 1, "#5")
    for last in range(followed - 1, 0, -1):  # each transaction on a page of its own
        read_now = [each for each in TRADE if int(each.id) == last]
        take_page(store, past, (last, last), read_now)
    older = [each for each in (4, 5, 6, 12, 13, 14, 15, 16) if each < followed]
    assert ids(past.lines) == older


def test_an_order_that_the_full_log_gives_up_stays_with_the_reader_of_its_trade() -> None:
    store = fresh_store()
    write_earlier(store, [each for each in TRADE if int(each.id) >= 4])
    store.past_log = PastLog(3, "#5")
    store.trim_log(1)
    assert ids(store.past_log.lines) == [4]
