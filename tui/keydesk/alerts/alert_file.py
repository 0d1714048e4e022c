"""The file of an account's alerts: private, written atomically under a lock, so that two desks at once lose nothing.

A damaged file never stops the desk: it is kept under another name, which is reported, and the list begins empty. Where the
file cannot be written, the list stays in memory, which is reported as well. The file is JSON; values of another type than the
annotated one are refused.
"""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal, InvalidOperation
from pathlib import Path
from time import time_ns
from typing import Any, Literal, get_args, get_origin, get_type_hints

from keydesk.alerts.alert_list import MAX_ALERTS, MAX_HISTORY, AlertList, Change
from keydesk.calc.alerts.alert import Alert, FiringRecord
from keydesk.calc.alerts.conditions import (
    AccountResult,
    AtrMultiple,
    ClientLongPercent,
    ClockTime,
    Condition,
    DayHighLow,
    MarginLevel,
    MovingAverageCross,
    PriceCross,
    PriceMove,
    RolloverSoon,
    RsiLevel,
    SpreadLevel,
    StreamSilence,
    TradeResult,
)
from keydesk.text.file_errors import file_trouble
from keydesk.text.sanitize import clean
from keydesk_client.auth.private_files import locked, private_folder, read_private, replace_file
from keydesk_client.errors import UnsafeFile

VERSION = 1
MAX_BYTES = 2_000_000  # bytes
LOCK_TIMEOUT = 2.0  # seconds that another desk may hold the file
MAX_WORDS_LENGTH, MAX_TEXT_LENGTH, MAX_DIGITS = 400, 200, 30  # characters
MAX_WHOLE_NUMBER = 2**63
UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)
# By their names in the file, which stay when a class gets another name.
FIRING_NAMES = (("text", "words"), ("delivered", "told"))
"""Members of a firing, and their names in the file."""

CONDITIONS: Mapping[str, type[Any]] = {
    "AccountResult": AccountResult,
    "AverageCross": MovingAverageCross,
    "ClientsLong": ClientLongPercent,
    "ClockTime": ClockTime,
    "DayExtreme": DayHighLow,
    "MarginLevel": MarginLevel,
    "PriceCross": PriceCross,
    "PriceMove": PriceMove,
    "RangeMultiple": AtrMultiple,
    "RolloverSoon": RolloverSoon,
    "SpreadLevel": SpreadLevel,
    "StreamSilence": StreamSilence,
    "StrengthLevel": RsiLevel,
    "TradeResult": TradeResult,
}
NAMES: Mapping[type[Any], str] = {condition: name for name, condition in CONDITIONS.items()}
WRITTEN: tuple[type[Any], ...] = (Alert, *CONDITIONS.values())
HINTS: Mapping[type[Any], Mapping[str, Any]] = {each: get_type_hints(each) for each in WRITTEN}


@dataclass(slots=True)
class AlertFile:
    """The list of an account in a file, or in memory alone where there is none."""

    path: Path | None
    wall_ns: Callable[[], int] = time_ns
    alert_list: AlertList = field(default_factory=AlertList)
    trouble: str = field(default="", init=False)  # why it is not kept; "": it is
    news: str = field(default="", init=False)  # what is wrong with it, found while it was changed
    _stamp: tuple[int, int, int] | None = field(default=None, init=False)

    def load(self) -> str:
        """Read the file; return what is wrong with it, "" if nothing is."""
        if self.path is None:
            return ""
        self._stamp = self._stamp_now()
        try:
            self.alert_list = _alert_list_of(json.loads(read_private(self.path, MAX_BYTES)))
        except FileNotFoundError:
            return ""
        except UNREADABLE:
            return self._keep_aside(self.path)
        except (OSError, UnsafeFile) as error:
            self.trouble = file_trouble(error, self.path)
            return f"Alerts are not read, and kept in this desk only: {self.trouble}"
        return ""

    def has_changed(self) -> bool:
        """Return whether another desk wrote the file since it was read here."""
        return self.path is not None and self._stamp_now() != self._stamp

    def change(self, change: Change) -> AlertList:
        """Apply a change to the list as the file has it now, and write it; return the new list.

        Raises:
            AlertListError: the change makes no sense; nothing was written.
        """
        if self.path is None or (self.trouble and not self._is_mendable()):
            self.alert_list = change(self.alert_list)
            return self.alert_list
        try:
            private_folder(self.path.parent)
            with locked(self.path, patience_s=LOCK_TIMEOUT):
                if not self.trouble or self.has_changed():  # else it has less than this desk
                    self.news = self.load() or self.news
                if self.trouble and not self._is_mendable():
                    self.alert_list = change(self.alert_list)
                    return self.alert_list
                after = change(self.alert_list)
                if after != self.alert_list:
                    replace_file(self.path, _written(after))
                    self._stamp = self._stamp_now()
        except (OSError, UnsafeFile) as error:
            self.trouble = file_trouble(error, self.path)
            self.alert_list = change(self.alert_list)
        else:
            self.trouble = ""
            self.alert_list = after
        return self.alert_list

    def _is_mendable(self) -> bool:
        """Return whether writing may succeed now: a full disk may have been freed, a file of another user stays unwritable."""
        if self.path is None:
            return False
        with suppress(FileNotFoundError):
            try:
                read_private(self.path, MAX_BYTES)
            except (OSError, UnsafeFile):
                return False
        return True

    def _keep_aside(self, path: Path) -> str:
        aside = path.with_name(f"{path.name}.damaged-{self.wall_ns()}")
        try:
            path.rename(aside)
        except OSError as error:
            self.trouble = file_trouble(error, path)
            return f"The alert file is damaged and cannot be renamed: {self.trouble}"
        return f"The alert file was damaged: it was renamed to {clean(aside.name)}, and the list is empty"

    def _stamp_now(self) -> tuple[int, int, int] | None:
        if self.path is None:
            return None
        try:
            status = self.path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_ino, status.st_size


def _written(alert_list: AlertList) -> bytes:
    return json.dumps(_members(alert_list), indent=1).encode() + b"\n"


def _members(alert_list: AlertList) -> dict[str, object]:
    members: dict[str, object] = {
        "version": VERSION,
        "next_id": alert_list.next_id,
        "seen_ns": alert_list.seen_ns,
        "account_ns": alert_list.account_ns,
        "sides": dict(alert_list.sides),
        "alerts": [written_alert(each) for each in alert_list.alerts],
        "history": [_written_firing(each) for each in alert_list.history],
    }
    if alert_list.others:
        members["others"] = {str(ns): _members(each) for ns, each in alert_list.others.items()}
    return members


def _written_firing(firing: FiringRecord) -> dict[str, object]:
    members = asdict(firing)
    for name, in_file in FIRING_NAMES:
        members[in_file] = members.pop(name)
    return members


def _alert_list_of(members: Mapping[str, Any]) -> AlertList:
    if members["version"] != VERSION:
        raise ValueError(f"version {members['version']!r} is not known")
    alerts = tuple(read_alert(each) for each in members["alerts"][:MAX_ALERTS])
    history = tuple(_firing(each) for each in members["history"][-MAX_HISTORY:])
    sides = {str(id_): int(side) for id_, side in members["sides"].items()}
    highest = max((int(each.id) for each in alerts), default=0)
    return AlertList(
        alerts,
        history,
        max(_whole(members["next_id"]), highest + 1),
        _whole(members["seen_ns"]),
        sides,
        _whole(members.get("account_ns", 0)),
        {int(ns): _alert_list_of(each) for ns, each in members.get("others", {}).items()},
    )


def _firing(members: Mapping[str, Any]) -> FiringRecord:
    return FiringRecord(
        str(members["alert_id"])[:20],
        _whole(members["number"]),
        _whole(members["time_ns"]),
        clean(str(members["words"]), MAX_WORDS_LENGTH),
        clean(str(members["value"])),
        late=members["late"] is True,
        delivered=members["told"] is True,
        claimed_ns=_whole(members.get("claimed_ns", 0)),
        taken_over=members.get("taken_over") is True,
    )


def written_alert(alert: Alert) -> dict[str, object]:
    """Return an alert as values of JSON."""
    members: dict[str, object] = {
        each.name: getattr(alert, each.name) for each in fields(alert) if each.name != "condition"
    }
    condition = alert.condition
    of: dict[str, object] = {"type": NAMES[type(condition)]}
    for each in fields(condition):
        value = getattr(condition, each.name)
        of[each.name] = str(value) if isinstance(value, Decimal) else value
    return {**members, "condition": of}


def read_alert(members: Mapping[str, Any]) -> Alert:
    """Return the alert described by values of JSON.

    Raises:
        ValueError, TypeError, KeyError: they do not describe an alert.
    """
    values: dict[str, Any] = {
        name: _value(members[name], hint)
        for name, hint in HINTS[Alert].items()
        if name in members and name != "condition"
    }
    return Alert(condition=_condition(members["condition"]), **values)


def _condition(members: Mapping[str, Any]) -> Condition:
    kind = CONDITIONS[members["type"]]
    hints = HINTS[kind]
    values = {each.name: _value(members[each.name], hints[each.name]) for each in fields(kind)}
    condition: Condition = kind(**values)
    return condition


def _value(value: object, hint: Any) -> object:  # noqa: ANN401 - a type as it is annotated
    """Return a value of the annotated type."""
    if get_origin(hint) is Literal:
        return _chosen(value, get_args(hint))
    if value is None and type(None) in get_args(hint):
        return None
    kind = next(
        (each for each in (Decimal, int, str) if each is hint or each in get_args(hint)), None
    )
    if kind is Decimal:
        return _decimal(value)
    if kind is int:
        return _whole(value)
    if not isinstance(value, str) or len(value) > MAX_TEXT_LENGTH:
        raise TypeError(f"{str(value)[:20]!r} is not text")
    return value


def _chosen(value: object, known: tuple[object, ...]) -> object:
    if value not in known:
        raise ValueError(f"{str(value)[:20]!r} is not one of {known}")
    return value


def _decimal(value: object) -> Decimal:
    if not isinstance(value, str) or len(value) > MAX_DIGITS:
        raise TypeError(f"{str(value)[:20]!r} is not a number")
    try:
        number = Decimal(value)
    except InvalidOperation as error:
        raise ValueError(f"{value!r} is not a number") from error
    if not number.is_finite():
        raise ValueError(f"{value!r} is not a number")
    return number


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MAX_WHOLE_NUMBER:
        raise TypeError(f"{str(value)[:20]!r} is not a whole number")
    return value
