"""The swap of a ticket in words: how many days the next rollover charges."""

from decimal import Decimal

import pytest

from keydesk.calc.orders.preview import Preview
from keydesk.forms.sheet import docked
from keydesk.forms.ticket.figures import FigureLine, LeftOut, preview_lines
from support.data.trading_contexts import example_facts

D = Decimal


def swap_lines(days: int | None, *, narrow: bool = False, times: int = 1) -> list[FigureLine]:
    preview = Preview(
        swap_a_day=D("-1.01") * times,
        swap_to_friday=D("-7.08") * times,
        charged_next=days,
        exposure=(),
        risk_before=None,
        risk_after=None,
        unprotected_before=0,
        unprotected_after=0,
    )
    lines = preview_lines(preview, example_facts(), narrow=narrow)
    return [each for each in lines if each.left_out in (LeftOut.SWAP, LeftOut.SWAP_DETAIL)]


def words_of(figure: FigureLine) -> str:
    return "".join(text for text, _ in figure.line)


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (0, "to Friday  next: none"),
        (3, "to Friday  next 3 days"),
        (1, "to Friday"),
        (None, "to Friday"),
    ],
)
def test_the_swap_says_the_days_that_are_charged_next_unless_it_is_one(
    days: int | None, text: str
) -> None:
    [line] = swap_lines(days)
    assert words_of(line) == f"swap    −1.01 a day  −7.08 {text}"


def test_a_narrow_ticket_has_the_detail_on_a_line_that_goes_first() -> None:
    swap, detail = swap_lines(0, narrow=True)
    assert (words_of(swap), swap.left_out) == ("swap    −1.01 a day", LeftOut.SWAP)
    assert words_of(detail) == "        −7.08 to Friday  next: none"
    assert detail.left_out == LeftOut.SWAP_DETAIL == min(each for each in LeftOut if each)


def test_the_swap_is_broken_between_its_figures_only() -> None:
    for width in [26, 38, 49, 56]:
        for times in [1, 40, 4000, 400_000]:
            for narrow in [True, False]:
                phrases = ("a day", "to Friday", "next 3 days")
                figures = swap_lines(3, narrow=narrow, times=times)
                lines = [
                    "".join(text for text, _ in part)
                    for figure in figures
                    for part in docked(figure.line, width)
                ]
                for phrase in phrases:
                    assert sum(phrase in line for line in lines) == 1, lines
                for line in lines:
                    assert len(line) <= width
                    assert line.split()[0] not in {"a", "to", "days", "3"}, lines
