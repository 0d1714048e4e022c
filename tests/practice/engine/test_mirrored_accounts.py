from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from keydesk_practice.engine.commands import MarketRequest
from keydesk_practice.engine.transactions import OrderFilled
from support.examples import examples
from support.fakes.still_market import example_market
from support.practised_account import PractisedAccount

D = Decimal
moves = st.tuples(
    st.integers(-900, 900), st.integers(1, 60), st.integers(-20, 20).filter(lambda size: size != 0)
)


@settings(max_examples=examples(12, soak=60), deadline=None)
@given(st.lists(moves, min_size=1, max_size=15))
def test_two_mirrored_accounts_cancel_out_but_for_the_spread(
    steps: list[tuple[int, int, int]],
) -> None:
    market = example_market()
    one = PractisedAccount(market=market, deposit="1000000")
    other = PractisedAccount(market=market, deposit="1000000")
    held = 0
    for move, spread, size in [*steps, (0, 10, 0)]:
        bid = D("1.08490") + move * D("0.00001")
        market.price("EUR_USD", str(bid), str(bid + spread * D("0.00001")))
        units = size * 1000 if size else -held  # flat at the end
        if units:
            held += units
            one.place(MarketRequest(instrument="EUR_USD", units=D(units)))
            other.place(MarketRequest(instrument="EUR_USD", units=D(-units)))
    fills = [f for a in (one, other) for f in a.transactions if isinstance(f, OrderFilled)]
    spread_cost = sum((fill.half_spread_cost for fill in fills), D(0))
    assert one.state.pl + other.state.pl == -spread_cost
