"""The file of the command line's history."""

from pathlib import Path

from keydesk.config.command_history import MAX_LINES, CommandHistory


def test_lines_are_kept_newest_first_and_once(tmp_path: Path) -> None:
    history = CommandHistory.of(tmp_path / "desk")
    for line in ("tf h4", "week", "tf h4 ", "b eurusd 50k"):
        history.add(line)
    history.save()
    assert CommandHistory.of(tmp_path / "desk").lines == ["b eurusd 50k", "tf h4", "week"]
    assert (tmp_path / "desk" / "commands").stat().st_mode & 0o077 == 0


def test_a_hostile_file_gives_only_lines_that_could_be_typed(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    path = tmp_path / "commands"
    path.write_bytes(b"week\n\x1b]0;owned\x07\nq\xff\n" + b"x" * 500 + b"\n\xe2\x80\xaeevil\n\n")
    path.chmod(0o600)
    lines = CommandHistory.of(tmp_path).lines
    assert lines[0] == "week"
    assert all(line.isprintable() and len(line) <= 200 for line in lines)
    assert len(lines) == 2
    path.unlink()
    path.mkdir()
    assert CommandHistory.of(tmp_path).lines == []


def test_old_lines_are_dropped() -> None:
    history = CommandHistory()
    for number in range(2 * MAX_LINES):
        history.add(f"date {number}")
    assert len(history.lines) == MAX_LINES
    history.save()  # nowhere
