import os
from collections.abc import Callable
from pathlib import Path

import pytest

from keydesk.config.settings import load_settings
from keydesk.settings.toml_text import BadSettings, table_in
from keydesk.settings.values import PRACTICE_MARKET, Reconciliation
from keydesk_client.auth.profiles import Profile


def written(folder: Path, text: str) -> Path:
    (folder / "config.toml").write_text(text)
    return folder


def test_without_a_file_the_practice_market_is_the_last_profile(tmp_path: Path) -> None:
    assert load_settings(tmp_path).last_profile == PRACTICE_MARKET


def test_a_profile_is_read_whole(tmp_path: Path) -> None:
    folder = written(
        tmp_path,
        'last_profile = "main"\ntheme = "light"\nfps = 4\n'
        '[profiles.main]\nenvironment = "custom"\nrest_url = "https://r"\nstream_url = "https://s"\n'
        'account = "1-2"\ntoken_store = "native"\n',
    )
    settings = load_settings(folder)
    assert settings.profiles["main"] == Profile(
        "main", "custom", "1-2", "https://r", "https://s", "native"
    )
    assert (settings.last_profile, settings.theme, settings.frames_per_second) == (
        "main",
        "light",
        4,
    )


def test_how_often_what_is_unconfirmed_is_checked_can_be_set(tmp_path: Path) -> None:
    assert load_settings(tmp_path).reconciliation == Reconciliation()
    folder = written(tmp_path, "[reconciliation]\ncheck_every = 30\nlook_back = 600\n")
    assert load_settings(folder).reconciliation == Reconciliation(check_every=30, look_back=600)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "fps = 5\ntheme = \n",
            r"config.toml:2 is not valid TOML: Invalid value: a text stands between quotation marks",
        ),
        (
            'theme = "light\nfps = 5',
            r"config.toml:1 is not valid TOML: .*: a quotation mark is missing at the end",
        ),
        ("theme = 'light", "config.toml is not valid TOML: .*: a quotation mark is missing"),
        (
            'theme: "light"',
            "config.toml:1 is not valid TOML: .*: a setting is written as name = value",
        ),
        ("[profiles.main\n", r"config.toml:1 is not valid TOML: Expected '\]' at the end"),
        ("theme = 3", "theme must be text"),
        ("fps = 0", "fps must be a whole number from 1 to 30"),
        (
            'timezone = "Mars/Olympus"',
            r'config.toml:1: timezone "Mars/Olympus" is not known; name one such as timezone = "Europe/B',
        ),
        ('timezone = "../../../etc/passwd"', 'timezone "../../../etc/passwd" is not known'),
        ('timezone = "Europe"', 'timezone "Europe" is not known'),
        ('timezone = "\\u001b]0;x\\u0007\\u0000"', "is not known; name one such as"),
        ("timezone = 1", "timezone must be text"),
        ("fps = true", "fps must be a whole number from 1 to 30"),
        ("profiles = 1", "profiles must be tables"),
        ("reconciliation = 1", r"must be a table, \[reconciliation\]"),
        ("[reconciliation]\nlookback = 1", "not known; did you mean look_back"),
        (
            "[reconciliation]\ncheck_every = 0",
            "whole number of seconds from 1 to 3600, such as check_every = 10",
        ),
        ("[reconciliation]\ncheck_after = true", "check_after must be a whole number of seconds"),
        ('[reconciliation]\nlook_back = "1h"', "whole number of minutes from 1 to 10080"),
        ("[profiles]\nmain = 1", "profiles.main must be a table"),
        ('[profiles.main]\nenvironment = "demo"', "one of: practice, live, custom"),
        ('[profiles.main]\nenvironment = "live"', "account is missing: it must be text"),
        (
            '[profiles.main]\nenvironment = "custom"\naccount = "1"',
            "rest_url is missing: it must be text",
        ),
        ('[profiles.main]\nenvironment = "live"\nrest_url = "https://r"', "names an address"),
        (
            '[profiles.main]\nenvironment = "live"\naccount = "1"',
            "token_store is missing: it must be one of: native, vault",
        ),
        (
            'theme = "dark"\n\n[profiles.main]\nenvironment = "live"\naccount = "1"\n',
            r"config.toml:3: profiles.main.token_store is missing",
        ),
        (
            '[profiles.main]\nenvironment = "live"\naccount = "1"\ntoken_store = 1',
            r"config.toml:4: profiles.main.token_store must be one of",
        ),
    ],
)
def test_a_wrong_setting_is_named_with_its_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadSettings, match=words) as refusal:
        load_settings(written(tmp_path, text))
    assert "config.toml" in str(refusal.value)


def a_folder(path: Path) -> None:
    path.mkdir()


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_link_to_a_terminal(path: Path) -> None:
    path.symlink_to("/dev/ptmx")


def a_link_to_nothing(path: Path) -> None:
    path.symlink_to(path.with_name("missing"))


def a_text_in_latin_1(path: Path) -> None:
    path.write_bytes(b'theme = "dark"\n# caf\xe9\n')


def a_huge_file(path: Path) -> None:
    path.write_bytes(b"# x\n" * 1_250_000)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (a_folder, "is a folder; move it away: a file is expected there"),
        (a_pipe, "is a pipe or a socket; put a file there, or remove it"),
        (a_link_to_a_terminal, "is a device; put a file there, or remove it"),
        (a_link_to_nothing, "is a link to a file that is missing; put the file there"),
        (a_text_in_latin_1, "is not UTF-8 at line 2; save the file as UTF-8"),
        (a_huge_file, "has more than 4 MB; fix or remove it"),
    ],
)
@pytest.mark.parametrize("name", ["config.toml", "templates.toml", "keymap.toml"])
def test_what_is_no_file_of_settings_is_refused_with_the_remedy(
    make: Callable[[Path], None], text: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    make(path)
    with pytest.raises(BadSettings) as refused:
        table_in(path)
    assert str(refused.value).startswith(f"{path} {text}")


def test_lines_may_end_as_on_windows(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(b'theme = """light"""\r\nfps = 4\r\n')
    assert load_settings(tmp_path).frames_per_second == 4
