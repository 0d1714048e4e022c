"""What the doctor makes of what it finds."""

import os
from pathlib import Path

import pytest

from keydesk.app.account_sources import AccountAddress
from keydesk.cli.doctor import (
    Check,
    check_colours,
    check_disk,
    check_locale,
    check_paths,
    check_proxy,
    check_settings,
    check_terminal,
    check_versions,
    clock,
    round_trip,
    write_report,
)
from keydesk.cli.script_output import Refusal
from keydesk.config.folders import Folders
from keydesk_client.auth.secret import Secret

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("size", "verdict"),
    [(None, "warn"), ((39, 24), "bad"), ((200, 11), "bad"), ((79, 24), "warn"), ((80, 24), "ok")],
)
def test_a_terminal_needs_80x24_and_40x12_for_exits(
    size: tuple[int, int] | None, verdict: str
) -> None:
    found = check_terminal(os.terminal_size(size) if size else None, {"TERM": "xterm"})
    assert found.verdict == verdict


def test_a_terminal_that_cannot_place_text_is_wrong() -> None:
    found = check_terminal(os.terminal_size((80, 24)), {"TERM": "dumb"})
    assert found.verdict == "bad"
    assert "TERM=dumb: this terminal cannot place text" in found.text


def test_a_terminal_without_colours_is_told_of() -> None:
    assert check_colours({"TERM": "dumb"}).verdict == "warn"
    assert check_colours({"TERM": "xterm-256color"}).verdict == "ok"


def test_a_locale_without_lines_says_that_the_desk_draws_in_ascii() -> None:
    assert check_locale({"LANG": "C.UTF-8"}).verdict == "ok"
    found = check_locale({"LANG": "C"})
    assert found.verdict == "warn"
    assert "LANG=C: the desk draws in ASCII" in found.text


def test_settings_that_cannot_be_read_are_wrong(tmp_path: Path) -> None:
    folders = Folders(tmp_path, tmp_path)
    assert check_settings(folders).verdict == "ok"
    (tmp_path / "config.toml").write_text("fps = 99")
    assert check_settings(folders).verdict == "bad"
    (tmp_path / "config.toml").write_text('theme = "sepia"')
    assert 'theme "sepia" is not known' in check_settings(folders).text
    assert check_settings(folders).verdict == "bad"


def test_themes_of_ones_own_are_named_and_one_that_is_hard_to_read_is_warned_of(
    tmp_path: Path,
) -> None:
    folders = Folders(tmp_path, tmp_path)
    (tmp_path / "themes").mkdir()
    (tmp_path / "themes" / "mine.toml").write_text('base = "light"')
    assert check_settings(folders).text.endswith("themes of your own: mine")
    (tmp_path / "themes" / "mine.toml").write_text('[colours]\nloss = "#222222"')
    assert check_settings(folders).verdict == "warn"
    assert "mine.toml:2: colours.loss #222222 on background" in check_settings(folders).text


def test_a_state_folder_that_others_may_enter_is_wrong(tmp_path: Path) -> None:
    state = tmp_path / "state"
    assert check_disk(Folders(tmp_path, state)).verdict != "bad"
    state.chmod(0o755)
    assert "chmod 700" in check_disk(Folders(tmp_path, state)).text


def test_slow_answers_are_told_of() -> None:
    assert round_trip([5.0, 5.0, 900.0]).verdict == "ok"
    assert round_trip([500.0, 500.0, 5.0]).verdict == "warn"


def test_a_clock_that_is_off_by_more_than_two_seconds_is_wrong() -> None:
    assert clock(10 * SECOND, 12 * SECOND, own_broker=False).verdict == "ok"
    assert clock(10 * SECOND, 13 * SECOND, own_broker=False).verdict == "bad"
    assert clock(10 * SECOND, 7 * SECOND, own_broker=False).verdict == "bad"


def test_a_practice_market_may_live_in_another_year() -> None:
    assert clock(10 * SECOND, 10**9 * SECOND, own_broker=True).verdict == "ok"


def at(url: str, proxy: str | None = None) -> AccountAddress:
    return AccountAddress(url, url, Secret("planted"), "1", own_broker=False, proxy=proxy)


def test_the_proxy_is_named_without_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hidden@proxy.test:3128")
    found = check_proxy(at("https://api.test"))
    assert found.text == "https://api.test through http://proxy.test:3128 (HTTPS_PROXY)"
    found = check_proxy(at("https://api.test", "socks.test:1"))
    assert found.text == "https://api.test through http://socks.test:1 (proxy)"
    for direct in (at("https://api.test", ""), at("http://127.0.0.1:8020")):
        assert check_proxy(direct).text.endswith(" directly, without a proxy")


def test_a_report_has_no_account_number_and_replaces_no_file(tmp_path: Path) -> None:
    report = tmp_path / "report.txt"
    checks = [Check("broker", "ok", f"LIVE main account 101-001-1000001-001 in {Path.home()}/x")]
    write_report(report, checks)
    assert report.read_text() == "ok   broker     LIVE main account (account) in ~/x\n"
    with pytest.raises(Refusal, match="there already"):
        write_report(report, checks)


def test_versions_and_folders_are_named(tmp_path: Path) -> None:
    assert "textual" in check_versions().text
    assert str(tmp_path) in check_paths(Folders(tmp_path / "config", tmp_path / "state")).text
