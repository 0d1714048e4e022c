"""Orders typed behind `:`: every field read, every mistake named, nothing sent."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.market.price_levels import PriceLevel
from keydesk.calc.orders.field_draft import Entry
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.parse.commands import complete, parse_command
from keydesk.parse.orders import OrderSyntaxError, ParsedOrder, parse_order
from keydesk.parse.parsed_commands import OpenTicket, ShowMessage
from keydesk.text.typed import tokens

NAMES = ["EUR_USD", "USD_JPY", "EUR_GBP", "GBP_JPY", "GBP_USD", "EUR_JPY"]
TICKET = Draft(
    "BUY",
    "EUR_USD",
    size=Entry("10000", "units"),
    stop=Entry("20", "pips"),
    target=Entry("2", "R"),
)


def read(line: str) -> ParsedOrder:
    return parse_order(tokens(line))


def test_the_line_of_the_requirements_fills_the_ticket() -> None:
    spoken = parse_command(":b eurusd 50k @1.0830 sl 20p tp 2r gtd 4h", NAMES, "USD_JPY")
    assert isinstance(spoken, OpenTicket)
    assert (spoken.side, spoken.instrument) == ("BUY", "EUR_USD")
    draft = spoken.fields.on(TICKET)
    assert (draft.kind, draft.expiry, draft.active) == ("LIMIT", "GTD 4h", "price")
    assert (draft.size, draft.price) == (Entry("50000", "units"), Entry("1.0830", "price"))
    assert (draft.stop, draft.target) == (
        Entry("20", "pips", by_hand=True),
        Entry("2", "R", by_hand=True),
    )
    assert (spoken.fields.size_text, spoken.fields.text) == (
        "50,000",
        "limit, at 1.0830, stop 20 pips, target 2 R, GTD 4h",
    )


def test_what_was_not_typed_is_the_templates() -> None:
    assert read("").on(TICKET) == TICKET
    assert read("50k").on(TICKET).stop == TICKET.stop


@pytest.mark.parametrize(
    ("typed", "size"),
    [
        ("10000", Entry("10000", "units")),
        ("50k", Entry("50000", "units")),
        ("1.5m", Entry("1500000", "units")),
        ("0.9", Entry("0.9", "units")),
        ("1%", Entry("1", "risk %")),
        (".5%", Entry(".5", "risk %")),
    ],
)
def test_a_size(typed: str, size: Entry) -> None:
    assert read(typed).size == size


@pytest.mark.parametrize(
    ("typed", "kind", "price"),
    [
        ("@1.0830", "LIMIT", Entry("1.0830", "price")),
        ("@ 1.0830", "LIMIT", Entry("1.0830", "price")),
        ("stop @1.0850", "STOP", Entry("1.0850", "price")),
        ("@1.0850 touch", "MARKET_IF_TOUCHED", Entry("1.0850", "price")),
        ("@15p", "LIMIT", Entry("15", "pips")),
        ("@-15p", "LIMIT", Entry("-15", "price")),
    ],
)
def test_a_price_and_its_kind(typed: str, kind: str, price: Entry) -> None:
    assert (read(typed).kind, read(typed).price) == (kind, price)


def test_a_bracket_in_prices_pips_and_r_and_none_at_all() -> None:
    assert read("sl 1.0810 tp 1.0900").stop == Entry("1.0810", "price")
    assert read("tp 40p tr 15p bound 2p").target == Entry("40", "pips")
    assert read("tr 15p").trail == Entry("15", "pips")
    bare = read("nostop").on(TICKET)
    assert (bare.stop.text, bare.target.text) == ("", ""), "no R without a stop"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("b eurusd 50x", "size: 50x is not valid; write 50000, 50k, 1.5m or, of NAV at risk, 1%"),
        ("b eurusd 0", "size: 0 is not valid"),
        ("b eurusd 10,000", "size: 10,000 is not valid"),
        ("b eurusd @", "price: the value is missing; write @1.0830"),
        ("b eurusd @1.12345678", "price: 1.12345678 has more than 7 decimals; write @1.0830"),
        ("b eurusd @-1.12345678p", "price: -1.12345678p has more than 7 decimals"),
        ("b eurusd sl 1.12345678", "stop: 1.12345678 has more than 7 decimals; write sl 20p"),
        ("b eurusd 1.12345678k", "size: 1.12345678k has more than 7 decimals"),
        ("b eurusd @1.0830 gtd", "expiry: gtd has no time after it; write 18:30"),
        ("b eurusd @+15p", "price: +15p is not valid"),
        ("b eurusd sl", "stop: the value is missing; write sl 20p"),
        ("b eurusd sl 20x", "stop: 20x is not valid"),
        ("b eurusd tp 2rr", "target: 2rr is not valid; write tp 2r"),
        ("b eurusd tr x", "trail: x is not valid"),
        ("b eurusd @1.08 gtd 5x", "expiry: gtd 5x is not valid; write 18:30"),
        ("b eurusd gtc", "expiry: a market order takes FOK, IOC, not GTC"),
        ("b eurusd stop", "price: stop needs one, such as @1.0830"),
        ("b eurusd market @1.08", "price: a market order takes none"),
        ("b eurusd @1.08 bound 2p", "bound: only a market order has one"),
        ("b eurusd 50k 60k", "size: given twice (60k)"),
        ("b eurusd frob", "frob is not a field"),
        ("b nothere 50k", "instrument: nothere is not valid"),
        ("b eurusd nan", "nan is not a field"),
        ("b eurusd 1e9", "size: 1e9 is not valid"),
    ],
)
def test_a_mistake_is_answered_with_its_field_and_the_way_to_write_it(line: str, text: str) -> None:
    said = parse_command(line, NAMES, "EUR_USD")
    assert isinstance(said, ShowMessage)
    assert said.level == "warn"
    assert said.text.startswith(text)


def test_without_an_instrument_it_is_the_one_on_the_desk() -> None:
    spoken = parse_command("s 1m", NAMES, "GBP_USD")
    assert spoken == OpenTicket("SELL", "GBP_USD", ParsedOrder(size=Entry("1000000", "units")))


@given(st.text(max_size=40))
def test_no_line_at_all_breaks_it(line: str) -> None:
    parse_command(f"b eurusd {line}", NAMES, "EUR_USD")
    complete(line, NAMES)
    try:
        fields = read(line.lower())
    except OrderSyntaxError:
        return
    size = fields.on(TICKET).size.value
    assert not isinstance(size, Decimal) or (size.is_finite() and size < Decimal(10) ** 19)


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("he", "help "),
        (":mes", ":messages "),
        ("b eurus", "b eurusd "),
        ("b eur", "b eur"),
        ("b eurusd 50k no", "b eurusd 50k no"),
        ("b eurusd 50k nos", "b eurusd 50k nostop "),
        ("b eurusd 50k bou", "b eurusd 50k bound "),
        ("usdj", "usdjpy "),
        ("xyz", "xyz"),
        ("", ""),
    ],
)
def test_tab_completes_as_far_as_one_way_goes_on(line: str, whole: str) -> None:
    assert complete(line, NAMES) == whole


LEVELS = (PriceLevel("high", Decimal("1.08300")), PriceLevel("low", Decimal("1.07")))


def test_a_named_level_is_a_price_wherever_a_price_may_stand() -> None:
    order = parse_order(tokens("50k @high sl @low tp @1.0900"), LEVELS)
    assert (order.price, order.kind) == (Entry("1.08300", "price"), "LIMIT")
    assert (order.stop, order.target) == (Entry("1.07", "price"), Entry("1.0900", "price"))


@pytest.mark.parametrize(
    ("line", "levels", "trouble"),
    [
        ("@hihg", LEVELS, "price: there is no level hihg; there are: @high, @low"),
        ("@high", (), "price: there is no level high; the instrument has none, write @1.0830"),
        ("tr @high", LEVELS, "trail: @ is not valid"),
        ("sl @", LEVELS, "stop: @ is not valid"),
    ],
)
def test_a_level_that_is_not_there_is_refused_with_those_that_are(
    line: str, levels: tuple[PriceLevel, ...], trouble: str
) -> None:
    with pytest.raises(OrderSyntaxError, match=re.escape(trouble)):
        parse_order(tokens(line), levels)
