"""Help, find, the command line and details: what is seen and what comes back."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from textual.widgets import Input

from keydesk.forms.command_line import CommandForm, FindForm
from keydesk.forms.details_form import DetailsForm
from keydesk.forms.help_text import PROSE, group_columns, help_lines, unparted
from keydesk.forms.info_form import HelpForm, InfoForm
from keydesk.forms.modal_form import BLANK
from keydesk.forms.page_lines import width_of
from keydesk.forms.panel import Panel
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.keys.keymap import (
    CHART,
    DESK,
    JOURNAL,
    KEYMAP,
    KEYS,
    LABELS,
    PAGES,
    TICKET,
    TRADES,
    WATCHLIST,
)
from keydesk.keys.tasks import EXAMPLES
from keydesk.parse.commands import parse_command
from keydesk.parse.instruments import matching
from keydesk.parse.parsed_commands import (
    MakeAlert,
    OpenTicket,
    ParsedCommand,
    QuitDesk,
    ShowHelp,
    ShowInstrument,
    ShowMessage,
)
from keydesk.text.sanitize import safe
from keydesk.values import Task
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled

NAMES = ["EUR_USD", "USD_JPY", "EUR_GBP", "GBP_JPY", "GBP_USD", "EUR_JPY"]


@pytest.mark.parametrize(
    ("typed", "first"),
    [
        ("gj", "GBP_JPY"),
        ("eurusd", "EUR_USD"),
        ("uj", "USD_JPY"),
        ("gbp", "GBP_JPY"),
        ("eg", "EUR_GBP"),
    ],
)
def test_some_letters_find_the_instrument(typed: str, first: str) -> None:
    assert matching(typed, NAMES)[0] == first


def test_letters_that_no_name_has_find_nothing() -> None:
    assert matching("xq", NAMES) == []


@pytest.mark.parametrize(
    ("line", "spoken"),
    [
        ("q", QuitDesk()),
        (":q", QuitDesk()),
        ("eurusd", ShowInstrument("EUR_USD")),
        ("EUR/USD", ShowInstrument("EUR_USD")),
        ("help", ShowHelp()),
        ("b", OpenTicket("BUY", "GBP_USD")),
        ("sell usdjpy", OpenTicket("SELL", "USD_JPY")),
    ],
)
def test_a_line_means_one_thing(line: str, spoken: ParsedCommand) -> None:
    assert parse_command(line, NAMES, "GBP_USD") == spoken


def test_undo_is_answered_honestly() -> None:
    said = parse_command("undo", NAMES, "")
    assert isinstance(said, ShowMessage)
    assert "cannot be undone" in said.text


async def test_two_enters_in_one_go_close_a_form_once() -> None:
    app = FormApp(lambda: FindForm(example_store()))
    async with app.run_test() as pilot:
        form = app.screen
        field = form.query_one(Input)
        for _ in range(2):
            form.post_message(Input.Submitted(field, "gj"))
        await pilot.pause()
        assert app.screen is not form
        assert len(app.results) == 1


async def test_find_returns_the_first_match_on_enter() -> None:
    app = FormApp(lambda: FindForm(example_store()))
    async with app.run_test() as pilot:
        await pilot.press("u", "j", "enter")
    assert app.results == ["USD_JPY"]


async def test_find_chooses_with_the_arrows() -> None:
    app = FormApp(lambda: FindForm(example_store()))
    async with app.run_test() as pilot:
        await pilot.press("e", "down", "enter")
    assert app.results == ["EUR_GBP"]


async def test_the_command_line_says_what_it_understood_before_enter() -> None:
    app = FormApp(lambda: CommandForm(example_store()))
    async with app.run_test() as pilot:
        await pilot.press("q")
        assert "leaves the desk" in app.words
        await pilot.press("enter")
    assert app.results == [QuitDesk()]


def text_of_help(context: str, width: int) -> str:
    lines = help_lines(KEYMAP, context, width)
    return "\n".join("".join(text for text, _ in line) for line in lines)


@pytest.mark.parametrize("width", [76, 56])
@pytest.mark.parametrize("context", [TRADES, CHART, TICKET, JOURNAL])
def test_the_help_shows_every_key_with_its_words_whole(context: str, width: int) -> None:
    text = text_of_help(context, width)
    assert "…" not in text
    assert [key.text for key in KEYMAP.in_force(context) if key.text not in text] == []


def test_the_help_of_a_pane_is_by_task_and_has_the_commands() -> None:
    text = text_of_help(TRADES, 76)
    titles = ["Open", "Close", "Manage", "Read the market", "Review", "Practise"]
    places = [text.index(f"\n\n{title}") for title in titles]
    assert places == sorted(places)
    assert text.startswith("UPPER CASE opens a form, y sends it.")
    assert ":date 2015-01-15" in text


async def test_the_first_page_of_the_help_has_the_keys_to_buy_sell_and_close() -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, WATCHLIST))
    async with app.run_test(size=(80, 24)):
        assert "Buy ticket" in app.words
        assert "Sell ticket" in app.words
        assert "Close the trade or position" in app.words


async def test_a_narrow_help_has_the_rule_of_the_keys_in_place_of_the_prose() -> None:
    for size, has_prose in (((80, 24), False), ((120, 35), True)):
        app = FormApp(lambda: HelpForm(KEYMAP, WATCHLIST))
        async with app.run_test(size=size):
            assert app.words.count("UPPER CASE opens a form, y sends it") == 1
            assert ("The watchlist: bid" in app.words) is has_prose


def test_the_help_of_a_form_with_many_keys_is_in_parts_of_which_each_has_an_example() -> None:
    text = text_of_help(TICKET, 116)
    parts = text.split("\n\n")[1:]
    heads = [part.split("   such as  ")[0].split(":")[0] for part in parts]
    assert heads[:4] == ["Fields", "The picked field", "Choices", "Texts"]
    for part, words in zip(
        parts, ("Target", "Next field", "Order type", "Write a tag"), strict=False
    ):
        assert words in part
        assert part.split("   such as  ")[1][:1] in {key.shown for key in KEYMAP.own(TICKET)}
    assert "Here" in text_of_help(LABELS, 116)


def test_the_help_of_a_pane_explains_every_figure_of_the_first_line() -> None:
    text = text_of_help(TRADES, 76)
    words = text[text.index("The first line") :].split("The command line")[0].split()
    figures = ["NAV", "uPL", "day", "margin", "risk", "closeout", "bal", "free"]
    assert [each for each in figures if each not in words] == []
    assert "The first line" not in text_of_help(TICKET, 76)


@pytest.mark.parametrize("words", PROSE.values())
def test_the_prose_is_three_lines_that_fit_a_narrow_terminal(words: tuple[str, ...]) -> None:
    assert len(words) == 3
    assert all(len(line) <= 76 for line in words)


async def test_the_help_of_the_ticket_tells_of_the_field_that_has_the_keys() -> None:
    app = FormApp(lambda: TicketForm(example_context(), "BUY", "EUR_USD"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", "?")
        assert "ticket, stop" in app.words
        assert "Stop loss: pips, a price" in app.words


async def test_a_form_lights_no_key_while_its_help_has_the_keys() -> None:
    ticket = TicketForm(example_context(), "BUY", "EUR_USD")
    app = FormApp(lambda: ticket)

    def roles_of_foot() -> set[str]:
        ticket.redraw()
        panel = ticket.query_one(Panel)
        return {role for text, role in panel._lines[-1] if text.strip()}

    async with app.run_test(size=(80, 24)) as pilot:
        assert "bright" in roles_of_foot()
        await pilot.press("?")
        assert roles_of_foot() == {"muted"}, "Esc closes the help, it does not drop the ticket"
        await pilot.press("escape")
        assert "bright" in roles_of_foot()


async def test_the_help_scrolls_by_lines_and_pages() -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, TRADES))
    async with app.run_test(size=(80, 24)) as pilot:
        first = app.words
        await pilot.press("down")
        assert "UPPER CASE" not in app.words
        await pilot.press("up", "end")
        assert ":quit" in app.words
        await pilot.press("home")
        assert app.words == first


async def test_details_are_paged_and_closed() -> None:
    rows = [(f"name {n}", f"value {n}") for n in range(40)]
    app = FormApp(lambda: DetailsForm("Trade #6411", rows))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "value 21" in app.words
        assert "value 22" not in app.words
        await pilot.press("space")
        assert "value 39" in app.words
        await pilot.press("escape")
    assert app.results == [None]


def test_every_action_of_a_form_exists() -> None:
    from keydesk.forms.form import Form  # noqa: PLC0415
    from keydesk.forms.ticket.ticket_form import TicketForm  # noqa: PLC0415
    from keydesk.forms.trades.cancel_orders import CancelEntriesForm  # noqa: PLC0415 - the list reads best here
    from keydesk.forms.trades.close_trade import ScaleOutForm  # noqa: PLC0415
    from keydesk.forms.trades.protection import ProtectionForm  # noqa: PLC0415
    from keydesk.forms.trades.reverse_flatten import FlattenForm  # noqa: PLC0415

    places: dict[str, list[type]] = {
        "form": [Form],
        "ticket": [TicketForm],
        "modify": [ProtectionForm],
        "scale-out": [ScaleOutForm],
        "cancel-entries": [CancelEntriesForm],
        "flatten": [FlattenForm],
        "help": [HelpForm, DetailsForm],
        "find": [FindForm],
        "command": [CommandForm],
    }
    for key in KEYS:
        for place in places.get(key.context, []):
            assert hasattr(place, f"action_{key.action.partition('(')[0]}"), (key.id, place)


async def test_the_help_of_a_pane_without_keys_opens_and_closes() -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, "nowhere"))
    async with app.run_test() as pilot:
        assert "Keys of the nowhere" in app.words
        await pilot.press("escape")
    assert app.results == [None]


async def test_a_long_value_goes_on_beneath_itself_clear_of_the_names() -> None:
    rows = [
        (
            "what",
            "Stop sell 655,796 at 206.638, stop 206.878 and then its target at 206.158",
        ),
        ("id", "13"),
    ]
    app = FormApp(lambda: DetailsForm("Transaction", rows))
    async with app.run_test(size=(80, 24)):
        [first, second] = [line for line in app.words.splitlines() if "206." in line]
    assert first.index("Stop sell") == second.index("target")


def test_what_is_not_understood_is_answered_with_what_is() -> None:
    said = parse_command("frobnicate now", NAMES, "EUR_USD")
    assert isinstance(said, ShowMessage)
    known = "Try :q, :help, :messages, :eurusd, :tf h4, :date 2015-01-15, :b eurusd 50k sl 20p, :alert > 1.12"
    assert said.text == f"Not understood: frobnicate now. {known}"


async def test_a_typed_order_is_shown_as_understood_and_comes_back_as_a_ticket() -> None:
    app = FormApp(lambda: CommandForm(example_store()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"b eurus", "tab", *"50k @1.0830 sl 20p")
        text = " ".join(app.words.replace("│", " ").split())
        assert "ticket: BUY 50,000 EUR/USD limit, at 1.0830, stop 20 pips" in text
        await pilot.press("enter")
    [spoken] = app.results
    assert isinstance(spoken, OpenTicket)
    assert spoken.fields.size_text == "50,000"


async def test_a_line_that_cannot_be_read_stays_to_be_mended() -> None:
    app = FormApp(lambda: CommandForm(example_store()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"b eurusd 50x", "enter")
        assert app.results == []
        assert "size: 50x is not valid" in app.words
        await pilot.press("backspace", "k", "enter")
    assert len(app.results) == 1


async def test_an_alert_that_cannot_be_made_now_is_refused_while_its_line_is_open() -> None:
    store = example_store()
    app = FormApp(lambda: CommandForm(store, "alert trade 9"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"9 < -1r")
        assert "trade: #99 is not open; write an open trade's id" in app.words
        await pilot.press("enter")
        assert app.results == []
        assert "trade: #99 is not open" in app.words
        await pilot.press(*["backspace"] * 14, *"pl < -50", "enter")
    [made] = app.results
    assert isinstance(made, MakeAlert)


@pytest.mark.parametrize("form", [lambda: FindForm(example_store()), lambda: HelpForm(KEYMAP)])
async def test_a_form_that_is_drawn_or_left_while_it_mounts_harms_nothing(
    form: Callable[[], InfoForm[Any]],
) -> None:
    """A frame, a resize and a signal to leave come whenever they come."""
    app = FormApp(form)
    async with app.run_test() as pilot:
        for turns in range(6):
            mounting = form()
            app.push_screen(mounting)
            for _ in range(turns):
                await asyncio.sleep(0)
            mounting.redraw()
            mounting.on_mount()
            mounting.dismiss(None)
            await pilot.pause()
        app.push_screen(form())
        app.exit()


def messages(count: int) -> list[tuple[str, str]]:
    text = "FILLED 10,000 EUR/USD at 1.08431, SL 1.08231 set, TP 1.08831 set, margin 370.69"
    return [(f"2026-03-02 13:{n:02}:22 UTC", f"{text}, message {n}") for n in range(count)]


class OneColumn(DetailsForm):
    """Names and values that stay in one column."""

    IN_COLUMNS = False


async def test_names_and_values_without_room_in_one_column_stand_in_two() -> None:
    rows = [(safe(f"name {n}"), f"value {n}") for n in range(40)]
    app = FormApp(lambda: DetailsForm("Long", rows))
    async with app.run_test(size=(120, 35)):
        first = next(line for line in app.words.splitlines() if "value 0" in line)
        assert first.index("value 0") < first.index("name 20") < first.index("value 20")
        assert "Space page" not in app.words


@pytest.mark.parametrize("size", sampled([(80, 24), (120, 35), (40, 12)], 1))
async def test_messages_wrap_once_and_say_how_to_leave_on_every_screen(
    size: tuple[int, int],
) -> None:
    app = FormApp(lambda: OneColumn("Messages", [*messages(40), ("a name", "値段 " * 60)]))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        seen: set[int] = set()
        pages: set[str] = set()
        for _ in range(60):
            assert "Esc closes" in app.words
            assert app.screen.query_one("Panel").region.height <= size[1]
            lines = [line.strip(" │") for line in app.words.splitlines()[1:-1]]
            assert len(lines[0].split()) > 1  # no line is the rest of a cut one
            seen |= {n for n in range(40) if any(line.endswith(f" {n}") for line in lines)}
            pages.add(app.words)
            await pilot.press("space")
            if app.words in pages:  # all of them were seen
                break
        assert len(seen) == 40


async def test_messages_scroll_line_by_line_and_to_both_ends() -> None:
    app = FormApp(lambda: DetailsForm("Messages", messages(40)))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        first = app.words
        assert "13:00:22" in first
        await pilot.press("j", "j", "down")
        assert "13:00:22" not in app.words
        await pilot.press("k", "k", "up", "up")
        assert app.words == first
        await pilot.press("end")
        assert "message 39" in app.words
        last = app.words
        await pilot.press("j", "pagedown")
        assert app.words == last
        await pilot.press("pageup", "home")
        assert app.words == first
        await pilot.press("escape")
        assert app.results == [None]


def test_the_help_leaves_out_keys_of_what_the_desk_does_not_have() -> None:
    whole = {key.id for key in KEYMAP.in_force(DESK)}
    lines = help_lines(KEYMAP, DESK, 96, lambda id_: id_.startswith("replay-"))
    text = "\n".join("".join(words for words, _ in line) for line in lines)
    shown = {key.id for key in KEYMAP.in_force(DESK) if key.text in text}
    assert "replay-pause" in whole
    assert shown == {id_ for id_ in whole if not id_.startswith("replay-")}


class AnyPage(DetailsForm):
    """A page of rows."""


async def test_the_key_of_help_shows_the_keys_of_a_page_and_closes_them() -> None:
    app = FormApp(lambda: AnyPage("Details", [("name", "value")]))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("?")
        assert "Keys of this page" in app.words
        assert "The keys of this page" in app.words
        assert "Page down" in app.words
        assert "Buy" not in app.words
        await pilot.press("?")
        assert "value" in app.words
        await pilot.press("escape")
    assert app.results == [None]


PAGES_OF_FORMS = sorted(each for each in PAGES if KEYMAP.own(each))


@pytest.mark.parametrize("context", PAGES_OF_FORMS)
def test_every_page_has_the_key_that_shows_its_keys(context: str) -> None:
    keys = {each: key.action for key in KEYMAP.in_force(context) for each in key.keys}
    assert keys["?"] == "page_keys"


async def test_letters_search_the_help_by_key_and_by_word() -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, TRADES))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*"break")
        assert "Move the stop to break-even" in app.words
        assert "Buy ticket" not in app.words
        await pilot.press(*["backspace"] * 5, "B")
        assert "Buy ticket" in app.words
        assert "break-even" not in app.words
        await pilot.press(*"zzz")
        assert "Nothing has 'Bzzz'" in app.words
        await pilot.press("escape")
    assert app.results == [None]


@pytest.mark.parametrize("task", list(Task))
def test_each_task_of_the_help_has_an_example_of_keys_that_exist(task: Task) -> None:
    assert EXAMPLES[task].split()[0] in {
        key for each in KEYS for key in " ".join(each.keys).split()
    }


async def test_a_search_from_the_desk_finds_the_fields_of_the_forms_and_says_what_opens_them() -> (
    None
):
    app = FormApp(lambda: HelpForm(KEYMAP, DESK))
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.press(*"stop")
        text = app.words
        ticket = text[text.index("Ticket form: B opens it") : text.index("Modify form")]
        for words in ("s         Stop", "r         Trailing stop", "w         Guaranteed stop"):
            assert words in ticket, words
        await pilot.press("backspace", "backspace", "backspace", "backspace", *"modify")
        assert "Modify form: M opens it" in app.words


async def test_in_a_wide_window_keys_and_commands_are_one_page() -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, DESK))
    async with app.run_test(size=(200, 50)):
        assert "Go to the log" in app.words
        assert ":mouse on" in app.words
        assert "page 1/" not in app.words


async def test_another_size_while_searching_keeps_the_search_and_every_line_within_the_page() -> (
    None
):
    app = FormApp(lambda: HelpForm(KEYMAP, DESK))
    async with app.run_test(size=(200, 50)) as pilot:
        form = app.screen
        assert isinstance(form, HelpForm)
        await pilot.press(*"stop")
        for size in ((80, 24), (40, 12), (120, 35), (200, 50)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            lines = form.lines()
            assert "stop_" in app.words, size
            assert len(lines) <= form.room + 2, size
            assert all(width_of(line) <= form.inside for line in lines), size
            await pilot.press("pagedown")
        await pilot.press("backspace", "p")
        assert "stop_" in app.words


async def test_in_ascii_arrow_keys_are_named_by_words() -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, CHART))
    app.add_class("-ascii")
    async with app.run_test(size=(80, 35)):
        assert "Left h    Some candles back in time" in app.words
        assert "Up Down scroll" in app.words
        assert not set("↑↓←→") & set(app.words)


async def test_in_ascii_the_columns_of_a_form_keep_their_places() -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, TICKET))
    app.add_class("-ascii")
    async with app.run_test(size=(200, 50)):
        [below] = [line for line in app.words.splitlines() if "s Up Up moves" in line]
        [title] = [line for line in app.words.splitlines() if "Choices: one key each" in line]
    assert below.index("such as  i takes") == title.index("Choices: one key each")


@pytest.mark.parametrize("context", [DESK, CHART, TRADES])
@pytest.mark.parametrize("rows", range(8, 24))
def test_no_page_of_the_help_ends_with_a_heading_or_begins_with_a_blank_line(
    context: str, rows: int
) -> None:
    lines = ["".join(text for text, _ in line) for line in help_lines(KEYMAP, context, 76)]
    paged = unparted([((safe(each), "plain"),) if each else BLANK for each in lines], rows)
    shown = ["".join(text for text, _ in line) for line in paged]
    pages = [shown[at : at + rows] for at in range(0, len(shown), rows)]
    headings = {line for before, line in pairwise(lines) if not before}
    assert [page[-1] for page in pages[:-1] if page[-1] in headings] == []
    assert all(page[0] for page in pages)
    assert [line for line in shown if line] == [line for line in lines if line]


@pytest.mark.parametrize("context", sampled([DESK, CHART, TRADES], 1))
async def test_in_a_wide_window_the_help_of_a_pane_is_one_page_with_every_key(context: str) -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, context))
    async with app.run_test(size=(200, 50)):
        assert "page 1/" not in app.words
        assert [key.text for key in KEYMAP.in_force(context) if key.text not in app.words] == []


async def test_what_a_search_finds_in_the_help_is_counted_and_marked() -> None:
    app = FormApp(lambda: HelpForm(KEYMAP, DESK))
    async with app.run_test(size=(120, 35)) as pilot:
        form = app.screen
        assert isinstance(form, HelpForm)
        await pilot.press(*"guaranteed")
        assert form.title_text() == "Keys of the desk: 2 found"
        marks = [text for line in form.lines() for text, role in line if " on " in role]
        assert marks == ["Guaranteed", "Guaranteed"]
        await pilot.press(*["backspace"] * 10, "B")
        assert not [text for line in form.lines() for text, role in line if " on " in role]


def test_columns_of_groups_are_low_and_keep_pairs_of_keys_together() -> None:
    columns = group_columns(KEYMAP, TICKET, "size", lambda _: False, width=46, across=4)
    texts = [["".join(text for text, _ in line) for line in column] for column in columns]
    assert [len(each) <= 18 for each in texts] == [True] * 4
    assert [text.strip() != "" for text, *_ in texts] == [True] * 4
    for one, other in (("One pip up", "One pip down"), ("Next field", "Previous field")):
        [column] = [each for each in texts if any(one in line for line in each)]
        [at] = [n for n, line in enumerate(column) if one in line]
        assert column[at].index(one) == column[at + 1].index(other)
