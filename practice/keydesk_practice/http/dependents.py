"""The answer to a change of a trade's dependent orders: which transaction belongs to which kind of order."""

from collections.abc import Callable

from keydesk_practice.http.answers import Answer
from keydesk_practice.http.outcomes import Outcome, Wire, done, refused

KINDS = {
    "TAKE_PROFIT": "takeProfitOrder",
    "STOP_LOSS": "stopLossOrder",
    "TRAILING_STOP_LOSS": "trailingStopLossOrder",
    "GUARANTEED_STOP_LOSS": "guaranteedStopLossOrder",
}
FILLABLE = frozenset({"TAKE_PROFIT", "STOP_LOSS"})  # only these may end in the creating request
OrderType = Callable[[str], str | None]


def dependents_done(outcome: Outcome, type_of: OrderType) -> Answer:
    """Return the answer when everything asked was done."""
    members: dict[str, Wire | None] = {}
    for kind, prefix in KINDS.items():
        created = outcome.of_type(f"{kind}_ORDER")
        members[f"{prefix}CancelTransaction"] = _cancelled(outcome, kind, created, type_of)
        members[f"{prefix}Transaction"] = created
        if created is not None and kind in FILLABLE:
            members[f"{prefix}FillTransaction"] = outcome.fill_of(created["id"])
            members[f"{prefix}CreatedCancelTransaction"] = outcome.cancel_of(created["id"])
    return done(outcome, members)


def _cancelled(
    outcome: Outcome, kind: str, created: Wire | None, type_of: OrderType
) -> Wire | None:
    """Return the cancel of the order that was there before, by request or by its replacement."""
    for one in outcome.batch:
        asked = one.get("reason") in {"CLIENT_REQUEST", "CLIENT_REQUEST_REPLACED"}
        if one["type"] != "ORDER_CANCEL" or not asked or type_of(one["orderID"]) != kind:
            continue
        if created is None or one["orderID"] != created["id"]:
            return one
    return None


def dependents_refused(outcome: Outcome, type_of: OrderType) -> Answer:
    """Return the answer when something asked was wrong, and so nothing was done."""
    members: dict[str, Wire | None] = {}
    for kind, prefix in KINDS.items():
        members[f"{prefix}RejectTransaction"] = outcome.of_type(f"{kind}_ORDER_REJECT")
        members[f"{prefix}CancelRejectTransaction"] = next(
            (one for one in outcome.rejects
             if one["type"] == "ORDER_CANCEL_REJECT" and type_of(one.get("orderID", "")) == kind),
            None,
        )  # fmt: skip
    reasons = [reject["rejectReason"] for reject in outcome.rejects]
    return refused(members, reasons, outcome.ids(), status=400)
