"""The trade journal at a real terminal: trade, close, tag and note it, read the day page; after a restart all is found."""

from pathlib import Path

from keydesk.trade_journal.notes_file import read_notes
from support.confirming import send
from support.terminal import Terminal, keydesk

SIZE = (160, 45)


def ready(terminal: Terminal) -> None:
    terminal.see("prices ok")
    terminal.see("EUR/USD M5")


def write(terminal: Terminal, key: str, title: str, text: str) -> None:
    """Write one of the texts of a note."""
    terminal.press(key)
    terminal.see(f"{title} of #")
    terminal.write(text.encode())
    terminal.see(text)
    terminal.press("Enter")
    terminal.see_no_more("Enter takes it")
    terminal.see(text)


def show_trade(terminal: Terminal) -> None:
    terminal.press("g", "j")
    terminal.see("Journal  1 trade")
    terminal.see("1 closed")


def test_a_trade_is_noted_read_on_its_day_and_found_after_a_restart(  # noqa: PLR0915 - one way
    practice_folder: Path,
) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        ready(terminal)
        send(terminal, "B")
        terminal.see("FILLED")
        terminal.press("g", "t", "n")
        terminal.see("no: the note stays in your file")
        write(terminal, "t", "Tags", "news")
        terminal.press("Enter")
        terminal.see("Note on #")
        send(terminal, "C")
        terminal.see("CLOSED 10,000")
        show_trade(terminal)
        terminal.see("tags news")
        terminal.press("n")
        terminal.see("only while the trade is open")
        write(terminal, "n", "Note", "Second push; small.")
        terminal.press("4")
        terminal.see("4 of 5")
        terminal.press("Enter")
        terminal.see("4/5")
        terminal.press("Enter")
        terminal.see("initial risk of")
        terminal.see("entry to exit")
        terminal.press("Escape", "Escape")
        terminal.see_no_more("Journal  1 trade")
        terminal.press(":")
        terminal.see("Command  ")
        terminal.write(b"day")
        terminal.see("in short")
        terminal.press("Enter")
        terminal.see("Second push; small.")
        terminal.press("Escape")
        terminal.quit()
        assert terminal.wait_for_exit() == 0

    [path] = (practice_folder / "home").rglob("*.notes.jsonl")
    [note] = read_notes(path).by_trade.values()
    assert (note.tags, note.note, note.rating) == (("news",), "Second push; small.", 4)
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        ready(terminal)
        show_trade(terminal)
        terminal.see("Second push; small.")
        terminal.press("Enter")
        terminal.see("v screen at entry")
        terminal.press("v")
        terminal.see("the screen at the entry")
        terminal.press("v")
        terminal.see("the screen at the exit")
        terminal.press(" ")  # its last lines are on the second page
        terminal.see("CLOSED 10,000")
        terminal.press("Escape", "Escape")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
