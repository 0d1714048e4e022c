"""The trader's indicators in the store: of an instrument, or of every instrument without its own."""

from keydesk.calc.indicator_specs import parse_indicators
from keydesk.store.state import Topic
from keydesk.store.store import EVERY_INSTRUMENT, Store

AVERAGES = parse_indicators(("ema 20", "ema 50"))
STRENGTH = parse_indicators(("rsi 14",))


def test_an_instrument_without_its_own_has_those_of_every_instrument() -> None:
    store = Store()
    assert store.indicators_of("EUR_USD") == ()
    store.set_indicators(EVERY_INSTRUMENT, AVERAGES)
    store.set_indicators("EUR_USD", STRENGTH)
    assert store.indicators_of("EUR_USD") == STRENGTH
    assert store.indicators_of("GBP_USD") == AVERAGES


def test_an_instrument_may_have_none_of_its_own() -> None:
    store = Store()
    store.set_indicators(EVERY_INSTRUMENT, AVERAGES)
    store.set_indicators("EUR_USD", ())
    assert store.indicators_of("EUR_USD") == ()


def test_a_choice_marks_its_instrument_and_the_usual_ones_mark_all() -> None:
    store = Store()
    store.set_indicators("EUR_USD", STRENGTH)
    assert store.take_dirty() == {Topic.INDICATORS: frozenset(("EUR_USD",))}
    store.set_indicators("EUR_USD", STRENGTH)
    assert store.take_dirty() == {}
    store.set_indicators(EVERY_INSTRUMENT, AVERAGES)
    assert store.take_dirty() == {Topic.INDICATORS: frozenset((None,))}
