"""Lines of a narrow sheet: broken at spaces, a number and its unit together."""

from keydesk.forms.sheet import TextLine, fold_line

RISK: TextLine = (("risk ", "muted"), ("0.00 → 20.00", "plain"), (" 0.02", "warn"), (" %", "muted"))


def test_a_folded_line_keeps_a_number_and_its_unit_together() -> None:
    whole = "".join(words for words, _ in RISK)
    for width in range(7, len(whole)):
        lines = ["".join(words for words, _ in line) for line in fold_line(RISK, width)]
        assert " ".join(lines) == whole
        assert all(len(line) <= width for line in lines)
        assert not any(line.startswith("%") for line in lines), (width, lines)


def test_a_folded_line_keeps_its_roles() -> None:
    first, second = fold_line(RISK, 20)
    assert [role for _, role in first] == ["muted", "plain"]
    assert list(second) == [("0.02", "warn"), (" %", "muted")]
