"""Forms: each shows at its top what it does and at its bottom what sends it, and returns a value; it sends nothing.

A form's module is loaded when the form is first used; those of forms that trade, and what stands on the way to them, by
`load()` after the first frame. Pages are looked at seldom: all of them loaded take 2 MB, opened for the first time 2 to 20 ms.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keydesk.forms.account.arming import ArmForm, UnlockForm
    from keydesk.forms.account.audit import AuditForm
    from keydesk.forms.account.configure import ConfigureForm
    from keydesk.forms.account.leaving import LeaveForm
    from keydesk.forms.account.limits import LimitsForm
    from keydesk.forms.account.order_history import OrderHistoryForm
    from keydesk.forms.account.sessions import SessionsForm
    from keydesk.forms.account.transaction import TransactionForm
    from keydesk.forms.command_line import CommandForm, FindForm
    from keydesk.forms.info_form import DetailsForm, HelpForm
    from keydesk.forms.journal.note import NoteForm
    from keydesk.forms.journal.trade import JournalTradeForm
    from keydesk.forms.journal.trades import JournalForm
    from keydesk.forms.market.alerts import AlertsForm
    from keydesk.forms.market.indicators import IndicatorForm
    from keydesk.forms.market.new_alert import AlertLineForm, NewAlertForm
    from keydesk.forms.market.replay import BeginAnewForm, MarketPage
    from keydesk.forms.market.timeframes import TimeframeForm
    from keydesk.forms.market.watchlists import AddForm, ColumnsForm, DeleteListForm, NameForm
    from keydesk.forms.ticket.form import TicketForm
    from keydesk.forms.trades.break_even import BreakEvenForm
    from keydesk.forms.trades.close_position import ClosePositionForm
    from keydesk.forms.trades.close_trade import CloseForm, ScaleOutForm
    from keydesk.forms.trades.exit_plan import ExitPlanForm
    from keydesk.forms.trades.labels import LabelsForm
    from keydesk.forms.trades.move_order import MoveForm
    from keydesk.forms.trades.orders import CancelEntriesForm, CancelForm
    from keydesk.forms.trades.position_part import PositionPartForm
    from keydesk.forms.trades.protection import ProtectForm, ProtectionForm, TrailingForm
    from keydesk.forms.trades.reverse_flatten import FlattenForm, ReverseForm

__all__ = [
    "AddForm",
    "AlertLineForm",
    "AlertsForm",
    "ArmForm",
    "AuditForm",
    "BeginAnewForm",
    "BreakEvenForm",
    "CancelEntriesForm",
    "CancelForm",
    "CloseForm",
    "ClosePositionForm",
    "ColumnsForm",
    "CommandForm",
    "ConfigureForm",
    "DeleteListForm",
    "DetailsForm",
    "ExitPlanForm",
    "FindForm",
    "FlattenForm",
    "HelpForm",
    "IndicatorForm",
    "JournalForm",
    "JournalTradeForm",
    "LabelsForm",
    "LeaveForm",
    "LimitsForm",
    "MarketPage",
    "MoveForm",
    "NameForm",
    "NewAlertForm",
    "NoteForm",
    "OrderHistoryForm",
    "PositionPartForm",
    "ProtectForm",
    "ProtectionForm",
    "ReverseForm",
    "ScaleOutForm",
    "SessionsForm",
    "TicketForm",
    "TimeframeForm",
    "TrailingForm",
    "TransactionForm",
    "UnlockForm",
    "load",
]

_HOMES = {
    "AddForm": "market.watchlists",
    "AlertLineForm": "market.new_alert",
    "AlertsForm": "market.alerts",
    "NewAlertForm": "market.new_alert",
    "ArmForm": "account.arming",
    "AuditForm": "account.audit",
    "BeginAnewForm": "market.replay",
    "BreakEvenForm": "trades.break_even",
    "CancelEntriesForm": "trades.orders",
    "CancelForm": "trades.orders",
    "CloseForm": "trades.close_trade",
    "ClosePositionForm": "trades.close_position",
    "PositionPartForm": "trades.position_part",
    "ColumnsForm": "market.watchlists",
    "CommandForm": "command_line",
    "ConfigureForm": "account.configure",
    "DeleteListForm": "market.watchlists",
    "DetailsForm": "info_form",
    "ExitPlanForm": "trades.exit_plan",
    "FindForm": "command_line",
    "FlattenForm": "trades.reverse_flatten",
    "HelpForm": "info_form",
    "IndicatorForm": "market.indicators",
    "JournalForm": "journal.trades",
    "JournalTradeForm": "journal.trade",
    "MarketPage": "market.replay",
    "MoveForm": "trades.move_order",
    "LabelsForm": "trades.labels",
    "LeaveForm": "account.leaving",
    "LimitsForm": "account.limits",
    "NameForm": "market.watchlists",
    "NoteForm": "journal.note",
    "OrderHistoryForm": "account.order_history",
    "ProtectForm": "trades.protection",
    "ProtectionForm": "trades.protection",
    "ReverseForm": "trades.reverse_flatten",
    "ScaleOutForm": "trades.close_trade",
    "SessionsForm": "account.sessions",
    "TicketForm": "ticket.form",
    "TimeframeForm": "market.timeframes",
    "TrailingForm": "trades.protection",
    "TransactionForm": "account.transaction",
    "UnlockForm": "account.arming",
}


# Forms that a key of the desk opens to trade or to ask for keys: they open at once, also for the first time.
_LOADED_FIRST = (
    "ticket.form",
    "trades.break_even",
    "trades.close_position",
    "trades.close_trade",
    "trades.move_order",
    "trades.orders",
    "trades.position_part",
    "trades.protection",
    "trades.reverse_flatten",
    "info_form",
)


def load() -> None:
    """Load the forms that trade, so that the first capital opens its form at once."""
    for home in _LOADED_FIRST:
        import_module(f"keydesk.forms.{home}")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'keydesk.forms' has no attribute {name!r}")
    return getattr(import_module(f"keydesk.forms.{_HOMES[name]}"), name)
