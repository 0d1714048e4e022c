"""The trader's own way of opening a trade, and own limits: `templates.toml`."""

from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from keydesk.calc.template import Limits, Template
from keydesk.config.config import BadSettings, table_in

TEMPLATES_FILE = "templates.toml"
PRESETS = tuple("123456789")
TEMPLATE = (
    "risk_percent",
    "stop_pips",
    "stop_spreads",
    "target_r",
    "trail_pips",
    "break_even_offset_pips",
)
MAY_BE_OFF = frozenset(("stop_pips", "target_r", "trail_pips", "hard_units", "hard_risk_percent"))
MAY_BE_NOTHING = frozenset(("break_even_offset_pips", "stop_spreads"))
LIMITS = tuple(each.name for each in fields(Limits))


def load_templates(folder: Path) -> tuple[Template, Limits]:
    """Read `templates.toml` in the folder; what it does not name stays as it is by default.

    Raises:
        BadSettings: a field is unknown or is no number that makes sense there.
    """
    path = folder / TEMPLATES_FILE
    table = table_in(path)
    _refuse_unknown(table, ("sizes", "template", "limits"), path, "")
    sizes, template, limits = (_part(table, name, path) for name in ("sizes", "template", "limits"))
    _refuse_unknown(sizes, PRESETS, path, "sizes.")
    _refuse_unknown(template, TEMPLATE, path, "template.")
    _refuse_unknown(limits, LIMITS, path, "limits.")
    usual = Template()
    own_sizes: dict[int, Any] = {int(each): _number(sizes, each, path, "sizes.") for each in sizes}
    values: dict[str, Any] = {each: _number(template, each, path, "template.") for each in template}
    bounds: dict[str, Any] = {each: _number(limits, each, path, "limits.") for each in limits}
    if "slow_ms" in bounds:
        bounds["slow_ms"] = float(bounds["slow_ms"])
    return (
        replace(usual, sizes={**usual.sizes, **own_sizes}, **values),
        replace(Limits(), **bounds),
    )


def _part(table: Mapping[str, Any], name: str, path: Path) -> Mapping[str, Any]:
    part = table.get(name, {})
    if not isinstance(part, dict):
        raise BadSettings(f"{path}: {name} must be a table, [{name}]")
    return part


def _refuse_unknown(
    table: Mapping[str, Any], known: tuple[str, ...], path: Path, prefix: str
) -> None:
    for name in table:
        if name not in known:
            raise BadSettings(f"{path}: {prefix}{name} is not known; there are: {', '.join(known)}")


def _number(table: Mapping[str, Any], name: str, path: Path, prefix: str) -> Decimal | None:
    """The number that a field says; None where it says false and may be without."""
    if table[name] is False and name in MAY_BE_OFF:
        return None
    number = _decimal(table[name])
    if number is None or number < 0 or (number == 0 and name not in MAY_BE_NOTHING):
        off = ", or false to have none" if name in MAY_BE_OFF else ""
        raise BadSettings(
            f"{path}: {prefix}{name} must be a number above 0{off}, such as {name} = 20"
        )
    return number


def _decimal(value: object) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    return number if number.is_finite() else None
