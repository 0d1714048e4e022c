"""The trader's own keys, `keymap.toml`: lines of id = "key"."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PlainValidator, WithJsonSchema

from keydesk.keys.guard import SEND
from keydesk.keys.keymap import KEYS, ON_THE_DESK, SHOWN, Key, KeyMap
from keydesk.settings.about import Must, Wrong
from keydesk.settings.declared import Table, checked, declare, line_of
from keydesk.settings.toml_text import BadSettings, parsed

NEEDS_ALT_GRAPH = frozenset("[]{}\\|@~^`")  # on many layouts these need AltGr or a dead key
OLD_KEYS = {"labels": "t", "chart-pin": "w"}
"""Actions whose key has moved, and their key before: files from then still hold."""


def read_keymap(path: Path, text: str) -> KeyMap:
    """Return the key map with the keys of a file; raise BadSettings for a line that cannot be used."""
    table = parsed(text, path)
    for name in [each.id for each in KEYS if each.id in table and not _may_move(each)]:
        raise BadSettings(
            f"{path}:{line_of(text, (name,))}: {name} cannot be moved; remove the line"
        )
    checked(table, keymap_declaration(), path, text)
    keymap = KeyMap(overrides={**_old_keys(table), **table})
    _refuse_clashes(keymap, table, path, text)
    return keymap


def keymap_declaration() -> type[Table]:
    """Return the declaration of the file: a key for each entry of the key map that may be moved."""
    declared: dict[str, Any] = {
        key.id.replace("-", "_"): (
            Annotated[
                str,
                Field(alias=key.id),
                PlainValidator(partial(_checked_key, key)),
                WithJsonSchema({"type": "string"}),
                Must("a key in quotes", f'{{key}} = "{key.keys[0]}"'),
            ],
            Field(default=key.keys[0], description=key.text),
        )
        for key in KEYS
        if _may_move(key)
    }
    return declare("KeymapFile", Table, declared)


def _checked_key(key: Key, typed: object) -> str:
    if not isinstance(typed, str) or not typed:
        raise Wrong
    if trouble := _trouble(key, typed):
        raise ValueError(f"= {typed!r}: {trouble}; now it is {key.keys[0]!r}")
    return typed


def _old_keys(own: Mapping[str, str]) -> Mapping[str, str]:
    """Return the old keys of actions whose new one the trader has given to another."""
    new = {key.id: key.keys[0] for key in KEYS if key.id in OLD_KEYS}
    return {id_: OLD_KEYS[id_] for id_, key in new.items() if key in own.values()}


def _may_move(key: Key) -> bool:
    return key.context in ON_THE_DESK and "{key}" not in key.action


def _trouble(key: Key, typed: str) -> str:
    """Return why the key cannot be used there, "" if it can."""
    parts, is_chord = typed.split(" "), " " in key.keys[0]
    if is_chord and key.id not in OLD_KEYS and len(parts) != 2:  # noqa: PLR2004 - a first key and a second
        return 'it needs two keys, as in "g w"'
    if len(parts) != 1 and not (is_chord and len(parts) == 2):  # noqa: PLR2004 - same
        return "it needs one key"
    if not all(_is_a_key(part) for part in parts):
        return "not a key that every keyboard and terminal has"
    if typed == SEND:
        return "it sends, inside forms"
    if key.touches_money != (len(typed) == 1 and typed.isupper()) and key.id not in OLD_KEYS:
        return "keys that open an order form are capital letters, and no others are"
    return ""


def _is_a_key(part: str) -> bool:
    single = len(part) == 1 and part.isascii() and part.isprintable() and part != " "
    return (single and part not in NEEDS_ALT_GRAPH) or part in SHOWN


def _refuse_clashes(keymap: KeyMap, own: Mapping[str, str], path: Path, text: str) -> None:
    for context in ON_THE_DESK:
        taken: dict[str, Key] = {}
        prefixes = keymap.prefixes(context)
        for entry in keymap.in_force(context):
            for key in entry.keys:
                other = taken.setdefault(key, entry)
                if key in prefixes:
                    raise BadSettings(
                        f"{path}:{line_of(text, (entry.id,))}: {key!r} is the first key of a chord, so {entry.id} cannot use it; choose another key"
                    )
                if other is not entry:
                    mine, theirs = (entry, other) if entry.id in own else (other, entry)
                    raise BadSettings(
                        f"{path}:{line_of(text, (mine.id,))}: {mine.id} = {key!r} is taken by {theirs.id} ({theirs.text}); "
                        "move that as well"
                    )
