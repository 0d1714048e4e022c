"""What a price and an instrument tell beyond their members."""

from collections.abc import Callable
from decimal import ROUND_UP, Decimal

import pytest

from keydesk_client.errors import InvalidRequest, MissingMember
from keydesk_client.models import CandlestickData, ClientPrice, Instrument, PricingResponse, Reader

PRICE = Reader(ClientPrice).read(
    b'{"type":"PRICE","bids":[{"price":"1.11295","liquidity":1},{"price":"1.11290","liquidity":5}],'
    b'"asks":[{"price":"1.11312","liquidity":1}],"homeConversions":[{"currency":"JPY","accountGain":"0.0066",'
    b'"accountLoss":"0.0067","positionValue":"0.00665"}]}'
)
ONE_SIDED = Reader(ClientPrice).read(b'{"type":"PRICE","bids":[],"asks":[]}')


def test_a_price_has_its_best_levels() -> None:
    assert (PRICE.bid, PRICE.ask) == (Decimal("1.11295"), Decimal("1.11312"))
    assert (PRICE.mid, PRICE.spread) == (Decimal("1.113035"), Decimal("0.00017"))


def test_a_misspelt_member_is_named_with_the_record_that_lacks_it() -> None:
    candle = Reader(CandlestickData).read(b'{"o":"1","h":"1","l":"1","c":"1"}')
    with pytest.raises(AttributeError, match="'CandlestickData' object has no attribute 'close'"):
        getattr(candle, "close")  # noqa: B009 - a type checker would refuse it


@pytest.mark.parametrize(
    ("name", "empty"), [("bid", "bids"), ("ask", "asks"), ("mid", "bids"), ("spread", "asks")]
)
def test_a_side_that_is_empty_has_no_best_level(name: str, empty: str) -> None:
    with pytest.raises(MissingMember, match=f"{empty} is empty") as missed:
        getattr(ONE_SIDED, name)
    assert missed.value.member == empty
    assert not hasattr(ONE_SIDED, name)


def test_an_amount_in_another_currency_is_valued_at_home() -> None:
    assert PRICE.home_conversion("JPY").account_loss == Decimal("0.0067")
    with pytest.raises(
        MissingMember, match="no CHF: open the stream with include_home_conversions"
    ):
        PRICE.home_conversion("CHF")


def test_an_answer_with_prices_has_the_conversions_that_were_asked_for() -> None:
    answer = Reader(PricingResponse).read(
        b'{"prices":[],"homeConversions":[{"currency":"JPY","accountGain":"0.0066",'
        b'"accountLoss":"0.0067","positionValue":"0.00665"}]}'
    )
    assert answer.home_conversion("JPY").position_value == Decimal("0.00665")
    with pytest.raises(MissingMember, match=r"no CHF: call pricing.get with include_home_conv"):
        answer.home_conversion("CHF")
    with pytest.raises(MissingMember, match=r"answer of pricing.get has them"):
        PRICE.home_conversion("CHF")


def test_an_instrument_rounds_prices_and_units() -> None:
    pair = Reader(Instrument).read(
        b'{"name":"USD_JPY","pipLocation":-2,"displayPrecision":3,"tradeUnitsPrecision":0}'
    )
    assert pair.pip == Decimal("0.01")
    assert str(pair.round_price(Decimal("151.23449"))) == "151.234"
    assert str(pair.round_price(Decimal("151.23441"), ROUND_UP)) == "151.235"
    assert str(pair.round_units(Decimal("-1999.9"))) == "-1999"
    assert str(pair.round_units(Decimal(5))) == "5"


@pytest.mark.parametrize("number", [Decimal("NaN"), Decimal("1E+400"), 1.5, "1e5", None])
def test_a_value_that_cannot_be_rounded_is_refused_with_its_field(number: object) -> None:
    pair = Reader(Instrument).read(b'{"displayPrecision":3,"tradeUnitsPrecision":0}')
    ways: tuple[tuple[Callable[..., Decimal], str], ...] = (
        (pair.round_price, "price"),
        (pair.round_units, "units"),
    )
    for round_it, field in ways:
        with pytest.raises(InvalidRequest) as refused:
            round_it(number)
        assert refused.value.field == field


def test_a_number_with_more_digits_than_the_default_context_is_rounded() -> None:
    pair = Reader(Instrument).read(b'{"displayPrecision":3}')
    long = Decimal("123456789012345678901234567.12345678")
    assert str(pair.round_price(long)) == "123456789012345678901234567.123"
