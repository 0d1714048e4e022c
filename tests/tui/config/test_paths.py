import subprocess
from pathlib import Path

import pytest

from keydesk.config.folders import Folders, UnsafeFolder, find_folders, make_private
from keydesk.config.settings import profile_to_open
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import PRACTICE_MARKET, Settings


def test_xdg_folders_are_used_when_nothing_else_is_said() -> None:
    found = find_folders(None, {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "/s"})
    assert found == Folders(Path("/c/keydesk"), Path("/s/keydesk"))


def test_without_xdg_variables_the_folders_stand_under_home() -> None:
    found = find_folders(None, {"HOME": "/h"})
    assert found == Folders(Path("/h/.config/keydesk"), Path("/h/.local/state/keydesk"))


def test_a_relative_xdg_folder_is_ignored_as_the_standard_says() -> None:
    assert find_folders(None, {"HOME": "/h", "XDG_STATE_HOME": "s"}).state == Path(
        "/h/.local/state/keydesk"
    )


def test_the_data_option_wins_over_the_variable() -> None:
    assert find_folders("/d", {"KEYDESK_HOME": "/k"}).state == Path("/d")
    assert find_folders(None, {"KEYDESK_HOME": "/k"}).config == Path("/k")


@pytest.mark.parametrize("data", ["", " "])
def test_an_empty_data_option_is_not_the_own_folder(data: str) -> None:
    """A script's variable that is not set must not act on the real account."""
    with pytest.raises(UnsafeFolder, match="--data is empty"):
        find_folders(data, {"HOME": "/h"})


@pytest.mark.parametrize("name", ["", " "])
def test_an_empty_profile_is_not_the_last_one(name: str) -> None:
    settings = Settings(last_profile=PRACTICE_MARKET)
    with pytest.raises(BadSettings, match="--profile is empty"):
        profile_to_open(name, settings, practice=False)
    assert profile_to_open(None, settings, practice=False) is None


def test_a_private_folder_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    folder = Folders(tmp_path, tmp_path / "state").private("practice")
    assert folder.stat().st_mode & 0o777 == 0o700
    assert folder.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.e2e
def test_a_folder_open_to_others_is_refused_with_the_remedy(tmp_path: Path) -> None:
    folder = tmp_path / "open house"
    folder.mkdir()
    folder.chmod(0o755)
    with pytest.raises(UnsafeFolder, match="open house is open to others") as told:
        make_private(folder)
    text, _, remedy = str(told.value).partition(": ")
    assert str(folder) in text
    subprocess.run(["sh", "-c", remedy], check=True)  # as a person would paste it
    assert make_private(folder) == folder


@pytest.mark.parametrize(("mode", "file"), [(0o755, "letters.txt"), (0o1777, None), (0o2775, None)])
def test_a_folder_that_others_use_is_left_to_them(
    tmp_path: Path, mode: int, file: str | None
) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    if file:
        (folder / file).touch()
    with pytest.raises(UnsafeFolder, match=f"--data {folder}/keydesk") as told:
        make_private(folder)
    assert "chmod" not in str(told.value)
    assert make_private(folder / "keydesk")


def test_a_folder_that_cannot_be_made_is_refused_with_the_remedy(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(UnsafeFolder, match="choose another with --data"):
        make_private(file / "state")


@pytest.mark.parametrize(("mode", "warned"), [(0o700, 0), (0o755, 1), (0o770, 1), (0o707, 0)])
def test_an_exit_is_warned_of_a_folder_unless_everybody_can_write_to_it(
    tmp_path: Path, mode: int, warned: int
) -> None:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    folder.chmod(mode)
    said: list[str] = []
    if mode & 0o002:
        with pytest.raises(UnsafeFolder, match="a folder of your own"):
            make_private(folder, said.append)
    else:
        assert make_private(folder, said.append) == folder
    assert len(said) == warned
    assert all("chmod 700" in text for text in said)
