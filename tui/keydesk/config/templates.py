"""The named templates of `templates.toml`, and the one that each instrument begins with; import and export.

[templates.scalp]
type = "limit"            # market, limit, stop or touch
size = "0.5%"             # units, or % of NAV at risk; left out: the active preset
stop = "10p"              # pips, or average true ranges: "1.5a"
stop_required = true
target = "2r"             # in R, pips or average true ranges
trail = "15p"
expiry = "GFD"
bound_pips = 2
break_even_at = "1r"      # the exit plan: R, pips or average true ranges; break_even_offset_pips beyond
step_trail = "1.5r 20p 5p"  # from that profit on, so far behind the price, in such steps
scale_out = "33/33/34 1r 2r"  # in three trades: targets at 1R and 2R, the last one trails
time_stop = "4h"          # minutes, hours or days after the trade was opened: "90m", "4h", "2d"

[instruments]
USD_JPY = "scalp"
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from keydesk.calc.orders.plans.exit_plans import NO_PROFIT, NO_STEP
from keydesk.calc.orders.plans.scale_out import NO_SCALE_OUT, parse_scale_out
from keydesk.calc.orders.ticket_draft import MARKET_EXPIRIES, PENDING_EXPIRIES, Entry, Unit
from keydesk.calc.orders.ticket_settings import STANDARD, Template, TemplateSet
from keydesk.config.limits import decimal_of
from keydesk.config.settings import TEMPLATES_FILE, BadSettings, part_of, table_in
from keydesk.parse.orders import KINDS, OrderSyntaxError, ParsedOrder, parse_order
from keydesk.text.typed import distance, duration_s, tokens

TEMPLATES_TABLE, INSTRUMENTS_TABLE = "templates", "instruments"
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,19}", re.ASCII)
EXIT_FIELDS = ("break_even_at", "step_trail", "time_stop")
FIELDS = (
    "type",
    "size",
    "stop",
    "stop_required",
    "target",
    "trail",
    "expiry",
    "bound_pips",
    "break_even_offset_pips",
    "scale_out",
    *EXIT_FIELDS,
)
EXIT_UNITS: Mapping[str, Unit] = {"a": "ATR", "p": "pips", "r": "R"}
MINUTE_S = 60
TRAIL_PARTS = 3


def read_templates(data: Mapping[str, Any], standard: Template, path: Path) -> TemplateSet:
    """Return the named templates of a settings file; what one leaves out is the standard template's.

    Raises:
        BadSettings: a field is unknown, or is nothing that makes sense there.
    """
    tables = part_of(data, TEMPLATES_TABLE, path)
    named = {name: _template(name, table, standard, path) for name, table in tables.items()}
    chosen = part_of(data, INSTRUMENTS_TABLE, path)
    for instrument, name in chosen.items():
        if not isinstance(name, str) or (name != STANDARD and name not in named):
            known = ", ".join((STANDARD, *named))
            raise BadSettings(
                f"{path}: {INSTRUMENTS_TABLE}.{instrument} must name a template, one of: {known}"
            )
    return TemplateSet(named, dict(chosen))


def _template(name: str, table: object, standard: Template, path: Path) -> Template:
    where = f"{path}: {TEMPLATES_TABLE}.{name}"
    if not NAME.fullmatch(name) or name == STANDARD:
        raise BadSettings(
            f"{where}: a name has up to 20 small letters, digits, - and _, and is not {STANDARD}"
        )
    if not isinstance(table, dict):
        raise BadSettings(f"{where} must be a table, [{TEMPLATES_TABLE}.{name}]")
    template = replace(standard, name=name)
    for field, value in table.items():
        if field not in FIELDS:
            raise BadSettings(f"{where}.{field} is not known; there are: {', '.join(FIELDS)}")
        if field not in EXIT_FIELDS:
            template = _READERS[field](template, value, f"{where}.{field}")
    return _agreeing(with_exit_rules(template, table, where), where)


def _agreeing(template: Template, where: str) -> Template:
    choices = MARKET_EXPIRIES if template.kind == "MARKET" else PENDING_EXPIRIES
    if template.expiry and template.expiry not in choices:
        raise BadSettings(f"{where}.expiry must be one of: {', '.join(choices)}")
    has_stop = template.stop_pips is not None or template.stop_atr is not None
    if template.target is None and template.target_r is not None and not has_stop:
        raise BadSettings(f"{where}.target is in R, which needs a stop")
    if not has_stop and template.scale_out.shares:
        raise BadSettings(f"{where}.scale_out is in R, which needs a stop")
    if not has_stop and template.exit_rules.counts_in_r:
        raise BadSettings(f"{where}: its exit plan is in R, which needs a stop")
    return template


def _type(template: Template, value: object, where: str) -> Template:
    if not isinstance(value, str) or value not in KINDS:
        raise BadSettings(f"{where} must be one of: {', '.join(KINDS)}")
    return replace(template, kind=KINDS[value])


def _size(template: Template, value: object, where: str) -> Template:
    order = _parsed(f"{value}" if isinstance(value, str | int) else "", where, 'size = "0.5%"')
    if order.size is None or order != ParsedOrder(size=order.size):  # and nothing beside it
        raise BadSettings(f'{where} must be a size such as 10000, "50k" or "0.5%"')
    return replace(template, size=order.size)


def _stop(template: Template, value: object, where: str) -> Template:
    pips, ranges = _distance(value, where, 'stop = "20p"')
    return replace(template, stop_pips=pips, stop_atr=ranges)


def _trail(template: Template, value: object, where: str) -> Template:
    pips, ranges = _distance(value, where, 'trail = "15p"')
    return replace(template, trail_pips=pips, trail_atr=ranges)


def _required(template: Template, value: object, where: str) -> Template:
    if not isinstance(value, bool):
        raise BadSettings(f"{where} must be true or false")
    return replace(template, stop_required=value)


def _target(template: Template, value: object, where: str) -> Template:
    if value is False:
        return replace(template, target=None, target_r=None)
    order = _parsed(f"tp {value}" if isinstance(value, str) else "", where, 'target = "2r"')
    parsed = order.target
    is_alone = order == ParsedOrder(target=parsed)
    if parsed is None or not is_alone or parsed.unit == "price" or not _is_above_nothing(parsed):
        raise BadSettings(f'{where} must be "2r", "40p", "3a", or false for none')
    if parsed.unit == "R":
        return replace(template, target=None, target_r=parsed.value)
    return replace(template, target=parsed)


def _is_above_nothing(entry: Entry) -> bool:
    return isinstance(entry.value, Decimal) and entry.value > 0


def _expiry(template: Template, value: object, where: str) -> Template:
    if not isinstance(value, str):
        raise BadSettings(f'{where} must be text in quotes, such as expiry = "GFD"')
    return replace(template, expiry=value)


def _bound(template: Template, value: object, where: str) -> Template:
    return replace(template, bound_pips=_number(value, where))


def _offset(template: Template, value: object, where: str) -> Template:
    return replace(template, break_even_offset_pips=_number(value, where))


def with_exit_rules(template: Template, table: Mapping[str, Any], where: str) -> Template:
    """Return a template with the exit plan of its table; the offset is that of the key for break-even."""
    for field in EXIT_FIELDS:
        if field in table:
            template = _READERS[field](template, table[field], f"{where}.{field}")
    offset = template.break_even_offset_pips
    rules = replace(template.exit_rules, break_even_offset_pips=offset)
    return template if rules.is_empty else replace(template, exit_rules=rules)


def _break_even_at(template: Template, value: object, where: str) -> Template:
    entry = NO_PROFIT if value is False else _exit_distance(value, where, '"1r", "20p" or "1.5a"')
    return replace(template, exit_rules=replace(template.exit_rules, break_even_at=entry))


def _step_trail(template: Template, value: object, where: str) -> Template:
    right = '"1.5r 20p 5p": from that profit on, so far behind, in such steps'
    after, behind, step = NO_PROFIT, NO_PROFIT, NO_STEP
    if value is not False:
        parts = value.split() if isinstance(value, str) else []
        if len(parts) != TRAIL_PARTS:
            raise BadSettings(f"{where} must be {right}, or false for none")
        after, behind, step = (_exit_distance(each, where, right) for each in parts)
    rules = replace(template.exit_rules, trail_from=after, trail_behind=behind, trail_step=step)
    return replace(template, exit_rules=rules)


def _time_stop(template: Template, value: object, where: str) -> Template:
    minutes = None
    if value is not False:
        seconds = duration_s(value) if isinstance(value, str) else None
        if not seconds or seconds % MINUTE_S:
            raise BadSettings(f'{where} must be "90m", "4h" or "2d", or false for none')
        minutes = Decimal(seconds // MINUTE_S)
    return replace(template, exit_rules=replace(template.exit_rules, close_after_minutes=minutes))


def _scale_out(template: Template, value: object, where: str) -> Template:
    if value is False:
        return replace(template, scale_out=NO_SCALE_OUT)
    scale_out = parse_scale_out(value) if isinstance(value, str) and value.strip() else ""
    if isinstance(scale_out, str):
        why = scale_out or "it is empty"
        raise BadSettings(f'{where} must be as "33/33/34 1r 2r", or false for none: {why}')
    return replace(template, scale_out=scale_out)


def _exit_distance(value: object, where: str, right: str) -> Entry:
    written = distance(value, "apr")
    if written is None:
        raise BadSettings(f"{where} must be {right}, or false for none")
    return Entry(written.text, EXIT_UNITS[written.unit])


_READERS: Mapping[str, Callable[[Template, object, str], Template]] = {
    "type": _type,
    "size": _size,
    "stop": _stop,
    "stop_required": _required,
    "target": _target,
    "trail": _trail,
    "expiry": _expiry,
    "bound_pips": _bound,
    "break_even_offset_pips": _offset,
    "break_even_at": _break_even_at,
    "step_trail": _step_trail,
    "time_stop": _time_stop,
    "scale_out": _scale_out,
}


def _parsed(text: str, where: str, right: str) -> Any:  # noqa: ANN401 - a ParsedOrder
    try:
        return parse_order(tokens(text))
    except OrderSyntaxError as error:
        raise BadSettings(f"{where}: {error}; write it as {right}") from error


def _distance(value: object, where: str, right: str) -> tuple[Decimal | None, Decimal | None]:
    """Return pips or average true ranges; both None for `false`."""
    if value is False:
        return None, None
    written = distance(value, "ap")
    if written is None:
        raise BadSettings(
            f"{where} must be a distance above 0 in quotes, {right}, or false for none"
        )
    return (None, written.number) if written.unit == "a" else (written.number, None)


def _number(value: object, where: str) -> Decimal:
    number = decimal_of(value)
    if number is None or number < 0:
        raise BadSettings(f"{where} must be a number, 0 or above")
    return number


def export_templates(
    folder: Path, names: tuple[str, ...] = (), standard: Template | None = None
) -> str:
    """Return the tables of the named templates, or of all, as TOML; `standard` has what they leave out.

    Raises:
        BadSettings: the file cannot be read, or there is no such template.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    path = folder / TEMPLATES_FILE
    data = table_in(path)
    read_templates(data, standard or Template(), path)
    tables = data.get(TEMPLATES_TABLE, {})
    missing = [name for name in names if name not in tables]
    if missing:
        known = ", ".join(tables) or "none yet"
        raise BadSettings(f"{path}: there is no template {missing[0]!r} (known: {known})")
    document = tomlkit.document()
    kept = tomlkit.table(is_super_table=True)
    for name in names or tuple(tables):
        kept[name] = {key: _plain(value) for key, value in tables[name].items()}
    document[TEMPLATES_TABLE] = kept
    return tomlkit.dumps(document)


def import_templates(
    folder: Path, source: Path, standard: Template | None = None
) -> tuple[str, ...]:
    """Write the templates of a file into the trader's, replacing those of the same name; return their names.

    `standard` is the trader's own, which has what they leave out: they must agree with it.

    Raises:
        BadSettings: one of the files cannot be read; nothing is written then.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    from keydesk.config.profiles import change_file  # noqa: PLC0415 - loads tomlkit

    data = table_in(source)
    tables = data.get(TEMPLATES_TABLE, {})
    named = read_templates({TEMPLATES_TABLE: tables}, standard or Template(), source).named
    names = tuple(named)
    if not names:
        raise BadSettings(f"{source} has no template: it needs a table such as [templates.scalp]")

    def change(document: tomlkit.TOMLDocument) -> None:
        own = document.setdefault(TEMPLATES_TABLE, tomlkit.table(is_super_table=True))
        if not isinstance(own, dict):
            raise BadSettings(f"{folder / TEMPLATES_FILE}: {TEMPLATES_TABLE} must be a table")
        for name in names:
            own[name] = {key: _plain(value) for key, value in tables[name].items()}

    change_file(folder, TEMPLATES_FILE, change)
    return names


def _plain(value: object) -> object:
    """Return a value that tomlkit writes as it was read: Decimals are its floats."""
    import tomlkit  # noqa: PLC0415 - needed for writing only

    if not isinstance(value, Decimal):
        return value
    return tomlkit.parse(f"value = {value:f}" if "." in f"{value:f}" else f"value = {value:f}.0")[
        "value"
    ]
