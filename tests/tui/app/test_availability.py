"""Which keys can do something: the ones that cannot are dim."""

import pytest

from keydesk.app.availability import Selection, is_available
from keydesk.store.state import Arming
from keydesk.store.store import Store
from support.data.desk_store import example_store

HERE = Selection("watchlist", None, None, None)


@pytest.mark.parametrize(
    ("focus", "keys"),
    [
        (
            "EUR_USD",
            {"close", "scale-out", "break-even", "protect", "trailing", "modify", "reverse"},
        ),
        ("GBP_USD", set()),
    ],
)
def test_a_trade_is_managed_where_there_is_one(focus: str, keys: set[str]) -> None:
    store = example_store()
    store.focus = focus
    asked = {"close", "scale-out", "break-even", "protect", "trailing", "modify", "reverse"}
    assert {key for key in asked if is_available(key, store, HERE)} == keys


def test_nothing_is_cancelled_or_flattened_where_nothing_is() -> None:
    keys = ("cancel", "cancel-entries", "flatten")
    assert all(is_available(key, example_store(), HERE) for key in keys)
    assert not any(is_available(key, Store(), HERE) for key in keys)


def test_disarmed_opens_nothing_and_still_closes() -> None:
    store = example_store()
    store.arming = Arming("DISARMED")
    assert not any(is_available(key, store, HERE) for key in ("buy", "reverse"))
    assert is_available("sell", store, HERE), "it only reduces the long"
    assert is_available("close", store, HERE)
    assert is_available("find", store, HERE)
