"""The trader's limits in `templates.toml`: changed from the page of limits; everything else in the file stays.

    [limits]
    daily_loss_percent = 3
    hard_units = 100000

    [limits.XAU_USD]
    hard_units = 50

`false` takes away a limit that may be absent.
"""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.limits import LIMIT_FIELDS, LimitField
from keydesk.calc.orders.ticket_settings import Limits
from keydesk.config.folders import TEMPLATES_FILE
from keydesk.settings.toml_text import BadSettings
from keydesk.text.format import pair
from keydesk_client.errors import UnsafeFile

TABLE = "limits"
FIELDS: Mapping[str, LimitField] = {each.name: each for each in LIMIT_FIELDS}


class LimitChange(Struct, frozen=True):
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

    from keydesk.config.file_edit import change_file  # noqa: PLC0415 - loads tomlkit

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


def changes_between(before: Limits, after: Limits) -> tuple[LimitChange, ...]:
    """Return the limits that differ, as they are afterwards: those of every instrument, then those of each."""
    common = [
        LimitChange(name, value)
        for name in FIELDS
        if (value := _value_in(after, name)) != _value_in(before, name)
    ]
    names = sorted({*before.instruments, *after.instruments})
    pairs = [
        (each, before.instruments.get(each, {}), after.instruments.get(each, {})) for each in names
    ]
    own = [
        LimitChange(field, new.get(field), each)
        for each, old, new in pairs
        for field in FIELDS
        if new.get(field) != old.get(field)
    ]
    return (*common, *own)


def _value_in(limits: Limits, name: str) -> Decimal | None:
    limit: Any = getattr(limits, name)
    return None if limit is None else Decimal(str(limit)).normalize()


def _number(value: Decimal) -> int | float:
    return int(value) if value == int(value) else float(value)
