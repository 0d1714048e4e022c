"""Accounts: list, details, summary, instruments, configuration and changes."""

import json
from typing import Any

from keydesk_practice.broker.account_session import AccountSession
from keydesk_practice.engine import views
from keydesk_practice.engine.commands import Configure
from keydesk_practice.engine.quotes import Specification
from keydesk_practice.engine.transactions import from_wire
from keydesk_practice.engine.wire_form import plain
from keydesk_practice.http.endpoints import UNITS_PER_PORTION, Call
from keydesk_practice.http.error_responses import (
    HttpError,
    invalid_value,
    missing_value,
    range_not_satisfiable,
    reject_message,
)
from keydesk_practice.http.requests import JsonReader
from keydesk_practice.http.responses import EncodedList, Response, without_none

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


MAX_CHANGES = 1_000  # some 0.4 s of work, done in slices; as many as a request since an id brings
UNITS_PER_CHANGE = 4  # an ended order is read from the ledger first
CHARACTERS_PER_UNIT = 500  # characters of a transaction: some have a part for each open trade


def list_accounts(call: Call) -> Response:
    """List the accounts of the token."""
    accounts = call.broker.accounts_of(call.owner)
    return Response({"accounts": [{"id": account.id, "tags": []} for account in accounts]})


async def get_account(call: Call) -> Response:
    """Return the whole account: its numbers, pending orders, open trades and positions."""
    session = call.frozen_session()
    valuation = await call.valuation(session)
    lists = {
        name: await call.encoded(items)
        for name, items in views.account_lists(session.state, session.board, valuation).items()
    }
    account = {**views.summary(session.state, session.board, valuation), **lists}
    return Response({"account": account, "lastTransactionID": session.last_transaction_id})


async def get_account_summary(call: Call) -> Response:
    """Return the account's numbers."""
    session = call.frozen_session()
    summary = views.summary(session.state, session.board, await call.valuation(session))
    return Response({"account": summary, "lastTransactionID": session.last_transaction_id})


async def list_instruments(call: Call) -> Response:
    """List the tradeable instruments, all or the requested ones."""
    session, board = call.session, call.broker.board
    requested = call.query.words("instruments")
    names = list(board.instruments()) if requested is None else list(dict.fromkeys(requested))
    specifications = [board.specification(name) for name in names]
    if not all(specifications):
        raise invalid_value("instruments")
    body = {
        "instruments": await call.encoded(
            instrument_view(one) for one in specifications if one is not None
        ),
        "lastTransactionID": session.last_transaction_id,
    }
    return Response(body)


def configure_account(call: Call) -> Response:
    """Set the account's alias and margin rate."""
    session = call.session
    command = _configuration(JsonReader(call.body), call.request_id)
    result = call.execute(session, command)
    last = {"lastTransactionID": result.transactions[-1]["id"]}
    if result.rejects:
        reason = result.first["rejectReason"]
        refusal = {"errorCode": reason, "errorMessage": reject_message(reason)}
        return Response({"clientConfigureRejectTransaction": result.first, **last, **refusal}, 400)
    return Response({**without_none({"clientConfigureTransaction": result.first}), **last})


def _configuration(body: JsonReader, request_id: str) -> Configure:
    """Return the command of a body; the engine rejects an unreadable value with a transaction."""
    alias, rate, problems = None, None, []
    try:
        alias = body.text("alias")
    except HttpError:
        problems.append("ALIAS_INVALID")
    try:
        rate = body.decimal("marginRate")
    except HttpError:
        problems.append("MARGIN_RATE_INVALID")
    unreadable = problems[0] if problems else None
    return Configure(request_id=request_id, alias=alias, margin_rate=rate, unreadable=unreadable)


async def poll_changes(call: Call) -> Response:
    """Return the changes since a transaction, and the values that depend on the prices.

    The service does not publish how far back its changes reach. Here it is `MAX_CHANGES` transactions; a client that
    is further behind gets 416 and reads the account again.
    """
    session = call.frozen_session()
    since = call.query.id("sinceTransactionID")
    if since is None:
        raise missing_value("sinceTransactionID")
    if since < 1:
        raise invalid_value("sinceTransactionID")
    if since > session.committed_id:
        raise range_not_satisfiable("The transaction ID specified is above the account's last one")
    if session.committed_id - since > MAX_CHANGES:
        raise range_not_satisfiable(
            f"The transaction ID specified is more than {MAX_CHANGES} transactions back: "
            "read the account and poll from its lastTransactionID"
        )
    touched, transactions = await _transactions_since(call, session, since)
    valuation = await call.valuation(session)
    changed = views.changes_lists(session.state, touched, session.board, valuation)
    moving = views.state_lists(session.state, session.board, valuation)
    body = {
        "changes": {
            **{
                name: await call.encoded(items, UNITS_PER_CHANGE) for name, items in changed.items()
            },
            "transactions": transactions,
        },
        "state": {
            **views.totals(session.state, valuation),
            **{name: await call.encoded(items) for name, items in moving.items()},
        },
        "lastTransactionID": session.last_transaction_id,
    }
    return Response(body)


async def _transactions_since(
    call: Call, session: AccountSession, since: int
) -> tuple[views.ChangedItems, EncodedList]:
    touched, texts = views.ChangedItems(), EncodedList()
    portions = session.history.portions(since + 1, session.committed_id)
    async for portion in call.budget.iterate(portions, UNITS_PER_PORTION):
        for text in portion:
            await call.budget.spend(UNITS_PER_CHANGE + len(text) // CHARACTERS_PER_UNIT)
            touched.add(from_wire(json.loads(text)))
            texts.append(await call.ledger_text(text))
    return touched, texts
