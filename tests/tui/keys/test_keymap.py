"""The key table walked from end to end."""

from importlib import import_module

import pytest

from keydesk.app.actions.commands import ACTIONS
from keydesk.app.actions.desk import ACTION_GROUPS
from keydesk.forms.trades.trade_form import TradeForm
from keydesk.keys.guard import CHALLENGE_LETTERS, SEND
from keydesk.keys.keymap import (
    BENEATH,
    BOOKS,
    CHART,
    CROSSHAIR,
    DESK,
    FORM,
    KEYMAP,
    KEYS,
    TRADES,
    WATCHLIST,
    Key,
    KeyMap,
)
from keydesk.panes.books import Books
from keydesk.panes.chart import Chart
from keydesk.parse.pages import PAGES
from keydesk.screens.desk import DeskScreen
from keydesk.tables.table_pane import TablePane
from keydesk.tables.watchlist import Watchlist

ALT_GRAPH = set("[]{}\\|@~^`")
UNBOUND_ON_THE_DESK = {".", "p", "u", "x", "d", "s", "y", "~", ","}
FORBIDDEN_CTRL = {f"ctrl+{key}" for key in "abcsqzvwtnphim"} | {"ctrl+backslash", "ctrl+["}
ON_THE_MAIN_SCREEN = {entry.context for entry in KEYS if FORM not in BENEATH.get(entry.context, ())}


def test_a_key_is_typable_on_every_layout_and_terminal() -> None:
    for entry in KEYS:
        for key in entry.keys:
            assert not ALT_GRAPH & set(key), entry.id
            assert key not in FORBIDDEN_CTRL, entry.id
            assert not key.startswith(("alt+", "f1", "f2", "f3", "f4", "f5")), entry.id


def test_vim_habits_and_the_send_key_do_nothing_on_the_desk() -> None:
    panes = {DESK, CHART, TRADES, "rows", "watchlist", "orders", "positions", "log"}
    bound = [entry.id for entry in KEYS if entry.context in panes if _has_unbound(entry)]
    assert bound == []


def _has_unbound(entry: Key) -> bool:
    return not UNBOUND_ON_THE_DESK.isdisjoint(entry.keys)


def test_within_a_context_a_key_means_one_thing() -> None:
    for context in sorted({entry.context for entry in KEYS}):
        keys = [key for entry in KEYMAP.in_force(context) for key in entry.keys]
        assert sorted(keys) == sorted(set(keys)), context
        prefixes = KEYMAP.prefixes(context)
        assert not prefixes & {key for key in keys if " " not in key}, context


def test_ids_are_unique() -> None:
    assert len({entry.id for entry in KEYS}) == len(KEYS)


def test_every_key_says_what_it_does() -> None:
    assert all(entry.text and entry.action for entry in KEYS)


def test_words_fit_the_help_on_80_columns() -> None:
    assert [entry.text for entry in KEYS if len(entry.text) > 27] == []


def test_no_capital_sends() -> None:
    assert SEND.islower()
    assert CHALLENGE_LETTERS.islower()


def test_words_name_the_key_that_is_in_force() -> None:
    own = KeyMap(overrides={"buy": "K", "go-trades": "g 1"})
    names = [own.name(each) for each in ("buy", "sell", "go-trades", "back", "look first")]
    assert names == ["K", "S", "g 1", "Esc", "look first"]


def test_a_chord_has_an_action_and_an_unknown_one_has_none() -> None:
    assert KEYMAP.chord(TRADES, "g", "c") == "go('chart')"
    assert KEYMAP.chord(TRADES, "g", "q") is None


def test_every_action_of_the_desk_exists_where_its_key_holds() -> None:
    places: dict[str, tuple[type, ...]] = {
        DESK: (*ACTION_GROUPS, DeskScreen),
        "rows": (TablePane,),
        WATCHLIST: (Watchlist,),
        CHART: (Chart,),
        CROSSHAIR: (Chart,),
        BOOKS: (Books,),
    }
    for entry in KEYS:
        if entry.context in places:
            name = f"action_{entry.action.partition('(')[0]}"
            assert any(hasattr(place, name) for place in places[entry.context]), entry.id


def test_every_page_of_the_command_line_has_an_action_of_the_desk() -> None:
    actions = {name: page.action or ACTIONS[page.key] for name, page in PAGES.items()}
    for name, action in actions.items():
        method = f"action_{action.partition('(')[0]}"
        assert any(hasattr(group, method) for group in ACTION_GROUPS), name


@pytest.mark.parametrize("key", [key for key in KEYS if key.opens_on_trade], ids=lambda key: key.id)
def test_a_key_that_acts_on_a_trade_names_a_form_that_says_what_it_does_with_it(key: Key) -> None:
    module, form = key.action.partition("('")[2].removesuffix("')").split(".")
    found = getattr(import_module(f"keydesk.forms.trades.{module}"), form)
    assert issubclass(found, TradeForm)
    assert found.VERB
