"""The guard before a real app: the table of accidents, with forms opening and closing."""

import random

import pytest
from textual import events

from keydesk.forms.command_line import FindForm
from keydesk.forms.details_form import DetailsForm
from keydesk.forms.info_form import HelpForm
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.keys.guard import Cause
from keydesk.keys.keymap import JOURNAL
from keydesk.store.state import Arming
from support.fakes.guarded_desk import Desk, Hand


async def test_a_hand_buys() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.types("y")
    assert len(app.orders) == 1
    assert app.causes == []


async def test_a_raw_paste_trips_and_sends_nothing() -> None:
    for burst in ("By", "B\r", "B\ry", "yB"):
        app = Desk()
        async with app.run_test() as pilot:
            hand = Hand(app, pilot)
            await hand.types(burst)
            assert app.screen_stack == [app.screen]
        assert app.orders == []
        assert Cause.BURST in app.causes


async def test_four_capitals_in_one_read_and_then_four_sends() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("BBBB")
        await hand.types("yyyy")
    assert app.orders == []
    assert len([text for text in app.told if "Keys dropped" in text]) == 1, "said once"


async def test_a_form_that_opens_late_behind_a_trip_is_closed_again() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("jBy")
        app.action_buy()  # as when its pane took the key late
        await hand.settle()
        assert len(app.screen_stack) == 1
        await hand.types("B")
        assert isinstance(app.screen, TicketForm), "the next order key opens one"
    assert app.orders == []


async def test_bursts_of_any_keys_open_nothing_for_long_and_break_nothing() -> None:
    app, rng = Desk(), random.Random(8)
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        for _ in range(30):
            await hand.types("".join(rng.choices("ByBj2s\x1bc", k=rng.randint(2, 6))))
    assert app.orders == []


async def test_a_burst_in_the_help_is_searched_for_and_none_of_its_keys_reaches_what_lies_beneath() -> (
    None
):
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("?")
        assert isinstance(app.screen, HelpForm)
        await hand.types("qBc .AjyS.y")
        assert isinstance(app.screen, HelpForm)
        assert app.screen.search == "qBc .AjyS.y"
        await hand.types("\x1b")
        assert len(app.screen_stack) == 1
    assert app.orders == []


async def test_a_send_key_typed_before_its_form_opened_never_sends() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("By", gap=0.07)  # 70 ms apart, and the desk was busy with something else
        await hand.types("\x1b")
        await hand.types("?\x1bBy", gap=0.3)
    assert app.orders == []


async def test_a_send_key_typed_before_the_form_came_back_from_its_list_of_keys_never_sends() -> (
    None
):
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        form = app.screen
        assert isinstance(form, TicketForm)
        assert form.painted is not None
        form.painted -= 10  # the desk was busy meanwhile: the next keys were all read before now
        hand.at = form.painted
        await hand.types("?\x1by", gap=0.3)
        assert app.screen is form
        assert app.orders == []
        await hand.types("y")
    assert len(app.orders) == 1


async def test_keys_that_waited_while_the_desk_was_busy_send_nothing_at_any_pace() -> None:
    app, rng = Desk(), random.Random(21)
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        for _ in range(25):
            keys = "".join(rng.choices("ByBy?q/\rj\x1bc", k=rng.randint(2, 7)))
            await hand.types(keys, gap=rng.choice((0.001, 0.065, 0.12, 0.3)))
    assert app.orders == []


async def test_a_held_b_and_then_y_sends_nothing() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.types("BBBBBB", gap=0.033, after=0.5)
        await hand.types("y")
    assert app.orders == []
    assert app.causes[0] is Cause.BURST


async def test_a_bracketed_paste_closes_the_ticket_and_disarms() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.pastes("y")
        assert len(app.screen_stack) == 1
    assert app.orders == []
    assert app.causes == [Cause.PASTE]


async def test_a_paste_with_an_end_inside_sends_nothing() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.pastes("harmless")
        await hand.types("By", after=0.001)
    assert app.orders == []
    assert app.causes[:2] == [Cause.PASTE, Cause.BURST]


async def test_a_confirm_right_behind_the_form_is_too_early_and_the_form_stays() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.types("y", after=0.15)
        assert isinstance(app.screen, TicketForm)
        assert "Too early: read the form" in app.words, "where the eye is: in the form"
        await hand.types("y")
    assert len(app.orders) == 1


@pytest.mark.parametrize("stopped", ["before", "while held back", "until just before"])
async def test_a_confirm_of_a_process_that_was_stopped_is_too_early_and_says_so(
    stopped: str,
) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        typed = hand.at + 1
        app.continued_at = {
            "before": lambda: typed + 0.5,
            "while held back": lambda: typed + 0.5 if app.guarded_keys.guard.held else 0.0,
            "until just before": lambda: typed - 0.1,
        }[stopped]
        await hand.types("y", after=1)
        assert isinstance(app.screen, TicketForm)
        assert "Too early: read the form" in app.words
        assert app.orders == []
        app.continued_at = lambda: typed + 0.5
        await hand.types("y", after=1)
    assert len(app.orders) == 1


async def test_a_lost_focus_disarms() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.post_message(events.AppBlur())
        await pilot.pause()
    assert app.causes == [Cause.FOCUS_OUT]


async def test_a_held_arrow_nudges_the_field_and_disarms_nothing() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.types("s")
        await hand.repeats("up", 30)
        await hand.until_stop("50")
        await hand.types("y")
    assert app.causes == []
    assert len(app.orders) == 1


async def test_digits_typed_at_once_fill_the_field() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.types("s35")
        await hand.until_stop("35")
    assert app.causes == []


async def test_escape_and_a_capital_right_behind_it_open_the_next_form() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.types("\x1bB", gap=0.020)
        assert app.sent == [None]
        assert isinstance(app.screen, TicketForm)
    assert app.causes == []


async def test_two_escapes_at_once_drop_one_form_and_no_more() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.types("\x1b\x1b\x1b")
        assert len(app.screen_stack) == 1
    assert app.sent == [None]
    assert app.causes == []


async def test_a_capital_lost_behind_escape_is_said() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.post_message(events.Key("alt+shift+b", None))
        await Hand(app, pilot).settle()
    assert app.told == ["info Esc and B came as one key: only Esc counted. Press B again"]


async def test_escape_and_a_key_in_one_drops_the_form() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        app.post_message(events.Key("alt+y", None))
        await hand.settle()
        assert len(app.screen_stack) == 1
    assert app.sent == [None]


async def test_a_held_j_scrolls() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await Hand(app, pilot).types("j" * 20, gap=0.033)
    assert app.downs == 20
    assert app.causes == []


async def test_letters_of_a_name_are_typed_at_any_pace_and_pasted() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("/")
        await hand.types("usdjpy", gap=0.002)
        screen = app.screen
        assert isinstance(screen, FindForm)
        assert screen.text == "usdjpy"
    assert app.causes == []


async def test_a_chord_goes_somewhere_and_an_unknown_one_nowhere_and_says_so() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("gc", gap=0.2)
        await hand.types("g?", gap=0.2)
        await hand.types("g\x1b", gap=0.2)
        await hand.types("j")
    assert app.went == ["chart"]
    assert app.downs == 1
    assert app.told == ["info g ?: no such key. ? lists them"]


async def test_a_chord_of_no_pane_is_performed_by_the_desk_by_name_and_arguments() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("gk", gap=0.2)
        await hand.types("'e", gap=0.2)
    assert app.performed == [("statistics",), ("jump", "e")]


async def test_three_capitals_ask_for_caps_lock_and_a_foreign_letter_for_the_layout() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("JWQ", gap=0.2)
        await hand.types("ф")
    assert any("Caps Lock" in text for text in app.told)
    assert any("layout" in text for text in app.told)


async def test_a_key_without_a_meaning_says_where_the_keys_are_once() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("Q")
        await hand.repeats("u", 30)  # held down
        await hand.types("gq", gap=0.2)
        await hand.types("gq", gap=0.2)
        await hand.types("d.xpasted raw", gap=0.001)
        await hand.types("B")
    assert app.told[:4] == [
        "info Q does nothing here: ? shows the keys",
        "info u does nothing here: ? shows the keys",
        "info g q: no such key. ? lists them",
        "info d does nothing here: ? shows the keys",
    ]
    assert not any("nothing here" in text for text in app.told[4:])


@pytest.mark.parametrize("first", ["", "g"])
async def test_signs_that_have_a_meaning_for_a_program_are_keys_as_others(first: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        for sign in "{}%\\[]$`\"'!&*=~^_|<>€":
            await hand.types(first + sign, gap=0.2)
            await hand.types("é", gap=0.2)  # ends what a sign may have begun
    for sign in "{}":
        expected = f"g {sign}: no such key. ? lists them" if first else f"{sign} does nothing here"
        assert any(expected in text for text in app.told), expected


class Letters(DetailsForm):
    """A page with the chords of the journal."""

    KEY_CONTEXT = JOURNAL
    asked = 0

    def action_letters(self) -> None:
        self.asked += 1


async def test_a_page_has_chords_of_its_own_and_shows_what_may_follow() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        page = Letters("Journal", [("name", "value")])
        app.push_screen(page)
        await pilot.pause()
        await hand.types("w")
        assert "w …  f filter  e every trade" in app.words
        await hand.types("f")
        assert "w …" not in app.words
        assert page.asked == 1
        await hand.types("wt", gap=0.2)  # of the watchlist
    assert app.told == ["info w t: no such key. ? lists them"]


class Changed(Letters):
    """A page on which something was changed and not kept."""

    @property
    def holds_changes(self) -> bool:
        return True


async def test_a_chord_goes_on_from_a_page_and_says_why_not_from_one_with_changes() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        app.push_screen(Letters("Journal", []))
        await pilot.pause()
        await hand.types("gc", gap=0.2)
        assert not isinstance(app.screen, DetailsForm)
        assert app.went == ["chart"]
        app.push_screen(Letters("Journal", []))
        await pilot.pause()
        await hand.types("gk", gap=0.2)
        assert app.performed == [("statistics",)]
        app.push_screen(page := Changed("Journal", []))
        await pilot.pause()
        await hand.types("gc", gap=0.2)
        assert app.screen is page
        assert app.told == [
            "info First Enter keeps what was changed here, or Esc drops it",
        ]


async def test_a_paste_says_that_it_disarmed_and_what_arms_again() -> None:
    app = Desk()
    app.store.health.environment = "PRACTICE"
    app.store.arming = Arming("ARMED")
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.pastes("By")
        assert app.store.arming.level == "DISARMED"
        await hand.pastes("By")
    told = "text was pasted outside a text field. Nothing was sent."
    assert app.told == [f"bad Keys dropped, DISARMED: {told} A arms again."]


async def test_a_first_key_swallows_no_exit() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("gC", gap=0.2)
    assert app.told == ["info Nothing to close"]


@pytest.mark.parametrize("ends", ["a form", "a paste", "the focus"])
async def test_a_first_key_waits_no_longer_once_something_else_has_the_keys(ends: str) -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("g")
        match ends:
            case "a form":  # as when the stream opens one
                app.action_help()
                await hand.types("\x1b")
            case "a paste":
                await hand.pastes("c")
            case _:
                app.post_message(events.AppBlur())
                await pilot.pause()
        await hand.types("c")
    assert app.went == []
