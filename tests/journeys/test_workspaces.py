"""A trader saves a workspace by name, leaves, and finds it again by its letter; a bookmark turns to its instrument."""

from pathlib import Path

from support.terminal import Terminal, keydesk


def opened(folder: Path) -> Terminal:
    """The desk on the practice market of this folder."""
    env = {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}
    return Terminal(keydesk("--practice"), (120, 35), env)


def command(terminal: Terminal, line: str) -> None:
    terminal.press(":")
    terminal.see("Tab completes")
    terminal.type(line)
    terminal.press("Enter")
    terminal.see_no_more("Tab completes")


def leave(terminal: Terminal) -> None:
    terminal.quit()
    assert terminal.wait_for_exit() == 0


def test_a_workspace_is_saved_and_recalled(practice_folder: Path) -> None:
    with opened(practice_folder) as terminal:
        terminal.see("prices ok")
        terminal.see("EUR/USD M5")
        command(terminal, "tf m1")
        terminal.see("EUR/USD M1")
        terminal.press("g", "o")
        terminal.see("No pending orders")
        command(terminal, "layout save scalping")
        terminal.see("Layout scalping is saved: 's shows it again")
        command(terminal, "usdjpy")
        terminal.see("USD/JPY M1")
        terminal.press("m", "j")
        terminal.see("'j turns to USD/JPY from now on")
        leave(terminal)

    text = (practice_folder / "home" / "workspaces.toml").read_text(encoding="utf-8")
    assert "[workspaces.scalping]" in text
    assert 'j = "USD_JPY"' in text

    with opened(practice_folder) as terminal:
        terminal.see("prices ok")
        command(terminal, "tf h4")
        terminal.press("g", "t")
        terminal.see("No trades")
        command(terminal, "eurusd")
        terminal.see("EUR/USD H4")
        terminal.press("'", "s")
        terminal.see("EUR/USD M1")
        terminal.see("No pending orders")
        terminal.press("'", "j")
        terminal.see("USD/JPY M1")
        leave(terminal)
