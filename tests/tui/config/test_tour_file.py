"""The file that keeps whether the tour was ended."""

from pathlib import Path

from keydesk.config.tour_file import BEGUN, ENDED, TourFile


def test_the_tour_begins_where_no_desk_was_before(tmp_path: Path) -> None:
    assert TourFile.of(tmp_path / "desk").begins
    assert TourFile.of(tmp_path).begins


def test_it_does_not_begin_for_a_trader_whose_desk_is_older_than_the_tour(tmp_path: Path) -> None:
    (tmp_path / "practice-market.json").write_text("{}")
    assert not TourFile.of(tmp_path).begins


def test_it_comes_back_until_it_was_ended(tmp_path: Path) -> None:
    file = TourFile.of(tmp_path / "desk")
    assert file.write(BEGUN) == ""
    (tmp_path / "desk" / "practice-market.json").write_text("{}")
    assert TourFile.of(tmp_path / "desk").begins
    assert file.write(ENDED) == ""
    assert not TourFile.of(tmp_path / "desk").begins


def test_a_file_that_cannot_be_read_or_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "desk").write_text("a file where the folder should be")
    file = TourFile.of(tmp_path / "desk")
    assert not file.begins
    assert str(tmp_path) in file.write(ENDED)
