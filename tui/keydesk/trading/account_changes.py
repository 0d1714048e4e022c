"""Changes of labels, and of name and margin rate of the account: a class each, with its request and its words.

These requests move no money and are idempotent: after a lost answer the same request is sent again, which the order
protocol would not do. So they are in no order journal; the audit log has them.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable
from decimal import Decimal

from msgspec import Struct

from keydesk.text.format import pair, percent
from keydesk.text.sanitize import clean
from keydesk.trading.dispatcher import Dispatcher
from keydesk.words.reject_reasons import in_text
from keydesk_client.client import Client
from keydesk_client.errors import InvalidRequest, KeydeskClientError, Refused
from keydesk_client.models import ClientExtensions, Transaction

PAUSES_S = (0.5, 2.0)  # before the second and the third try


class Changed(Struct, frozen=True):
    """The transaction of a change, and the newest one of the account."""

    transaction: Transaction
    last_transaction_id: int


class AccountChange(Struct, frozen=True):
    """A change that a form returns. To add one, write its class here and the form that returns it."""

    @property
    @abstractmethod
    def text(self) -> str:
        """The change in words, for its outcome: name Swing, margin rate 5.00 %."""

    @abstractmethod
    async def request(self, client: Client) -> Changed:
        """Send it once. Raise `KeydeskClientError` if it was refused, or if its answer was lost."""


class LabelTrade(AccountChange, frozen=True):
    """Change tag and comment of a trade; None leaves one as it is, "" clears it."""

    trade_id: str
    instrument: str
    tag: str | None = None
    comment: str | None = None

    @property
    def text(self) -> str:
        return f"{_labels(self.tag, self.comment)} on #{self.trade_id} {pair(self.instrument)}"

    async def request(self, client: Client) -> Changed:
        extensions = ClientExtensions(tag=self.tag, comment=self.comment)
        answer = await client.trades.set_client_extensions(self.trade_id, extensions)
        made = answer.trade_client_extensions_modify_transaction
        return Changed(made, int(answer.last_transaction_id))


class LabelOrder(AccountChange, frozen=True):
    """Change tag and comment of a pending order; None leaves one as it is, "" clears it."""

    order_id: str
    instrument: str
    tag: str | None = None
    comment: str | None = None
    with_trade: bool = False  # the trade that it may open gets them, too

    @property
    def text(self) -> str:
        labels = _labels(self.tag, self.comment)
        return f"{labels} on order #{self.order_id} {pair(self.instrument)}"

    async def request(self, client: Client) -> Changed:
        extensions = ClientExtensions(tag=self.tag, comment=self.comment)
        answer = await client.orders.set_client_extensions(
            self.order_id,
            client_extensions=extensions,
            trade_client_extensions=extensions if self.with_trade else None,
        )
        made = answer.order_client_extensions_modify_transaction
        return Changed(made, int(answer.last_transaction_id))


class ConfigureAccount(AccountChange, frozen=True):
    """Change name and margin rate of the account; None leaves one as it is."""

    alias: str | None = None
    margin_rate: Decimal | None = None  # 0.05 is 5 percent

    @property
    def text(self) -> str:
        phrases = []
        if self.alias is not None:
            phrases.append(f"name {clean(self.alias) or 'off'}")
        if self.margin_rate is not None:
            phrases.append(f"margin rate {percent(self.margin_rate)} %")
        return f"ACCOUNT {', '.join(phrases)}"

    async def request(self, client: Client) -> Changed:
        answer = await client.accounts.configure(alias=self.alias, margin_rate=self.margin_rate)
        return Changed(answer.client_configure_transaction, int(answer.last_transaction_id))


class ChangeSender(Struct, frozen=True):
    """Sends these changes, again after a lost answer, and reports each outcome."""

    client: Client
    dispatcher: Dispatcher
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def send(self, change: AccountChange) -> None:
        """Send a change and report its outcome."""
        failure: KeydeskClientError | None = None
        for pause in (0.0, *PAUSES_S):
            if pause:
                await self.sleep(pause)
            self.dispatcher.record("sending", change.text)
            try:
                changed = await change.request(self.client)
            except KeydeskClientError as error:
                if isinstance(error, Refused | InvalidRequest) and error.settled:
                    self._notify(f"REJECTED {change.text}: {refusal_text(error)}")
                    return
                failure = error
                self.dispatcher.record("unknown", f"{change.text}: {clean(str(error))}")
            else:
                self.dispatcher.gate.offer_all([changed.transaction])
                self.dispatcher.gate.saw_last(changed.last_transaction_id)
                self.dispatcher.record("outcome", f"DONE {change.text}")
                self.dispatcher.notify("good", f"DONE {change.text}")
                return
        why = clean(str(failure))
        self._notify(f"NOT CONFIRMED {change.text}: {why}. It moves no money: set it again")

    def _notify(self, text: str) -> None:
        self.dispatcher.record("outcome", text)
        self.dispatcher.notify("bad", text)


def refusal_text(error: Refused | InvalidRequest) -> str:
    """Return why the broker or the client refused a change, in words."""
    code = error.reject_reason if isinstance(error, Refused) else None
    return in_text(code) if code else clean(str(error))


def _labels(tag: str | None, comment: str | None) -> str:
    """Return labels in words: tag swing, comment off."""
    named = (("tag", tag), ("comment", comment))
    return ", ".join(f"{name} {clean(text) or 'off'}" for name, text in named if text is not None)
