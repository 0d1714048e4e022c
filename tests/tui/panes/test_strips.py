"""The strips above and below the panes: what they keep when room is short, and what they alarm about."""

from decimal import Decimal

import pytest
from msgspec.structs import replace

from keydesk.keys.keymap import (
    DESK,
    KEYMAP,
    LOG,
    ORDERS,
    POSITIONS,
    TRADES,
    WATCHLIST,
    KeyMap,
)
from keydesk.panes.deal import Deal, Preset
from keydesk.panes.strips.account import TEXT_ON, AccountStrip, Band
from keydesk.panes.strips.health import HealthLine
from keydesk.panes.strips.instrument import InstrumentLine
from keydesk.panes.strips.keys import KeyFooter
from keydesk.panes.strips.notices import Notices
from keydesk.store.state import Arming, Topic
from keydesk.text import format as show
from keydesk.text.sanitize import safe
from keydesk.words.outages import Outage
from support.data.desk_data import WALL_NS, desk_store, frame_of
from support.data.in_flight import in_flight
from support.fakes.pane_app import shown, text_of
from support.walks import sampled_rows

D = Decimal


async def test_the_account_strip_keeps_the_environment_worth_and_armed_state_longest() -> None:
    pane = AccountStrip()
    async with shown(pane, desk_store(), size=(50, 3)):
        line = text_of(pane)[0]
    assert line.split() == ["PRACTICE", "…7-042", "USD", "10,214.55", "ARMED"]


async def test_eighty_columns_name_the_net_worth() -> None:
    pane = AccountStrip()
    async with shown(pane, desk_store(), size=(80, 3)):
        line = text_of(pane)[0]
    assert "NAV USD 10,214.55" in line
    assert "uPL" in line
    assert "ARMED" in line


async def test_a_wide_account_strip_tells_the_rest() -> None:
    pane = AccountStrip()
    async with shown(pane, desk_store(), size=(190, 3)):
        line = text_of(pane)[0]
    for text in (
        "…7-042",
        "day +33.90",
        "1 no stop !",
        "risk UNLIMITED",
        "closeout 2.6%",
        "free 9,686.45",
    ):
        assert text in line


@pytest.mark.parametrize(
    ("environment", "arming", "text", "band"),
    [
        ("PRACTICE", "ARMED", "PRACTICE", "practice"),
        ("LIVE", "DISARMED", "LIVE real money", "live"),
        ("LIVE", "READ-ONLY", "READ-ONLY LIVE", "readonly"),
    ],
)
async def test_the_band_says_in_words_and_colour_where_orders_go(
    environment: str, arming: str, text: str, band: Band
) -> None:
    pane, store = AccountStrip(), desk_store()
    store.health.environment = environment  # type: ignore[assignment]  # one of the two literals
    store.arming = Arming(arming)  # type: ignore[arg-type]  # one of the three literals
    async with shown(pane, store, size=(120, 3)):
        strip = pane.render_line(0)
        behind = pane.palette.on(TEXT_ON[band], band).bgcolor
    assert text in strip.text
    assert {s.style.bgcolor for s in strip if s.style and not s.style.reverse} == {behind}


async def test_health_is_calm_while_all_is_well_and_loud_when_not() -> None:
    pane, store = HealthLine(), desk_store()
    async with shown(pane, store):
        assert "prices ok" in text_of(pane)[0]
        assert text_of(pane)[0].rstrip().endswith("13:43:22 UTC")
        store.health.prices, store.health.warning = "STALE", "The account disagrees with the poll"
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        assert "prices STALE 0s" in text_of(pane)[0]
        assert "The account disagrees with the poll" in text_of(pane)[0]


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize(
    ("offset_ms", "text"),
    [
        (2_001.0, "this clock is 2s behind the broker's"),
        (-4_000_000.0, "this clock is 1h06 ahead of the broker's"),
    ],
)
async def test_a_clock_that_is_off_by_more_than_two_seconds_is_a_warning(
    width: int, offset_ms: float, text: str
) -> None:
    pane, store = HealthLine(), desk_store()
    store.health.clock_offset_ms = 2_000.0
    async with shown(pane, store, size=(width, 3)):
        assert "this clock" not in text_of(pane)[0]
        store.health.clock_offset_ms = offset_ms
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        assert text in text_of(pane)[0]


@pytest.mark.parametrize(
    ("offset_ms", "text"),
    [
        (-62_000.0, "prices 1m late, or this clock ahead"),
        (62_000.0, "this clock is 1m behind the broker's"),  # what is late is never early
    ],
)
async def test_a_slow_line_is_not_taken_for_a_clock_that_is_ahead(
    offset_ms: float, text: str
) -> None:
    pane, store = HealthLine(), desk_store()
    store.health.clock_offset_ms, store.health.prices = offset_ms, "SLOW"
    async with shown(pane, store, size=(120, 3)):
        assert text in text_of(pane)[0]


@pytest.mark.parametrize("width", [80, 120, 200])
async def test_a_request_without_an_answer_takes_the_place_of_the_round_trip(width: int) -> None:
    pane, store = HealthLine(), desk_store()
    async with shown(pane, store, size=(width, 3)):
        assert "round trip 48 ms" in text_of(pane)[0]
        for state, age, text in (
            ("OK", 3.0, "requests waiting 3s"),
            ("SLOW", 6.0, "requests SLOW 6s"),
            ("DOWN", 65.0, "requests DOWN 1m"),
        ):
            store.health.requests = state  # type: ignore[assignment]  # one of the literals
            store.health.unanswered_since = frame_of(store).now - age
            store.mark(Topic.HEALTH)
            pane.on_frame(frame_of(store))
            assert text in text_of(pane)[0]
            assert "round trip" not in text_of(pane)[0]


@pytest.mark.parametrize(
    ("ahead_ms", "text"),
    sampled_rows(
        [
            (0.0, "clock +0 ms "),
            (374.4, "clock +374 ms "),
            (-999.6, "clock −1.0s "),
            (1_500.0, "clock +1.5s "),
        ],
        2,
    ),
)
async def test_the_difference_of_the_clocks_is_told_in_a_persons_units(
    ahead_ms: float, text: str
) -> None:
    pane, store = HealthLine(), desk_store()
    store.health.clock_offset_ms = ahead_ms
    async with shown(pane, store, size=(120, 3)):
        assert text in text_of(pane)[0]


async def test_unreadable_records_and_failed_feeds_are_told_for_a_minute() -> None:
    pane, store = HealthLine(), desk_store()
    now = frame_of(store).now
    store.health.unreadable, store.health.unreadable_at = 3, now - 59
    store.health.restarted = {"chart": now - 1}
    async with shown(pane, store, size=(120, 3)):
        assert "3 records unreadable" in text_of(pane)[0]
        assert "chart failed, restarted" in text_of(pane)[0]
        store.health.unreadable_at, store.health.restarted = now - 61, {"chart": now - 61}
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        assert "unreadable" not in text_of(pane)[0]
        assert "restarted" not in text_of(pane)[0]


async def test_a_warning_longer_than_the_line_is_cut_and_not_left_out() -> None:
    pane, store = HealthLine(), desk_store()
    store.health.warning = (
        "Differs from the broker: trade 6411 has 10000 units here, 5000 at the broker"
    )
    async with shown(pane, store, size=(80, 3)):
        line = text_of(pane)[0]
    assert "Differs from the broker: trade" in line
    assert "…" in line
    assert line.rstrip().endswith("UTC")


@pytest.mark.parametrize("width", [80, 120])
async def test_an_outage_is_whole_while_nobody_answers_requests(width: int) -> None:
    pane, store = HealthLine(), desk_store()
    store.health.prices, store.health.events = "CONNECTING", "DOWN"
    store.health.requests = "DOWN"
    store.health.outage = Outage(safe("certificate not trusted"), safe("why and what to do " * 9))
    async with shown(pane, store, size=(width, 3)):
        store.health.unanswered_since = frame_of(store).now - 10
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        line = text_of(pane)[0]
    assert ("requests DOWN 10s" in line) == (width > 80)
    assert "certificate not trusted" in line
    assert line.rstrip().endswith("UTC")


@pytest.mark.parametrize(("days", "is_told"), [(0, False), (5, True)])
async def test_the_instrument_line_tells_of_a_market_that_trades_at_the_weekend(
    days: int, is_told: bool
) -> None:
    pane, store = InstrumentLine(), desk_store()
    store.health.environment = "PRACTICE"
    store.clock_ns = WALL_NS + days * 86_400_000_000_000  # WALL_NS is on a Monday
    async with shown(pane, store, size=(160, 3)):
        assert ("weekend: only this practice market trades" in text_of(pane)[0]) == is_told


async def test_the_instrument_line_tells_what_a_pip_is_worth() -> None:
    pane = InstrumentLine()
    async with shown(pane, desk_store(), size=(120, 3)):
        line = text_of(pane)[0]
    assert "EUR/USD   1.08431 / 1.08443   spread 1.2   pip 1.00 USD/10k   margin 3.33%" in line
    assert "largest order 262.8k" in line


async def test_notices_have_the_newest_first_below_what_is_under_way() -> None:
    pane, store = Notices(), desk_store()
    store.set_in_flight(in_flight("EUR_USD", text="BUY 10,000 EUR/USD"))
    store.add_notice(replace(store.notices[-1], level="bad", text="Rejected: BUY 400,000 GBP/USD"))
    async with shown(pane, store):
        lines = text_of(pane)
    assert "BUY 10,000 EUR/USD: sent" in lines[0]
    assert "✗ Rejected" in lines[1]
    assert "✓ Filled 6411" in lines[2]


async def test_the_footer_shows_the_focused_panes_keys_and_always_how_to_learn_more() -> None:
    pane = KeyFooter(KEYMAP)
    async with shown(pane, desk_store(), size=(60, 3)):
        assert text_of(pane)[0].split()[:2] == ["B", "buy"]
        pane.show_context(WATCHLIST)
        line = text_of(pane)[0].split()
    assert line[:2] == ["v", "sort"]
    assert line[-4:] == [":", "command", "?", "keys"]


@pytest.mark.parametrize(
    ("context", "first"),
    [
        (TRADES, "j k rows Enter details C close O part E even"),
        (POSITIONS, "j k rows Enter details C close O part R reverse"),
        (ORDERS, "j k rows Enter details D cancel M modify"),
        (LOG, "j k rows Enter details Space page"),
    ],
)
async def test_the_footer_of_a_list_begins_with_its_rows_and_what_it_is_there_for(
    context: str, first: str
) -> None:
    pane = KeyFooter(KEYMAP)
    async with shown(pane, desk_store(), size=(80, 3)):
        pane.show_context(context)
        assert " ".join(text_of(pane)[0].split()).startswith(first)


async def test_the_footer_shows_the_traders_own_keys_for_rows_too() -> None:
    pane = KeyFooter(KeyMap(overrides={"row-up": "w", "close": "K"}))
    async with shown(pane, desk_store(), size=(80, 3)):
        pane.show_context(TRADES)
        assert text_of(pane)[0].split()[:7] == ["j", "w", "rows", "Enter", "details", "K", "close"]


async def test_a_key_that_can_do_nothing_now_is_dim() -> None:
    pane = KeyFooter(KEYMAP, lambda name: name == "buy")
    async with shown(pane, desk_store(), size=(60, 3)):
        styles = {s.text: s.style for s in pane.render_line(0)}
        assert styles["B"] == pane.palette["faint"]
        assert styles["S"] == pane.palette["plain"]
    assert DESK


async def test_the_dealing_pane_shows_both_prices_the_size_and_what_is_held() -> None:
    pane = Deal()
    async with shown(pane, desk_store(), size=(27, 18)):
        pane.show_preset(
            Preset("3: 10,000", D(10_000), lambda spread: (f"stop {15 * spread} pips",))
        )
        text = "\n".join(text_of(pane))
    for words in ("S sell", "1.08431", "B buy", "1.08443", "cost     −1.20", "position +10,000"):
        assert words in text
    assert "stop 18.0 pips" in text, (
        "the bracket is the one a ticket would open with at this spread"
    )


async def test_in_two_columns_the_reason_of_a_disarmed_desk_stays_in_its_own() -> None:
    store, pane = desk_store(), Deal()
    store.arming = Arming("DISARMED", "a live desk starts disarmed")
    store.positions.clear()
    async with shown(pane, store, size=(45, 9)):
        pane.show_preset(Preset("3: 10,000", D(10_000), lambda _: ("stop 20 pips",)))
        rows = text_of(pane)
    for row in rows:
        for label in ("margin", "largest"):
            assert label not in row or row[row.index(label) - 1] == " "
    assert "a live desk starts" in "\n".join(rows)


async def test_eighty_columns_show_the_size_that_b_and_s_would_open_with() -> None:
    pane = InstrumentLine()
    async with shown(pane, desk_store(), size=(80, 3)):
        pane.show_preset("9: 1,000,000")
        assert "size 9: 1,000,000" in text_of(pane)[0]


async def test_in_forty_columns_the_time_makes_room_for_a_stream_in_trouble() -> None:
    pane, store = HealthLine(), desk_store()
    async with shown(pane, store, size=(40, 3)):
        assert "UTC" in text_of(pane)[0]
        store.health.events = "CONNECTING"
        store.mark(Topic.HEALTH)
        pane.on_frame(frame_of(store))
        line = text_of(pane)[0]
    assert "prices ok" in line
    assert "events connecting" in line
    assert "UTC" not in line


async def test_the_largest_order_is_what_the_free_margin_carries() -> None:
    store = desk_store()
    assert store.account is not None
    known = store.instruments["EUR_USD"]
    for free, largest in (
        (D(9_686), "262.8k"),  # 98 % of it at 3.33 % and 1.08437: 262,879
        (D(100), "2.7k"),
        (D(-5), "0"),
        (D("1e9"), show.short_units(known.maximum_order_units, signed=False)),
    ):
        store.account.margin_available = free
        pane, line = Deal(), InstrumentLine()
        async with shown(pane, store, size=(45, 12)):
            rows = [row for row in text_of(pane) if "largest" in row]
        async with shown(line, store, size=(190, 3)):
            assert f"largest order {largest}" in text_of(line)[0]
        assert rows[0].split()[-1] == largest


async def test_no_largest_order_is_said_while_what_margin_carries_cannot_be_reckoned() -> None:
    store, pane = desk_store(), Deal()
    store.account = None
    async with shown(pane, store, size=(45, 12)):
        rows = [row for row in text_of(pane) if "largest" in row]
    assert rows[0].split()[-1] == show.EMPTY


async def test_the_dealing_pane_shows_both_sides_of_a_hedge() -> None:
    store, pane = desk_store(), Deal()
    held = store.positions["EUR_USD"]
    held.long_units, held.short_units = D(10_000), D(-10_000)
    async with shown(pane, store, size=(27, 18)):
        rows = [row.split() for row in text_of(pane)]
    at = rows.index(["position", "+10,000"])
    assert rows[at + 1] == ["−10,000"]
