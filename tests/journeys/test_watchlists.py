"""A trader builds a watchlist by keys, sorts and filters it, leaves, and finds all of it again."""

from pathlib import Path

from support.confirming import take_as_seen
from support.terminal import Terminal, keydesk


def open_desk(folder: Path) -> Terminal:
    """The desk on the practice market of this folder."""
    env = {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}
    return Terminal(keydesk("--practice"), (120, 35), env)


def ready(terminal: Terminal) -> None:
    terminal.see("prices ok")
    terminal.see("EUR/USD M5")


def watchlist_pairs(terminal: Terminal) -> list[str]:
    """The pairs in the watchlist, from top to bottom."""
    rows = [row[:43] for row in terminal.rows[4:21]]
    return [words[0] for row in rows if (words := row.split()) and "/" in words[0]]


def add(terminal: Terminal, letters: str, name: str) -> None:
    terminal.press("w", "a")
    terminal.see("Add an instrument")
    terminal.type(letters)
    terminal.see(f"▶ {name}")
    terminal.press("Enter")
    terminal.see(f"{name} is on Yen")


def leave(terminal: Terminal) -> None:
    terminal.quit()
    assert terminal.wait_for_exit() == 0


def see_pairs(terminal: Terminal, pairs: list[str]) -> None:
    """Wait until the rows of the watchlist are these."""
    terminal.until(lambda: watchlist_pairs(terminal) == pairs, what=f"the rows {pairs}")


def test_a_list_is_built_sorted_filtered_and_found_again(practice_folder: Path) -> None:
    with open_desk(practice_folder) as terminal:
        ready(terminal)
        terminal.press("w", "n")
        terminal.see("A new watchlist")
        terminal.type("Yen")
        terminal.press("Enter")
        terminal.see("No instrument here. w a adds one.")
        for letters, name in (("uj", "USD/JPY"), ("gj", "GBP/JPY"), ("eg", "EUR/GBP")):
            add(terminal, letters, name)
        see_pairs(terminal, ["USD/JPY", "GBP/JPY", "EUR/GBP"])
        terminal.see("Deal EUR/USD")  # another list is no other ticket

        terminal.press("l", "l")
        terminal.see("bid ▼ held")
        see_pairs(terminal, ["GBP/JPY", "USD/JPY", "EUR/GBP"])
        terminal.press("w", "f")
        terminal.see("Only rows with these letters")
        terminal.type("j")
        terminal.press("Enter")
        terminal.see("only /j")
        see_pairs(terminal, ["GBP/JPY", "USD/JPY"])
        terminal.press("j")
        terminal.see("Deal USD/JPY")
        leave(terminal)

    text = (practice_folder / "home" / "watchlists.toml").read_text(encoding="utf-8")
    assert 'instruments = ["USD_JPY", "GBP_JPY", "EUR_GBP"]' in text

    with open_desk(practice_folder) as terminal:
        terminal.see("Watch Yen")
        terminal.see("bid ▼ held, only /j")
        see_pairs(terminal, ["GBP/JPY", "USD/JPY"])
        terminal.see("Deal USD/JPY")
        terminal.press("w", "e")
        terminal.until(lambda: len(watchlist_pairs(terminal)) == 3, what="every row")
        terminal.press("w", "w")
        terminal.see("70 in all")
        leave(terminal)


def test_a_bad_file_is_named_and_the_desk_opens(practice_folder: Path) -> None:
    home = practice_folder / "home"
    home.mkdir(mode=0o700)
    bad = '[[lists]]\nname = "Yen"\ncolumns = ["vwap"]\n'
    (home / "watchlists.toml").write_text(bad, encoding="utf-8")
    with open_desk(practice_folder) as terminal:
        ready(terminal)
        terminal.see("watchlists.toml:3: lists[1].columns:")
        terminal.see("'vwap' is not known")
        terminal.see("Changes of watchlists last until you leave")
        take_as_seen(terminal, "'vwap' is not known")
        leave(terminal)
    assert (home / "watchlists.toml").read_text(encoding="utf-8") == bad
