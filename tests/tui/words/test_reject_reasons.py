"""Every reason of the wire has words, and a reason about a field of the ticket names that field."""

from typing import Any, get_args

import pytest

from keydesk.words.reject_reasons import FILLS, in_text, meaning_of
from keydesk_client.models.reject_reasons import (
    OrderCancelReason,
    OrderFillReason,
    TransactionRejectReason,
)


def literals(alias: Any) -> set[str]:  # noqa: ANN401 - a type
    """Return the strings of an annotated union of a Literal and str."""
    found: set[str] = set()
    for part in get_args(alias):
        found |= {part} if isinstance(part, str) else literals(part)
    return found


REASONS = sorted(literals(TransactionRejectReason) | literals(OrderCancelReason))


def test_the_wire_has_as_many_reasons_as_are_walked_here() -> None:
    assert len(literals(TransactionRejectReason)) == 200
    assert len(literals(OrderCancelReason)) == 65


def test_every_reason_has_words() -> None:
    for reason in REASONS:
        found = meaning_of(reason)
        assert found is not None, f"{reason} has no words"
        text, _ = found
        assert text != reason.replace("_", " ").lower(), reason
        assert "_" not in text, reason
        assert text[0].islower(), f"{reason}: it stands behind a colon"


@pytest.mark.parametrize(
    ("reason", "field"),
    [
        ("UNITS_LIMIT_EXCEEDED", "size"),
        ("INSUFFICIENT_MARGIN", "size"),
        ("STOP_LOSS_ON_FILL_LOSS", "stop"),
        ("STOP_LOSS_ON_FILL_PRICE_PRECISION_EXCEEDED", "stop"),
        ("GUARANTEED_STOP_LOSS_ON_FILL_MINIMUM_DISTANCE_NOT_MET", "stop"),
        ("GUARANTEED_STOP_LOSS_ON_FILL_NOT_ALLOWED", "guarantee"),
        ("STOP_LOSS_ON_FILL_GUARANTEED_NOT_ALLOWED", "guarantee"),
        ("TRAILING_STOP_LOSS_ON_FILL_PRICE_DISTANCE_MINIMUM_NOT_MET", "trail"),
        ("TAKE_PROFIT_ON_FILL_PRICE_INVALID", "target"),
        ("TIME_IN_FORCE_GTD_TIMESTAMP_IN_PAST", "expiry"),
        ("CLIENT_TRADE_TAG_INVALID", "tag"),
        ("ACCOUNT_LOCKED", ""),
    ],
)
def test_a_reason_names_the_field_that_it_is_about(reason: str, field: str) -> None:
    found = meaning_of(reason)
    assert found is not None
    assert found[1] == field


def test_every_reason_of_a_fill_has_words() -> None:
    assert literals(OrderFillReason) <= set(FILLS)


def test_a_reason_to_come_is_spelt_out() -> None:
    assert meaning_of("MOON_TOO_FULL") is None
    assert in_text("MOON_TOO_FULL") == "moon too full"
