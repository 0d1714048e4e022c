"""Wherever words name a key, they name the trader's own."""

import re
from pathlib import Path

import pytest

import keydesk
from keydesk.keys.keymap import KeyMap
from keydesk.screens.desk import DeskScreen
from keydesk.store.state import Arming
from keydesk.store.store import Store
from keydesk.widgets.lines import LinePane
from keydesk.widgets.terminal_app import TerminalApp
from support.data.desk_data import desk_store, frame_of
from support.fakes.pane_app import text_of

OWN = KeyMap(overrides={"buy": "K", "sell": "V", "arm": "W", "find": "=", "back": "end"})
PACKAGE = Path(keydesk.__file__).parent
# A capital of the usual map in front of what it does, written out instead of asked for.
FIXED = re.compile(
    r'"[^"{}]*\b[BSCOEPMTDZRXA] (buys|sells|closes|cancels|arms|protects|reverses)\b'
)


class OwnApp(TerminalApp[None]):
    """The desk with the trader's keys."""

    def on_mount(self) -> None:
        self.apply_theme("dark", "truecolor")
        self.push_screen(DeskScreen(keymap=OWN))


async def words_of(store: Store, pane: str) -> str:
    app = OwnApp()
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        screen = app.screen
        assert isinstance(screen, DeskScreen)
        screen.on_frame(frame_of(store, everything=True))
        await pilot.pause()
        found = screen.query_one(f"#{pane}", LinePane)
        return " ".join(" ".join(text_of(found)).split())


@pytest.mark.parametrize(
    ("pane", "text"),
    [
        ("trades", "K buys, V sells EUR/USD"),
        ("ticket", "V sell 1.08431"),
        ("ticket", "exit only, W arms"),
        ("chart", "= finds one"),
    ],
)
async def test_a_pane_names_the_traders_own_key(pane: str, text: str) -> None:
    store = desk_store()
    store.trades.clear()
    store.arming = Arming("DISARMED")
    if pane == "chart":
        store.focus = ""
    assert text in await words_of(store, pane)


def test_no_words_have_a_fixed_key_in_them() -> None:
    paths = sorted(PACKAGE.rglob("*.py"))
    found = {path: FIXED.findall(path.read_text(encoding="utf-8")) for path in paths}
    assert len(found) > 100
    assert {path: words for path, words in found.items() if words} == {}
