"""The limits in `templates.toml`: read for every instrument and for one, and written without touching the rest."""

from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.config.limits import LimitChange, save_limit, try_to_save_limit, with_limit
from keydesk.config.templates import load_templates
from keydesk.settings.toml_text import BadSettings

D = Decimal
FILE = """# mine
[limits]
hard_units = 100000  # enough
daily_loss_percent = 3

[limits.XAU_USD]
hard_units = 50
soft_spread_pips = false
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "templates.toml").write_text(FILE)
    return tmp_path


def test_an_instrument_may_have_limits_of_its_own(folder: Path) -> None:
    limits = load_templates(folder).limits
    assert limits.of("EUR_USD").hard_units == D(100_000)
    assert limits.of("XAU_USD").hard_units == D(50)
    assert limits.of("XAU_USD").soft_spread_pips is None
    assert limits.of("XAU_USD").daily_loss_percent == D(3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[limits]\nhard_open_trades = 2.5", "limits.hard_open_trades must be a whole number"),
        ("[limits]\nsoft_leverage = false", "limits.soft_leverage must be a number above 0, such"),
        ("[limits]\ndaily_loss = -1", "limits.daily_loss must be a number above 0, or false"),
        ("[limits.EUR_USD]\ndaily_loss = 1", "limits.EUR_USD.daily_loss is not known; there are"),
        ("[limits.EUR_USD]\nhard_units = 0", "limits.EUR_USD.hard_units must be a number above 0"),
        (
            "[limits]\nhard_open_trades = 1e999999999",
            "limits.hard_open_trades must be a whole number",
        ),
        ("[limits]\nhard_units = nan", "limits.hard_units must be a number above 0"),
        ("[limits]\nhard_units = 1e-999999999", "limits.hard_units must be a number above 0"),
        ("[limits.eurusd]\nhard_units = 1", "limits.eurusd must be a number, or an instrument"),
    ],
)
def test_a_wrong_limit_is_named_with_the_remedy(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "templates.toml").write_text(text)
    with pytest.raises(BadSettings, match=r"templates\.toml") as caught:
        load_templates(tmp_path)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    "change",
    [
        LimitChange("hard_units", D(5_000)),
        LimitChange("hard_units", None),
        LimitChange("hard_spread_of_stop", D("0.3")),
        LimitChange("hard_units", D(70), "XAU_USD"),
        LimitChange("hard_units", None, "XAU_USD"),
        LimitChange("hard_risk_percent", D("0.5"), "EUR_USD"),
        LimitChange("slow_ms", D(250)),
    ],
)
def test_a_change_is_read_again_as_it_was_made(folder: Path, change: LimitChange) -> None:
    before = load_templates(folder).limits
    save_limit(folder, change)
    assert load_templates(folder).limits == with_limit(before, change)
    assert "# mine" in (folder / "templates.toml").read_text()


def test_a_file_that_cannot_be_changed_is_left_and_said(folder: Path) -> None:
    (folder / "templates.toml").write_text("limits = 5\n")
    assert "limits must be a table" in try_to_save_limit(folder, LimitChange("hard_units", D(1)))
    assert (folder / "templates.toml").read_text() == "limits = 5\n"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (LimitChange("hard_open_trades", D(2)), "Trades and entry orders: 2 trades"),
        (LimitChange("hard_open_trades", D(1)), "Trades and entry orders: 1 trade"),
        (LimitChange("hard_open_trades", None), "Trades and entry orders: off"),
        (LimitChange("hard_notional", D(250_000)), "Value of a trade: 250,000 USD"),
        (LimitChange("slow_ms", D(1)), "Round trip to the broker, asks: 1 ms"),
        (
            LimitChange("soft_risk_percent", D("0.5"), "EUR_USD"),
            "Risk of a trade, asks in EUR/USD: 0.5 % NAV",
        ),
        (
            LimitChange("hard_units", None, "XAU_USD"),
            "Units of a trade in XAU/USD: that of the account",
        ),
    ],
)
def test_a_change_is_told_in_the_words_of_the_page(change: LimitChange, words: str) -> None:
    assert change.words("USD") == words
