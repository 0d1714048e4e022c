"""Forms: each shows at its top what it does and at its bottom what sends it, and returns a value; it sends nothing.

A form's module is loaded when the form is first used, or by `load()` after the first frame.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from keydesk.forms.arming import ArmForm
    from keydesk.forms.audit import AuditForm
    from keydesk.forms.break_even import BreakEvenForm
    from keydesk.forms.close_position import ClosePositionForm
    from keydesk.forms.close_trade import CloseForm, ScaleOutForm
    from keydesk.forms.command_line import CommandForm, FindForm
    from keydesk.forms.indicators import IndicatorForm
    from keydesk.forms.info_form import DetailsForm, HelpForm
    from keydesk.forms.leaving import LeaveForm
    from keydesk.forms.limits import LimitsForm
    from keydesk.forms.move_order import MoveForm
    from keydesk.forms.orders import CancelEntriesForm, CancelForm
    from keydesk.forms.position_part import PositionPartForm
    from keydesk.forms.protection import ProtectForm, ProtectionForm, TrailingForm
    from keydesk.forms.reverse_flatten import FlattenForm, ReverseForm
    from keydesk.forms.ticket import TicketForm
    from keydesk.forms.timeframes import TimeframeForm
    from keydesk.forms.unlock import UnlockForm
    from keydesk.forms.watchlists import AddForm, ColumnsForm, DeleteListForm, NameForm

__all__ = [
    "AddForm",
    "ArmForm",
    "AuditForm",
    "BreakEvenForm",
    "CancelEntriesForm",
    "CancelForm",
    "CloseForm",
    "ClosePositionForm",
    "ColumnsForm",
    "CommandForm",
    "DeleteListForm",
    "DetailsForm",
    "FindForm",
    "FlattenForm",
    "HelpForm",
    "IndicatorForm",
    "LeaveForm",
    "LimitsForm",
    "MoveForm",
    "NameForm",
    "PositionPartForm",
    "ProtectForm",
    "ProtectionForm",
    "ReverseForm",
    "ScaleOutForm",
    "TicketForm",
    "TimeframeForm",
    "TrailingForm",
    "UnlockForm",
    "load",
]

_HOMES = {
    "AddForm": "watchlists",
    "ArmForm": "arming",
    "AuditForm": "audit",
    "BreakEvenForm": "break_even",
    "CancelEntriesForm": "orders",
    "CancelForm": "orders",
    "CloseForm": "close_trade",
    "ClosePositionForm": "close_position",
    "PositionPartForm": "position_part",
    "ColumnsForm": "watchlists",
    "CommandForm": "command_line",
    "DeleteListForm": "watchlists",
    "DetailsForm": "info_form",
    "FindForm": "command_line",
    "FlattenForm": "reverse_flatten",
    "HelpForm": "info_form",
    "IndicatorForm": "indicators",
    "MoveForm": "move_order",
    "LeaveForm": "leaving",
    "LimitsForm": "limits",
    "NameForm": "watchlists",
    "ProtectForm": "protection",
    "ProtectionForm": "protection",
    "ReverseForm": "reverse_flatten",
    "ScaleOutForm": "close_trade",
    "TicketForm": "ticket",
    "TimeframeForm": "timeframes",
    "TrailingForm": "protection",
    "UnlockForm": "unlock",
}


def load() -> None:
    """Load every form, so that the first capital opens its form at once."""
    for home in _HOMES.values():
        import_module(f"keydesk.forms.{home}")


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'keydesk.forms' has no attribute {name!r}")
    return getattr(import_module(f"keydesk.forms.{_HOMES[name]}"), name)
