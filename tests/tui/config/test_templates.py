"""Named templates: read with every field, refused by file, field and remedy, exported and imported as TOML."""

from decimal import Decimal
from pathlib import Path

import pytest
from msgspec.structs import replace

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.ticket_settings import STANDARD, Template
from keydesk.config.folders import TEMPLATES_FILE
from keydesk.config.templates import export_templates, import_templates, load_templates
from keydesk.config.user_files import load_user_settings
from keydesk.settings.toml_text import BadSettings

D = Decimal
SCALP = """
[templates.scalp]
type = "limit"
size = "0.5%"
stop = "10p"
stop_required = true
target = "1.5r"
trail = "1.5a"
expiry = "GFD"
break_even_offset_pips = 0.5

[instruments]
USD_JPY = "scalp"
"""


def written(folder: Path, text: str) -> Path:
    (folder / TEMPLATES_FILE).write_text(text, encoding="utf-8")
    return folder


def test_a_template_has_every_rule_of_a_ticket(tmp_path: Path) -> None:
    own = load_user_settings(written(tmp_path, SCALP))
    scalp = own.templates.of("USD_JPY", own.template)
    assert (scalp.name, scalp.kind, scalp.expiry) == ("scalp", "LIMIT", "GFD")
    assert (scalp.size, scalp.stop_pips, scalp.stop_required) == (
        Entry("0.5", "risk %"),
        D(10),
        True,
    )
    assert (scalp.target_r, scalp.trail_atr) == (D("1.5"), D("1.5"))
    assert scalp.break_even_offset_pips == D("0.5")
    assert own.templates.of("EUR_USD", own.template) is own.template
    assert own.templates.names == (STANDARD, "scalp")
    assert own.templates.following("scalp") == STANDARD


def test_what_a_template_leaves_out_is_the_standard_ones(tmp_path: Path) -> None:
    own = load_user_settings(
        written(tmp_path, "[template]\nstop_pips = 33\n[templates.swing]\ntarget = false\n")
    )
    swing = own.templates.get("swing", own.template)
    assert (swing.stop_pips, swing.target_entry) == (D(33), Entry("", "R"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "[templates.scalp]\nstip = 1",
            "templates.toml:2: templates.scalp.stip is not known; did you mean stop? there are: ",
        ),
        ('[templates.scalp]\ntype = "fok"', "templates.scalp.type must be one of: market"),
        ('[templates.scalp]\nstop = "1.5"', 'stop = "20p"'),
        ('[templates.scalp]\nstop = "0p"', "above 0"),
        ('[templates.scalp]\nsize = "50x"', "size: 50x is not valid"),
        ('[templates.scalp]\nsize = "1.0850"\ntype = 1', "templates.scalp.type must be one of"),
        ('[templates.scalp]\ntarget = "1.0900"', 'must be "2r"'),
        ('[templates.scalp]\nexpiry = "GTC"', "templates.scalp.expiry must be one of: FOK, IOC"),
        ("[templates.scalp]\nstop = false", "target is in R, which needs a stop"),
        ("[templates.scalp]\nbound_pips = -1", "must be a number, 0 or above"),
        ('[templates.scalp]\nstop_required = "yes"', "must be true or false"),
        ("[templates.standard]\n", "is not standard"),
        ('[instruments]\nEUR_USD = "scalp"', "must name a template, one of: standard"),
    ],
)
def test_a_mistake_names_file_field_and_remedy(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(BadSettings, match=TEMPLATES_FILE) as caught:
        load_user_settings(written(tmp_path, text))
    assert words in str(caught.value)


def test_what_is_exported_is_imported_and_the_rest_of_the_file_stays(tmp_path: Path) -> None:
    mine, yours = tmp_path / "mine", tmp_path / "yours"
    mine.mkdir()
    yours.mkdir()
    written(mine, SCALP)
    written(yours, '# my sizes\n[sizes]\n1 = 2000\n[templates.swing]\nstop = "60p"\n')
    shared = tmp_path / "shared.toml"
    shared.write_text(export_templates(mine), encoding="utf-8")
    assert import_templates(yours, shared) == ("scalp",)
    own = load_user_settings(yours)
    assert own.templates.names == (STANDARD, "swing", "scalp")
    theirs = load_user_settings(mine).templates.get("scalp", Template())
    taken = own.templates.get("scalp", Template())
    assert replace(taken, sizes=theirs.sizes) == theirs, (
        "the sizes of the presets are no part of it"
    )
    assert "# my sizes" in (yours / TEMPLATES_FILE).read_text(encoding="utf-8")


def test_a_file_without_templates_is_not_imported(tmp_path: Path) -> None:
    empty = tmp_path / "empty.toml"
    empty.write_text("", encoding="utf-8")
    with pytest.raises(BadSettings, match="has no template"):
        import_templates(tmp_path, empty)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[templates.a]\nbound_pips = 1e999999999", "bound_pips must be a number"),
        (f"[templates.a]\nbound_pips = {'1' * 5_000}", "is not valid TOML"),
        (f"a = {'[' * 5_000}{']' * 5_000}", "is nested too deeply"),
        ('[templates.a]\nsize = "50k sl 5p"', "size must be a size such as"),
        ('[templates.a]\ntarget = "2r sl 5p"', 'target must be "2r"'),
        ('[templates.a]\nstop = "5p"\ntarget = "0r"', 'target must be "2r"'),
    ],
)
def test_a_hostile_file_is_refused_by_its_field_and_nothing_is_written(
    tmp_path: Path, text: str, why: str
) -> None:
    source = tmp_path / "theirs.toml"
    source.write_text(text, encoding="utf-8")
    with pytest.raises(BadSettings, match=r"theirs\.toml") as caught:
        import_templates(tmp_path, source)
    assert why in str(caught.value)
    assert not (tmp_path / TEMPLATES_FILE).exists()


def test_a_template_that_does_not_agree_with_the_own_standard_one_is_not_imported(
    tmp_path: Path,
) -> None:
    """The desk would refuse its own file at the next start."""
    written(tmp_path, "[template]\nstop_pips = false\n")
    source = tmp_path / "theirs.toml"
    source.write_text('[templates.a]\ntarget = "3r"\n', encoding="utf-8")
    own = load_templates(tmp_path).standard
    with pytest.raises(BadSettings, match="target is in R, which needs a stop"):
        import_templates(tmp_path, source, own)


@pytest.mark.parametrize("name", ['["scalp"]', "5", "{ a = 1 }"])
def test_an_instrument_names_its_template_in_words_only(tmp_path: Path, name: str) -> None:
    written(tmp_path, f"{SCALP}\nEUR_USD = {name}\n")
    with pytest.raises(BadSettings, match=r"instruments\.EUR_USD must name a template"):
        load_user_settings(tmp_path)


def test_only_the_named_templates_are_exported(tmp_path: Path) -> None:
    folder = written(tmp_path, SCALP)
    assert "instruments" not in export_templates(folder, ("scalp",))
    with pytest.raises(BadSettings, match="there is no template 'swing'"):
        export_templates(folder, ("swing",))


EXITS = """
[templates.scalp]
break_even_at = "1r"
break_even_offset_pips = 1
step_trail = "1.5r 1a 5p"
time_stop = "4h"
"""


def test_a_template_has_an_exit_plan(tmp_path: Path) -> None:
    own = load_user_settings(written(tmp_path, EXITS))
    rules = own.templates.get("scalp", own.template).exit_rules
    assert rules.text == (
        "break-even +1p at 1R, trail from 1.5R 1a behind in steps of 5p, close after 240 min"
    )
    assert own.template.exit_rules.is_empty


def test_the_standard_template_has_one_and_a_named_one_leaves_parts_of_it_out(
    tmp_path: Path,
) -> None:
    text = (
        '[template]\nbreak_even_at = "20p"\ntime_stop = "90m"\n[templates.a]\ntime_stop = false\n'
    )
    own = load_user_settings(written(tmp_path, text))
    assert own.template.exit_rules.text == "break-even at 20p, close after 90 min"
    assert own.templates.get("a", own.template).exit_rules.text == "break-even at 20p"


@pytest.mark.parametrize(
    ("line", "remedy"),
    [
        ('break_even_at = "1"', "1.5a"),
        ("break_even_at = 1", "1.5a"),
        ('break_even_at = "0r"', "1.5a"),
        ('step_trail = "1r 20p"', "so far behind, in such steps"),
        ('step_trail = "1r 20p x"', "so far behind, in such steps"),
        ('time_stop = "4"', "90m"),
        ('time_stop = "0h"', "90m"),
        ("time_stop = 4", "90m"),
        ('stop = false\nbreak_even_at = "1r"\ntarget = "20p"', "needs a stop"),
    ],
)
def test_an_exit_plan_that_cannot_be_read_names_the_field_and_the_remedy(
    tmp_path: Path, line: str, remedy: str
) -> None:
    with pytest.raises(BadSettings) as refused:
        load_user_settings(written(tmp_path, f"[templates.scalp]\n{line}\n"))
    assert "templates.scalp" in str(refused.value)
    assert remedy in str(refused.value)


def test_a_template_has_a_scale_out(tmp_path: Path) -> None:
    own = load_user_settings(
        written(tmp_path, '[templates.thirds]\nscale_out = "33/33/34 1r 2.5r"\n')
    )
    thirds = own.templates.get("thirds", own.template)
    assert thirds.scale_out.text == "33/33/34 1r 2.5r"
    assert thirds.target_entry == Entry("", "R"), "the scale-out has the targets"


@pytest.mark.parametrize(
    "text",
    [
        *("", "33/33/34", "33/33/34 1r", "33/33/34 1r 2r 3r", "50/40 1r", "0/100 1r", "100"),
        *("33/33/34 2r 1r", "33/33/34 1r 1r", "50/50 0r", "50/50 1p", "a/b 1r", "50/50/ 1r"),
    ],
)
def test_a_scale_out_that_cannot_be_read_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadSettings, match=r"templates\.thirds\.scale_out"):
        load_user_settings(written(tmp_path, f'[templates.thirds]\nscale_out = "{text}"\n'))


def test_a_scale_out_without_a_stop_is_refused(tmp_path: Path) -> None:
    text = '[templates.thirds]\nstop = false\ntarget = false\nscale_out = "50/50 1r"\n'
    with pytest.raises(BadSettings, match="needs a stop"):
        load_user_settings(written(tmp_path, text))
