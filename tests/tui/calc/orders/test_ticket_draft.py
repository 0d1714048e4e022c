"""The order that rests at a price, by the side of the market."""

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.orders.ticket_draft import Side, kind_at, limit_side

TICKS = st.integers(1, 10_000_000)
POINT = Decimal("0.00001")


@given(price=TICKS, bid=TICKS, spread=st.integers(0, 500), side=st.sampled_from(("BUY", "SELL")))
def test_a_better_price_than_the_market_is_a_limit_and_a_worse_one_a_stop(
    price: int, bid: int, spread: int, side: Side
) -> None:
    kind = kind_at(side, price * POINT, bid * POINT, (bid + spread) * POINT)
    if side == "BUY":
        assert kind == ("LIMIT" if price <= bid + spread else "STOP")
    else:
        assert kind == ("LIMIT" if price >= bid else "STOP")


@given(price=TICKS, bid=TICKS, spread=st.integers(0, 500))
def test_the_side_of_a_limit_makes_its_order_a_limit(price: int, bid: int, spread: int) -> None:
    at, low, high = price * POINT, bid * POINT, (bid + spread) * POINT
    assert kind_at(limit_side(at, low, high), at, low, high) == "LIMIT"
