"""The ticket driven by keys alone, at the example prices."""

import dataclasses
from decimal import Decimal

import pytest
from msgspec.structs import replace
from textual.events import Key
from textual.pilot import Pilot

from keydesk.calc.orders.ticket_draft import Side
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.keys.keymap import KEYMAP, TICKET
from keydesk.parse.orders import parse_order
from keydesk.store.frame import Frame
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.trading.entry_requests import OpenOrder, bound_of
from keydesk.trading.order_requests import HOUR_NS
from keydesk_client.models import DateTime, LimitOrderRequest
from support.data.desk_store import NOW, WALL_NS, example_store
from support.data.entry_orders import open_order, price_of, stop_of, target_of, trail_of
from support.data.in_flight import in_flight
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled

D = Decimal


def ticket_app(
    side: Side = "BUY",
    instrument: str = "EUR_USD",
    store: Store | None = None,
    preset: int = 3,
) -> FormApp:
    context = example_context(store, preset)
    return FormApp(lambda: TicketForm(context, side, instrument))


async def press(pilot: Pilot[None], keys: str) -> None:
    """Type keys given as one string, special names in spaces."""
    for word in keys.split(" "):
        if len(word) > 1 and word in {"up", "down", "tab", "enter", "escape", "backspace"}:
            await pilot.press(word)
        else:
            await pilot.press(*word)


async def order_sent_by(keys: str, app: FormApp) -> OpenOrder:
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, keys)
        assert app.results, app.words
    order = app.results[0]
    assert isinstance(order, OpenOrder)
    return order


async def words_after(keys: str, app: FormApp, size: tuple[int, int] = (80, 24)) -> str:
    async with app.run_test(size=size) as pilot:
        await press(pilot, keys)
        assert not app.results
        return app.said


async def test_b_y_buys_the_preset_with_the_template_bracket() -> None:
    order = await order_sent_by("y", ticket_app())
    assert order == open_order(
        instrument="EUR_USD",
        kind="MARKET",
        units=D(10_000),
        bound=D("1.08520"),
        expected=D("1.08500"),
        stop=D("1.08300"),
        target=D("1.08900"),
    )


async def test_one_percent_with_a_twenty_pip_stop_is_sized_by_risk() -> None:
    order = await order_sent_by("s20 y", ticket_app(preset=0))
    assert order.request.units == D(50_000)


async def test_a_limit_fifteen_pips_under_the_market() -> None:
    order = await order_sent_by("o p-15 y", ticket_app())
    assert (order.request.type, price_of(order), bound_of(order.request)) == (
        "LIMIT",
        D("1.08350"),
        None,
    )
    assert (stop_of(order), target_of(order), order.request.time_in_force) == (
        D("1.08150"),
        D("1.08750"),
        "GTC",
    )


async def test_a_sell_is_bounded_below_and_protected_above() -> None:
    order = await order_sent_by("y", ticket_app("SELL", "USD_JPY"))
    assert (order.request.units, bound_of(order.request)) == (D(-10_000), D("155.172"))
    assert (stop_of(order), target_of(order)) == (D("155.400"), D("154.800"))


async def test_nudges_move_the_active_field_by_one_and_by_ten() -> None:
    order = await order_sent_by("s up up , y", ticket_app())
    assert stop_of(order) == D("1.08380")


async def test_a_full_stop_behind_a_digit_is_the_point() -> None:
    order = await order_sent_by("s12.5 y", ticket_app())
    assert stop_of(order) == D("1.08375")


async def test_a_field_turns_its_unit_and_keeps_its_level() -> None:
    assert "1.08300 price" in await words_after("sm", ticket_app())


async def test_enter_space_and_capitals_send_nothing() -> None:
    text = await words_after("enter Y", ticket_app())
    assert "Caps Lock" in text


async def test_without_a_stop_only_the_shown_letter_sends() -> None:
    text = await words_after("s backspace t backspace", ticket_app())
    assert "No stop: the loss has no limit" in text
    assert "type c to send" in text
    order = await order_sent_by("s backspace t backspace c", ticket_app())
    assert stop_of(order) is None


async def another_letter(app: FormApp, pilot: Pilot[None]) -> str:
    """Wait until the form shows a letter again, and may be confirmed; return it."""
    form = app.screen
    assert isinstance(form, TicketForm)
    while form.confirmation().letter == "" or form.painted is None:
        await pilot.pause(0.01)
    return form.confirmation().letter


async def test_a_wrong_letter_keeps_the_ticket_as_typed_and_shows_another_letter() -> None:
    app = ticket_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "u12345 s backspace t backspace")
        assert "type c to send" in app.said
        await press(pilot, "y")
        assert "NOT SENT: the letter was c, not y. Kept as typed" in app.words
        assert "another letter comes" in app.words or "type d to send" in app.said
        assert "BUY 12,345 EUR/USD" in app.words
        assert await another_letter(app, pilot) == "d"
        assert "type d to send" in app.said
        await press(pilot, "d")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.request.units == D(12_345)


async def test_a_key_for_the_letter_before_neither_sends_nor_counts_as_wrong() -> None:
    app = ticket_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "s backspace t backspace")
        form = app.screen
        assert isinstance(form, TicketForm)
        form.answer("y")
        late = [Key(letter, letter) for letter in "cdfv"]  # typed while there was no letter
        for letter in "cdfv":
            form.answer(letter)
        assert app.results == []
        assert await another_letter(app, pilot) == "d"
        for each in late:
            form.post_message(each)
        await pilot.pause()
        assert app.results == []
        assert "too early" in app.words.lower()
        assert "type d to send" in app.said
        await press(pilot, "d")
    assert isinstance(app.results[0], OpenOrder)


async def test_the_third_wrong_letter_closes_the_form_and_says_so() -> None:
    store = example_store()
    app = ticket_app(store=store)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "s backspace t backspace")
        for _ in range(2):
            await another_letter(app, pilot)
            await press(pilot, "y")
            assert app.results == []
        await another_letter(app, pilot)
        await press(pilot, "y")
    assert app.results == [None]
    assert store.notices[-1].text.startswith("NOT SENT: 3 wrong letters, the form is closed")


async def test_a_challenge_letter_that_is_asked_for_no_more_says_what_sends() -> None:
    text = await words_after("c", ticket_app())
    assert "NOT SENT by c: y sends it now" in text


async def test_the_audit_log_has_the_words_of_the_form_and_why_a_key_was_refused() -> None:
    entries: list[tuple[str, str]] = []
    context = example_context()
    context.store.audit.listen(lambda what, words: entries.append((what, words)))
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    async with app.run_test(size=(120, 35)) as pilot:
        await press(pilot, "u999999999 y")
    opened, *_, refused = entries
    assert opened[0] == "preview"
    assert opened[1].startswith("opened: ▲ BUY 10,000 EUR/USD at market"), opened
    assert refused[0] == "refused"
    assert refused[1].startswith("y: "), refused
    assert refused[1].endswith("(▲ BUY 999,999,999 EUR/USD at market)"), refused


async def test_what_sends_and_what_was_dropped_stay_on_a_screen_with_too_many_warnings() -> None:
    store = example_store()
    store.health.rtt_ms = 800.0
    context = example_context(store)
    store.sent.sent_at["EUR_USD", "MARKET", "BUY"] = NOW - 3
    store.wall_ns = lambda: 1_772_056_740_000_000_000
    store.set_in_flight(in_flight("EUR_USD", state="unconfirmed"))
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "u200000 s3 o p1.0851")
        form = app.screen
        assert isinstance(form, TicketForm)
        form.say_dropped("Too early: read the form, then press the key again.")
        await pilot.pause()
        text = app.words
    assert "Too early: read the form" in text
    assert "to send" in text
    assert "Esc drops" in text
    assert "BUY 200,000 EUR/USD" in text


async def test_a_refusal_names_its_reason_and_no_key_sends() -> None:
    assert "inside the spread" in await words_after("s0.5 y", ticket_app())
    text = await words_after("u9999999 y", ticket_app())
    assert "is over the" in text


async def test_escape_drops_the_ticket() -> None:
    app = ticket_app()
    async with app.run_test() as pilot:
        await pilot.press("escape")
    assert app.results == [None]


async def test_disarmed_refuses_and_says_how_to_arm() -> None:
    store = example_store()
    store.arming = Arming("DISARMED")
    assert "A arms" in await words_after("y", ticket_app(store=store))


async def test_a_live_account_is_named_in_the_frame() -> None:
    store = example_store()
    store.health.environment = "LIVE"
    assert "LIVE main …001" in await words_after("", ticket_app(store=store))


async def test_the_price_in_the_ticket_moves_and_the_order_freezes_it() -> None:
    store = example_store()
    app = ticket_app(store=store)
    async with app.run_test() as pilot:
        store.quotes["EUR_USD"].ask = D("1.08520")
        store.quotes["EUR_USD"].bid = D("1.08510")
        form = app.screen
        assert isinstance(form, TicketForm)
        form.on_frame(Frame(store, {}, NOW, WALL_NS))
        await pilot.pause()
        assert "worst price 1.08540" in app.said
        await pilot.press("y")
    order = app.results[0]
    assert isinstance(order, OpenOrder)
    assert (order.expected, bound_of(order.request)) == (D("1.08520"), D("1.08540"))


async def test_a_price_that_ran_under_the_hand_asks_once_more() -> None:
    store = example_store()
    app = ticket_app(store=store)
    async with app.run_test() as pilot:
        await pilot.pause()
        store.quotes["EUR_USD"].ask = D("1.08560")
        store.quotes["EUR_USD"].bid = D("1.08550")
        await pilot.press("y")
        assert app.results == []
        assert "just moved from 1.08500 to 1.08560" in app.words
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.expected == D("1.08560")


async def test_the_units_on_the_screen_are_sent_although_the_account_moved_since() -> None:
    store = example_store()
    app = ticket_app(store=store, preset=0)
    async with app.run_test() as pilot:
        await press(pilot, "s20")
        assert "BUY 50,000 EUR/USD" in app.words
        assert store.account is not None
        assert store.account.nav is not None
        store.account = dataclasses.replace(store.account, nav=store.account.nav - 100)
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.request.units == D(50_000)


async def test_units_that_are_typed_after_the_screen_was_drawn_are_those_sent() -> None:
    store = example_store()
    app = ticket_app(store=store)
    async with app.run_test() as pilot:
        form = app.screen
        assert isinstance(form, TicketForm)
        form.draft = form.draft.with_field("size", replace(form.draft.entry("size"), text="12345"))
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert order.request.units == D(12_345)


async def test_a_position_that_went_under_the_hand_asks_once_more() -> None:
    store = example_store()
    app = ticket_app("SELL", store=store)
    async with app.run_test() as pilot:
        await pilot.pause()
        assert "reduces 10,000 of LONG 20,000" in app.said
        store.positions.pop("EUR_USD")
        await pilot.press("y")
        assert app.results == []
        assert "The position just changed: press again to send this" in app.words


async def test_a_ticket_without_a_price_waits_for_it() -> None:
    store = example_store()
    del store.quotes["EUR_USD"]
    assert "Waiting for a price of EUR/USD" in await words_after("y", ticket_app(store=store))


async def test_the_worst_ticket_is_whole_on_eighty_by_twenty_four() -> None:
    store = example_store()
    store.health.rtt_ms = 800.0
    text = await words_after("u200000 s3", ticket_app(store=store))
    assert "BUY 200,000 EUR/USD" in text
    assert "LAG" in text
    assert "to send" in text
    assert "Esc drops" in text


async def test_an_order_under_way_in_the_instrument_refuses_another() -> None:
    store = example_store()
    store.set_in_flight(in_flight("EUR_USD"))
    assert "still under way" in await words_after("y", ticket_app(store=store))


async def test_nothing_is_claimed_of_an_order_without_a_price() -> None:
    app = ticket_app(preset=0)
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "o backspace")
        text = app.said
    assert "▲ BUY – EUR/USD limit –" in text
    assert "at stop –" in text
    assert "The price is missing" in text
    for claim in ("UNLIMITED", "REDUCES", "OPENS", "none"):
        assert claim not in text


async def test_a_stop_that_only_reduces_shows_what_it_reduces_and_no_bracket() -> None:
    text = await words_after("oo p1.08200", ticket_app("SELL"))
    assert "reduces 10,000 of LONG 20,000, never opens a trade" in text
    assert "result −24.00 USD at 1.08200" in text
    for claim in ("target", "trail", "s stop", "UNLIMITED", "of the stop"):
        assert claim not in text
    order = await order_sent_by("oo p1.08200 y", ticket_app("SELL"))
    assert (order.request.type, order.request.units, price_of(order)) == (
        "STOP",
        D(-10_000),
        D("1.08200"),
    )
    assert order.reduces
    assert (stop_of(order), target_of(order), trail_of(order)) == (None, None, None)


async def test_the_mirror_reduces_a_short() -> None:
    text = await words_after("u5000 oo p156", ticket_app("BUY", "USD_JPY"))
    assert "reduces 5,000 of SHORT 5,000, never opens a trade" in text


async def test_a_field_that_a_reducing_ticket_has_not_says_why_and_takes_no_digit() -> None:
    app = ticket_app("SELL")
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "oo p1.08200 s9")
        text = app.words
    assert "It only reduces: a stop is for a new trade" in text
    assert "▼ SELL 10,000 EUR/USD stop 1.08200" in text


async def test_a_stop_that_was_typed_before_the_ticket_only_reduced_stays_and_is_refused() -> None:
    text = await words_after("u30000 s30 u10000 y", ticket_app("SELL"))
    assert "s stop" in text
    assert "stop: the order only reduces" in text
    order = await order_sent_by("u30000 s30 u10000 s backspace y", ticket_app("SELL"))
    assert (order.reduces, stop_of(order)) == (True, None)


async def test_more_than_the_position_turns_it_and_has_a_bracket_again() -> None:
    text = await words_after("oo p1.08200 u30000", ticket_app("SELL"))
    assert "TURNS" in text
    assert "s stop" in text


async def test_a_reducing_ticket_is_an_exit_and_works_disarmed() -> None:
    store = example_store()
    store.arming = Arming("DISARMED")
    order = await order_sent_by("oo p1.08200 y", ticket_app("SELL", store=store))
    assert order.reduces


def asking_app(store: Store, *, clock: list[float], trouble: str = "") -> tuple[FormApp, list[str]]:
    """A ticket that asks for prices, and what it asked for; the clock's last entry is the time."""
    context = replace(example_context(store), clock=lambda: clock[-1])
    store.sent.quote_trouble["EUR_USD"] = trouble
    app = FormApp(lambda: TicketForm(context, "BUY", "EUR_USD"))
    return app, app.prices_wanted


async def test_a_ticket_opened_on_an_old_price_has_it_read_again_at_once() -> None:
    store, clock = example_store(), [NOW + 3]
    app, asked = asking_app(store, clock=clock)
    async with app.run_test() as pilot:
        form = app.screen
        assert isinstance(form, TicketForm)
        assert asked == ["EUR_USD"]
        form.redraw()
        await pilot.pause()
        assert asked == ["EUR_USD"], "once in three seconds is enough"
        clock.append(NOW + 7)
        form.redraw()
        await pilot.pause()
        assert asked == ["EUR_USD", "EUR_USD"], "it is still old"
        store.quotes["EUR_USD"].received = NOW + 7
        clock.append(NOW + 9)
        form.redraw()
        await pilot.pause()
    assert asked == ["EUR_USD", "EUR_USD"]


async def test_a_ticket_on_a_fresh_price_asks_nothing() -> None:
    app, asked = asking_app(example_store(), clock=[NOW])
    async with app.run_test():
        assert asked == []


async def test_an_old_price_that_could_not_be_read_again_refuses_and_says_why() -> None:
    app, _ = asking_app(example_store(), clock=[NOW + 4], trouble="connection refused")
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("y")
        assert app.results == []
        text = " ".join(app.words.replace("┃", " ").split())
    assert "The price is 4s old and could not be read again (connection refused)" in text
    assert "exits work" in text


async def test_a_typed_order_fills_the_ticket_and_still_asks_for_its_own_confirmation() -> None:
    fields = parse_order(["50k", "@", "1.0830", "sl", "20p", "tp", "2r", "gtd", "4h"])
    form_context = example_context()
    app = FormApp(lambda: TicketForm(form_context, "BUY", "EUR_USD", fields))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "BUY 50,000 EUR/USD limit 1.08300" in app.words
        await pilot.press("enter")
        assert app.results == []
        await pilot.press("y")
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert (order.request.type, order.request.units, price_of(order)) == (
        "LIMIT",
        D(50_000),
        D("1.08300"),
    )
    assert (stop_of(order), target_of(order)) == (D("1.08100"), D("1.08700"))
    assert isinstance(order.request, LimitOrderRequest)
    assert order.request.gtd_time == DateTime.from_ns(WALL_NS + 4 * HOUR_NS)


async def test_the_ticket_names_the_keys_of_its_fields_beside_the_one_that_sends() -> None:
    text = await words_after("", ticket_app())
    assert "y sends m unit ↑ ↓ ±1 Tab next ? keys Esc drops" in text
    assert "m unit ↑ ↓ ±1" in await words_after("s0.5", ticket_app())


async def test_a_challenge_leaves_no_room_for_hints() -> None:
    text = await words_after("s backspace t backspace", ticket_app())
    assert "type c to send" in text
    assert "m unit" not in text


async def test_a_ticket_sends_nothing_where_the_terminal_is_too_small_to_show_the_account() -> None:
    app = ticket_app()
    async with app.run_test(size=(70, 20)) as pilot:
        await pilot.press("y")
        assert "80×24 cells show what it opens on" in app.words
    assert app.results == []


async def test_a_ticket_that_only_reduces_is_sent_at_any_size() -> None:
    app = ticket_app("SELL")
    async with app.run_test(size=(60, 18)) as pilot:
        await pilot.press("y")
    assert len(app.results) == 1


async def test_a_frame_before_the_form_is_mounted_or_behind_its_end_breaks_nothing() -> None:
    store = example_store()
    context = example_context(store)
    app = ticket_app(store=store)
    async with app.run_test(size=(80, 24)) as pilot:
        frame = Frame(store, {}, NOW, WALL_NS)
        late = TicketForm(context, "SELL", "EUR_USD")
        app.push_screen(late)
        late.on_frame(frame)
        late.dismiss(None)
        late.on_frame(frame)
        await pilot.pause()
        late.on_frame(frame)


async def test_what_is_sent_was_painted_although_a_newer_price_is_drawn_but_not_on_the_screen() -> (
    None
):
    store = example_store()
    app = ticket_app(store=store, preset=0)
    async with app.run_test() as pilot:
        await press(pilot, "s20")
        assert "BUY 50,000 EUR/USD" in app.words
        assert store.account is not None
        assert store.account.nav is not None
        store.account = dataclasses.replace(store.account, nav=store.account.nav - 100)
        store.quotes["EUR_USD"].ask += D("0.00001")
        form = app.screen
        assert isinstance(form, TicketForm)
        form.redraw()  # painted with the next refresh: the key comes before it
        form.answer("y")
        await pilot.pause()
    [order] = app.results
    assert isinstance(order, OpenOrder)
    assert (order.request.units, order.expected) == (D(50_000), D("1.08500"))


async def test_a_number_that_is_too_small_is_not_called_unreadable() -> None:
    text = await words_after("u0", ticket_app())
    assert "✗ not above 0" in text
    assert "cannot be read" not in text


async def test_a_stop_on_the_wrong_side_promises_no_profit() -> None:
    text = await words_after("s-20", ticket_app())
    assert "must be below the entry" in text
    assert "at stop –" in text


async def test_a_stop_beyond_0_says_so_and_what_to_type() -> None:
    text = await words_after("s99999", ticket_app())
    said = " ".join(text.replace("┃", " ").split())
    assert "Stop would lie at or below 0: type a smaller distance, or its price" in said


@pytest.mark.parametrize("size", sampled([(80, 24), (120, 35), (200, 50)], 1))
async def test_a_question_mark_lists_every_key_of_the_ticket_and_its_last_line_names_it(
    size: tuple[int, int],
) -> None:
    app = ticket_app()
    async with app.run_test(size=size) as pilot:
        assert "? keys" in app.words
        await press(pilot, "?")
        assert "Keys of this form: ticket" in app.words
        keys = KEYMAP.in_force(TICKET)
        first = app.words
        if size == (80, 24):
            assert "PgDn page 1/2" in first
            await pilot.press("pagedown")
        assert [key.text for key in keys if key.text not in first + app.words] == []
        await press(pilot, "y")
        assert not app.results, "the list of keys sends nothing"
        await press(pilot, "escape")
        assert isinstance(app.screen, TicketForm)
        await press(pilot, "y")
    assert len(app.results) == 1


async def test_a_confirm_key_counts_once_the_ticket_was_shown_again_behind_its_keys() -> None:
    app = ticket_app()
    async with app.run_test(size=(80, 24)) as pilot:
        form = app.screen
        assert isinstance(form, TicketForm)
        first = form.painted or 0
        await press(pilot, "?")
        assert form.key_target.painted is None
        await press(pilot, "?")
        assert form.is_active
        assert (form.key_target.painted or 0) > first


async def test_a_question_mark_is_typed_into_a_field_of_text() -> None:
    app = ticket_app()
    async with app.run_test(size=(80, 24)) as pilot:
        await press(pilot, "k?")
        form = app.screen
        assert isinstance(form, TicketForm)
        assert form.draft.members.text("tag") == "?"
