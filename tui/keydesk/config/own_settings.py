"""What the trader changed beside `config.toml`: keys, templates, limits; all of it read before the screen opens."""

from dataclasses import dataclass, field
from pathlib import Path

from keydesk.calc.template import Limits, Template
from keydesk.config.own_keys import load_keymap
from keydesk.config.own_templates import load_templates
from keydesk.keys.keymap import KEYMAP, KeyMap


@dataclass(frozen=True, slots=True)
class OwnSettings:
    """The defaults, where the trader wrote nothing."""

    keymap: KeyMap = KEYMAP
    template: Template = field(default_factory=Template)
    limits: Limits = field(default_factory=Limits)


def own_settings(folder: Path) -> OwnSettings:
    """Read them from the config folder; BadSettings names file, field and remedy."""
    return OwnSettings(load_keymap(folder), *load_templates(folder))
