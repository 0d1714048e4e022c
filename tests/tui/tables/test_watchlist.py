"""The watchlist answers at a glance, and its rows stay where they are."""

from decimal import Decimal

from msgspec.structs import replace

from keydesk.store.state import Topic
from keydesk.tables.watchlist import Watchlist
from support.data.desk_data import NOW, desk_store, frame_of
from support.fakes.pane_app import shown, text_of


async def test_a_row_reads_pair_bid_ask_spread_and_the_day() -> None:
    pane = Watchlist()
    async with shown(pane, desk_store(), size=(62, 12)):
        header, first, *_ = text_of(pane)
    assert header.split() == ["pair", "bid", "ask", "spread", "day", "%", "own"]
    assert first.split() == ["EUR/USD", "1.08431", "1.08443", "1.2", "−0.40", "+10.0k"]


async def test_decimal_points_stand_under_each_other() -> None:
    pane = Watchlist()
    async with shown(pane, desk_store(), size=(44, 20)):
        rows = text_of(pane)[1:15]
    assert len({row.index(".") for row in rows}) == 1


async def test_a_changed_price_flashes_and_is_calm_again_within_a_second() -> None:
    pane, store = Watchlist(), desk_store()
    async with shown(pane, store):
        quote = store.quotes["EUR_USD"]
        quote.bid, quote.bid_move, quote.moved_at = Decimal("1.08441"), 1, NOW
        store.mark(Topic.PRICES, "EUR_USD")
        styles = []
        for later in (0.1, 0.5, 0.95):
            pane.on_frame(frame_of(store, now=NOW + later))
            segment = next(s for s in pane.render_line(1) if s.text.strip().startswith("44"))
            styles.append(segment.style)
    flash, fading, calm = styles
    assert flash == fading == pane.palette["tick-up"] + pane.palette.selected
    assert calm == pane.palette["bright"] + pane.palette.selected


async def test_only_the_row_that_changed_is_drawn_again() -> None:
    pane, store = Watchlist(), desk_store()
    async with shown(pane, store):
        before = {y: pane.render_line(y) for y in range(12)}
        store.mark(Topic.PRICES, "USD_JPY")
        pane.on_frame(frame_of(store))
        drawn = [y for y in range(12) if pane.render_line(y) is not before[y]]
    assert drawn == [3]


async def test_another_focus_moves_the_cursor() -> None:
    pane, store = Watchlist(), desk_store()
    async with shown(pane, store):
        store.set_focus("USD_CHF")
        pane.on_frame(frame_of(store))
        assert pane.selected == "USD_CHF"


async def test_an_instrument_that_does_not_trade_says_so() -> None:
    pane, store = Watchlist(), desk_store()
    store.quotes["EUR_USD"] = replace(store.quotes["EUR_USD"], tradeable=False)
    async with shown(pane, store):
        assert "HALT" in text_of(pane)[1]


async def test_a_quiet_price_shows_its_age_in_place_of_the_spread() -> None:
    pane, store = Watchlist(), desk_store()
    async with shown(pane, store, now=NOW + 120):
        assert text_of(pane)[1].split()[3] == "2m"


async def test_all_prices_dim_when_the_stream_is_stale() -> None:
    pane, store = Watchlist(), desk_store()
    async with shown(pane, store):
        store.health.prices = "STALE"
        pane.on_frame(frame_of(store))
        styles = {s.style for s in pane.render_line(2) if "1.26710" in s.text}
    assert styles == {pane.palette["faint"]}


async def test_an_empty_list_says_how_it_fills() -> None:
    pane, store = Watchlist(), desk_store()
    store.watchlist = []
    async with shown(pane, store):
        assert "w a adds one" in text_of(pane)[1]


async def test_a_spread_twice_the_usual_one_raises_an_alarm() -> None:
    pane, store = Watchlist(), desk_store()
    for i in range(30):
        store.spreads.note("EUR_USD", Decimal("0.00012"), i * 10.0)
    store.quotes["EUR_USD"].ask = Decimal("1.08461")
    async with shown(pane, store):
        assert text_of(pane)[1].split()[3] == "3.0!"


async def test_a_wide_spread_that_comes_between_two_frames_keeps_its_column() -> None:
    pane, store = Watchlist(), desk_store()
    async with shown(pane, store, size=(62, 12)) as pilot:
        quote = store.quotes["EUR_USD"]
        quote.ask = quote.bid + Decimal("0.10963")
        store.mark(Topic.PRICES, "EUR_USD")
        pane.on_frame(frame_of(store))
        await pilot.pause()
        header, first, second = text_of(pane)[:3]
        titles = [column.title for column in pane.fitted]
    assert "1,096" in first
    at = header.index("spread") + len("spread")
    assert first[at - 1].strip()
    assert second[at - 1].strip()
    assert first.split()[-1] == "+10.0k", "no column is lost to it"
    assert titles == ["pair", "bid", "ask", "spread", "day %", "own"]
