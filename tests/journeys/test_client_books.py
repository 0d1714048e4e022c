"""A trader puts the client books beside the prices of EUR_USD, goes back a snapshot, and reads the same in the pane."""

from pathlib import Path

from support.terminal import Terminal, keydesk


def opened(folder: Path) -> Terminal:
    """The desk on the practice market of this folder."""
    env = {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}
    return Terminal(keydesk("--practice", "--ascii"), (120, 35), env)


def test_the_books_stand_beside_the_prices_and_in_their_pane(practice_folder: Path) -> None:
    with opened(practice_folder) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD M5")
        terminal.press("g", "c")
        terminal.press("z")
        terminal.press("c", "c")
        terminal.see("client positioning, not depth")
        terminal.see("sell|buy")
        terminal.see("since")  # the snapshot before came, too
        terminal.press("c", "c")
        terminal.see("short|long")
        terminal.see("long under water")
        terminal.press("c", "c")
        terminal.see("sell|buy")
        terminal.see("short|long")

        terminal.press("c", "h")
        terminal.see(" ago")
        terminal.press("z")
        terminal.press("g", "b", "z")
        terminal.see("Client positioning, not depth")
        terminal.see("UTC")
        terminal.see("Under water:")
        terminal.press("v")
        terminal.see("positions, ")
        terminal.press("g", "e")
        terminal.see(" old")

        terminal.press("z", "g", "c")
        terminal.press("c", "c")
        terminal.until(
            lambda: all("sell|buy" not in row for row in terminal.screen.display),
            what="the chart alone",
        )
        terminal.quit()
        assert terminal.wait_for_exit() == 0
