"""The positions by the keys of a person: what C and O close, what the other keys say, which instrument a ticket is for."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Action, Intent
from support.confirming import confirm, form_text, see_a_form_that_can_be_sent, send
from support.terminal import Terminal, keydesk

SIZES = [(80, 24), (120, 35), (200, 50)]


@pytest.fixture
def terminal(request: pytest.FixtureRequest, practice_folder: Path) -> Iterator[Terminal]:
    """The desk on the practice market, with two trades in the first instrument and one in the second."""
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    size = getattr(request, "param", SIZES[0])
    with Terminal(keydesk("--practice"), size, env) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        for count, step in enumerate(("", "", "j"), start=1):
            if step:
                terminal.press(step)
            send(terminal, "B", *(("u", *"5000") if count == 1 else ()))
            terminal.see(f"Trades {count}")
        terminal.press("k")
        yield terminal


def row_of(terminal: Terminal, name: str) -> str:
    """The positions' row of an instrument."""
    position = re.compile(rf"{name} +LONG +\+?[\d,]+ .*")  # at the left, or in a column of its own
    found = (position.search(row) for row in reversed(terminal.rows) if " #" not in row)
    return next((match[0] for match in found if match), "")


def see_in_form(terminal: Terminal, text: str) -> None:
    terminal.until(lambda: text in form_text(terminal), what=repr(text))


def see_which_trade_the_keys_of_a_single_one_mean(terminal: Terminal) -> None:
    terminal.press("g", "t", "j", "j", "g", "p", "g", "g")
    terminal.see("net units")
    for key in "ETPM":
        terminal.press(key)
        terminal.see("trade 1 of 2: n turns to")  # the rest is in the next row of a narrow form
        terminal.press("n")
        terminal.see("trade 2 of 2")
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
    terminal.press("R")
    terminal.see("REVERSE EUR/USD +15,000")
    terminal.press("Escape")
    terminal.see_no_more("Esc drops")
    terminal.press("Enter")
    terminal.see("long average")
    terminal.press("Escape", "j", "M")
    terminal.see("the only trade of")
    terminal.press("Escape")
    terminal.see_no_more("Esc drops")


@pytest.mark.parametrize(
    "terminal",
    [SIZES[0], *(pytest.param(size, marks=pytest.mark.soak) for size in SIZES[1:])],
    indirect=True,
)
def test_keys_of_one_trade_say_which_they_mean_and_c_and_o_close_the_position(
    terminal: Terminal,
) -> None:
    see_which_trade_the_keys_of_a_single_one_mean(terminal)
    terminal.press("g", "t", "j", "j")  # a cursor that the positions must not mind
    terminal.press("g", "p")
    terminal.until(lambda: "15,000" in row_of(terminal, "EUR/USD"), what="the position's row")
    header = terminal.line_with("net units")
    assert ("long avg" in header) is ("short avg" in header)
    assert "average" not in header
    terminal.press("g", "g", "O")
    see_in_form(terminal, "of position EUR/USD LONG 15,000")
    terminal.press(*"7000", "u")
    see_in_form(terminal, "closes 7,000")
    see_in_form(terminal, "remains 8,000")
    confirm(terminal)
    terminal.see("CLOSED 7,000")
    terminal.until(lambda: "8,000" in row_of(terminal, "EUR/USD"), what="the rest of it")
    terminal.press("C")
    see_in_form(terminal, "CLOSE position EUR/USD LONG 8,000 at market")
    confirm(terminal)
    terminal.until(lambda: not row_of(terminal, "EUR/USD"), what="no position")
    assert row_of(terminal, "USD/JPY") or row_of(terminal, "GBP/USD")


@pytest.mark.soak  # the usual run has it in `tui/screens/test_desk`
def test_a_glance_at_another_pane_leaves_the_ticket_with_its_instrument(terminal: Terminal) -> None:
    terminal.press("j", "j")  # an instrument without a position
    name = "GBP/USD"
    terminal.until(lambda: _chart_shows(terminal) == name, what="the chart of the row")
    assert not row_of(terminal, name)
    for pane in "tpolbcw":
        terminal.press("g", pane)
        assert _chart_shows(terminal) == name
    terminal.press("g", "p", "B")
    terminal.see(f"BUY 10,000 {name}")
    terminal.press("Escape")
    terminal.see_no_more("Esc drops")
    terminal.press("g", "g")
    terminal.until(lambda: _chart_shows(terminal) == "EUR/USD", what="the chart of the row")
    terminal.press("S")
    terminal.see("EUR/USD at market")
    terminal.press("Escape")


def test_a_close_that_an_earlier_session_left_unconfirmed_locks_the_ticket(
    practice_folder: Path,
) -> None:
    home = practice_folder / "home"
    env = {"KEYDESK_HOME": str(home), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZES[0], env) as terminal:
        terminal.see("No trades.")
        send(terminal, "B")
        filled = re.compile(r"FILLED.*?#(\d+)\b", re.DOTALL)  # on one line, or two
        terminal.until(lambda: filled.search(terminal.text) is not None, what="the fill")
        trade_id = filled.search(terminal.text)
        assert trade_id is not None
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    [path] = home.rglob("*.journal")
    since = int(trade_id.group(1)) + 100  # behind everything: it will not be found
    lost = Intent(
        "kd-lost", Action.CLOSE_TRADE, since, 1, None, trade_id.group(1), {"units": "ALL"}
    )
    FileJournal(path).write(lost)
    with Terminal(keydesk("--practice"), SIZES[0], env) as terminal:
        terminal.see(f"UNCONFIRMED CLOSE all of #{trade_id.group(1)} EUR/USD")
        terminal.see("prices ok")
        terminal.press("B")
        refused = "it may still take effect, and this order as well"
        terminal.until(lambda: refused in form_text(terminal), what=repr(refused))
        terminal.see("to send")
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
        terminal.press("C")
        see_a_form_that_can_be_sent(terminal)  # an exit is never locked
        terminal.press("Escape")


def _chart_shows(terminal: Terminal) -> str:
    found = re.search(r"([A-Z]{3}/[A-Z]{3}) M5", terminal.text)
    assert found is not None, terminal.text
    return found.group(1)
