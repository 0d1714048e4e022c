"""The files of the journals of accounts that have one id."""

from pathlib import Path

from keydesk.trade_journal.files import JournalFiles


def test_the_journal_of_a_replay_has_files_of_its_own_and_the_first_account_keeps_the_plain_ones(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "journal"
    assert JournalFiles.of(folder, "a").notes.name == "a.notes.jsonl"
    home = JournalFiles.of_account(folder, "a", 5)
    assert home.notes.name == "a.notes.jsonl"
    replay = JournalFiles.of_account(folder, "a", 7)
    assert replay.notes.name == "a@7.notes.jsonl"
    assert not {home.records, home.screens} & {replay.records, replay.screens}
    assert JournalFiles.of(folder, "a") == replay  # the command line follows the desk
    assert JournalFiles.of_account(folder, "a", 5) == JournalFiles.of(folder, "a") == home


def test_the_caches_of_earlier_versions_are_removed_and_nothing_else(tmp_path: Path) -> None:
    files = JournalFiles.of(tmp_path / "journal", "a.b")
    (tmp_path / "journal").mkdir()
    old = [
        *("a.b.events", "a.b.events.mark", "a.b.events.lock", "a.b.excursions", "a.b.paths"),
        *("a.b.excursions.lock", "a.b.paths.lock"),
    ]
    for name in (*old, "a.b.notes.jsonl", "a.events"):
        (tmp_path / "journal" / name).touch()
    files.remove_old_caches()
    left = {each.name for each in (tmp_path / "journal").iterdir()}
    assert left == {"a.b.notes.jsonl", "a.events"}
