"""Lines of a narrow column: broken at spaces, a number and its unit together."""

from collections.abc import Sequence
from decimal import Decimal

from keydesk.forms.modal_form import TextLine, fold_line, folded, signed_money

RISK: TextLine = (("risk ", "muted"), ("0.00 → 20.00", "plain"), (" 0.02", "warn"), (" %", "muted"))


def test_a_folded_line_keeps_a_number_and_its_unit_together() -> None:
    whole = "".join(text for text, _ in RISK)
    for width in range(7, len(whole)):
        lines = ["".join(text for text, _ in line) for line in fold_line(RISK, width)]
        assert " ".join(lines) == whole
        assert all(len(line) <= width for line in lines)
        assert not any(line.startswith("%") for line in lines), (width, lines)


def test_a_folded_line_keeps_its_roles() -> None:
    first, second = fold_line(RISK, 20)
    assert [role for _, role in first] == ["muted", "plain"]
    assert list(second) == [("0.02", "warn"), (" %", "muted")]


def words_of(lines: Sequence[TextLine]) -> list[str]:
    return ["".join(text for text, _ in line) for line in lines]


def test_a_folded_line_is_broken_at_its_gaps_first() -> None:
    line: TextLine = (("▲ BUY 10,000 EUR/USD", "buy"), (" ", "buy"), ("at market", "bright"))
    assert words_of(fold_line(line, 26)) == ["▲ BUY 10,000 EUR/USD", "at market"]
    assert words_of(fold_line(line, 8)) == ["▲ BUY", "10,000", "EUR/USD", "at", "market"]


def test_the_figures_of_a_narrow_sheet_are_folded_beside_their_label() -> None:
    line: TextLine = (
        ("margin ", "muted"),
        ("+15,119", "plain"),
        (" ", "plain"),
        ("closeout ", "muted"),
        ("8 %", "plain"),
    )
    assert words_of(folded(line, 26)) == ["margin +15,119", "       closeout 8 %"]
    assert words_of(folded(line, 18)) == ["margin +15,119", "closeout 8 %"]


def test_figures_below_a_label_stand_at_the_left_where_they_are_too_long() -> None:
    line: TextLine = (
        ("        ", "muted"),
        ("−7.07", "loss"),
        (" to Friday", "muted"),
        ("  ", "plain"),
        ("next 3 days", "plain"),
    )
    assert words_of(folded(line, 26)) == ["        −7.07 to Friday", "        next 3 days"]
    assert words_of(folded(line, 20)) == ["−7.07 to Friday", "next 3 days"]


def test_an_amount_that_rounds_to_nothing_has_the_colour_of_nothing() -> None:
    assert signed_money(Decimal("-0.004")) == ("0.00", "plain")
    assert signed_money(Decimal("-0.005001")) == ("−0.01", "loss")
