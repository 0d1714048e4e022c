"""Change tag and comment of a trade or an order, name and margin rate of the account.

These requests move no money and are idempotent: after a lost answer the same request is sent again, which the order
protocol would not do. So they are in no order journal; the audit log has them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from keydesk.calc.orders.instructions import ConfigureAccount, LabelOrder, LabelTrade
from keydesk.text.format import pair, percent
from keydesk.text.sanitize import clean
from keydesk.trading.dispatcher import Dispatcher
from keydesk.words.reject_reasons import in_text
from keydesk_client.client import Client
from keydesk_client.errors import InvalidRequest, KeydeskClientError, Refused
from keydesk_client.models import ClientExtensions, Transaction

PAUSES_S = (0.5, 2.0)  # before the second and the third try


@dataclass(frozen=True, slots=True)
class Changed:
    """The transaction of a change, and the newest one of the account."""

    transaction: Transaction
    last_transaction_id: int


@dataclass(frozen=True, slots=True)
class SettingsRequests:
    """Sends these changes, again after a lost answer, and reports each outcome."""

    client: Client
    dispatcher: Dispatcher
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def execute(self, change: LabelTrade | LabelOrder | ConfigureAccount) -> None:
        """Send a change and report its outcome."""
        match change:
            case LabelTrade():
                await self.label(change)
            case LabelOrder():
                await self.label_order(change)
            case ConfigureAccount():
                await self.configure(change)

    async def label(self, change: LabelTrade) -> None:
        """Change tag and comment of a trade."""

        async def request() -> Changed:
            extensions = ClientExtensions(tag=change.tag, comment=change.comment)
            answer = await self.client.trades.set_client_extensions(change.trade_id, extensions)
            made = answer.trade_client_extensions_modify_transaction
            return Changed(made, int(answer.last_transaction_id))

        await self._send(label_text(change), request)

    async def label_order(self, change: LabelOrder) -> None:
        """Change tag and comment of a pending order, and of the trade that it may open."""

        async def request() -> Changed:
            extensions = ClientExtensions(tag=change.tag, comment=change.comment)
            answer = await self.client.orders.set_client_extensions(
                change.order_id,
                client_extensions=extensions,
                trade_client_extensions=extensions if change.with_trade else None,
            )
            made = answer.order_client_extensions_modify_transaction
            return Changed(made, int(answer.last_transaction_id))

        await self._send(label_text(change), request)

    async def configure(self, change: ConfigureAccount) -> None:
        """Change name and margin rate of the account."""

        async def request() -> Changed:
            answer = await self.client.accounts.configure(
                alias=change.alias, margin_rate=change.margin_rate
            )
            return Changed(answer.client_configure_transaction, int(answer.last_transaction_id))

        await self._send(configure_text(change), request)

    async def _send(self, text: str, request: Callable[[], Awaitable[Changed]]) -> None:
        failure: KeydeskClientError | None = None
        for pause in (0.0, *PAUSES_S):
            if pause:
                await self.sleep(pause)
            self.dispatcher.record("sending", text)
            try:
                changed = await request()
            except (Refused, InvalidRequest) as error:
                self._tell(f"REJECTED {text}: {refusal_text(error)}")
                return
            except KeydeskClientError as error:
                failure = error
                self.dispatcher.record("unknown", f"{text}: {clean(str(error))}")
            else:
                self.dispatcher.gate.offer_all([changed.transaction])
                self.dispatcher.gate.saw_last(changed.last_transaction_id)
                self.dispatcher.record("outcome", f"DONE {text}")
                self.dispatcher.notify("good", f"DONE {text}")
                return
        why = clean(str(failure))
        self._tell(f"NOT CONFIRMED {text}: {why}. It moves no money: set it again")

    def _tell(self, text: str) -> None:
        self.dispatcher.record("outcome", text)
        self.dispatcher.notify("bad", text)


def refusal_text(error: Refused | InvalidRequest) -> str:
    """Return why the broker or the client refused a change, in words."""
    code = error.reject_reason if isinstance(error, Refused) else None
    return in_text(code) if code else clean(str(error))


def label_text(change: LabelTrade | LabelOrder) -> str:
    """Return a change of labels in words: tag swing, comment off on #12 EUR/USD, on order #15 EUR/USD."""
    id_ = f"#{change.trade_id}" if isinstance(change, LabelTrade) else f"order #{change.order_id}"
    named = (("tag", change.tag), ("comment", change.comment))
    labels = ", ".join(f"{name} {clean(text) or 'off'}" for name, text in named if text is not None)
    return f"{labels} on {id_} {pair(change.instrument)}"


def configure_text(change: ConfigureAccount) -> str:
    """Return a change of the account in words: name Swing, margin rate 5.00 %."""
    phrases = []
    if change.alias is not None:
        phrases.append(f"name {clean(change.alias) or 'off'}")
    if change.margin_rate is not None:
        phrases.append(f"margin rate {percent(change.margin_rate)} %")
    return f"ACCOUNT {', '.join(phrases)}"
