"""`keydesk config`: every file of settings is found, shown, checked and edited; documents and schemas name every key."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import keydesk
from keydesk.cli.arguments.config import FILES as NAMED
from keydesk.cli.runner import run
from keydesk.config.settings_files import FILES, settings_of

EVERYTHING = {
    "config.toml": """theme = "light"
fps = 4
timezone = "Europe/Berlin"
[profiles.main]
environment = "live"
account = "1-2"
token_store = "vault"
[reconciliation]
check_every = 30
[alerts]
notify = ["notify-send", "{title}"]
[alerts.kinds]
fill = ["bell"]
""",
    "templates.toml": """[sizes]
1 = 500
[template]
stop = "1.5a"
target_r = false
[limits]
daily_loss_percent = 3
[limits.XAU_USD]
hard_units = 50
[templates.scalp]
type = "limit"
size = "0.5%"
stop = "10p"
scale_out = "33/33/34 1r 2r"
step_trail = "1.5r 20p 5p"
[instruments]
USD_JPY = "scalp"
[indicators]
default = ["ema 20"]
""",
    "keymap.toml": 'zoom = "&"\n',
    "watchlists.toml": '[[lists]]\nname = "Majors"\ninstruments = ["EUR_USD"]\ncolumns = ["bid"]\n',
    "workspaces.toml": '[bookmarks]\ng = "GBP_USD"\n[workspaces.scalping]\nkey = "s"\ncharts = [["", "M5"]]\n',
    "levels.toml": '[[levels]]\ninstrument = "EUR_USD"\nname = "high"\nprice = "1.0830"\n'
    'since = "2026-11-27T08:00:00+00:00"\n',
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KEYDESK_HOME", str(tmp_path))
    for name, text in EVERYTHING.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_every_file_is_named_once_for_the_parsers_too() -> None:
    assert tuple(FILES) == NAMED == tuple(EVERYTHING)


@pytest.mark.parametrize("name", FILES)
def test_a_file_with_every_table_is_read_and_agrees_with_its_schema(
    folder: Path, name: str
) -> None:
    assert FILES[name].trouble(folder) == ""
    jsonschema.validate(tomllib.loads(EVERYTHING[name]), FILES[name].schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"thme": "light"}, FILES[name].schema)


@pytest.mark.parametrize("name", FILES)
def test_the_page_of_settings_says_what_each_key_is(name: str) -> None:
    assert all(each.about or each.must for each in settings_of(FILES[name].declaration()))


def test_what_is_wrong_is_said_with_file_line_and_the_key_that_was_meant(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "config.toml").write_text('theme = "dark"\nfsp = 4\n')
    assert run(["config", "check"]) == 2
    said = capsys.readouterr().out.splitlines()
    assert f"{folder / 'config.toml'}:2: fsp is not known; did you mean fps?" in said[0]
    assert said[1] == "templates.toml: ok"


@pytest.mark.usefixtures("folder")
def test_what_is_set_is_shown_and_the_rest_as_comments(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config", "show", "config.toml"]) == 0
    shown = capsys.readouterr().out
    assert tomllib.loads(shown) == tomllib.loads(EVERYTHING["config.toml"])
    assert "# reconciliation.look_back = 60" in shown
    assert "# theme" not in shown


def test_an_edited_file_is_checked_and_a_new_one_names_its_schema(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KEYDESK_HOME", str(tmp_path))
    monkeypatch.setenv("EDITOR", "sed -i '$afps = 99'")
    monkeypatch.delenv("VISUAL", raising=False)
    assert run(["config", "edit", "config.toml"]) == 2
    assert "config.toml:3: fps must be a whole number from 1 to 30" in capsys.readouterr().out
    head = (tmp_path / "config.toml").read_text().splitlines()[0]
    assert "fps" in json.loads(Path(head.removeprefix("#:schema ")).read_text())["properties"]
    monkeypatch.delenv("EDITOR")
    assert run(["config", "edit", "config.toml"]) == 1
    assert "set VISUAL or EDITOR" in capsys.readouterr().err


def test_themes_are_checked_and_one_that_is_chosen_must_be_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "themes").mkdir()
    (folder / "themes" / "mine.toml").write_text('[colours]\nprofit = "#00ff00"\n')
    assert run(["config", "check"]) == 0
    assert "themes/mine.toml: ok" in capsys.readouterr().out
    (folder / "themes" / "faint.toml").write_text('[colours]\nprofit = "#222222"\n')
    (folder / "config.toml").write_text('theme = "sepia"\n')
    assert run(["config", "check"]) == 2
    said = capsys.readouterr().out
    assert "faint.toml:2: colours.profit #222222 on background #0c0f14 has a contrast of" in said
    assert 'config.toml:1: theme "sepia" is not known; there are: colour-blind, dark' in said


def test_the_schema_of_themes_is_that_of_the_reader() -> None:
    path = Path(keydesk.__file__).parent / "shell" / "settings" / "theme.json"
    schema = json.loads(path.read_text())
    good = {"base": "light", "colours": {"tick-up": "#00ff00"}, "weights": {"bid": "bold"}}
    jsonschema.validate(good, schema)
    cases: list[object] = [
        {"colours": {"profit": "red"}},
        {"colour": {}},
        {"colours-16": {"bid": "#00ff00"}},
    ]
    for wrong in cases:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)
