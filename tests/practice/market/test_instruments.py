"""The list of instruments and their specifications."""

from decimal import Decimal

from keydesk_practice.market.instruments import LISTINGS, Listing, specification_of


def instrument_list(name: str) -> Listing:
    return next(listing for listing in LISTINGS if listing.name == name)


def test_there_are_seventy_instruments_each_once() -> None:
    assert len({listing.name for listing in LISTINGS}) == len(LISTINGS) == 70


def test_the_euro_dollar_reads_as_published() -> None:
    euro = specification_of(instrument_list("EUR_USD"))
    assert (euro.pip_location, euro.display_precision, euro.trade_units_precision) == (-4, 5, 0)
    assert euro.margin_rate == Decimal("0.0333")
    assert str(euro.maximum_trailing_stop_distance) == "1.00000"
    assert str(euro.minimum_trailing_stop_distance) == "0.00050"
    assert euro.financing_days == (1, 1, 3, 1, 1, 0, 0)
    assert euro.guaranteed_mode == "ALLOWED"
    assert str(euro.guaranteed_premium) == "0.00012"


def test_the_dollar_yen_has_a_coarser_pip() -> None:
    yen = specification_of(instrument_list("USD_JPY"))
    assert (yen.pip_location, yen.display_precision) == (-2, 3)
    assert str(yen.maximum_trailing_stop_distance) == "100.000"
    assert str(yen.minimum_trailing_stop_distance) == "0.050"
    assert yen.long_rate > 0 > yen.short_rate


def test_every_instrument_has_plausible_numbers() -> None:
    for listing in LISTINGS:
        one = specification_of(listing)
        assert one.display_precision == 1 - one.pip_location
        assert Decimal("0.02") <= one.margin_rate <= Decimal("0.5")
        assert one.minimum_trailing_stop_distance < one.maximum_trailing_stop_distance
        assert one.long_rate + one.short_rate < 0
        assert sum(one.financing_days) == 7
        assert one.guaranteed_premium > 0
        assert one.display_name == one.name.replace("_", "/")
        assert one.maximum_order_units > one.minimum_trade_size > 0
