"""Apply transactions to an account, and collect the transactions of a decision.

Each transaction changes the account in exactly one way; nothing else changes it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from keydesk_practice.engine.quotes import Market
from keydesk_practice.engine.state.account import Account, Mark, trade_after
from keydesk_practice.engine.state.apply_records import (
    apply_created,
    apply_fill,
    apply_mark,
    end_order,
    modify_order_extensions,
    modify_trade_extensions,
)
from keydesk_practice.engine.transactions import (
    AccountCreated,
    ClientConfigured,
    DailyFinanced,
    FundsTransferred,
    MarginCallEntered,
    MarginCallExited,
    MarginCallExtended,
    OpenTradeFinancing,
    OrderCancelled,
    OrderCreated,
    OrderExtensionsModified,
    OrderFilled,
    PositionFinancing,
    TradeClosureDelayed,
    TradeExtensionsModified,
    Transaction,
)

Kind = TypeVar("Kind", bound=Transaction)


def apply(account: Account, event: Transaction | Mark) -> Account:
    """Change the account in place by a transaction or mark, and return it.

    Raises:
        ValueError: the transaction's id does not follow the account's last one.
    """
    if isinstance(event, Mark):
        apply_mark(account, event)
        return account
    if event.id != account.last_transaction_id + 1:
        raise ValueError(f"transaction {event.id} does not follow {account.last_transaction_id}")
    if isinstance(event, OrderCreated):
        apply_created(account, event)
    elif change := _CHANGES.get(type(event)):
        change(account, event)
    account.last_transaction_id = event.id
    return account


class Decision:
    """The transactions of a decision in progress, and a copy of the account after them."""

    def __init__(self, account: Account, market: Market, request_id: str | None = None) -> None:
        self.account = account.copy()
        self.market = market
        self.request_id = request_id
        self.transactions: list[Transaction] = []
        self._batch_id = account.last_transaction_id + 1

    def begin_batch(self) -> None:
        """Start a new batch with the next transaction."""
        self._batch_id = self.next_id

    @property
    def next_id(self) -> int:
        """The id of the next transaction."""
        return self.account.last_transaction_id + 1

    def record(self, kind: type[Kind], **members: Any) -> Kind:  # noqa: ANN401 - the members of the kind
        """Make a transaction of a kind, apply it to the copy of the account and return it."""
        transaction = kind(
            id=self.next_id,
            account_id=self.account.id,
            user_id=self.account.user_id,
            batch_id=self._batch_id,
            request_id=self.request_id,
            time=self.market.now,
            **members,
        )
        apply(self.account, transaction)
        self.transactions.append(transaction)
        return transaction


def _created(account: Account, event: AccountCreated) -> None:
    account.created_time = event.time


def _configured(account: Account, event: ClientConfigured) -> None:
    if event.alias is not None:
        account.alias = event.alias
    if event.margin_rate is not None:
        account.margin_rate = event.margin_rate


def _transferred(account: Account, event: FundsTransferred) -> None:
    account.balance = event.account_balance


def _cancelled(account: Account, event: OrderCancelled) -> None:
    end_order(
        account,
        account.orders[event.order_id],
        "CANCELLED",
        cancelling_transaction_id=event.id,
        cancelled_time=event.time,
        replaced_by_order_id=event.replaced_by_order_id,
    )


def _call_entered(account: Account, event: MarginCallEntered) -> None:
    account.margin_call_enter_time = event.time
    account.margin_call_extension_count = 0


def _call_extended(account: Account, event: MarginCallExtended) -> None:
    account.margin_call_extension_count = event.extension_number
    account.last_margin_call_extension_time = event.time


def _call_exited(account: Account, _: MarginCallExited) -> None:
    account.margin_call_enter_time = None
    account.margin_call_extension_count = 0
    account.last_margin_call_extension_time = None


def _closure_delayed(account: Account, event: TradeClosureDelayed) -> None:
    for trade_id in event.trade_ids:
        trade = account.trades[trade_id]
        state = trade_after(trade.state, "CLOSE_OWED")
        account.trades[trade_id] = replace(trade, state=state, close_owed_by=event.id)


def _financed(account: Account, event: DailyFinanced) -> None:
    account.balance = event.account_balance
    account.financing += event.financing
    for financed in event.position_financings:
        for part in financed.open_trade_financings:
            _finance_trade(account, financed, part)


def _finance_trade(account: Account, financed: PositionFinancing, part: OpenTradeFinancing) -> None:
    trade = account.trades[part.trade_id]
    state = trade_after(trade.state, "FINANCED")
    account.trades[trade.id] = replace(
        trade, state=state, financing=trade.financing + part.financing
    )
    position = account.positions[financed.instrument]
    name = "long" if trade.long else "short"
    side = position.long if trade.long else position.short
    changed: dict[str, Any] = {name: replace(side, financing=side.financing + part.financing)}
    account.positions[financed.instrument] = replace(position, **changed)


_CHANGES: dict[type[Transaction], Callable[[Account, Any], None]] = {
    AccountCreated: _created,
    ClientConfigured: _configured,
    FundsTransferred: _transferred,
    OrderFilled: apply_fill,
    OrderCancelled: _cancelled,
    OrderExtensionsModified: modify_order_extensions,
    TradeExtensionsModified: modify_trade_extensions,
    MarginCallEntered: _call_entered,
    MarginCallExtended: _call_extended,
    MarginCallExited: _call_exited,
    TradeClosureDelayed: _closure_delayed,
    DailyFinanced: _financed,
}
