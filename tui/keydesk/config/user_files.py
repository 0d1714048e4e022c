"""The trader's own keys (`keymap.toml`), and template, limits and indicators (`templates.toml`); both are read before the screen opens."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.orders.ticket_settings import Limits, Template, TemplateSet
from keydesk.config.alert_settings import AlertSettings, load_alert_settings
from keydesk.config.indicator_settings import TABLE, read_indicators
from keydesk.config.limits import decimal_of, read_limits, refuse_unknown
from keydesk.config.settings import TEMPLATES_FILE, BadSettings, part_of, table_in
from keydesk.config.templates import (
    EXIT_FIELDS,
    INSTRUMENTS_TABLE,
    TEMPLATES_TABLE,
    read_templates,
    with_exit_rules,
)
from keydesk.keys.guard import SEND
from keydesk.keys.keymap import KEYMAP, KEYS, ON_THE_DESK, SHOWN, Key, KeyMap
from keydesk.text.typed import distance

KEYS_FILE = "keymap.toml"
NEEDS_ALT_GRAPH = frozenset("[]{}\\|@~^`")  # on many layouts these need AltGr or a dead key
OLD_KEYS = {"labels": "t", "chart-pin": "w"}
"""Actions whose key has moved, and their key before: files from then still hold."""
PRESETS = tuple("123456789")
TEMPLATE = (
    "risk_percent",
    "stop_pips",
    "stop_spreads",
    "target_r",
    "trail_pips",
    "break_even_offset_pips",
    "stop",
    "trail",
    *EXIT_FIELDS,
)
DISTANCES = {"stop": ("stop_pips", "stop_atr"), "trail": ("trail_pips", "trail_atr")}
"""The fields of a template that are texts, and the two fields that they stand for."""
KNOWN_TABLES = ("sizes", "template", "limits", TABLE, TEMPLATES_TABLE, INSTRUMENTS_TABLE)
MAY_BE_OFF = frozenset(("stop_pips", "target_r", "trail_pips"))
MAY_BE_NOTHING = frozenset(("break_even_offset_pips", "stop_spreads"))


def load_keymap(folder: Path) -> KeyMap:
    """Read `keymap.toml` in the folder: lines of id = "key"; a missing file changes nothing.

    Raises:
        BadSettings: a line names no key of the map, or one that cannot be moved there.
    """
    path = folder / KEYS_FILE
    table = table_in(path)
    if not table:
        return KEYMAP
    own = {name: _check_key(name, wanted, path) for name, wanted in table.items()}
    keymap = KeyMap(overrides={**_old_keys(own), **own})
    _refuse_clashes(keymap, own, path)
    return keymap


def _check_key(name: str, typed: object, path: Path) -> str:
    key = next((each for each in KEYS if each.id == name), None)
    if key is None:
        known = ", ".join(each.id for each in KEYS if _may_move(each))
        raise BadSettings(f"{path}: there is no key {name!r}; known: {known}")
    if not _may_move(key):
        raise BadSettings(f"{path}: {name} cannot be moved; remove the line")
    if not isinstance(typed, str) or not typed:
        raise BadSettings(
            f'{path}: {name} must be a key in quotes, such as {name} = "{key.keys[0]}"'
        )
    trouble = _trouble(key, typed)
    if trouble:
        raise BadSettings(f"{path}: {name} = {typed!r}: {trouble}; now it is {key.keys[0]!r}")
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


def _refuse_clashes(keymap: KeyMap, own: Mapping[str, str], path: Path) -> None:
    for context in ON_THE_DESK:
        taken: dict[str, Key] = {}
        prefixes = keymap.prefixes(context)
        for entry in keymap.in_force(context):
            for key in entry.keys:
                other = taken.setdefault(key, entry)
                if key in prefixes:
                    raise BadSettings(
                        f"{path}: {key!r} is the first key of a chord, so {entry.id} cannot use it; choose another key"
                    )
                if other is not entry:
                    mine, theirs = (entry, other) if entry.id in own else (other, entry)
                    raise BadSettings(
                        f"{path}: {mine.id} = {key!r} is taken by {theirs.id} ({theirs.text}); "
                        "move that as well"
                    )


def load_templates(folder: Path) -> tuple[Template, Limits]:
    """Read `templates.toml` in the folder; missing members keep their defaults.

    Raises:
        BadSettings: a field is unknown or is not a number that makes sense there.
    """
    path = folder / TEMPLATES_FILE
    table = table_in(path)
    refuse_unknown(table, KNOWN_TABLES, path, "")
    sizes, template, limits = (
        part_of(table, name, path) for name in ("sizes", "template", "limits")
    )
    refuse_unknown(sizes, PRESETS, path, "sizes.")
    refuse_unknown(template, TEMPLATE, path, "template.")
    usual = Template()
    own_sizes: dict[int, Any] = {int(each): _number(sizes, each, path, "sizes.") for each in sizes}
    values: dict[str, Any] = {
        each: _number(template, each, path, "template.")
        for each in template
        if each not in DISTANCES and each not in EXIT_FIELDS
    }
    values |= _distances(template, path)
    own = replace(usual, sizes={**usual.sizes, **own_sizes}, **values)
    return (
        with_exit_rules(own, template, f"{path}: template"),
        read_limits(limits, path),
    )


def _distances(template: Mapping[str, Any], path: Path) -> Mapping[str, Decimal]:
    """Return the distances that are written with their unit: "20p" or "1.5a"."""
    distances: dict[str, Decimal] = {}
    for name, (in_pips, in_ranges) in DISTANCES.items():
        if name not in template:
            continue
        if in_pips in template:
            raise BadSettings(f"{path}: template.{name} and template.{in_pips}: leave one out")
        written = distance(template[name], "ap")
        if written is None:
            raise BadSettings(
                f'{path}: template.{name} must be a distance above 0 in quotes: {name} = "20p" in pips, '
                f'or {name} = "1.5a" in average true ranges'
            )
        distances[in_ranges if written.unit == "a" else in_pips] = written.number
    return distances


def load_indicators(folder: Path) -> Mapping[str, tuple[IndicatorSpec, ...]]:
    """Read the indicators of `templates.toml` by instrument; a missing file has none.

    Raises:
        BadSettings: one of them cannot be read.
    """
    path = folder / TEMPLATES_FILE
    return read_indicators(part_of(table_in(path), TABLE, path), path)


def _number(table: Mapping[str, Any], name: str, path: Path, prefix: str) -> Decimal | None:
    """Return the number of a field, None for `false` where the field is optional."""
    if table[name] is False and name in MAY_BE_OFF:
        return None
    number = decimal_of(table[name])
    if number is None or number < 0 or (number == 0 and name not in MAY_BE_NOTHING):
        off = ", or false to have none" if name in MAY_BE_OFF else ""
        raise BadSettings(
            f"{path}: {prefix}{name} must be a number above 0{off}, such as {name} = 20"
        )
    return number


@dataclass(frozen=True, slots=True)
class UserSettings:
    """Keys, template and limits; defaults where the trader set nothing."""

    keymap: KeyMap = KEYMAP
    template: Template = field(default_factory=Template)
    limits: Limits = field(default_factory=Limits)
    indicators: Mapping[str, tuple[IndicatorSpec, ...]] = field(default_factory=dict)
    templates: TemplateSet = field(default_factory=TemplateSet)
    alerts: AlertSettings = field(default_factory=AlertSettings)


def load_user_settings(folder: Path) -> UserSettings:
    """Read the trader's files in the config folder; raise BadSettings with file, field and remedy."""
    template, limits = load_templates(folder)
    path = folder / TEMPLATES_FILE
    named = read_templates(table_in(path), template, path)
    alerts = load_alert_settings(folder)
    indicators = load_indicators(folder)
    return UserSettings(load_keymap(folder), template, limits, indicators, named, alerts)
