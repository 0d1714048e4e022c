"""The bid and ask that an account is valued at: one choice for `client.follow()` and for the desk's store."""

from decimal import Decimal

import pytest

from keydesk_client.account.values import LAST_NS, bid_and_ask
from support.data.account_history import price

NOW_NS = 1_772_445_600_000_000_000
D = Decimal


def test_they_are_the_best_of_the_depth_and_without_one_those_for_closing_out() -> None:
    deep = price("EUR_USD", "1.08", "1.09", closeoutBid="1.07", closeoutAsk="1.10")
    assert bid_and_ask(deep, NOW_NS) == (D("1.08"), D("1.09"))
    shallow = price("EUR_USD", "1.08", "1.09", bids=[], closeoutBid="1.07", closeoutAsk="1.10")
    assert bid_and_ask(shallow, NOW_NS) == (D("1.07"), D("1.09"))


@pytest.mark.parametrize(
    ("bid", "ask", "time_ns"),
    [
        ("0", "1.09", NOW_NS),
        ("-1.08", "1.09", NOW_NS),
        ("1000000000000000", "1.09", NOW_NS),
        ("1.08", "0", NOW_NS),
        ("1.08", "1000000000000000", NOW_NS),
        ("1.08", "1.09", 0),
        ("1.08", "1.09", LAST_NS),
    ],
)
def test_none_is_taken_that_is_out_of_range(bid: str, ask: str, time_ns: int) -> None:
    with pytest.raises(ValueError, match="is out of range for a price"):
        bid_and_ask(price("EUR_USD", bid, ask), time_ns)
