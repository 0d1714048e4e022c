"""Named workspaces and bookmarks in their file: read as written, and named where they make no sense."""

from pathlib import Path

import pytest

from keydesk.config.last_workspace import Workspace
from keydesk.config.workspaces import (
    FILE,
    WorkspacesFile,
    WorkspaceTable,
    delete_workspace,
    load_workspaces,
    save_bookmark,
    save_workspace,
)
from keydesk.settings.toml_text import BadSettings

SCALPING = WorkspaceTable.of(
    "s",
    Workspace(
        granularity="M1",
        fronts={"trades": "orders"},
        focused="chart",
        sorting="spread up live",
        watchlist="Yen “quoted”",
        filter="own /gj",
        zoomed="chart",
        charts=(("", "M5"), ("XAU_USD", ""), ("", "D")),
    ),
    ("ema 20", "rsi 14"),
)


def test_what_is_saved_is_read_again_and_comments_stay(tmp_path: Path) -> None:
    (tmp_path / FILE).write_text("# my own words\n", encoding="utf-8")
    save_workspace(tmp_path, "scalping", SCALPING)
    save_bookmark(tmp_path, "g", "GBP_USD")
    assert load_workspaces(tmp_path) == WorkspacesFile({"scalping": SCALPING}, {"g": "GBP_USD"})
    text = (tmp_path / FILE).read_text(encoding="utf-8")
    assert text.startswith("# my own words\n")
    assert "[workspaces.scalping]" in text
    assert 'timeframe = "M1"' in text
    delete_workspace(tmp_path, "scalping")
    assert load_workspaces(tmp_path) == WorkspacesFile({}, {"g": "GBP_USD"})


def test_a_missing_file_has_none(tmp_path: Path) -> None:
    assert load_workspaces(tmp_path) == WorkspacesFile()


def test_a_letter_stands_for_one_thing() -> None:
    saved = WorkspacesFile({"scalping": SCALPING}, {"c": "USD_CAD"})
    assert saved.name_of("s") == "scalping"
    assert saved.name_of("c") == ""
    assert saved.free_key("scales") == "a"
    assert saved.free_key("s") == "a"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("not toml", "is not valid TOML"),
        ("panes = 1", "panes is not known"),
        ("bookmarks = 1", "workspaces.toml:1: bookmarks must be a table, [bookmarks]"),
        ("[bookmarks]\nG = 'GBP_USD'", "bookmarks.G must be a letter"),
        ("[bookmarks]\ng = 'gbp \\u001b'", "bookmarks.g must be a letter"),
        ("[bookmarks]\ng = 5", "bookmarks.g must be a letter"),
        ("[workspaces]\nx = 5", "workspaces.x must be a table"),
        ("[workspaces.'a b']\nkey = 's'", "workspaces.a b must be a table"),
        ("[workspaces.x]", "workspaces.x.key is missing: it must be a small letter"),
        ("[workspaces.x]\nkey = 'S'", "workspaces.x.key must be a small letter"),
        ("[workspaces.x]\nkey = 's'\ntimeframe = 'M7'", "timeframe must be one of: S5"),
        ("[workspaces.x]\nkey = 's'\ntimeframe = ['M1']", "timeframe must be one of: S5"),
        ("[workspaces.x]\nkey = 's'\nvwap = 1", "workspaces.x.vwap is not known"),
        (
            "[workspaces.x]\nkey = 's'\npanes = { trades = 5 }",
            "workspaces.toml:3: workspaces.x.panes.trades must be names",
        ),
        ("[workspaces.x]\nkey = 's'\nlist = 5", "list must be text in quotes"),
        ("[workspaces.x]\nkey = 's'\nlist = \"a\\u001b\"", "list must be text in quotes"),
        ("[workspaces.x]\nkey = 's'\nindicators = ['vwap']", "workspaces.x.indicators: "),
        ("[workspaces.x]\nkey = 's'\nindicators = 5", "indicators must be texts"),
        ("[workspaces.x]\nkey = 's'\n[workspaces.y]\nkey = 's'", "is used twice"),
        ("[bookmarks]\ns = 'EUR_USD'\n[workspaces.y]\nkey = 's'", "is used twice"),
    ],
)
def test_a_bad_file_is_named_and_stays_as_it_is(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / FILE
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadSettings) as caught:
        load_workspaces(tmp_path)
    assert str(path) in str(caught.value)
    assert words in str(caught.value)
    with pytest.raises(BadSettings):
        save_workspace(tmp_path, "scalping", SCALPING)
    with pytest.raises(BadSettings):
        save_bookmark(tmp_path, "g", "GBP_USD")
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "charts", ["5", "[5]", "[['x']]", "[['\\\\u001b', 'M7']]", "[[5, 6]]", "[[['x'], ['M5']]]"]
)
def test_charts_that_make_no_sense_follow_the_desk(tmp_path: Path, charts: str) -> None:
    text = f"[workspaces.x]\nkey = 's'\ncharts = {charts}"
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    found = load_workspaces(tmp_path).workspaces["x"].workspace.charts
    assert set(found) <= {("", "")}
