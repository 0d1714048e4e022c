"""templates.toml: sizes, bracket and limits of the trader's own; a wrong field is named."""

from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.calc.orders.ticket_settings import Limits, Template
from keydesk.config.templates import load_templates
from keydesk.config.user_files import UserSettings, load_user_settings
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import OwnTemplates


def written(folder: Path, text: str) -> Path:
    (folder / "templates.toml").write_text(text, encoding="utf-8")
    return folder


def test_without_a_file_everything_is_as_usual(tmp_path: Path) -> None:
    assert load_templates(tmp_path) == OwnTemplates()
    assert load_user_settings(tmp_path) == UserSettings()


def test_a_distance_of_the_template_may_count_in_average_true_ranges(tmp_path: Path) -> None:
    text = '[template]\nstop = "1.5a"\ntrail = "30p"\n'
    template = load_templates(written(tmp_path, text)).standard
    assert (template.stop_atr, template.trail_atr) == (Decimal("1.5"), None)
    assert template.trail_pips == Decimal(30)


def test_what_is_named_changes_and_the_rest_stays(tmp_path: Path) -> None:
    text = (
        "[sizes]\n1 = 500\n3 = 34_046\n"
        "[template]\nrisk_percent = 0.5\nstop_pips = 12.5\ntarget_r = false\ntrail_pips = 30\n"
        "[limits]\nhard_units = 200000\nsoft_risk_percent = 1\nslow_ms = 250\n"
    )
    own = load_templates(written(tmp_path, text))
    template, limits = own.standard, own.limits
    assert template.sizes[1] == Decimal(500)
    assert template.sizes[2] == Template().sizes[2]
    assert template.sizes[3] == Decimal(34046)
    assert (template.risk_percent, template.stop_pips) == (Decimal("0.5"), Decimal("12.5"))
    assert (template.target_r, template.trail_pips) == (None, Decimal(30))
    assert limits == Limits(
        hard_units=Decimal(200_000), soft_risk_percent=Decimal(1), slow_ms=250.0
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "[size]\n1 = 2",
            "templates.toml:1: size is not known; did you mean sizes? there are: sizes, template, limits",
        ),
        ("sizes = 3", "sizes must be a table, [sizes]"),
        ("[sizes]\n10 = 2", "sizes.10 is not known"),
        ("[sizes]\n1 = 0", "sizes.1 must be a number above 0, such as 1 = 20"),
        ("[sizes]\n1 = false", "sizes.1 must be a number above 0, such as"),
        (
            "[template]\nstops = 20",
            "templates.toml:2: template.stops is not known; did you mean stop? there are: ",
        ),
        ("[template]\nstop = 20", 'stop = "20p" in pips, or stop = "1.5a" in average true ranges'),
        ("[template]\nstop = '1.5'", "template.stop must be a distance above 0 in quotes"),
        ("[template]\nstop = '0a'", "template.stop must be a distance above 0 in quotes"),
        ("[template]\ntrail = '1,5a'", "template.trail must be a distance above 0 in quotes"),
        (
            "[template]\nstop = '1a'\nstop_pips = 2",
            "template.stop and template.stop_pips: leave one",
        ),
        (
            "[template]\nstop_pips = '20'",
            "stop_pips must be a number above 0, or false to have none",
        ),
        ("[template]\nstop_pips = true", "stop_pips must be a number above 0"),
        ("[template]\nrisk_percent = -1", "risk_percent must be a number above 0"),
        ("[template]\nrisk_percent = inf", "risk_percent must be a number above 0"),
        ("[limits]\nhard = 1", "limits.hard is not known; there are: daily_loss, "),
        ("[limits]\nslow_ms = nan", "slow_ms must be a number above 0"),
    ],
)
def test_a_wrong_field_is_named_with_its_file_and_the_remedy(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(BadSettings) as refusal:
        load_templates(written(tmp_path, text))
    assert words in str(refusal.value)
    assert "templates.toml" in str(refusal.value)
