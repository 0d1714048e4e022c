"""keymap.toml: keys are moved as far as that stays safe, and a wrong line is named."""

from pathlib import Path

import pytest
from textual.app import App, ComposeResult
from textual.events import Event
from textual.widget import Widget

from keydesk.config.user_files import load_keymap
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.keys.keymap import CHART, KEYMAP, TRADES, WATCHLIST, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.settings.toml_text import BadSettings
from keydesk.store.state import NoticeLevel
from keydesk.store.store import Store


def written(folder: Path, text: str) -> Path:
    (folder / "keymap.toml").write_text(text, encoding="utf-8")
    return folder


def keys_of(keymap: KeyMap, name: str) -> tuple[str, ...]:
    return next(key.keys for key in keymap.keys if key.id == name)


def test_without_a_file_the_keys_are_the_usual_ones(tmp_path: Path) -> None:
    assert load_keymap(tmp_path) is KEYMAP


def test_keys_are_moved_and_swapped(tmp_path: Path) -> None:
    text = 'buy = "S"\nsell = "B"\nzoom = "&"\ngo-trades = "g y"\n'
    keymap = load_keymap(written(tmp_path, text))
    assert keys_of(keymap, "buy") == ("S",)
    assert keys_of(keymap, "sell") == ("B",)
    assert keymap.chord(TRADES, "g", "y") == "go('trades')"
    assert keymap.moved == {"buy": "S", "sell": "B", "zoom": "&"}


def test_files_from_before_a_key_moved_still_hold(tmp_path: Path) -> None:
    keymap = load_keymap(written(tmp_path, 'labels = "r"\nchart-pin = "q"\n'))
    assert keys_of(keymap, "labels") == ("r",)
    assert keymap.lone(CHART, "q") == "pin"
    assert keymap.lone(WATCHLIST, "q") is None
    keymap = load_keymap(written(tmp_path, 'buy = "K"\n'))
    assert keys_of(keymap, "labels") == ("t",), "K was free then"


def test_panes_may_share_a_key(tmp_path: Path) -> None:
    keymap = load_keymap(written(tmp_path, 'watch-view = "!"\nchart-view = "!"\n'))
    assert "!" in {key for entry in keymap.in_force(WATCHLIST) for key in entry.keys}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("byu = 'K'", "keymap.toml:1: byu is not known; did you mean buy? there are: buy, sell"),
        ("send = 'x'", "send cannot be moved"),
        ("preset = 'x'", "preset cannot be moved"),
        ("ticket-up = 'x'", "ticket-up cannot be moved"),
        ("buy = 3", 'buy must be a key in quotes, such as buy = "B"'),
        ("buy = ''", "buy must be a key in quotes"),
        ("buy = 'b'", "keys that open an order form are capital letters"),
        ("zoom = 'Q'", "keys that open an order form are capital letters, and no others are"),
        ("zoom = 'y'", "it sends, inside forms"),
        ("zoom = '@'", "not a key that every keyboard"),
        ("zoom = 'ctrl+q'", "not a key that every keyboard"),
        ("zoom = 'ö'", "not a key that every keyboard"),
        ("zoom = 'g z'", "it needs one key"),
        ("go-trades = 't'", "it needs two keys"),
        ("buy = 'S'", "buy = 'S' is taken by sell"),
        ("zoom = 'j'", "zoom = 'j' is taken by row-down"),
        ("zoom = 'g'", "'g' is the first key of a chord, so zoom cannot use it"),
        ("buy = ", "not valid TOML"),
    ],
)
def test_a_wrong_line_is_named_with_its_file_and_the_remedy(
    tmp_path: Path, line: str, text: str
) -> None:
    with pytest.raises(BadSettings) as refusal:
        load_keymap(written(tmp_path, line))
    assert text in str(refusal.value)
    assert "keymap.toml" in str(refusal.value)


class Pane(Widget, can_focus=True):
    """A pane with the keys of the desk."""

    BINDINGS = bindings_of("desk")

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def action_zoom(self) -> None:
        self.done.append("zoom")

    def action_find(self) -> None:
        self.done.append("find")


class QuietStore(Store):
    """A store that nothing but a key without a meaning is to be told or recorded to."""

    def record(self, what: str, text: str) -> None:
        assert what != "disarm", text

    def tell(self, level: NoticeLevel, text: str) -> None:
        assert "does nothing here" in text, level


class Desk(App[None]):
    """An app with guarded keys around it."""

    def __init__(self, keymap: KeyMap) -> None:
        super().__init__()
        self.set_keymap(dict(keymap.moved))
        self.guarded_keys = GuardedKeys(self, super().on_event, QuietStore(), keymap)

    async def on_event(self, event: Event) -> None:
        await self.guarded_keys.on_event(event)

    def compose(self) -> ComposeResult:
        yield Pane()


async def test_the_moved_key_acts_and_the_old_one_does_not(tmp_path: Path) -> None:
    app = Desk(load_keymap(written(tmp_path, 'zoom = "&"\n')))
    async with app.run_test() as pilot:
        pane = app.query_one(Pane)
        pane.focus()
        await pilot.press("z", "ampersand", "slash")
    assert pane.done == ["zoom", "find"]


def test_the_guard_holds_the_moved_capital(tmp_path: Path) -> None:
    app = Desk(load_keymap(written(tmp_path, 'buy = "K"\n')))
    assert "K" in app.guarded_keys.guard.order_keys
    assert "B" not in app.guarded_keys.guard.order_keys
