"""watchlists.toml: what the desk writes it reads again, a bad line is named, and no other line is lost."""

from pathlib import Path

import pytest

from keydesk.calc.market import watchlists
from keydesk.calc.market.watchlists import (
    ALL,
    DEFAULT_COLUMNS,
    DEFAULT_WATCHLIST,
    ListError,
    Watchlist,
    Watchlists,
)
from keydesk.config.watchlists import FILE, WatchlistFile
from keydesk.settings.toml_text import BadSettings

OWN_TEXT = """\
# mine
[[lists]]
name = "Majors" # what I trade
instruments = ["EUR_USD", "XAU_USD"] # gold only at the other broker
"""


@pytest.fixture
def file(tmp_path: Path) -> WatchlistFile:
    return WatchlistFile(tmp_path / "config")


def text_of(file: WatchlistFile) -> str:
    return (file.folder / FILE).read_text(encoding="utf-8")


def written(file: WatchlistFile, text: str) -> WatchlistFile:
    file.folder.mkdir(exist_ok=True)
    (file.folder / FILE).write_text(text, encoding="utf-8")
    return file


def test_without_a_file_there_is_the_list_of_everything(file: WatchlistFile) -> None:
    assert file.read() == Watchlists((DEFAULT_WATCHLIST,))
    assert not file.folder.exists()


def test_what_is_changed_is_read_again(file: WatchlistFile) -> None:
    file.change(watchlists.new("Majors", "EUR_USD"))
    file.change(watchlists.add("Majors", "GBP_USD"))
    file.change(watchlists.move("Majors", "GBP_USD", "EUR_USD"))
    file.change(watchlists.show_columns("Majors", ("atr", "bid")))
    after = file.change(watchlists.rename("Majors", "Zürich"))
    assert after == file.read()
    assert after.by_name("Zürich") == Watchlist("Zürich", ("GBP_USD", "EUR_USD"), ("bid", "atr"))


def test_the_columns_of_the_list_of_everything_are_kept(file: WatchlistFile) -> None:
    file.change(watchlists.show_columns(ALL, ("bid",)))
    assert file.read().lists == (Watchlist(ALL, (), ("bid",)),)


def test_comments_and_instruments_of_another_account_stay(file: WatchlistFile) -> None:
    written(file, OWN_TEXT)
    file.change(watchlists.add("Majors", "GBP_USD"))
    file.change(watchlists.new("Second"))
    file.change(watchlists.rename("Majors", "Mine"))
    text = text_of(file)
    assert "# mine" in text
    assert "XAU_USD" in text
    assert [each.name for each in file.read().lists] == [ALL, "Mine", "Second"]


def test_two_desks_change_the_same_file_and_nothing_is_lost(file: WatchlistFile) -> None:
    other = WatchlistFile(file.folder)
    file.change(watchlists.new("Mine"))
    other.change(watchlists.new("Theirs"))
    file.change(watchlists.add("Mine", "EUR_USD"))
    assert [each.name for each in other.read().lists] == [ALL, "Mine", "Theirs"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lists = 5", "lists must be tables, each under a line [[lists]]"),
        ("[[lists]]\n[[list]]", "watchlists.toml:2: list is not known; did you mean lists?"),
        ("[[lists]]\n", "watchlists.toml:1: lists[1].name is missing: it must be text in quotes"),
        ('[[lists]]\nname = ""', "a list needs a name"),
        ('[[lists]]\nname = "\\u001b[2J"', "a name has no control characters"),
        (
            '[[lists]]\nname = "A"\ninstrument = []',
            "watchlists.toml:3: lists[1].instrument is not known; did you mean instruments?",
        ),
        ('[[lists]]\nname = "A"\ninstruments = "EUR_USD"', "lists[1].instruments must be names"),
        ('[[lists]]\nname = "A"\ninstruments = ["\\u001b"]', "lists[1].instruments must be names"),
        (
            '[[lists]]\nname = "A"\ncolumns = ["vwap"]',
            "lists[1].columns: 'vwap' is not known; there are: bid",
        ),
        ('[[lists]]\nname = "A"\n[[lists]]\nname = "a"', "two lists are named"),
        ('[[lists]]\nname = "All"\ninstruments = ["EUR_USD"]', "All holds every instrument"),
        ("[[lists]", "is not valid TOML"),
    ],
)
def test_a_bad_file_is_named_and_never_written(file: WatchlistFile, text: str, words: str) -> None:
    written(file, text)
    with pytest.raises(BadSettings) as raised:
        file.read()
    assert words in str(raised.value)
    assert str(file.folder / FILE) in str(raised.value)
    with pytest.raises(BadSettings):
        file.change(watchlists.new("Mine"))
    assert text_of(file) == text


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (watchlists.new("MAJORS"), "there is a list MAJORS already"),
        (watchlists.new("all"), "there is a list all already"),
        (watchlists.new(" "), "a list needs a name"),
        (watchlists.new("x" * 21), "a name has at most 20 characters"),
        (watchlists.rename("Gone", "Mine"), "there is no list Gone any more"),
        (watchlists.rename(ALL, "Mine"), "All always holds every instrument"),
        (watchlists.delete(ALL), "All always holds every instrument"),
        (watchlists.add(ALL, "EUR_USD"), "All always holds every instrument"),
        (watchlists.move("Majors", "EUR_USD", "EUR_JPY"), "not in Majors any more"),
        (watchlists.show_columns("Gone", ()), "there is no list Gone any more"),
    ],
)
def test_a_change_that_makes_no_sense_changes_nothing(
    file: WatchlistFile, change: watchlists.Change, text: str
) -> None:
    written(file, OWN_TEXT)
    with pytest.raises(ListError, match=text):
        file.change(change)
    assert text_of(file) == OWN_TEXT


def test_an_instrument_moves_past_another_in_both_directions(file: WatchlistFile) -> None:
    file.change(watchlists.new("Mine", "A", "B", "C", "D"))

    def order(change: watchlists.Change) -> str:
        found = file.change(change).by_name("Mine")
        return "".join(found.instruments) if found else ""

    assert order(watchlists.move("Mine", "A", "C")) == "BCAD"
    assert order(watchlists.move("Mine", "D", "C")) == "BDCA"


def test_a_list_may_be_emptied_and_deleted_and_the_others_stay(file: WatchlistFile) -> None:
    written(file, OWN_TEXT)
    file.change(watchlists.new("Second"))
    file.change(watchlists.remove("Majors", "EUR_USD"))
    assert file.change(watchlists.remove("Majors", "XAU_USD")).by_name("Majors") == Watchlist(
        "Majors", (), DEFAULT_COLUMNS
    )
    assert [each.name for each in file.change(watchlists.delete("Majors")).lists] == [ALL, "Second"]


def test_a_file_behind_a_link_stays_behind_it(file: WatchlistFile, tmp_path: Path) -> None:
    elsewhere = tmp_path / "dotfiles.toml"
    elsewhere.write_text(OWN_TEXT, encoding="utf-8")
    file.folder.mkdir()
    (file.folder / FILE).symlink_to(elsewhere)
    file.change(watchlists.add("Majors", "GBP_USD"))
    assert (file.folder / FILE).is_symlink()
    assert "GBP_USD" in elsewhere.read_text(encoding="utf-8")


def test_a_file_that_cannot_be_written_is_an_error_of_the_system(file: WatchlistFile) -> None:
    written(file, OWN_TEXT)
    (file.folder / f"{FILE}.lock").mkdir()
    with pytest.raises(OSError, match="Is a directory"):
        file.change(watchlists.new("Mine"))
    assert text_of(file) == OWN_TEXT
