"""Accounts: list, details, summary, instruments, configuration, changes.

An instrument's specification as the interface writes it.
"""

import json
from typing import Any

from keydesk_practice.broker.account_session import AccountDesk
from keydesk_practice.engine.commands import Configure
from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.transactions import from_wire
from keydesk_practice.engine.views import Touched
from keydesk_practice.engine.wire_form import plain
from keydesk_practice.http.endpoints import UNITS_OF_A_PORTION, Call, whole_number
from keydesk_practice.http.errors import Refused, invalid, missing, out_of_range, sentence_of
from keydesk_practice.http.request_bodies import Members
from keydesk_practice.http.responses import Answer, EncodedList, present

DAYS = ("MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY")


def instrument_view(one: Specification) -> dict[str, Any]:
    """Return the JSON object of an instrument."""
    return {
        "name": one.name,
        "type": one.type,
        "displayName": one.display_name,
        "pipLocation": one.pip_location,
        "displayPrecision": one.display_precision,
        "tradeUnitsPrecision": one.trade_units_precision,
        "minimumTradeSize": plain(one.minimum_trade_size),
        "maximumTrailingStopDistance": plain(one.maximum_trailing_stop_distance),
        "minimumTrailingStopDistance": plain(one.minimum_trailing_stop_distance),
        "maximumPositionSize": plain(one.maximum_position_size),
        "maximumOrderUnits": plain(one.maximum_order_units),
        "marginRate": plain(one.margin_rate),
        **_guaranteed_stops(one),
        "financing": _financing(one),
        "tags": [{"type": type_, "name": name} for type_, name in one.tags],
    }


def _guaranteed_stops(one: Specification) -> dict[str, Any]:
    if one.guaranteed_mode == "DISABLED":
        return {"guaranteedStopLossOrderMode": "DISABLED"}
    found: dict[str, Any] = {
        "guaranteedStopLossOrderMode": one.guaranteed_mode,
        "minimumGuaranteedStopLossDistance": plain(one.guaranteed_minimum_distance),
        "guaranteedStopLossOrderExecutionPremium": plain(one.guaranteed_premium),
    }
    if one.guaranteed_level_volume:
        found["guaranteedStopLossOrderLevelRestriction"] = {
            "volume": plain(one.guaranteed_level_volume),
            "priceRange": plain(one.guaranteed_level_range),
        }
    return found


def _financing(one: Specification) -> dict[str, Any]:
    days = zip(DAYS, one.financing_days, strict=True)
    return {
        "longRate": plain(one.long_rate),
        "shortRate": plain(one.short_rate),
        "financingDaysOfWeek": [
            {"dayOfWeek": day, "daysCharged": charged} for day, charged in days
        ],
    }


MOST_CHANGES = 5_000
UNITS_OF_A_CHANGE = 4  # an ended order is read from the ledger first
LENGTH_OF_A_UNIT = 500  # characters of a transaction: some have a part for each open trade


def list_accounts(call: Call) -> Answer:
    """Answer with the accounts that the token opens."""
    accounts = call.broker.accounts_of(call.owner)
    return Answer({"accounts": [{"id": account.id, "tags": []} for account in accounts]})


async def get_account(call: Call) -> Answer:
    """Answer with the whole account: pending orders, open trades, positions."""
    desk = await call.frozen_desk()
    worth = await call.worth(desk)
    lists = {name: await call.encoded(items) for name, items in desk.lists(worth).items()}
    account = {**desk.summary(worth), **lists}
    return Answer({"account": account, "lastTransactionID": desk.last_transaction_id})


async def get_account_summary(call: Call) -> Answer:
    """Answer with the account's numbers."""
    desk = await call.frozen_desk()
    summary = desk.summary(await call.worth(desk))
    return Answer({"account": summary, "lastTransactionID": desk.last_transaction_id})


async def list_instruments(call: Call) -> Answer:
    """Answer with what may be traded, all of it or what was asked for."""
    desk, board = call.desk, call.broker.board
    asked = call.query.words("instruments")
    names = list(board.instruments()) if asked is None else list(dict.fromkeys(asked))
    found = [board.specification(name) for name in names]
    if not all(found):
        raise invalid("instruments")
    body = {
        "instruments": await call.encoded(instrument_view(one) for one in found if one is not None),
        "lastTransactionID": desk.last_transaction_id,
    }
    return Answer(body)


def configure_account(call: Call) -> Answer:
    """Change the client's own settings."""
    desk = call.desk
    command = _configuration(Members(call.body), call.request_id)
    outcome = call.execute(desk, command)
    last = {"lastTransactionID": outcome.batch[-1]["id"]}
    if outcome.rejects:
        reason = outcome.first["rejectReason"]
        refusal = {"errorCode": reason, "errorMessage": sentence_of(reason)}
        return Answer({"clientConfigureRejectTransaction": outcome.first, **last, **refusal}, 400)
    return Answer({**present({"clientConfigureTransaction": outcome.first}), **last})


def _configuration(body: Members, request_id: str) -> Configure:
    """Return the command of a body; what cannot be read is rejected by the engine, with a transaction."""
    alias, rate, problems = None, None, []
    try:
        alias = body.text("alias")
    except Refused:
        problems.append("ALIAS_INVALID")
    try:
        rate = body.decimal("marginRate")
    except Refused:
        problems.append("MARGIN_RATE_INVALID")
    unreadable = problems[0] if problems else None
    return Configure(request_id=request_id, alias=alias, margin_rate=rate, unreadable=unreadable)


async def poll_changes(call: Call) -> Answer:
    """Answer with what changed since a transaction, and with everything that moves with the prices.

    How far back the service's own changes reach is not public. Here it is `MOST_CHANGES` transactions; from further
    back the account is to be read anew, which is what clients do on any 416.
    """
    desk = await call.frozen_desk()
    text = call.query.text("sinceTransactionID")
    if text is None:
        raise missing("sinceTransactionID")
    since = whole_number(text, "sinceTransactionID")
    if since < 1:
        raise invalid("sinceTransactionID")
    if since > desk.committed_id:
        raise out_of_range("The transaction ID specified is above the account's last one")
    if desk.committed_id - since > MOST_CHANGES:
        raise out_of_range(
            f"The transaction ID specified is more than {MOST_CHANGES} transactions back: "
            "read the account and poll from its lastTransactionID"
        )
    touched, transactions = await _transactions_since(call, desk, since)
    worth = await call.worth(desk)
    changed, moving = desk.changes_lists(touched, worth), desk.state_lists(worth)
    body = {
        "changes": {
            **{
                name: await call.encoded(items, UNITS_OF_A_CHANGE)
                for name, items in changed.items()
            },
            "transactions": transactions,
        },
        "state": {
            **desk.totals(worth),
            **{name: await call.encoded(items) for name, items in moving.items()},
        },
        "lastTransactionID": desk.last_transaction_id,
    }
    return Answer(body)


async def _transactions_since(
    call: Call, desk: AccountDesk, since: int
) -> tuple[Touched, EncodedList]:
    touched, texts = Touched(), EncodedList()
    portions = desk.history.portions(since + 1, desk.committed_id)
    async for portion in call.turns.over(portions, UNITS_OF_A_PORTION):
        for text in portion:
            await call.turns.take(UNITS_OF_A_CHANGE + len(text) // LENGTH_OF_A_UNIT)
            touched.add(from_wire(json.loads(text)))
            texts.append(await call.ledger_text(text))
    return touched, texts
