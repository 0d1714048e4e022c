"""Files that cannot be written: alerts, notes and the audit log say why, which file, and what to do."""

import errno
import os
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.alerts.alert_list import add_alert
from keydesk.alerts.alert_records import AlertRecords
from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.price_conditions import PriceCross
from keydesk.records.desk_records import DeskRecords
from keydesk.text.file_errors import file_trouble
from keydesk.trade_journal.notes_file import NotesNotWritten, change_note
from keydesk.trading.audit import AuditLog
from keydesk_client.errors import UnsafeFile
from support.full_disk import no_room

ALERT = Alert(
    "", PriceCross(instrument="EUR_USD", side="mid", direction="up", level=Decimal("1.12"))
)


def write_alert(path: Path) -> str:
    file = AlertRecords(DeskRecords(path))
    file.change(add_alert(ALERT))
    return file.trouble


def write_note(path: Path) -> str:
    try:
        change_note(path, "1", lambda note: replace(note, note="seen"))
    except NotesNotWritten as error:
        return str(error)
    return ""


def write_audit(path: Path) -> str:
    log = AuditLog(path)
    log.write("decided", "close")
    return log.failed


WRITERS: dict[str, Callable[[Path], str]] = {
    "alerts": write_alert,
    "notes": write_note,
    "audit": write_audit,
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_said_with_the_file_and_the_remedy(name: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / f"main.{name}"
    with no_room():
        told = WRITERS[name](path)
    assert str(path) in told
    assert told.endswith("; make room there")
    assert "Errno" not in told
    assert WRITERS[name](path) == ""  # there is room again


@pytest.mark.parametrize("name", ["alerts", "notes"])
def test_a_home_in_which_no_folder_can_be_made_is_the_cause_that_is_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"

    def refuse(folder: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(folder))

    monkeypatch.setattr(Path, "mkdir", refuse)
    told = WRITERS[name](home / "orders" / "main")
    assert f"Read-only file system: {home}; choose another folder with --data" in told


@pytest.mark.parametrize(
    ("code", "end"),
    [
        (errno.ENOSPC, "; make room there"),
        (errno.EDQUOT, "; make room there"),
        (errno.EROFS, "; choose another folder with --data"),
        (errno.EACCES, "; make it writable, or choose another folder with --data"),
        (errno.ENOENT, "; its folder is missing"),
        (errno.EIO, "Input/output error: /x/main.notes"),
    ],
)
def test_each_cause_has_its_remedy(code: int, end: str) -> None:
    text = file_trouble(OSError(code, os.strerror(code)), Path("/x/main.notes"))
    assert text.startswith(f"{os.strerror(code)}: /x/main.notes")
    assert text.endswith(end)


def test_words_that_name_the_remedy_already_stay() -> None:
    path = Path("/x/main.notes")
    assert file_trouble(UnsafeFile(f"{path}: chmod 600 it"), path) == f"{path}: chmod 600 it"
    assert (
        file_trouble(TimeoutError("another process holds it"), path) == "another process holds it"
    )
