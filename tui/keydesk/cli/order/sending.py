"""Show what a command of `keydesk order` would do, send it with --yes, and print its outcome with an exit code."""

from argparse import Namespace
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import monotonic
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from keydesk.cli.account_access import OpenAccount
from keydesk.cli.broker_records import TransactionRecord, as_sent
from keydesk.cli.script_output import EXIT_CODES, AccountDocument, Category, Refusal, print_document
from keydesk.terminal.output import print_error, print_lines
from keydesk.text.sanitize import clean, safe
from keydesk.trading.audit import AuditLog
from keydesk.trading.journal import open_journal
from keydesk.values import Command
from keydesk.words.outcomes import report_of
from keydesk_client.orders.outcome import (
    Ambiguous,
    Done,
    NotSent,
    OrderResult,
    Outcome,
    Rejected,
    Unconfirmed,
)
from keydesk_client.orders.sender import Sender

Verb = Literal["buy", "sell", "close", "protect", "cancel"]
Result = Literal["dry-run", "done", "rejected", "not-sent", "unknown"]
RESULTS: Mapping[Result, Category | None] = {
    "dry-run": None,
    "done": None,
    "rejected": "rejected",
    "not-sent": "network",
    "unknown": "unknown-outcome",
}
"""By the category whose exit code they have; None is 0."""
SENTENCE = 1000  # characters


class Proposal(Struct, frozen=True):
    """A command that can be sent.

    Args:
        action: Such as "buy".
        command: In words, and the values that its outcome is compared with.
        request: As it is sent, as far as it is known before.
        warnings: What the ticket warns of.
        send: Sends it.
    """

    action: Verb
    command: Command
    request: Mapping[str, object]
    send: Callable[[Sender], Awaitable[Outcome]]
    warnings: Sequence[str] = ()
    figures: Mapping[str, str] | None = None


async def carry_out(
    account: OpenAccount, options: Namespace, proposal: Proposal, *, opens: bool
) -> int:
    """Print the proposal, or send it and print its outcome; return the exit code.

    Raises:
        Refusal: --live is missing on live money, or --despite-warnings where the ticket warns.
    """
    if not options.yes:
        return _Answer(proposal, "dry-run", f"WOULD {proposal.command.text}").print_lines(
            account, options
        )
    if account.environment == "LIVE" and not options.live:
        raise Refusal(f"NOTHING WAS SENT: {account.name} is live money: add --live to --yes")
    if proposal.warnings and not options.despite_warnings:
        raise Refusal(
            f"NOTHING WAS SENT: {'; '.join(proposal.warnings)}: to send it nevertheless add --despite-warnings"
        )
    return await _send(account, options, proposal, opens=opens)


async def _send(
    account: OpenAccount, options: Namespace, proposal: Proposal, *, opens: bool
) -> int:
    journal = open_journal(account.journal)
    audit = AuditLog(account.audit, redact=account.target.token.redact)
    last = int((await account.client.accounts.summary()).last_transaction_id)
    sender = Sender(account.client, journal, lambda: last)
    if opens:
        await sender.recover(_say_recovered)
    audit.write(f"order {proposal.action}", f"from the command line: {proposal.command.text}")
    began = monotonic()
    outcome = await proposal.send(sender)
    took = (monotonic() - began) * 1000
    text = report_of(outcome, replace(proposal.command, milliseconds=took)).text
    audit.write_outcome(outcome, text)
    if audit.failed:
        print_error(safe(f"The audit log cannot be written: {audit.failed}"))
    return _Answer(proposal, result_of(outcome), text, outcome).print_lines(account, options)


def _say_recovered(outcome: Outcome) -> None:
    text = report_of(outcome, Command("an order of an earlier session", "check first")).text
    print_error(safe(text))


def result_of(outcome: Outcome) -> Result:
    """Return the result of an outcome; an order that the broker cancelled at once is rejected."""
    match outcome:
        case Done(result=OrderResult.CANCELLED) | Rejected():
            return "rejected"
        case Done():
            return "done"
        case NotSent():
            return "not-sent"
        case Ambiguous() | Unconfirmed():
            return "unknown"


def not_sent_category(outcome: NotSent) -> Category:
    """Return why it was not sent: a member of the request, too many requests, or the network."""
    if outcome.field:
        return "invalid"
    return "network" if outcome.retry_after is None else "rate"


class OrderDocument(AccountDocument, frozen=True, tag="order"):
    """`keydesk order ... --json`: what would be sent, or the outcome of what was sent."""

    action: Verb
    outcome: Result
    exit_code: int
    text: str
    request: Annotated[
        Mapping[str, Any], Meta(description="as it is sent, as far as it is known before")
    ]
    figures: Annotated[
        Mapping[str, str] | None, Meta(description="levels, margin and risk of an entry")
    ]
    warnings: Annotated[
        list[str], Meta(description="sent with --yes only if --despite-warnings is given")
    ]
    client_id: Annotated[str | None, Meta(description="of the request, null of a dry run")]
    result: Annotated[
        str | None,
        Meta(description="filled, resting, applied or cancelled, where the broker acted on it"),
    ]
    reason: Annotated[str | None, Meta(description="why it was rejected or cancelled at once")]
    order_id: str | None
    transactions: list[TransactionRecord]


class _Answer(Struct, frozen=True):
    """What is printed of a proposal."""

    proposal: Proposal
    result: Result
    text: str
    outcome: Outcome | None = None

    def print_lines(self, account: OpenAccount, options: Namespace) -> int:
        """Print it; return the exit code."""
        if options.json:
            print_document(self._document(account))
        else:
            self._say_lines(account)
        return self._exit_code

    @property
    def _exit_code(self) -> int:
        category = RESULTS[self.result]
        if isinstance(self.outcome, NotSent):
            category = not_sent_category(self.outcome)
        return 0 if category is None else EXIT_CODES[category]

    def _document(self, account: OpenAccount) -> OrderDocument:
        outcome = self.outcome
        known = outcome.transactions if isinstance(outcome, Done | Rejected) else []
        return OrderDocument(
            **account.head,
            action=self.proposal.action,
            outcome=self.result,
            exit_code=self._exit_code,
            text=clean(self.text, SENTENCE),
            request=self.proposal.request,
            figures=self.proposal.figures,
            warnings=[clean(each, SENTENCE) for each in self.proposal.warnings],
            client_id=None if outcome is None else outcome.intent.id,
            result=outcome.result.value if isinstance(outcome, Done) else None,
            reason=_reason_of(outcome),
            order_id=outcome.order_id if isinstance(outcome, Done) else None,
            transactions=as_sent(TransactionRecord, known),
        )

    def _say_lines(self, account: OpenAccount) -> None:
        print_lines(safe(self.text))
        if self.result != "dry-run":
            return
        for name, value in (self.proposal.figures or {}).items():
            print_lines(safe(f"  {name}  {value}"))
        for each in self.proposal.warnings:
            print_lines(safe(f"  warning: {each}"))
        more = " --live" if account.environment == "LIVE" else ""
        more += " --despite-warnings" if self.proposal.warnings else ""
        print_lines(
            safe(f"Nothing was sent. To send it to {account.name}: the same with --yes{more}")
        )


def _reason_of(outcome: Outcome | None) -> str | None:
    """Return why it was rejected, or cancelled at once."""
    if isinstance(outcome, Rejected):
        return outcome.reject_reason or outcome.error_code
    return (outcome.reason or None) if isinstance(outcome, Done) else None
