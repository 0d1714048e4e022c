"""Apply transactions to the account's settings, balance and margin call, to financing and to client extensions."""

from typing import Any

from msgspec.structs import replace

from keydesk_practice.engine.commands import ClientExtensions
from keydesk_practice.engine.state.account import (
    Account,
    order_after,
    trade_after,
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
    OrderExtensionsModified,
    PositionFinancing,
    TradeClosureDelayed,
    TradeExtensionsModified,
)


def open_account(account: Account, event: AccountCreated) -> None:
    """Note when the account was opened."""
    account.created_time = event.time


def configure(account: Account, event: ClientConfigured) -> None:
    """Change the client's settings."""
    if event.alias is not None:
        account.alias = event.alias
    if event.margin_rate is not None:
        account.margin_rate = event.margin_rate


def transfer_funds(account: Account, event: FundsTransferred) -> None:
    """Change the balance by a deposit or a withdrawal."""
    account.balance = event.account_balance


def enter_margin_call(account: Account, event: MarginCallEntered) -> None:
    """Begin a margin call."""
    account.margin_call_enter_time = event.time
    account.margin_call_extension_count = 0


def extend_margin_call(account: Account, event: MarginCallExtended) -> None:
    """Count an extension of the margin call, and note its time."""
    account.margin_call_extension_count = event.extension_number
    account.last_margin_call_extension_time = event.time


def exit_margin_call(account: Account, _: MarginCallExited) -> None:
    """End a margin call."""
    account.margin_call_enter_time = None
    account.margin_call_extension_count = 0
    account.last_margin_call_extension_time = None


def delay_closure(account: Account, event: TradeClosureDelayed) -> None:
    """Mark the trades that are to be closed once their instrument is tradeable."""
    for trade_id in event.trade_ids:
        trade = account.trades[trade_id]
        state = trade_after(trade.state, "CLOSE_OWED")
        account.trades[trade_id] = replace(trade, state=state, close_owed_by=event.id)


def finance(account: Account, event: DailyFinanced) -> None:
    """Book the financing of a day."""
    account.balance = event.account_balance
    account.financing += event.financing
    for financed in event.position_financings:
        for part in financed.open_trade_financings:
            _finance_trade(account, financed, part)


def modify_order_extensions(account: Account, event: OrderExtensionsModified) -> None:
    """Change an order's client extensions."""
    order = account.orders[event.order_id]
    changed = replace(
        order,
        state=order_after(order.state, "EXTENSIONS_MODIFIED"),
        client_extensions=merged_extensions(
            order.client_extensions, event.client_extensions_modify
        ),
        trade_client_extensions=merged_extensions(
            order.trade_client_extensions, event.trade_client_extensions_modify
        ),
    )
    if order.client_id is not None:
        account.order_ids.pop(order.client_id, None)
    if changed.client_id is not None:
        account.order_ids[changed.client_id] = order.id
    account.orders[order.id] = changed


def modify_trade_extensions(account: Account, event: TradeExtensionsModified) -> None:
    """Change a trade's client extensions."""
    trade = account.trades[event.trade_id]
    changed = replace(
        trade,
        state=trade_after(trade.state, "EXTENSIONS_MODIFIED"),
        client_extensions=merged_extensions(
            trade.client_extensions, event.trade_client_extensions_modify
        ),
    )
    if trade.client_id is not None:
        account.trade_ids.pop(trade.client_id, None)
    if changed.client_id is not None:
        account.trade_ids[changed.client_id] = trade.id
    account.trades[trade.id] = changed


def merged_extensions(
    old: ClientExtensions | None, new: ClientExtensions | None
) -> ClientExtensions | None:
    """Return client extensions after a change: members that are given replace the old ones."""
    if old is None or new is None:
        return new or old
    return ClientExtensions(
        id=old.id if new.id is None else new.id,
        tag=old.tag if new.tag is None else new.tag,
        comment=old.comment if new.comment is None else new.comment,
    )


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
