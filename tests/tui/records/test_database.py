"""The file of an account's records: private, shared, set aside where it is damaged."""

import sqlite3
from pathlib import Path

import pytest

from keydesk.records.database import MIGRATIONS, Database, set_aside
from keydesk.records.errors import DamagedRecords
from keydesk_client.errors import UnsafeFile

PUT = "INSERT INTO order_prices VALUES (?, ?)"


def file_of(folder: Path) -> Path:
    return folder / "records" / "main.sqlite"


def prices_of(database: Database) -> list[tuple[str, str]]:
    return list(database.connection.execute("SELECT id, price FROM order_prices"))


def test_the_file_and_those_beside_it_are_for_their_owner_alone(tmp_path: Path) -> None:
    database = Database(file_of(tmp_path))
    with database.change() as connection:
        connection.execute(PUT, ("1", "1.10"))
    files = list(file_of(tmp_path).parent.iterdir())
    assert len(files) == 3
    assert {each.stat().st_mode & 0o777 for each in files} == {0o600}
    assert file_of(tmp_path).parent.stat().st_mode & 0o777 == 0o700


def test_a_change_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    database = Database(file_of(tmp_path))

    def fail() -> None:
        with database.change() as connection:
            connection.execute(PUT, ("1", "1.10"))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert prices_of(database) == []


def test_two_desks_see_what_the_other_wrote_and_read_while_it_writes(tmp_path: Path) -> None:
    ours, theirs = Database(file_of(tmp_path)), Database(file_of(tmp_path))
    with ours.change() as connection:
        connection.execute(PUT, ("1", "1.10"))
        assert prices_of(theirs) == []
        with pytest.raises(BlockingIOError, match="another desk writes"), theirs.change_now():
            pytest.fail("two desks write at once")
    assert prices_of(theirs) == [("1", "1.10")]
    with theirs.change_now() as connection:
        connection.execute(PUT, ("2", "1.20"))
    assert len(prices_of(ours)) == 2


def test_what_is_written_beside_the_file_is_copied_into_it_and_its_room_used_again(
    tmp_path: Path,
) -> None:
    database, sizes = Database(file_of(tmp_path)), list[int]()
    for number in range(40):
        with database.change_now() as connection:
            connection.execute(PUT, (str(number), "1.10" * 2000))
        database.checkpoint()
        sizes.append(file_of(tmp_path).with_name("main.sqlite-wal").stat().st_size)
    assert max(sizes[5:]) <= max(sizes[:5])
    assert file_of(tmp_path).stat().st_size > 40 * 8000


@pytest.mark.parametrize("content", [b"\xff\x00" * 5000, b"SQLite format 3\x00" + b"\x01" * 5000])
def test_what_is_not_a_database_is_set_aside_and_said(tmp_path: Path, content: bytes) -> None:
    path = file_of(tmp_path)
    path.parent.mkdir(mode=0o700)
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(DamagedRecords, match=r"main\.sqlite: "):
        Database(path)
    said = set_aside(path, now_ns=7)
    aside = path.with_name("main.sqlite.damaged-7")
    assert f"they are kept as {aside}" in said
    assert aside.read_bytes() == content
    assert prices_of(Database(path)) == []


def test_a_file_that_another_desk_has_begun_anew_is_not_set_aside(tmp_path: Path) -> None:
    ours, theirs = Database(file_of(tmp_path)), Database(file_of(tmp_path))
    assert theirs.set_aside(1)
    Database(file_of(tmp_path))
    assert ours.set_aside(2) == ""
    assert file_of(tmp_path).exists()


def test_a_file_that_others_can_read_or_a_link_is_refused(tmp_path: Path) -> None:
    Database(file_of(tmp_path)).close()
    file_of(tmp_path).chmod(0o644)
    with pytest.raises(UnsafeFile, match="chmod 600"):
        Database(file_of(tmp_path))
    link = file_of(tmp_path).with_name("other.sqlite")
    link.symlink_to(file_of(tmp_path))
    with pytest.raises(UnsafeFile, match="symbolic link"):
        Database(link)


def test_the_file_of_a_newer_version_is_left_as_it_is(tmp_path: Path) -> None:
    Database(file_of(tmp_path)).close()
    with sqlite3.connect(file_of(tmp_path)) as connection:
        connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(UnsafeFile, match="a newer Keydesk"):
        Database(file_of(tmp_path))


def test_without_a_file_it_is_kept_in_memory() -> None:
    database = Database()
    with database.change_now() as connection:
        connection.execute(PUT, ("1", "1.10"))
        with pytest.raises(BlockingIOError, match="another thread writes"), database.change_now():
            pytest.fail("two changes at once")
    assert prices_of(database) == [("1", "1.10")]
