"""What the trader's own files set: keys, templates, limits, indicators, alerts; read before the screen opens."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.orders.ticket_settings import Limits, Template, TemplateSet
from keydesk.config.own_themes import OwnThemes, load_own_themes
from keydesk.config.settings import load_alert_settings
from keydesk.config.templates import load_templates
from keydesk.keys.keymap import KEYMAP, KeyMap
from keydesk.settings.toml_text import text_in
from keydesk.settings.values import AlertSettings

KEYS_FILE = "keymap.toml"


class UserSettings(Struct, frozen=True):
    """Keys, template and limits; defaults where the trader set nothing."""

    keymap: KeyMap = KEYMAP
    template: Template = field(default_factory=Template)
    limits: Limits = field(default_factory=Limits)
    indicators: Mapping[str, tuple[IndicatorSpec, ...]] = field(default_factory=dict)
    templates: TemplateSet = field(default_factory=TemplateSet)
    alerts: AlertSettings = field(default_factory=AlertSettings)
    themes: OwnThemes = field(default_factory=OwnThemes)


def load_keymap(folder: Path) -> KeyMap:
    """Read `keymap.toml` in the folder, lines of id = "key"; a missing file changes nothing.

    Raises:
        BadSettings: a line names no key of the map, or one that cannot be moved there.
    """
    path = folder / KEYS_FILE
    text = text_in(path)
    if not text.strip():
        return KEYMAP
    from keydesk.settings.keymap_file import read_keymap  # noqa: PLC0415 - for a file only

    return read_keymap(path, text)


def load_user_settings(folder: Path) -> UserSettings:
    """Read the trader's files in the config folder; raise BadSettings with file, line, field and remedy."""
    own = load_templates(folder)
    return UserSettings(
        keymap=load_keymap(folder),
        template=own.standard,
        limits=own.limits,
        indicators=own.indicators,
        templates=own.named,
        alerts=load_alert_settings(folder),
        themes=load_own_themes(folder),
    )
