"""Every file of settings that the desk writes: what is the trader's in it stays, and a read-only one is not touched."""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.market.watchlists import Watchlist, Watchlists
from keydesk.config import price_levels, settings, watchlists, workspaces
from keydesk.config.limits import LimitChange, save_limit
from keydesk.settings.toml_text import BadSettings
from keydesk_client.auth.private_files import make_folders
from keydesk_client.auth.profiles import Profile, load_profile
from support.signing_in import Home

Write = Callable[[Path], object]
ADDED = Watchlist("Added", ("EUR_USD",))
WRITES: dict[str, tuple[str, Write]] = {
    "a value": ("config.toml", lambda folder: settings.save_value(folder, "theme", "light")),
    "a profile": (
        "config.toml",
        lambda folder: settings.save_profile(folder, Profile("main", "live", "001-1")),
    ),
    "a limit": (
        "templates.toml",
        lambda folder: save_limit(folder, LimitChange("hard_units", Decimal(5))),
    ),
    "a level": (
        "levels.toml",
        lambda folder: price_levels.save_level(
            folder, "EUR_USD", PriceLevel("low", Decimal("1.08")), ""
        ),
    ),
    "a list": (
        "watchlists.toml",
        lambda folder: watchlists.WatchlistFile(folder).change(
            lambda before: Watchlists((*before.lists, ADDED))
        ),
    ),
    "a bookmark": (
        "workspaces.toml",
        lambda folder: workspaces.save_bookmark(folder, "a", "EUR_USD"),
    ),
}
every_write = pytest.mark.parametrize(("name", "write"), WRITES.values(), ids=WRITES)


@every_write
def test_a_read_only_file_is_refused_in_words_and_keeps_content_and_mode(
    tmp_path: Path, name: str, write: Write
) -> None:
    path = tmp_path / name
    path.write_text("# mine\n")
    path.chmod(0o400)
    with pytest.raises(BadSettings, match=rf"{name} is read-only \(mode 0400\).*chmod u\+w"):
        write(tmp_path)
    assert path.read_text() == "# mine\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert [each.name for each in tmp_path.iterdir()] == [name]


@every_write
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o660])
def test_a_file_and_the_target_of_a_link_keep_their_mode(
    tmp_path: Path, name: str, write: Write, mode: int
) -> None:
    target, folder = tmp_path / "elsewhere.toml", tmp_path / "home"
    folder.mkdir()
    target.write_text("# mine\n")
    target.chmod(mode)
    (folder / name).symlink_to(target)
    write(folder)
    assert (folder / name).is_symlink()
    assert target.read_text().startswith("# mine\n")
    assert len(target.read_text()) > len("# mine\n")
    assert stat.S_IMODE(target.stat().st_mode) == mode


@every_write
@pytest.mark.parametrize("mark", [b"", BOM_UTF8])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_line_ends_and_a_byte_order_mark_stay(
    tmp_path: Path, name: str, write: Write, end: str, mark: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(mark + f"# mine{end}{end}# and this{end}".encode())
    write(tmp_path)
    content = path.read_bytes()
    assert content.startswith(mark + f"# mine{end}".encode())
    assert content.count(b"\n") > 3
    assert content.count(b"\r\n") == (content.count(b"\n") if end == "\r\n" else 0)


def test_a_profile_is_read_from_a_file_with_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(BOM_UTF8)
    settings.save_profile(tmp_path, Profile("main", "live", "001-1"))
    assert load_profile("main", tmp_path).account_id == "001-1"


@pytest.mark.e2e
def test_login_and_logout_refuse_a_read_only_file_before_the_token_is_asked_for(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path / "home")
    home.folder.mkdir(mode=0o700)
    path = home.folder / "config.toml"
    path.write_text('[profiles.main]\nenvironment = "live"\naccount = "1"\ntoken_store = "vault"\n')
    path.chmod(0o400)
    for words in (("login", "main"), ("logout", "main")):
        done = home.run(*words)
        assert (done.returncode, "is read-only" in done.stderr) == (1, True)
    assert [each.name for each in home.folder.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_every_folder_that_is_made_is_for_its_owner_alone(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        make_folders(tmp_path / ".local" / "state" / "keydesk")
    finally:
        os.umask(before)
    made = [each for each in tmp_path.rglob("*") if each.is_dir()]
    assert len(made) == 3
    assert {stat.S_IMODE(each.stat().st_mode) for each in made} == {0o700}
