"""A change of a file counts once, when the file stands still."""

from pathlib import Path

from keydesk.config.file_watch import FileWatch


def test_what_was_there_at_the_start_is_no_change(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("fps = 5\n")
    watch = FileWatch([path, tmp_path / "missing"])
    assert [watch.changed(), watch.changed(), watch.is_unsettled] == [[], [], False]


def test_a_change_counts_once_and_only_when_the_file_stands_still(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    watch = FileWatch([path])
    path.write_text("f")
    assert watch.changed() == []
    path.write_text("fps = 5\n")
    assert watch.changed() == [], "it was written again meanwhile"
    assert watch.is_unsettled
    assert [watch.changed(), watch.changed()] == [[path], []]


def test_a_file_that_is_replaced_for_a_moment_is_read_as_it_is_then(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("fps = 5\n")
    watch = FileWatch([path])
    path.rename(tmp_path / "config.toml~")
    assert watch.changed() == []
    (tmp_path / "config.toml~").rename(path)
    assert [watch.changed(), watch.changed()] == [[], [path]]


def test_a_file_that_is_gone_and_one_that_is_a_folder_are_changes(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("fps = 5\n")
    watch = FileWatch([path, path / "below"])
    path.unlink()
    watch.changed()
    assert path in watch.changed()
    path.mkdir()
    watch.changed()
    assert path in watch.changed()
