"""Keys typed ahead reach the form that the key before them opens, in order; all are posted at once, before any is handled."""

import asyncio

from textual import events
from textual.app import ComposeResult
from textual.geometry import Size
from textual.widgets import Input

from keydesk.forms.command_line import CommandForm, FindForm
from keydesk.forms.info_form import HelpForm
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.keys.guard import Cause
from keydesk.keys.key_order import PANE_TIMEOUT, KeyOrder, Typed
from keydesk.parse.parsed_commands import QuitDesk
from support.data.desk_store import example_store
from support.fakes.guarded_desk import Desk, Hand

APART = 0.07  # seconds between keys of which one opens a form: no burst


async def test_a_command_typed_in_one_go_is_read_as_one() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        await Hand(app, pilot).types(":q\r")
        assert app.commands == [QuitDesk()]
        assert len(app.screen_stack) == 1


async def test_letters_right_behind_the_key_of_their_field_are_all_in_it_and_none_on_the_desk() -> (
    None
):
    app = Desk()
    async with app.run_test() as pilot:
        await Hand(app, pilot).types("/jusd2j")
        assert isinstance(app.screen, FindForm)
        assert app.screen.text == "jusd2j"
    assert (app.downs, app.presets) == (0, [])


async def test_fields_typed_ahead_of_a_ticket_are_in_the_ticket() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("Bs25", gap=APART)
        await hand.until_stop("25")
    assert (app.presets, app.causes) == ([], [])


async def test_keys_wait_for_the_field_of_a_form_that_is_slow_to_mount() -> None:
    mounting, mounted = asyncio.Event(), asyncio.Event()

    class SlowInput(Input):
        async def on_mount(self) -> None:
            mounting.set()
            await mounted.wait()

    class SlowForm(CommandForm):
        def compose(self) -> ComposeResult:
            yield SlowInput(select_on_focus=False)

    class SlowDesk(Desk):
        def action_command(self) -> None:
            self.push_screen(SlowForm(example_store()), self.commands.append)

    app = SlowDesk()
    async with app.run_test() as pilot:
        for key in ("colon", "j", "2", "q"):
            app.post_message(events.Key(key, None if key == "colon" else key))
        await mounting.wait()
        for _ in range(100):  # turns of the event loop: a key that does not wait is handled by then
            await asyncio.sleep(0)
        mounted.set()
        await pilot.pause()
        await pilot.pause()
        assert isinstance(app.screen, SlowForm)
        assert app.screen.query_one(Input).value == "j2q"
    assert (app.downs, app.presets) == (0, [])


async def test_keys_typed_behind_enter_and_escape_act_on_what_lies_beneath() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types(":\x1bj")
        assert (app.commands, app.downs) == ([None], 1)
        await hand.types("/usd\x1bj2")
        assert (app.downs, app.presets, len(app.screen_stack)) == (2, [2], 1)
        await hand.types(":q\rj3")
        assert (app.commands[1:], app.downs, app.presets) == ([QuitDesk()], 3, [2, 3])
        await hand.types("B\x1bj", gap=APART)
        assert (app.sent, app.downs, len(app.screen_stack)) == ([None], 4, 1)
    assert app.causes == []


async def test_a_send_key_typed_ahead_is_refused_in_words_and_the_keys_behind_it_count() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("By", gap=0.3)
        assert isinstance(app.screen, TicketForm)
        assert "Too early: read the form" in app.words
        await hand.types("s25")
        await hand.until_stop("25")
    assert app.orders == []


async def test_a_burst_behind_an_order_key_is_dropped_whole_and_changes_no_size() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("Bs25")
        assert len(app.screen_stack) == 1
        assert app.causes == [Cause.BURST]
        assert app.presets == []
        await hand.types("2")
        assert app.presets == [2], "after a pause a key counts again"
    assert app.orders == []


async def test_a_second_order_key_goes_to_the_first_ones_form_and_a_burst_of_two_trips() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("BB", gap=APART)
        assert len(app.screen_stack) == 2
        assert app.causes == []
        await hand.types("\x1b")
        await hand.types("BB")
        assert len(app.screen_stack) == 1
    assert Cause.BURST in app.causes
    assert app.orders == []


async def test_keys_typed_for_a_form_that_did_not_open_are_dropped_and_said() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("C5j", gap=APART)
        assert (app.presets, app.downs) == ([], 0)
        assert app.told[-1] == "warn C opened no form: keys typed for it were dropped."
        await hand.types("Cs2Bs35", gap=APART)
        assert isinstance(app.screen, TicketForm), (
            "the next key that opens a form is kept: it may be an exit"
        )
        await hand.until_stop("35")
    assert app.presets == []


async def test_a_command_typed_behind_escape_from_a_form_that_did_not_open_is_whole() -> None:
    """Without its `:` the letters of the command would be keys of the desk: 5 chooses a size."""
    app = Desk()
    async with app.run_test() as pilot:
        await Hand(app, pilot).types("Cs2\x1b:j5", gap=APART)
        assert isinstance(app.screen, CommandForm)
        assert app.screen.text == "j5"
    assert (app.presets, app.downs) == ([], 0)


async def test_a_resize_between_the_keys_changes_nothing() -> None:
    app = Desk()
    async with app.run_test(size=(100, 30)) as pilot:
        app.post_message(events.Key("colon", ":"))
        app.post_message(events.Resize(Size(80, 24), Size(80, 24)))
        app.post_message(events.Key("q", "q"))
        app.post_message(events.Resize(Size(120, 35), Size(120, 35)))
        app.post_message(events.Key("enter", "\r"))
        await Hand(app, pilot).settle()
        await pilot.pause()
        assert app.commands == [QuitDesk()]


async def test_a_paste_right_behind_the_key_of_its_field_goes_into_the_field() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        app.post_message(events.Key("slash", "/"))
        app.post_message(events.Paste("usdjpy"))
        await Hand(app, pilot).settle()
        assert isinstance(app.screen, FindForm)
        assert app.screen.text == "usdjpy"
    assert app.causes == []


async def test_a_key_from_before_a_page_that_a_worker_opened_does_not_act_on_it() -> None:
    app = Desk()

    async def open_help() -> None:
        app.action_help()

    async with app.run_test() as pilot:
        early = events.Key("escape", "\x1b")
        await app.run_worker(open_help()).wait()
        await pilot.pause()
        app.post_message(early)
        await pilot.pause()
        assert isinstance(app.screen, HelpForm)
        assert app.told == ["warn Keys typed before this page opened were dropped."]
        app.post_message(events.Key("escape", "\x1b"))
        await Hand(app, pilot).settle()
        assert len(app.screen_stack) == 1


async def test_a_send_key_that_another_key_overtook_is_said() -> None:
    app = Desk()
    async with app.run_test() as pilot:
        hand = Hand(app, pilot)
        await hand.types("B")
        await hand.types("ys", gap=APART)
        for _ in range(100):
            if "y was dropped" in app.words:
                break
            await pilot.pause(0.01)
        assert "y was dropped: another key came before it counted" in app.words
    assert app.orders == []


async def test_keys_behind_one_that_is_never_answered_are_given_up_and_the_next_one_counts() -> (
    None
):
    now, delivered, dropped = [0.0], list[Typed](), list[Typed]()

    app = Desk()
    async with app.run_test():

        async def deliver(event: Typed) -> None:
            delivered.append(event)
            order.follow()  # and Textual never finishes with it

        order = KeyOrder(
            app,
            deliver,
            settled=lambda _screen: None,
            gave_up=dropped.extend,
            clock=lambda: now[0],
        )
        first, second, third = (events.Key(key, key) for key in "abc")
        await order.deliver(first)
        await order.deliver(second)
        assert delivered == [first]
        now[0] = PANE_TIMEOUT + 1
        await order.deliver(third)
    assert delivered == [first, third]
    assert dropped == [second]
