"""What the trader's own files set: keys, templates, limits, indicators, alerts; read before the screen opens."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.orders.ticket_settings import Limits, Template, TemplateSet
from keydesk.config.alert_settings import AlertSettings, load_alert_settings
from keydesk.config.folders import TEMPLATES_FILE
from keydesk.config.keymap_file import load_keymap
from keydesk.config.templates import read_templates_file
from keydesk.keys.keymap import KEYMAP, KeyMap


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
    """Read the trader's files in the config folder; raise BadSettings with file, line, field and remedy."""
    read = read_templates_file(folder / TEMPLATES_FILE)
    return UserSettings(
        keymap=load_keymap(folder),
        template=read.standard,
        limits=read.limits,
        indicators=read.file.indicators,
        templates=read.templates,
        alerts=load_alert_settings(folder),
    )
