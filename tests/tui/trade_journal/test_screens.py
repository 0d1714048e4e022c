"""The screens kept at entry and exit."""

import json
import os
from pathlib import Path

import pytest

from keydesk.text.sanitize import clean
from keydesk.trade_journal import screens
from keydesk.trade_journal.screens import (
    KeptScreen,
    Moment,
    masked,
    read_screens,
    trades_with_screens,
    write_screen,
)
from support.data.journal_trades import HOUR, closed_trade

ACCOUNT = "101-001-1000001-001"
TRADE = closed_trade("1", 7)


def screen(moment: Moment, at_ns: int, *lines: str, trade_id: str = "7") -> KeptScreen:
    return KeptScreen(trade_id, moment, at_ns, tuple(clean(each) for each in lines))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "journal" / "main.screens"


def test_both_screens_of_a_trade_are_read_again_without_the_accounts_number(folder: Path) -> None:
    entry = screen("entry", TRADE.opened_ns, f"account {ACCOUNT} NAV 1", "101-001-10000…")
    leaves = screen("exit", TRADE.opened_ns + HOUR, "out", "")
    for each in (entry, leaves):
        write_screen(folder, each, ACCOUNT)
    found = read_screens(folder, TRADE)
    assert [each.moment for each in found] == ["entry", "exit"]
    assert found[0].lines[0] == f"account {'…-001':<19} NAV 1"
    assert "101-001" not in json.dumps([each.lines for each in found])
    assert found[1].lines[0] == "out"
    assert trades_with_screens(folder) == {"7"}
    assert {each.stat().st_mode & 0o777 for each in folder.iterdir()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def test_a_screen_of_another_trade_with_the_same_id_is_not_shown(folder: Path) -> None:
    write_screen(folder, screen("entry", TRADE.opened_ns - 2 * HOUR, "before the reset"), ACCOUNT)
    assert read_screens(folder, TRADE) == []


def test_the_oldest_beyond_the_bound_are_removed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(screens, "MAX_FILES", 3)
    for number in range(5):
        write_screen(folder, screen("entry", 1, "x", trade_id=str(number)), ACCOUNT)
        os.utime(folder / f"{number}.entry.txt", ns=(number, number))
    assert trades_with_screens(folder) == {"2", "3", "4"}


@pytest.mark.parametrize("id_", ["../7", "7/8", "", "7\n", "x" * 30, "7.entry"])
def test_an_id_that_is_no_plain_name_makes_no_file(id_: str, folder: Path) -> None:
    write_screen(folder, screen("entry", 1, "x", trade_id=id_), ACCOUNT)
    assert not list(folder.parent.parent.rglob("*.txt"))


def test_a_huge_screen_is_bounded(folder: Path) -> None:
    write_screen(folder, screen("entry", TRADE.opened_ns, *["y" * 250] * 500), ACCOUNT)
    [file] = folder.iterdir()
    assert file.stat().st_size <= screens.MAX_BYTES
    [found] = read_screens(folder, TRADE)
    assert len(found.lines) == screens.MAX_ROWS


@pytest.mark.parametrize("damage", ["folder", "noise", "no time", "open", "hostile"])
def test_a_damaged_file_is_left_out_or_cleaned(damage: str, folder: Path) -> None:
    write_screen(folder, screen("entry", TRADE.opened_ns, "x"), ACCOUNT)
    path = folder / "7.entry.txt"
    match damage:
        case "folder":
            path.unlink()
            path.mkdir()
        case "noise":
            path.write_bytes(b"\xff\xfe")
        case "no time":
            path.write_text("soon\nx\n")
        case "open":
            path.chmod(0o644)
        case _:
            path.write_text(f"{TRADE.opened_ns}\n\x1b[31mred\x07\n")
    found = read_screens(folder, TRADE)
    assert "\x1b" not in "".join(line for each in found for line in each.lines)
    assert len(found) == (damage == "hostile")


def test_text_without_the_number_stays_as_it_is() -> None:
    assert masked("NAV 101-001", ACCOUNT) == "NAV 101-001"
