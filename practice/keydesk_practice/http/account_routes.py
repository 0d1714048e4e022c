"""Accounts: list, details, summary, instruments, configuration, changes."""

import json

from keydesk_practice.broker.desks import AccountDesk
from keydesk_practice.engine.commands import Configure
from keydesk_practice.engine.transactions import from_wire
from keydesk_practice.engine.views import Touched
from keydesk_practice.http.answers import Answer, EncodedList
from keydesk_practice.http.endpoints import UNITS_OF_A_PORTION, Call
from keydesk_practice.http.instrument_view import instrument_view
from keydesk_practice.http.members import Members
from keydesk_practice.http.outcomes import present
from keydesk_practice.http.refusals import Refused, invalid, missing, out_of_range
from keydesk_practice.http.requests import whole_number
from keydesk_practice.http.sentences import sentence_of

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
