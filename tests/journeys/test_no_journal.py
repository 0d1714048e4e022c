"""The desk on a disk that takes no journal: it opens, says so, lets out and lets nothing in."""

from contextlib import suppress
from pathlib import Path

from support.confirming import TRIES, send
from support.terminal import NeverSeen, Terminal, keydesk


def bought(folder: Path, env: dict[str, str]) -> None:
    """Open a trade and leave."""
    with Terminal(keydesk("--practice"), (100, 30), env) as terminal:
        terminal.see("prices ok")
        send(terminal, "B")
        terminal.see("FILLED 10,000")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
    assert (folder / "home" / "orders").is_dir()


def read_down_to(terminal: Terminal, text: str) -> None:
    """Take notices as seen, the newest first, until this older one has room."""
    for _ in range(TRIES):
        with suppress(NeverSeen):
            terminal.see(text, 3.0)
            return
        terminal.press("Escape")
    raise NeverSeen(f"{text!r} is no notice; the screen:\n{terminal.text}")


def test_the_desk_opens_without_a_journal_and_only_lets_out(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    bought(practice_folder, env)
    (practice_folder / "home" / "orders").chmod(0o777)
    with Terminal(keydesk("--practice"), (100, 30), env) as terminal:
        terminal.see("Trades 1")
        read_down_to(terminal, "EXITS ONLY, no order journal")
        terminal.press("B")
        terminal.see("No new orders, exits work")
        terminal.press("y")
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
        send(terminal, "C")
        terminal.see("CLOSED 10,000 EUR/USD")
        terminal.see("Trades 0")
