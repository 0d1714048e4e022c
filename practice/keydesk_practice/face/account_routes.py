"""Accounts: list, details, summary, instruments, configuration, changes."""

from keydesk_practice.engine.commands import Configure
from keydesk_practice.face.answers import Answer
from keydesk_practice.face.endpoints import Call
from keydesk_practice.face.instrument_view import instrument_view
from keydesk_practice.face.members import Members
from keydesk_practice.face.outcomes import present
from keydesk_practice.face.refusals import invalid, missing, out_of_range
from keydesk_practice.face.requests import whole_number
from keydesk_practice.face.sentences import sentence_of


def list_accounts(call: Call) -> Answer:
    """Answer with the accounts that the token opens."""
    accounts = call.broker.accounts_of(call.owner)
    return Answer({"accounts": [{"id": account.id, "tags": []} for account in accounts]})


def get_account(call: Call) -> Answer:
    """Answer with the whole account: pending orders, open trades, positions."""
    desk = call.desk
    body = {"account": desk.details(), "lastTransactionID": desk.last_transaction_id}
    return Answer(body)


def get_account_summary(call: Call) -> Answer:
    """Answer with the account's numbers."""
    desk = call.desk
    body = {"account": desk.summary(), "lastTransactionID": desk.last_transaction_id}
    return Answer(body)


def list_instruments(call: Call) -> Answer:
    """Answer with what may be traded, all of it or what was asked for."""
    desk, board = call.desk, call.broker.board
    asked = call.query.words("instruments")
    names = list(board.instruments()) if asked is None else list(dict.fromkeys(asked))
    found = [board.specification(name) for name in names]
    if not all(found):
        raise invalid("instruments")
    body = {
        "instruments": [instrument_view(one) for one in found if one is not None],
        "lastTransactionID": desk.last_transaction_id,
    }
    return Answer(body)


def configure_account(call: Call) -> Answer:
    """Change the client's own settings."""
    desk, body = call.desk, Members(call.body)
    command = Configure(
        request_id=call.request_id,
        alias=body.text("alias"),
        margin_rate=body.decimal("marginRate"),
    )
    outcome = call.execute(desk, command)
    last = {"lastTransactionID": outcome.batch[-1]["id"]}
    if outcome.rejects:
        reason = outcome.first["rejectReason"]
        refusal = {"errorCode": reason, "errorMessage": sentence_of(reason)}
        return Answer({"clientConfigureRejectTransaction": outcome.first, **last, **refusal}, 400)
    return Answer({**present({"clientConfigureTransaction": outcome.first}), **last})


def poll_changes(call: Call) -> Answer:
    """Answer with what changed since a transaction, and with everything that moves with the prices."""
    desk = call.desk
    text = call.query.text("sinceTransactionID")
    if text is None:
        raise missing("sinceTransactionID")
    since = whole_number(text, "sinceTransactionID")
    if since < 1:
        raise invalid("sinceTransactionID")
    if since > desk.committed_id:
        raise out_of_range("The transaction ID specified is above the account's last one")
    texts = desk.history.texts(since + 1, desk.committed_id)
    body = {
        "changes": desk.changes(texts),
        "state": desk.moving_state(),
        "lastTransactionID": desk.last_transaction_id,
    }
    return Answer(body)
