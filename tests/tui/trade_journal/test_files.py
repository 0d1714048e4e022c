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
