"""What replaces a file: the file of a link, never a pipe or a device, and never half of it."""

import os
import stat
import threading
from pathlib import Path

import pytest

from keydesk_client.auth.private_files import read_private, replace_file
from keydesk_client.errors import UnsafeFile


def test_a_file_is_replaced_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o644)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_the_target_of_a_link_is_written_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "target"
    target.write_text("old")
    (tmp_path / "second").symlink_to(target)
    link = tmp_path / "link"
    link.symlink_to("second")  # relative, and a link to a link
    replace_file(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert target.read_bytes() == b"new"
    assert not target.is_symlink()


def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    replace_file(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_links_in_a_circle_are_an_error_and_stay(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(link)
    with pytest.raises(OSError, match="Too many levels"):
        replace_file(link, b"new")
    assert link.is_symlink()


@pytest.mark.parametrize("by_link", [False, True])
def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path, by_link: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    path = tmp_path / "link" if by_link else pipe
    if by_link:
        path.symlink_to(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    replace_file(path, b"rows" * 50_000)  # more than a pipe holds at once
    reader.join(30)
    assert read == [b"rows" * 50_000]
    assert pipe.is_fifo()
    assert path.is_symlink() == by_link


def test_a_device_is_written_to_and_stays_a_device(tmp_path: Path) -> None:
    device = tmp_path / "null"
    try:
        os.mknod(device, stat.S_IFCHR | 0o600, os.makedev(1, 3))
        device.write_bytes(b"")
    except PermissionError:
        pytest.skip("only root makes devices, and only where the file system has them")
    replace_file(device, b"gone")
    assert device.is_char_device()
    assert [each.name for each in tmp_path.iterdir()] == ["null"]


def test_a_folder_is_no_file_to_replace(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        replace_file(tmp_path, b"new")


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_file_that_others_can_read_is_read_after_a_warning_where_one_is_taken(
    tmp_path: Path, mode: int
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"kept")
    path.chmod(mode)
    with pytest.raises(UnsafeFile, match="chmod 600"):
        read_private(path, 10)
    said: list[str] = []
    assert read_private(path, 10, said.append) == b"kept"
    assert any(f"{path} is accessible to others" in text for text in said)


def test_a_file_that_everybody_can_write_to_is_never_read(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"forged")
    path.chmod(0o666)
    said: list[str] = []
    with pytest.raises(UnsafeFile, match="chmod 600"):
        read_private(path, 10, said.append)
