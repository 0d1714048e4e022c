"""Instructions and requests as a trader reads them."""

import json
from decimal import Decimal

import pytest

from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.instructions import CloseParts, Flatten, SetProtection
from keydesk.calc.orders.plans.exit_plans import ExitRules
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.trading.commands import Instruction
from keydesk.trading.entry_requests import OpenOrder
from keydesk.words.order_text import change_text, instruction_text, request_text, words_of_text
from keydesk_client.models import ClientExtensions, MarketOrderRequest, StopLossDetails
from support.data.entry_orders import entry_request

ENTRY = {
    "type": "LIMIT",
    "instrument": "EUR_USD",
    "units": "-50000",
    "price": "1.09000",
    "timeInForce": "GTD",
    "gtdTime": "2026-03-02T12:00:00Z",
    "positionFill": "DEFAULT",
    "stopLossOnFill": {"price": "1.09200", "timeInForce": "GTC"},
    "takeProfitOnFill": {"price": "1.08600"},
    "clientExtensions": {"id": "kd-1", "tag": "fade"},
}


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (
            ENTRY,
            (
                "limit sell 50,000 EUR/USD, at 1.09000, until 2026-03-02T12:00:00Z, "
                "stop at 1.09200, target at 1.08600, tag fade"
            ),
        ),
        (
            {
                "type": "MARKET",
                "instrument": "EUR_USD",
                "units": "1000",
                "timeInForce": "FOK",
                "positionFill": "REDUCE_ONLY",
                "priceBound": "1.1",
                "trailingStopLossOnFill": {"distance": "0.0020"},
            },
            "market buy 1,000 EUR/USD, reduce-only, no worse than 1.1, trailing stop 0.0020 away",
        ),
        ({"units": "ALL"}, "all units"),
        ({"units": "500"}, "500 units"),
        ({"longUnits": "ALL", "shortUnits": "NONE"}, "long side: ALL, short side: NONE"),
        ({"stopLoss": None, "takeProfit": {"price": "1.2"}}, "stop removed, target at 1.2"),
        ({}, ""),
        ({"moon": ["a"], "units": {"x": 1}}, "{'x': 1} units, moon ['a']"),
    ],
)
def test_each_request_says_what_it_asks_for(body: dict[str, object], text: str) -> None:
    assert request_text(body) == text


def test_what_stands_around_the_json_is_kept() -> None:
    text = f"CREATE {json.dumps({'units': '500'})}, sent after transaction #7"
    assert words_of_text(text) == "CREATE; 500 units; sent after transaction #7"


@pytest.mark.parametrize("text", ["", "no json", 'cut {"units": "5', "{]", '{"a": ' * 5])
def test_what_is_no_json_is_shown_as_it_is(text: str) -> None:
    assert words_of_text(text) == text


def test_a_trailing_distance_is_told_in_pips() -> None:
    change = SetProtection("9", "GBP_JPY", trail=Decimal("0.250"))
    assert change_text(change, Decimal("0.01")) == "trail 25.0p"
    assert change_text(change, None) == "trail 0.250"


def test_what_is_taken_away_is_off_and_what_is_left_alone_is_not_named() -> None:
    change = SetProtection("9", "GBP_JPY", stop=Decimal("206.787"), target=None)
    assert change_text(change, Decimal("0.01")) == "stop 206.787, target off"


@pytest.mark.parametrize(
    ("instruction", "text"),
    [
        (
            OpenOrder(
                MarketOrderRequest(
                    instrument="EUR_USD",
                    units=Decimal("-1E+4"),
                    stop_loss_on_fill=StopLossDetails(price=Decimal("1.13380")),
                    client_extensions=ClientExtensions(comment='"é"'),
                ),
                Decimal("1.13"),
            ),
            (
                'open order {"request": {"type": "MARKET", "instrument": "EUR_USD", "units": "-10000", '
                '"clientExtensions": {"comment": "\\"é\\""}, '
                '"stopLossOnFill": {"price": "1.13380", "timeInForce": "GTC"}, '
                '"positionFill": "DEFAULT", "timeInForce": "FOK"}, "expected": "1.13"}'
            ),
        ),
        (
            SetProtection("7", "EUR_USD", target=None),
            'set protection {"trade_id": "7", "instrument": "EUR_USD", "target": null}',
        ),
        (
            CloseParts("EUR_USD", (("5", None), ("7", Decimal("0.5")))),
            'close parts {"instrument": "EUR_USD", "parts": [["5", null], ["7", "0.5"]]}',
        ),
        (Flatten(), "flatten {}"),
    ],
)
def test_the_audit_log_has_all_of_an_instruction_that_differs_from_its_defaults(
    instruction: Instruction, text: str
) -> None:
    assert instruction_text(instruction) == text


def test_the_audit_log_has_exit_plan_and_parts_of_an_order_and_not_the_ticket_it_came_from() -> (
    None
):
    order = OpenOrder(
        entry_request("EUR_USD", "MARKET", Decimal(300)),
        exit_rules=ExitRules(break_even_at=Entry("1.5", "R")),
        parts=tuple(entry_request("EUR_USD", "MARKET", Decimal(units)) for units in (100, 200)),
        draft=Draft("BUY", "EUR_USD"),
    )
    text = instruction_text(order)
    assert '"exit_rules": "break-even at 1.5R"' in text
    assert '"parts": [{"type": "MARKET", "instrument": "EUR_USD", "units": "100"' in text
    assert "draft" not in text


def test_what_was_decided_is_told_as_the_request_that_it_is() -> None:
    order = OpenOrder(entry_request("EUR_USD", "MARKET", Decimal(300)), Decimal("1.13"))
    text = words_of_text(instruction_text(order))
    assert text == "open order; market buy 300 EUR/USD, expected 1.13"
