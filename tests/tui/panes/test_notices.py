"""Notices: whole at every size, gone in their time, and what asks for something stays until it was seen."""

from typing import Literal

import pytest
from msgspec.structs import replace

from keydesk.forms.account.messages import MessagesPage
from keydesk.forms.details_form import DetailsForm
from keydesk.panes.strips.notices import Notices
from keydesk.screens.desk import DeskScreen
from keydesk.store.frame import Frame
from keydesk.store.state import CONNECTION, Notice
from keydesk.store.store import Store
from keydesk.text.sanitize import safe
from keydesk.values import CommandState
from support.data.desk_data import NOW, WALL_NS, desk_store, frame_of
from support.data.in_flight import in_flight
from support.fakes.desk_app import DeskApp
from support.fakes.pane_app import shown, text_of
from support.walks import crossed

SECOND = 1_000_000_000
NOT_SENT = (
    "NOT SENT BUY 10,000 EUR/USD at market: the order journal can not be written: "
    "No space left on device. Again: B"
)
FILLED = "FILLED 10,000 EUR/USD @ 1.11321 0.2 pip better 143 ms #6417 SL 1.11121 TP 1.11721 set"


def store_with(*notices: Notice) -> Store:
    store = desk_store()
    store.notices = list(notices)
    return store


def later(store: Store, seconds: float) -> Frame:
    wall_ns = WALL_NS + int(seconds * SECOND)
    return replace(frame_of(store, now=NOW + seconds), time_ns=wall_ns)


def pane_text(pane: Notices) -> str:
    """What stands there, its line ends as spaces."""
    return " ".join(" ".join(text_of(pane)).split())


def bottom(screen: DeskScreen, lines: int) -> str:
    strips = screen._compositor.render_strips()
    return " ".join(" ".join(strip.text for strip in strips[-lines:]).split())


@pytest.mark.parametrize(
    ("size", "notice"),
    crossed(
        [(80, 24), (99, 24), (120, 35), (200, 50)],
        [Notice("bad", NOT_SENT, WALL_NS), Notice("good", FILLED, WALL_NS)],
    ),
)
async def test_an_outcome_is_readable_whole_at_every_size(
    size: tuple[int, int], notice: Notice
) -> None:
    async with DeskApp(store_with(notice)).run_test(size=size) as pilot:
        await pilot.pause()
        assert isinstance(pilot.app.screen, DeskScreen)
        assert notice.text in bottom(pilot.app.screen, 4)


async def test_the_panes_stand_still_while_an_outcome_has_the_instruments_line() -> None:
    store = store_with()
    async with DeskApp(store).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, DeskScreen)
        before = [pane.region for pane in screen._panes.panes]
        assert "spread" in bottom(screen, 3)
        store.add_notice(Notice("bad", NOT_SENT, WALL_NS))
        screen.on_frame(frame_of(store))
        await pilot.pause()
        assert "Again: B" in bottom(screen, 2)
        assert "spread" not in bottom(screen, 3)
        assert [pane.region for pane in screen._panes.panes] == before
        store.note_painted(store.notices, NOW)
        store.see_notices(NOW)
        screen.on_frame(later(store, 60))
        await pilot.pause()
        assert "spread" in bottom(screen, 3)
        assert "NOT SENT" not in bottom(screen, 3)


@pytest.mark.parametrize("hours", [-1, 1])
async def test_a_wall_clock_that_is_set_neither_takes_a_message_away_nor_keeps_it(
    hours: int,
) -> None:
    pane = Notices()
    store = store_with(
        Notice("good", FILLED, WALL_NS, outcome="kd-1"), Notice("info", "hint", WALL_NS)
    )
    async with shown(pane, store):
        store.note_painted(pane.standing, NOW)
        for seconds, expected in ((5, (FILLED, "hint")), (11, (FILLED,)), (301, ())):
            frame = later(store, seconds)
            pane.on_frame(replace(frame, time_ns=frame.time_ns + hours * 3600 * SECOND))
            text = pane_text(pane)
            assert [each in text for each in (FILLED, "hint")] == [
                each in expected for each in (FILLED, "hint")
            ]


@pytest.mark.parametrize(("level", "seconds"), [("info", 11), ("warn", 16), ("good", 301)])
async def test_a_hint_goes_by_itself(level: str, seconds: float) -> None:
    pane = Notices()
    store = store_with(Notice(level, "Too early: read the form", WALL_NS))  # type: ignore[arg-type]
    async with shown(pane, store):
        assert "Too early" in pane_text(pane)
        pane.on_frame(later(store, 5))
        assert "Too early" in pane_text(pane)
        pane.on_frame(later(store, seconds))
        assert pane_text(pane) == ""


async def test_a_good_outcome_lingers_dim() -> None:
    pane, store = Notices(), store_with(Notice("good", FILLED, WALL_NS))
    async with shown(pane, store):
        new = pane.render_line(0)
        pane.on_frame(later(store, 30))
        old = pane.render_line(0)
        assert FILLED in old.text
        colours = [{s.style for s in strip if FILLED in s.text} for strip in (new, old)]
        assert colours == [{pane.palette["good"]}, {pane.palette["muted"]}]
        assert pane.rows_wanted == 0


@pytest.mark.parametrize(
    "notice",
    [
        Notice("bad", "IT SHOWED UP", WALL_NS),
        Notice("warn", "NO STOP: P protects", WALL_NS, asks=True),
    ],
)
async def test_what_asks_for_something_stays_until_it_was_seen(notice: Notice) -> None:
    pane, store = Notices(), store_with(notice)
    async with shown(pane, store):
        pane.on_frame(later(store, 3600))
        assert pane_text(pane).endswith(f"{notice.text} Esc: seen")
        assert not store.see_notices(NOW), "it was not painted yet"
        store.note_painted(pane.standing, NOW)
        assert store.see_notices(NOW)
        pane.on_frame(later(store, 3600))
        assert pane_text(pane) == ""
        assert not store.see_notices(NOW), "there is nothing more to be seen"


async def test_what_came_just_now_was_not_read_yet() -> None:
    store = store_with(Notice("bad", NOT_SENT, WALL_NS))
    store.note_painted(store.notices, NOW)
    assert not store.see_notices(NOW - 0.1)
    assert store.notices[0].waits


async def test_a_hint_does_not_take_the_place_of_what_waits_for_long() -> None:
    pane, store = Notices(), store_with(Notice("bad", NOT_SENT, WALL_NS))
    async with shown(pane, store, size=(150, 1)):
        store.add_notice(Notice("info", "Nothing to close", WALL_NS))
        pane.on_frame(frame_of(store))
        assert pane_text(pane).endswith(":messages has the rest")
        pane.on_frame(later(store, 12))
        assert NOT_SENT in pane_text(pane)


async def test_a_newer_outcome_takes_the_place_of_an_older_good_one() -> None:
    pane, store = Notices(), store_with(Notice("good", FILLED, WALL_NS - 5 * SECOND))
    store.date_notices(NOW - 5)
    async with shown(pane, store, size=(80, 2)):
        store.add_notice(Notice("good", "CLOSED 10,000 EUR/USD", WALL_NS))
        pane.on_frame(frame_of(store))
        assert "CLOSED" in text_of(pane)[0]
        assert text_of(pane)[1].strip() == "", "it is there whole or not there"
        assert pane.rows_wanted == 1


async def test_of_several_outcomes_of_one_moment_each_can_be_read() -> None:
    pane, store = Notices(), store_with()
    async with shown(pane, store, size=(100, 3)):
        for text in (FILLED, "DONE stop 1.11121 on #6401 60 ms"):
            store.add_notice(Notice("good", text, WALL_NS))
        pane.on_frame(later(store, 1))
        assert FILLED in pane_text(pane)
        assert "DONE stop" in pane_text(pane)
        assert pane.rows_wanted == 2
        pane.on_frame(later(store, 5))
        assert pane.rows_wanted == 1


@pytest.mark.parametrize(
    ("level", "text", "stays_s"),
    [("good", "FLAT: no position", 19), ("bad", "NOT FLAT, still open: #5. Again: X", 600)],
)
async def test_what_sums_up_many_outcomes_stays_above_them(
    level: Literal["good", "bad"], text: str, stays_s: float
) -> None:
    pane, store = Notices(), store_with()
    async with shown(pane, store, size=(100, 3)):
        for number in range(30):
            store.add_notice(Notice("good", f"CLOSED #{number}", WALL_NS, outcome=f"kd-{number}"))
        store.add_notice(Notice(level, safe(text), WALL_NS, sums_up="flatten"))
        pane.on_frame(later(store, 0))
        store.date_notices(NOW)
        seen = set()
        for second in range(0, int(stays_s), 2):
            pane.on_frame(later(store, second))
            store.note_painted(pane.standing, NOW + second)
            assert text in text_of(pane)[0]
            seen |= {line.split("#")[1].split(" ")[0] for line in text_of(pane)[1:] if "#" in line}
        assert len(seen) > 4, "the outcomes take turns below it"
        store.add_notice(Notice("good", FILLED, WALL_NS, outcome="kd-30"))
        pane.on_frame(later(store, stays_s))
        assert FILLED in text_of(pane)[0]


async def test_what_is_still_looked_up_hides_no_outcome_that_has_just_come() -> None:
    pane, store = Notices(), store_with()
    for number in range(4):
        record = in_flight("EUR_USD", state="unknown")
        store.set_in_flight(replace(record, id=f"kd-{number}"))
    store.add_notice(Notice("bad", NOT_SENT, WALL_NS - 60 * SECOND))
    store.date_notices(NOW - 60)
    store.add_notice(Notice("good", FILLED, WALL_NS))
    async with shown(pane, store, size=(100, 3)):
        assert FILLED in text_of(pane)[0]
        assert "UNKNOWN" in text_of(pane)[1]
        pane.on_frame(later(store, 5))
        assert "UNKNOWN" in text_of(pane)[0]
        assert FILLED not in pane_text(pane)


async def test_the_command_just_sent_is_above_one_that_was_not_found_long_ago() -> None:
    pane, store = Notices(), store_with()
    states: tuple[CommandState, ...] = ("unconfirmed", "unknown", "sent")
    for id_, state in zip(("kd-1", "kd-2", "kd-3"), states, strict=True):
        record = in_flight("EUR_USD", text=f"BUY {id_}")
        store.set_in_flight(replace(record, id=id_, state=state))
    async with shown(pane, store, size=(100, 3)):
        assert [line.split(" kd-")[1][0] for line in text_of(pane)] == ["3", "2", "1"]


async def test_a_lost_connection_hides_no_command_that_is_under_way() -> None:
    lost = "Unavailable: the broker at http://127.0.0.1:8020 answers with an error (503): its fault"
    pane, store = Notices(), store_with()
    old = in_flight("EUR_USD", text="BUY", state="unconfirmed")
    store.set_in_flight(replace(old, id="kd-1"))
    store.add_notice(Notice("warn", safe(lost), WALL_NS, sums_up="connection"))
    store.date_notices(NOW)
    store.set_in_flight(in_flight("EUR_USD", text="CLOSE all of #6411 EUR/USD"))
    async with shown(pane, store, size=(120, 3)):
        assert lost in text_of(pane)[0], "the reason is read first"
        pane.on_frame(later(store, 5))
        first, second, third = text_of(pane)
        assert "CLOSE all of #6411" in first
        assert lost in second
        assert "UNCONFIRMED BUY" in third


async def test_what_has_no_room_is_named() -> None:
    pane, store = Notices(), store_with(Notice("bad", NOT_SENT * 3, WALL_NS))
    async with shown(pane, store, size=(80, 2)):
        assert text_of(pane)[1].rstrip().endswith("…  :messages has the rest")


async def test_a_message_without_room_is_not_seen_with_the_one_above_it() -> None:
    older = Notice("bad", "IT SHOWED UP", WALL_NS - SECOND)
    newer = Notice("bad", NOT_SENT, WALL_NS)
    pane, store = Notices(), store_with(older, newer)
    async with shown(pane, store, size=(150, 1)):
        text_of(pane)
        assert [each.text for each in pane.standing] == [newer.text]
        store.note_painted(pane.standing, NOW)
        assert store.see_notices(NOW)
        pane.on_frame(later(store, 60))
        assert pane_text(pane).endswith("IT SHOWED UP Esc: seen")
        assert [each.text for each in pane.standing] == [older.text]


async def test_an_outcome_that_was_on_no_screen_stays_until_it_was() -> None:
    others = [Notice("info", f"hint {number}", WALL_NS) for number in range(50)]
    pane = Notices()
    store = store_with(Notice("good", FILLED, WALL_NS, outcome="kd-1"), *others)
    async with shown(pane, store):
        pane.on_frame(later(store, 3600))
        assert FILLED in pane_text(pane)
        assert store.note_painted(pane.standing, NOW + 3600) == ["kd-1"]
        assert store.note_painted(pane.standing, NOW + 3601) == []
        pane.on_frame(later(store, 3602))
        assert FILLED in pane_text(pane)
        pane.on_frame(later(store, 3604 + 300))
        assert FILLED not in pane_text(pane)


class Whole(DetailsForm):
    """A form as high as its lines, which covers all of a small screen."""

    IS_PAGE = False


async def test_what_a_form_covers_is_not_on_the_screen() -> None:
    store = store_with(Notice("bad", NOT_SENT, WALL_NS))
    async with DeskApp(store).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        screen = pilot.app.screen
        assert isinstance(screen, DeskScreen)
        assert [each.text for each in screen.notices_on_screen] == [NOT_SENT]
        rows = [(safe(f"row {number}"), safe("x")) for number in range(60)]
        await pilot.app.push_screen(Whole("Long", rows))
        await pilot.pause()
        assert screen.notices_on_screen == ()
        await pilot.press("escape")
        await pilot.pause()
        assert screen.notices_on_screen


async def test_the_words_before_what_has_no_room_are_whole() -> None:
    closed = "CLOSED 200,000 of #5 EUR/USD @ 1.13477 no slippage 5 ms realized −28.00"
    pane, store = Notices(), store_with(Notice("good", closed, WALL_NS))
    async with shown(pane, store, size=(80, 2)):
        store.add_notice(Notice("good", FILLED, WALL_NS))
        pane.on_frame(frame_of(store))
        for width in range(60, 100):
            kept = pane._with_more(
                [
                    (safe(" " * 11), pane.palette["faint"]),
                    (safe(closed[:width]), pane.palette["good"]),
                ]
            )[1][0]
            assert closed.startswith(f"{kept} "), kept


TOUR = safe("Tour 1/5: j k choose an instrument, / finds one   Esc ends it")


@pytest.mark.parametrize("level", ["warn", "bad"])
async def test_a_tour_stands_below_an_error(level: Literal["warn", "bad"]) -> None:
    pane, store = Notices(), store_with(Notice(level, "prices STALE 7s", WALL_NS))
    store.tour = TOUR
    async with shown(pane, store):
        pane.on_frame(later(store, 10))
        text = pane_text(pane)
        assert text.index("prices STALE") < text.index("Tour 1/5")


async def test_a_tour_has_no_line_while_an_error_needs_it() -> None:
    store = store_with(Notice("bad", NOT_SENT, WALL_NS))
    store.tour = TOUR
    async with DeskApp(store).run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert isinstance(pilot.app.screen, DeskScreen)
        assert NOT_SENT in bottom(pilot.app.screen, 4)
        assert "Tour" not in bottom(pilot.app.screen, 4)


@pytest.mark.parametrize("level", ["info", "good"])
async def test_a_tour_waits_for_a_hint_and_an_outcome_to_be_read(
    level: Literal["info", "good"],
) -> None:
    pane, store = Notices(), store_with(Notice(level, "size 0: risk 1%", WALL_NS))
    store.tour = TOUR
    async with shown(pane, store):
        assert not pane_text(pane).startswith("Tour")
        pane.on_frame(later(store, 5))
        assert pane_text(pane).startswith("Tour")
        store.tour = safe("")
        pane.on_frame(later(store, 6))
        assert "risk 1%" in pane_text(pane), "as without a tour"


async def test_a_step_of_the_tour_goes_on_in_the_next_line_where_there_is_one() -> None:
    pane, store = Notices(), store_with()
    store.tour = safe("Tour 4/5: read units, stop, target and costs, then y buys")
    async with shown(pane, store, size=(40, 2)):
        assert pane_text(pane) == store.tour
    pane = Notices()
    async with shown(pane, store, size=(40, 1)):
        assert pane_text(pane) == "Tour 4/5: read units, stop, target and"


async def test_what_a_look_up_found_stays_until_it_was_seen() -> None:
    """Neither a connection that is back nor an older order that was not found takes its place."""
    lost = replace(in_flight("EUR_USD"), state="unconfirmed")
    found = Notice("good", safe(FILLED), WALL_NS, asks=True, outcome="kd-1", came=NOW, painted=NOW)
    back = Notice(
        "good",
        safe("Connected: the broker answers again"),
        WALL_NS,
        sums_up=CONNECTION,
        came=NOW + 5,
        painted=NOW + 5,
    )
    store = store_with(found, back)
    store.set_in_flight(lost)
    pane = Notices()
    async with shown(pane, store, size=(120, 1)):
        pane.on_frame(later(store, 10))
        assert "FILLED 10,000" in pane_text(pane)
        pane.on_frame(later(store, 3_000))
        assert "FILLED 10,000" in pane_text(pane)
        store.see_notices(NOW + 3_000)
        pane.on_frame(later(store, 3_001))
        assert "FILLED" not in pane_text(pane)


async def test_what_became_of_orders_in_a_replay_stays_with_the_replay() -> None:
    """Back in the own account the line and the list of messages have its own outcomes, those of the replay are gone."""
    store = store_with()
    account = store.account
    assert account is not None
    own, replayed = account.created_time_ns, account.created_time_ns + 60 * SECOND
    store.add_notice(Notice("bad", safe("UNCONFIRMED BUY 10 EUR/USD"), WALL_NS))
    account.created_time_ns = replayed
    store.add_notice(Notice("good", safe("CLOSED 25,000 EUR/USD"), WALL_NS, outcome="kd-2"))
    store.date_notices(NOW)
    pane = Notices()
    async with shown(pane, store, size=(120, 3)):
        pane.on_frame(later(store, 1))
        assert pane_text(pane).count("CLOSED") == 1
        assert "UNCONFIRMED" not in pane_text(pane)
        account.created_time_ns = own
        store.add_notice(Notice("info", safe("Back in your own account"), WALL_NS))
        pane.on_frame(later(store, 2))
        assert "CLOSED" not in pane_text(pane)
        assert "UNCONFIRMED" in pane_text(pane)
        assert "Back in your own" in pane_text(pane)
    said = [each.text for each in MessagesPage(store)._messages()]
    assert said == ["Back in your own account", "UNCONFIRMED BUY 10 EUR/USD"]
