"""Profiles written into a settings file that belongs to somebody else."""

import stat
from pathlib import Path

import pytest

from keydesk.config import settings as config
from keydesk.config.settings import load_settings
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import PRACTICE_MARKET
from keydesk_client.auth.profiles import Profile

LIVE = Profile("main", "live", "001-1", kept_in="native")
CUSTOM = Profile("lab", "custom", "101-1", "https://r.test", "https://s.test")


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    for profile in (LIVE, CUSTOM):
        config.save_profile(tmp_path / "new", profile)
    assert load_settings(tmp_path / "new").profiles == {"main": LIVE, "lab": CUSTOM}
    assert stat.S_IMODE((tmp_path / "new" / "config.toml").stat().st_mode) == 0o600


def test_the_last_profile_is_remembered_until_it_is_gone(tmp_path: Path) -> None:
    config.save_profile(tmp_path, LIVE)
    config.save_profile(tmp_path, CUSTOM)
    config.save_last_profile(tmp_path, "main")
    config.delete_profile(tmp_path, "lab")
    assert load_settings(tmp_path).last_profile == "main"
    config.delete_profile(tmp_path, "main")
    assert load_settings(tmp_path).last_profile == PRACTICE_MARKET
    assert load_settings(tmp_path).profiles == {}


def test_comments_and_other_settings_stay(tmp_path: Path) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(
        'fps = 4  # slow link\n\n[profiles.old]  # the first\nenvironment = "live"\n'
        'account = "1"\ntoken_store = "vault"\n'
    )
    config.save_profile(tmp_path, LIVE)
    assert "fps = 4  # slow link" in settings.read_text()
    assert "[profiles.old]  # the first" in settings.read_text()
    assert set(load_settings(tmp_path).profiles) == {"old", "main"}


def test_a_linked_settings_file_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "dotfiles" / "keydesk.toml").write_text("fps = 4\n")
    link = tmp_path / "home" / "config.toml"
    link.symlink_to(tmp_path / "dotfiles" / "keydesk.toml")
    config.save_profile(tmp_path / "home", LIVE)
    assert link.is_symlink()
    assert load_settings(tmp_path / "home").profiles == {"main": LIVE}


def test_a_file_that_is_no_toml_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("fps = ")
    with pytest.raises(BadSettings, match="fix it"):
        config.save_profile(tmp_path, LIVE)
    assert (tmp_path / "config.toml").read_text() == "fps = "


def test_a_file_that_is_no_text_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b"fps = 4\n# caf\xe9\n")
    with pytest.raises(BadSettings, match="is not UTF-8 at line 2"):
        config.save_profile(tmp_path, LIVE)
    assert (tmp_path / "config.toml").read_bytes() == b"fps = 4\n# caf\xe9\n"
