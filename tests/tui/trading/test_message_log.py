"""The messages that are kept for each account: bounded, sanitized, without the token."""

from pathlib import Path

from keydesk.store.state import Notice
from keydesk.store.store import NOTICE_LIMIT
from keydesk.text.sanitize import safe
from keydesk.trading.message_log import MessageLog, read_messages


def test_the_last_messages_are_read_again_with_time_and_kind(tmp_path: Path) -> None:
    log = MessageLog(tmp_path / "a.messages", lambda text: text.replace("secret", "***"))
    log.write([Notice("good", safe("FILLED secret"), 7), Notice("bad", safe("NO ANSWER"), 8)])
    log.write(Notice("info", safe(f"number {at}"), at) for at in range(NOTICE_LIMIT - 1))
    kept = read_messages(log.path)
    assert len(kept) == NOTICE_LIMIT
    assert (kept[0].level, str(kept[0].text), kept[0].time_ns) == ("bad", "NO ANSWER", 8)
    assert str(kept[-1].text) == f"number {NOTICE_LIMIT - 2}"
    assert not any(each.waits for each in kept)  # nothing of an earlier desk waits for Esc
    assert b"secret" not in log.path.read_bytes()
    assert log.path.stat().st_mode & 0o777 == 0o600


def test_a_damaged_or_foreign_file_harms_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.messages"
    assert read_messages(path) == []
    path.write_bytes(
        b'{"time_ns": 1, "level": "good", "text": "kept \\u001b[2J"}\n'
        b'{"time_ns": 1, "level": "loud", "text": "no"}\nnot json\n[]\n{"time_ns": "1"}\n'
    )
    [kept] = read_messages(path)
    assert "\x1b" not in kept.text
    log = MessageLog(tmp_path / "missing" / "a.messages")
    log.write([Notice("good", safe("FILLED"), 7)])
    assert log.failed


def test_each_message_is_kept_with_the_ledger_that_it_is_about(tmp_path: Path) -> None:
    log = MessageLog(tmp_path / "a.messages")
    log.write(
        [Notice("good", safe("of a replay"), 7, ledger=5), Notice("good", safe("of none"), 8)]
    )
    assert [each.ledger for each in read_messages(log.path)] == [5, 0]
