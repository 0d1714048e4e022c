"""Bindings made from the table of keys."""

from textual.binding import Binding

from keydesk.keys.keymap import DESK, KEYMAP, KeyMap
from keydesk.keys.textual_bindings import bindings_of


def singles(keymap: KeyMap) -> list[Binding]:
    return [binding for binding in bindings_of(DESK, keymap) if isinstance(binding, Binding)]


def test_a_user_moves_a_key_and_bindings_follow() -> None:
    own = KeyMap(overrides={"buy": "K"})
    assert [b.key for b in singles(own) if b.id == "buy"] == ["K"]


def test_a_preset_binding_carries_its_digit() -> None:
    actions = {b.key: b.action for b in singles(KEYMAP) if b.id == "preset"}
    assert actions["3"] == "preset(3)"
