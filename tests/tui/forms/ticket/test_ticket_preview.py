"""The financing of a ticket in words: how many days the next rollover charges."""

from decimal import Decimal

import pytest

from keydesk.calc.orders.preview import Preview
from keydesk.calc.risk.financing import NextCharge
from keydesk.forms.modal_form import folded
from keydesk.forms.ticket.figures import FigureLine, LeftOut, preview_lines
from support.data.trading_contexts import example_facts

D = Decimal


def financing_line(charge: NextCharge | None, times: int = 1) -> FigureLine:
    preview = Preview(
        swap_a_day=D("-1.01") * times,
        swap_to_friday=D("-7.08") * times,
        next_charge=charge,
        exposure=(),
        risk_before=None,
        risk_after=None,
        unprotected_before=0,
        unprotected_after=0,
    )
    lines = preview_lines(preview, example_facts())
    [line] = [each for each in lines if each.left_out is LeftOut.FINANCING]
    return line


@pytest.mark.parametrize(
    ("charge", "text"),
    [
        (NextCharge(1, "Mon"), "to Friday next on Mon"),  # at the weekend
        (NextCharge(3, "Wed"), "to Friday next on Wed: 3 days"),
        (NextCharge(3), "to Friday next 3 days"),
        (NextCharge(1), "to Friday"),
        (None, "to Friday"),
    ],
)
def test_financing_says_the_days_that_are_charged_next_unless_it_is_one(
    charge: NextCharge | None, text: str
) -> None:
    words = "".join(text for text, _ in financing_line(charge).line)
    assert " ".join(words.split()) == f"financing −1.01 USD a day −7.08 {text}"


@pytest.mark.parametrize("times", [1, 40, 4000, 400_000])
@pytest.mark.parametrize("width", [49, 55])
def test_financing_is_broken_between_its_figures_only(width: int, times: int) -> None:
    line = financing_line(NextCharge(3), times).line
    lines = ["".join(text for text, _ in part) for part in folded(line, width)]
    for phrase in ("a day", "to Friday", "next 3 days"):
        assert sum(phrase in line for line in lines) == 1, lines
    for each in lines:
        assert len(each) <= width
        assert each.split()[0] not in {"a", "to", "days", "3"}, lines
