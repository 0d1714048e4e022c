"""Instructions as a trader reads them back."""

from decimal import Decimal

from keydesk.calc.orders.instructions import SetProtection
from keydesk.trading.notifications import change_words

D = Decimal


def test_a_trailing_distance_is_told_in_pips() -> None:
    change = SetProtection("9", "GBP_JPY", trail=D("0.250"))
    assert change_words(change, D("0.01")) == "trail 25.0p"
    assert change_words(change, None) == "trail 0.250"


def test_what_is_taken_away_is_off_and_what_is_left_alone_is_not_named() -> None:
    change = SetProtection("9", "GBP_JPY", stop=D("206.787"), target=None)
    assert change_words(change, D("0.01")) == "stop 206.787, target off"
