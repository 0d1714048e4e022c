"""The trader's limits in `templates.toml`: read at the start, and written from the page of limits.

    [limits]
    daily_loss_percent = 3
    hard_units = 100000

    [limits.XAU_USD]
    hard_units = 50

`false` takes away a limit that may be absent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from keydesk.calc.orders.limits import LIMIT_FIELDS, LimitField, has_sane_size
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.config.settings import TEMPLATES_FILE, BadSettings
from keydesk.text.format import pair
from keydesk.text.sanitize import clean
from keydesk_client.errors import UnsafeFile

TABLE = "limits"
FIELDS: Mapping[str, LimitField] = {each.name: each for each in LIMIT_FIELDS}
OF_INSTRUMENTS = tuple(each.name for each in LIMIT_FIELDS if each.per_instrument)
WHOLE = frozenset(("cool_off_losses", "hard_open_trades"))


def read_limits(table: Mapping[str, Any], path: Path) -> Limits:
    """Return the limits of the table `[limits]` and of its tables for instruments.

    Raises:
        BadSettings: one of them is not known, or is not a number that makes sense there.
    """
    instruments = {name: each for name, each in table.items() if isinstance(each, dict)}
    common = {name: each for name, each in table.items() if name not in instruments}
    refuse_unknown(common, tuple(FIELDS), path, f"{TABLE}.")
    bounds: dict[str, Any] = {name: _limit(common, name, path, "") for name in common}
    if "slow_ms" in bounds:
        bounds["slow_ms"] = float(bounds["slow_ms"])
    own = {name: _of_instrument(name, each, path) for name, each in instruments.items()}
    return replace(Limits(), **bounds, instruments=own)


def _of_instrument(name: str, table: Mapping[str, Any], path: Path) -> Mapping[str, Decimal | None]:
    if name in FIELDS or "_" not in name or not name.isupper():
        raise BadSettings(
            f"{path}: {TABLE}.{clean(name)} must be a number, or an instrument: [{TABLE}.EUR_USD]"
        )
    refuse_unknown(table, OF_INSTRUMENTS, path, f"{TABLE}.{name}.")
    return {limit: _limit(table, limit, path, f"{name}.") for limit in table}


def _limit(table: Mapping[str, Any], name: str, path: Path, prefix: str) -> Decimal | None:
    """Return the value of a limit, None for `false` where the limit may be absent."""
    may_be_off = FIELDS[name].may_be_off
    if table[name] is False and may_be_off:
        return None
    number = decimal_of(table[name])
    if number is None or number <= 0 or (name in WHOLE and number != int(number)):
        off = ", or false to have none" if may_be_off else ""
        kind = "whole number" if name in WHOLE else "number"
        raise BadSettings(
            f"{path}: {TABLE}.{prefix}{name} must be a {kind} above 0{off}, such as {name} = 20"
        )
    return number


@dataclass(frozen=True, slots=True)
class LimitChange:
    """A limit as the trader wants it now: of every instrument, or (named) of one; None: none of its own."""

    name: str
    value: Decimal | None
    instrument: str = ""

    @property
    def text(self) -> str:
        """The change as the audit log keeps it."""
        where = f"{self.instrument}." if self.instrument else ""
        return f"limits.{where}{self.name} = {'off' if self.value is None else self.value}"

    def amount(self, value: Decimal, currency: str) -> str:
        """Return a value of this limit with its unit; `currency` is that of amounts of money."""
        return FIELDS[self.name].amount(value, currency)

    def words(self, currency: str) -> str:
        """Return the change in the words of the page of limits."""
        field, of_one = FIELDS[self.name], pair(self.instrument)
        if self.value is not None:
            amount = self.amount(self.value, currency)
        else:
            amount = "that of the account" if of_one else "off"
        return f"{field.full_name}{of_one and f' in {of_one}'}: {amount}"


def save_limit(folder: Path, change: LimitChange) -> None:
    """Write a limit; everything else in the file stays as it is, comments too.

    Raises:
        BadSettings: the file is not TOML, or `limits` is not a table in it; nothing is written then.
        OSError: the file cannot be written.
    """
    import tomlkit  # noqa: PLC0415 - needed for writing only

    from keydesk.config.profiles import change_file  # noqa: PLC0415 - loads tomlkit

    def edit(document: tomlkit.TOMLDocument) -> None:
        table = document.setdefault(TABLE, tomlkit.table())
        if isinstance(table, dict) and change.instrument:
            table = table.setdefault(change.instrument, tomlkit.table())
        if not isinstance(table, dict):
            raise BadSettings(
                f"{folder / TEMPLATES_FILE}: {TABLE} must be a table, [{TABLE}]; fix it, then try again"
            )
        if change.value is not None:
            table[change.name] = _number(change.value)
        elif change.instrument:
            table.pop(change.name, None)
        else:
            table[change.name] = False

    change_file(folder, TEMPLATES_FILE, edit)


def try_to_save_limit(folder: Path, change: LimitChange) -> str:
    """Write a limit; return why that failed, "" if it did not."""
    try:
        save_limit(folder, change)
    except (BadSettings, UnsafeFile, OSError) as error:
        return str(error)
    return ""


def with_limit(limits: Limits, change: LimitChange) -> Limits:
    """Return the limits after a change."""
    value: Any = change.value
    if not change.instrument:
        common: dict[str, Any] = {change.name: float(value) if change.name == "slow_ms" else value}
        return replace(limits, **common)
    own = {**limits.instruments.get(change.instrument, {}), change.name: value}
    if value is None:
        del own[change.name]
    return replace(limits, instruments={**limits.instruments, change.instrument: own})


def _number(value: Decimal) -> int | float:
    return int(value) if value == int(value) else float(value)


def refuse_unknown(
    table: Mapping[str, Any], known: tuple[str, ...], path: Path, prefix: str
) -> None:
    for name in table:
        if name not in known:
            raise BadSettings(f"{path}: {prefix}{name} is not known; there are: {', '.join(known)}")


def decimal_of(value: object) -> Decimal | None:
    """Return a finite number with up to 12 digits on each side of its point, None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    return number if has_sane_size(number) else None
