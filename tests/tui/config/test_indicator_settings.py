"""The indicators of templates.toml: read by instrument, written without losing anything else."""

from pathlib import Path

import pytest

from keydesk.calc.market.indicator_specs import IndicatorChoice, parse_indicators
from keydesk.config.templates import load_templates, save_indicators, try_to_save_indicators
from keydesk.config.user_files import load_user_settings
from keydesk.settings.toml_text import BadSettings

OWN = """# my sizes
[sizes]
1 = 500  # small

[indicators]
default = ["ema 20", "ema 50"]  # everywhere
EUR_USD = ["bb 20 2", "rsi 14"]
"""


def written(folder: Path, text: str) -> Path:
    (folder / "templates.toml").write_text(text, encoding="utf-8")
    return folder


def content(folder: Path) -> str:
    return (folder / "templates.toml").read_text(encoding="utf-8")


def test_indicators_are_read_by_instrument(tmp_path: Path) -> None:
    assert load_user_settings(written(tmp_path, OWN)).indicators == {
        "default": parse_indicators(("ema 20", "ema 50")),
        "EUR_USD": parse_indicators(("bb 20 2", "rsi 14")),
    }
    assert load_user_settings(tmp_path).indicators == load_user_settings(tmp_path).indicators


def test_without_a_file_there_are_none(tmp_path: Path) -> None:
    assert load_user_settings(tmp_path).indicators == {}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("indicators = 3", "indicators must be a table, [indicators]"),
        ("[indicators]\nEUR_USD = 'ema 20'", "indicators.EUR_USD must be a list of texts"),
        ("[indicators]\nEUR_USD = [20]", "indicators.EUR_USD must be a list of texts"),
        ("[indicators]\ndefault = ['vwap']", "indicators.default: 'vwap' is not an indicator"),
        ("[indicators]\ndefault = ['ema']\nX_Y = ['rsi 0']", "indicators.X_Y: 'rsi 0': a period"),
    ],
)
def test_bad_text_is_named_with_file_and_remedy(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadSettings) as refusal:
        load_user_settings(written(tmp_path, text))
    assert words in str(refusal.value)
    assert "templates.toml" in str(refusal.value)


def test_a_choice_is_read_again_as_it_was_saved(tmp_path: Path) -> None:
    specs = parse_indicators(("ema 9", "bb 20 2.5", "macd", "pivots"))
    save_indicators(tmp_path, IndicatorChoice("GBP_JPY", specs))
    assert load_user_settings(tmp_path).indicators == {"GBP_JPY": specs}


def test_saving_changes_one_list_and_keeps_the_rest_with_its_comments(tmp_path: Path) -> None:
    choice = IndicatorChoice("EUR_USD", parse_indicators(("atr 14",)))
    save_indicators(written(tmp_path, OWN), choice)
    assert content(tmp_path) == OWN.replace('["bb 20 2", "rsi 14"]', '["atr 14"]')
    assert load_templates(tmp_path).standard.sizes[1] == 500


def test_no_indicators_are_a_choice_too(tmp_path: Path) -> None:
    save_indicators(written(tmp_path, OWN), IndicatorChoice("EUR_USD", ()))
    assert load_user_settings(tmp_path).indicators["EUR_USD"] == ()


def test_a_choice_for_all_takes_away_the_instruments_own(tmp_path: Path) -> None:
    specs = parse_indicators(("sma 200",))
    save_indicators(written(tmp_path, OWN), IndicatorChoice("EUR_USD", specs, everywhere=True))
    assert load_user_settings(tmp_path).indicators == {"default": specs}


@pytest.mark.parametrize("text", ["[indicators", "indicators = 3\n"])
def test_a_file_that_cannot_be_read_is_named_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadSettings, match=r"templates\.toml"):
        save_indicators(written(tmp_path, text), IndicatorChoice("EUR_USD", ()))
    assert content(tmp_path) == text
    assert "templates.toml" in try_to_save_indicators(tmp_path, IndicatorChoice("EUR_USD", ()))


def test_a_folder_that_takes_no_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "file" in try_to_save_indicators(
        tmp_path / "file" / "config", IndicatorChoice("EUR_USD", ())
    )
    assert not try_to_save_indicators(tmp_path / "config", IndicatorChoice("EUR_USD", ()))
