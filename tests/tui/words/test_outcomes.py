"""What the trader reads after sending: every outcome in one plain line."""

import dataclasses
from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.calc.trade_journal.events import Fill, OrderPrice
from keydesk.calc.trade_journal.rebuild import rebuild
from keydesk.trade_journal.reading import events_of
from keydesk.values import Command
from keydesk.words.log_lines import line_of
from keydesk.words.log_names import LogNames, NamedOrder
from keydesk.words.outcomes import fill_of, fill_text, report_of, slippage_pips
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    NotSent,
    OrderResult,
    Rejected,
    Unconfirmed,
)
from support.data.account_history import fill, fresh_store, reduction
from support.data.outcomes import done, intent, opening_fill

D = Decimal
ASKED = Command(
    "BUY 50,000 EUR/USD at market",
    "B",
    expected=D("1.08500"),
    bound=D("1.08520"),
    pip=D("0.0001"),
    milliseconds=143.2,
)


def test_a_fill_says_price_slippage_time_and_trade() -> None:
    said = report_of(done(opening_fill()), ASKED)
    assert said.text == "FILLED 50,000 EUR/USD @ 1.08502 0.2 pip worse 143 ms #6419"
    assert said.level == "good"


def test_a_better_price_than_the_best_at_the_fill_is_called_better() -> None:
    assert "0.3 pip better" in report_of(done(opening_fill("1.08497")), ASKED).text


def test_a_sell_filled_lower_has_slipped() -> None:
    asked = replace(ASKED, expected=D("1.08490"))
    text = report_of(done(opening_fill("1.08480", "-50000")), asked).text
    assert "1.0 pip worse 143 ms" in text


def test_a_price_that_moved_before_the_fill_is_no_slippage_and_is_named() -> None:
    asked = replace(ASKED, expected=D("1.08499"))
    text = report_of(done(opening_fill("1.08500")), asked).text
    assert "no slippage (the price had moved 0.1 pip worse)" in text


def test_an_order_with_a_price_of_its_own_slips_from_that() -> None:
    asked = replace(ASKED, expected=None, order_price=D("1.08510"))
    assert "0.8 pip better" in report_of(done(opening_fill()), asked).text


@pytest.mark.parametrize(
    "full_price",
    [{"asks": [{"liquidity": 1}]}, {"bids": []}, {"asks": "none"}, {"bids": [{}]}, "none", {}],
)
def test_a_fill_whose_prices_cannot_be_read_is_reported_without_slippage(
    full_price: object,
) -> None:
    filled = opening_fill(fullPrice=full_price)
    text = report_of(done(filled), ASKED).text
    assert text.startswith("FILLED 50,000 EUR/USD @ 1.08502")
    assert "slippage" not in text
    assert "worse" not in text
    [event] = events_of([filled])
    assert isinstance(event, Fill), "the journal counts it, too"


@pytest.mark.parametrize(
    ("order_price", "reason", "words"),
    [(None, "MARKET_ORDER", "0.2 pip worse"), ("1.08510", "LIMIT_ORDER", "0.8 pip better")],
)
def test_message_log_and_journal_have_the_same_slippage(
    order_price: str | None, reason: str, words: str
) -> None:
    own = None if order_price is None else D(order_price)
    filled = opening_fill(reason=reason)
    fill_, [event] = fill_of([filled]), events_of([filled])
    assert fill_ is not None
    assert isinstance(event, Fill)
    before = [] if own is None else [OrderPrice(event.order_id, own)]
    [trade] = rebuild([*before, event]).trades
    told = slippage_pips(fill_, replace(ASKED, order_price=own))
    assert trade.slippage is not None
    assert told == trade.slippage / D("0.0001")
    names = LogNames({fill_.order_id or "": NamedOrder("LIMIT", "EUR_USD", own, "")})
    logged = line_of(fill_, {}, {}, names, fresh_store().instruments).text
    assert logged.startswith("Bought 50,000 at 1.08502 #6419, ")
    assert logged.endswith(f", {words}")
    assert f" {words} " in fill_text(fill_, replace(ASKED, order_price=own))


def test_a_close_says_what_was_realized() -> None:
    closing = fill(
        6420,
        units="-20000",
        fullVWAP="1.08490",
        pl="10.0000",
        tradesClosed=[reduction(6411, "-20000", "1.08490", "10.0000")],
    )
    text = report_of(done(closing), Command("CLOSE all of #6411 EUR/USD", "C")).text
    assert text == "CLOSED 20,000 EUR/USD @ 1.08490 realized +10.00"


def test_a_turned_position_says_what_it_was_and_what_it_is() -> None:
    turning = fill(
        6420,
        units="-10000",
        fullVWAP="1.08490",
        pl="5.0000",
        tradesClosed=[
            reduction(6411, "-3000", "1.08490", "3.0000"),
            reduction(6412, "-2000", "1.08490", "2.0000"),
        ],
        tradeOpened={
            "tradeID": "6420",
            "units": "-5000",
            "price": "1.08490",
            "initialMarginRequired": "180.6400",
        },
    )
    text = report_of(done(turning), Command("REVERSE EUR/USD", "R")).text
    assert text == "TURNED EUR/USD +5,000 → −5,000 @ 1.08490 #6420 realized +5.00"


def test_a_part_names_its_trade() -> None:
    closing = fill(
        6420,
        units="-10000",
        fullVWAP="1.08490",
        pl="5.0000",
        tradeReduced=reduction(6411, "-10000", "1.08490", "5.0000"),
    )
    assert " of #6411 EUR/USD @ " in report_of(done(closing), Command("CLOSE", "C")).text


def test_a_price_past_the_bound_says_so_and_what_to_press() -> None:
    said = report_of(done(result=OrderResult.CANCELLED, reason="BOUNDS_VIOLATION"), ASKED)
    why = "price moved past the bound 1.08520"
    assert said.text == f"NOT FILLED {ASKED.text}: {why}. Send again: B"
    assert said.level == "bad"


@pytest.mark.parametrize(
    ("reason", "since"),
    [("CLIENT_REQUEST", "was cancelled since"), ("CLIENT_REQUEST_REPLACED", "was replaced since")],
)
def test_an_order_that_rested_until_a_later_request_ended_it_is_not_called_unfilled(
    reason: str, since: str
) -> None:
    found = dataclasses.replace(done(result=OrderResult.CANCELLED, reason=reason), looked_up=True)
    said = report_of(found, ASKED)
    assert said.text.startswith(f"RESTED {ASKED.text} #")
    assert since in said.text
    assert "again" not in said.text.lower()
    assert said.level == "good"


def test_what_ended_the_order_first_is_said_in_words() -> None:
    first = Rejected(intent(), "the order ended first: CLIENT_REQUEST_REPLACED")
    assert report_of(first, ASKED).text.endswith("the order ended first: replaced")
    told = Rejected(intent(), "Service: not available")
    assert report_of(told, ASKED).text.endswith("Service: not available")


def test_an_order_cancelled_at_once_says_why() -> None:
    said = report_of(done(result=OrderResult.CANCELLED, reason="INSUFFICIENT_MARGIN"), ASKED)
    assert "not enough margin" in said.text


def test_a_resting_order_is_named() -> None:
    assert report_of(done(result=OrderResult.RESTING), ASKED).text.startswith("RESTING BUY 50,000")


def test_a_lost_answer_that_was_found_says_so() -> None:
    found = done(opening_fill())
    late = type(found)(
        found.intent, found.result, found.transactions, order_id="6418", looked_up=True
    )
    assert "looking it up" in report_of(late, ASKED).text


@pytest.mark.parametrize(
    ("reason", "text"),
    [("INSUFFICIENT_MARGIN", "not enough margin"), ("A_NEW_REASON", "a new reason")],
)
def test_a_reject_is_told_in_words(reason: str, text: str) -> None:
    said = report_of(Rejected(intent(), "refused", reject_reason=reason), ASKED)
    assert text in said.text
    assert said.level == "bad"


def test_what_never_left_may_be_sent_again() -> None:
    said = report_of(NotSent(intent(), "no connection"), ASKED)
    assert said.text == "NOT SENT BUY 50,000 EUR/USD at market: no connection. Again: B"


def test_unconfirmed_is_never_called_failed_and_asks_to_look_first() -> None:
    said = report_of(Unconfirmed(intent(), "not found"), ASKED)
    assert "UNCONFIRMED" in said.text
    assert "may still show up" in said.text
    assert "failed" not in said.text.lower()
    assert "Again" not in said.text


def closed_part() -> Done:
    closing = fill(
        6420,
        units="-10000",
        fullVWAP="1.08490",
        pl="5.0000",
        tradesClosed=[reduction(6411, "-10000", "1.08490", "5.0000")],
    )
    return done(closing)


REFUSED = Rejected(intent(), "refused", "TRADE_DOESNT_EXIST", "TRADE_DOESNT_EXIST")
CLOSING = Command("CLOSE all of #6411 EUR/USD", "C", milliseconds=30_000.0)


def test_one_of_two_like_requests_says_what_both_did_and_claims_neither() -> None:
    said = report_of(Ambiguous(intent(), (closed_part(), REFUSED), ("kd-2",)), CLOSING)
    assert said.level == "warn"
    assert said.text == (
        "ONE OF 2 IDENTICAL REQUESTS, which cannot be told apart: CLOSE all of #6411 EUR/USD: "
        "CLOSED 10,000 EUR/USD @ 1.08490 realized +5.00; REJECTED (the trade does not exist). "
        "Look at what is open"
    )


def test_a_like_request_that_is_missing_is_unconfirmed_and_says_what_the_other_did() -> None:
    like = Ambiguous(intent(), (closed_part(),), ("kd-2",), is_complete=False, are_all_found=False)
    said = report_of(Unconfirmed(intent(), "not found", like), CLOSING)
    assert said.level == "bad"
    assert said.text.startswith(
        "UNCONFIRMED CLOSE all of #6411 EUR/USD: ONE OF 2 IDENTICAL REQUESTS"
    )
    assert "may still show up" in said.text
    assert "Until you leave, this desk says if it does" in said.text, "the next start looks once"


def test_a_like_request_that_was_cancelled_at_once_does_not_ask_to_send_again() -> None:
    halted = done(result=OrderResult.CANCELLED, reason="MARKET_HALTED")
    text = report_of(Ambiguous(intent(), (halted, REFUSED), ("kd-2",)), CLOSING).text
    assert "CANCELLED (" in text
    assert "again" not in text
