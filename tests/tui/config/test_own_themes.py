"""Themes of the user's own: what they change of another, and refusals that name file, line, colours and contrast."""

from pathlib import Path

import pytest

from keydesk.config.own_themes import MAX_THEMES, load_own_themes
from keydesk.settings import theme_data
from keydesk.settings.theme_data import LEAST_CONTRAST, TEXT_ON, contrast, too_faint
from keydesk.widgets import theme
from keydesk.widgets.theme import Depth

DEEP: tuple[Depth, ...] = ("truecolor", "256")


def themes_in(folder: Path, **texts: str) -> Path:
    (folder / "themes").mkdir()
    for name, text in texts.items():
        (folder / "themes" / f"{name.replace('_', '-')}.toml").write_text(text)
    return folder


def test_a_theme_changes_another_one_and_keeps_the_rest(tmp_path: Path) -> None:
    text = 'base = "light"\n[colours]\nprofit = "#005a00"\n[colours-16]\nprofit = "ansi_blue"\n[weights]\nprofit = "bold underline"\n'
    own = load_own_themes(themes_in(tmp_path, my_own=text))
    assert (own.names, dict(own.troubles)) == (
        ("colour-blind", "dark", "light", "mono", "my-own"),
        {},
    )
    for depth in DEEP:
        drawn = theme.load("my-own", depth, own.themes)
        assert (drawn.colours["profit"], drawn.dark) == ("#005a00", False)
        assert drawn.colours["loss"] == theme.load("light", depth).colours["loss"]
        assert drawn.weights["profit"] == "bold underline"
    assert theme.load("my-own", "16", own.themes).colours["profit"] == "ansi_blue"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '[colours]\nbid = "#ffffff"\nprofit = "#202020"\n',
            "mine.toml:3: colours.profit #202020 on background #0c0f14 has a contrast of 1.18, text needs 4.5",
        ),
        (
            '[colours]\nbackground = "#777777"\n',
            "mine.toml:2: colours.bright #ffffff on background #777777 has a contrast of 4.48",
        ),
        (
            '[colours]\nlive = "#ff8888"\n',
            "mine.toml:2: colours.live-text #ffffff on live #ff8888 has a contrast of 2.",
        ),
        (
            '[colours-256]\nloss = "#303030"\n',
            "mine.toml:2: colours-256.loss #303030 on background #080808",
        ),
        (
            '[colours]\nprofitt = "#202020"\n',
            "mine.toml:2: colours.profitt is not known; did you mean profit?",
        ),
        (
            '[colours]\nprofit = "red"\n',
            'mine.toml:2: colours.profit must be a colour in quotes, such as profit = "#7fdd9c"',
        ),
        ('[colours-16]\nprofit = "#00ff00"\n', 'such as profit = "ansi_bright_green"'),
        ('[weights]\nprofit = "fat"\n', "weights.profit must be one or more of bold, dim"),
        ('base = "mono"\n', "mine.toml:1: base must be dark, light or colour-blind"),
        ("[colours\n", "mine.toml:1 is not valid TOML"),
    ],
)
def test_what_cannot_be_read_or_used_is_refused_with_names_and_numbers(
    tmp_path: Path, text: str, said: str
) -> None:
    own = load_own_themes(themes_in(tmp_path, mine=text))
    assert dict(own.themes) == {}
    assert said in own.troubles["mine"]
    assert own.trouble_with("mine", tmp_path) == own.troubles["mine"]


def test_names_of_the_program_and_names_that_cannot_be_typed_are_refused(tmp_path: Path) -> None:
    themes_in(tmp_path, dark="", Big="", good="")
    own = load_own_themes(tmp_path)
    assert list(own.themes) == ["good"]
    assert "dark comes with Keydesk; give the file another name" in own.troubles["dark"]
    assert "small letters, digits and -" in own.troubles["Big"]
    assert own.trouble_with("dark", tmp_path) == "", "the desk opens with its own"


def test_a_theme_that_would_be_read_for_minutes_is_refused_at_once(tmp_path: Path) -> None:
    themes_in(tmp_path, slow="a." * 100_000 + "b = 1")
    assert "slow.toml has more than 64 kB" in load_own_themes(tmp_path).troubles["slow"]


def test_themes_that_are_too_many_are_said(tmp_path: Path) -> None:
    themes_in(tmp_path, **{f"t{number:02}": "" for number in range(60)})
    own = load_own_themes(tmp_path)
    assert len(own.themes) == MAX_THEMES
    assert own.troubles == {
        "t50": f"{tmp_path}/themes/t50.toml: only the first 50 themes are read; move others away"
    }


def test_an_unknown_theme_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('fps = 5\ntheme = "sepia"\n')
    why = load_own_themes(tmp_path).trouble_with("sepia", tmp_path)
    assert 'config.toml:2: theme "sepia" is not known; there are: colour-blind, dark' in why


def test_a_folder_that_is_missing_or_a_file_has_no_themes(tmp_path: Path) -> None:
    assert dict(load_own_themes(tmp_path).themes) == {}
    (tmp_path / "themes").write_text("")
    assert dict(load_own_themes(tmp_path).themes) == {}


@pytest.mark.parametrize("name", ["colour-blind", "dark", "light"])
@pytest.mark.parametrize("depth", DEEP)
def test_the_themes_of_the_program_hold_what_is_asked_of_others(name: str, depth: Depth) -> None:
    colours = theme.load(name, depth).colours
    assert list(too_faint(colours)) == []
    assert min(contrast(colours[one], colours[other]) for one, other in TEXT_ON) >= LEAST_CONTRAST


def test_the_ratio_of_contrast_is_that_of_wcag() -> None:
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.478, abs=0.001)
    assert contrast("#0000ff", "#ffffff") == pytest.approx(8.592, abs=0.001)
    assert theme_data.names() == ("colour-blind", "dark", "light", "mono")
