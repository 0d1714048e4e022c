"""The trader's indicators in the store: of an instrument, or of every instrument without its own."""

from keydesk.calc.market.indicator_specs import parse_indicators
from keydesk.store.state import Topic
from keydesk.store.store import Store

AVERAGES = parse_indicators(("ema 20", "ema 50"))
STRENGTH = parse_indicators(("rsi 14",))


def test_an_instrument_without_its_own_has_those_of_every_instrument() -> None:
    store = Store()
    assert store.indicators_of("EUR_USD") == ()
    store.set_indicators("EUR_USD", AVERAGES, everywhere=True)
    store.set_indicators("EUR_USD", STRENGTH)
    assert store.indicators_of("EUR_USD") == STRENGTH
    assert store.indicators_of("GBP_USD") == AVERAGES


def test_an_instrument_may_have_none_of_its_own() -> None:
    store = Store()
    store.set_indicators("EUR_USD", AVERAGES, everywhere=True)
    store.set_indicators("EUR_USD", ())
    assert store.indicators_of("EUR_USD") == ()


def test_a_choice_for_all_is_seen_on_the_instrument_that_had_its_own() -> None:
    store = Store()
    store.set_indicators("EUR_USD", STRENGTH)
    store.set_indicators("EUR_USD", AVERAGES, everywhere=True)
    assert store.indicators_of("EUR_USD") == AVERAGES


def test_a_choice_marks_its_instrument_and_one_for_all_marks_all() -> None:
    store = Store()
    store.set_indicators("EUR_USD", STRENGTH)
    assert store.pop_dirty() == {Topic.INDICATORS: frozenset(("EUR_USD",))}
    store.set_indicators("EUR_USD", STRENGTH, everywhere=True)
    assert store.pop_dirty() == {Topic.INDICATORS: frozenset((None,))}
