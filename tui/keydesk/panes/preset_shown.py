"""A size preset as the dealing pane and the instrument's line show it."""

from decimal import Decimal
from functools import partial

from keydesk.calc.template import RISK_PRESET, Template
from keydesk.panes.deal import Preset
from keydesk.text.format import units


def preset_shown(template: Template, number: int) -> Preset:
    """Return a size preset as the dealing pane shows it."""
    bracket = partial(bracket_words, template)
    if number == RISK_PRESET:
        return Preset(f"{RISK_PRESET}: risk {template.risk_percent:f}%", None, bracket)
    size = template.sizes.get(number)
    return Preset("" if size is None else f"{number}: {units(size)}", size, bracket)


def bracket_words(template: Template, spread_pips: Decimal) -> list[str]:
    """Return what a ticket starts with where the spread is so many pips."""
    stop, target = template.stop_at_spread(spread_pips), template.target_r
    return [
        *([] if stop is None else [f"stop {stop:f} pips"]),
        *([] if target is None else [f"target {target:f}R"]),
    ]
