"""Positions: all ever held, the open ones, one, and closing a side or both."""

from keydesk_practice.engine.commands import ClosePosition
from keydesk_practice.http.answers import Answer
from keydesk_practice.http.endpoints import Call
from keydesk_practice.http.members import Members
from keydesk_practice.http.order_bodies import read_extensions
from keydesk_practice.http.outcomes import Outcome, Wire, done, refused
from keydesk_practice.http.refusals import absent, not_listed
from keydesk_practice.http.units import read_side_units


async def list_positions(call: Call) -> Answer:
    """Answer with the position of every instrument ever traded."""
    desk = await call.frozen_desk()
    positions = await call.encoded(desk.positions(await call.worth(desk)))
    return Answer({"positions": positions, "lastTransactionID": desk.last_transaction_id})


async def list_open_positions(call: Call) -> Answer:
    """Answer with the positions that are open."""
    desk = await call.frozen_desk()
    positions = await call.encoded(desk.open_positions(await call.worth(desk)))
    return Answer({"positions": positions, "lastTransactionID": desk.last_transaction_id})


async def get_position(call: Call) -> Answer:
    """Answer with the position of one instrument."""
    desk = await call.frozen_desk()
    found = desk.position(call.path("instrument"), await call.worth(desk))
    if found is None:
        raise absent("position", "NO_SUCH_POSITION")
    return Answer({"position": found, "lastTransactionID": desk.last_transaction_id})


def close_position(call: Call) -> Answer:
    """Close the sides that are asked for: both, or none if one of them cannot be closed."""
    desk, body = call.desk, Members(call.body)
    instrument = _instrument(call)
    command = ClosePosition(
        request_id=call.request_id,
        instrument=instrument,
        long_units=read_side_units(body, "longUnits"),
        short_units=read_side_units(body, "shortUnits"),
        long_client_extensions=read_extensions(body, "longClientExtensions"),
        short_client_extensions=read_extensions(body, "shortClientExtensions"),
    )
    outcome = call.execute(desk, command)
    if outcome.rejects:
        return _refused(outcome)
    members = {**_side(outcome, "long"), **_side(outcome, "short")}
    link = f"{call.base_url}/v3/accounts/{desk.account.id}/positions/{instrument}"
    return done(outcome, members, headers={"Location": link})


def _instrument(call: Call) -> str:
    name = call.path("instrument")
    if call.broker.board.specification(name) is None:
        raise not_listed(name)
    return name


def _side(outcome: Outcome, side: str) -> dict[str, Wire | None]:
    created = next((one for one in outcome.batch if f"{side}PositionCloseout" in one), None)
    if created is None:
        return {}
    return {
        f"{side}OrderCreateTransaction": created,
        f"{side}OrderFillTransaction": outcome.fill_of(created["id"]),
        f"{side}OrderCancelTransaction": outcome.cancel_of(created["id"]),
    }


def _refused(outcome: Outcome) -> Answer:
    members = {
        f"{side}OrderRejectTransaction": next(
            (one for one in outcome.rejects if f"{side}PositionCloseout" in one), None
        )
        for side in ("long", "short")
    }
    reasons = {reject["rejectReason"] for reject in outcome.rejects}
    first = sorted(reasons, key=lambda reason: (reason == "CLOSEOUT_POSITION_REJECT", reason))
    return refused(members, first, outcome.ids())
