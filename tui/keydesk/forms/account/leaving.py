"""The question before the desk is left while trades have no stop, or are not known; it is asked once."""

from collections.abc import Sequence
from time import monotonic
from typing import ClassVar

from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.forms.trades.trade_form import trade_name
from keydesk.keys.keymap import LEAVING
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.risk import unprotected_trades
from keydesk.store.store import Store
from keydesk.store.unknown import is_known, unknown_lines
from keydesk.text.sanitize import Printable, safe

MAX_SHOWN = 8
TO_READ = 0.5  # seconds


class LeaveForm(InfoForm[bool]):
    """Returns True when the trader leaves all the same."""

    KEY_CONTEXT: ClassVar[str] = LEAVING
    BINDINGS = bindings_of(LEAVING)
    WIDTH: ClassVar[int] = 64
    IS_PAGE: ClassVar[bool] = False

    def __init__(self, store: Store) -> None:
        self.store = store
        super().__init__()

    def title_text(self) -> Printable:
        """Say what it is about."""
        return "Trades without a stop" if is_known(self.store) else "The account is not known"

    def foot_text(self) -> Printable:
        """Return the keys."""
        return "Enter or Ctrl-C leaves anyway  Esc stays"

    def lines(self) -> Sequence[TextLine]:
        """List the trades, and say what leaving means for them."""
        unprotected = unprotected_trades(self.store)
        lines: list[TextLine] = [
            ((trade_name(trade), "bright"),) for trade in unprotected[:MAX_SHOWN]
        ]
        if len(unprotected) > MAX_SHOWN:
            lines.append(((safe(f"and {len(unprotected) - MAX_SHOWN} more"), "muted"),))
        text = "They stay open at the broker, their loss has no limit, and no desk watches them"
        said = [BLANK, *wrap_text(safe(text), "danger", self.inside)] if unprotected else []
        return [*self._unknown(), *lines, *said]

    def _unknown(self) -> Sequence[TextLine]:
        """Name what the broker answered and could not be read."""
        unknown = unknown_lines(self.store)
        if not unknown:
            return []
        text = "The broker's answer could not be read. Not known, and perhaps open without a stop:"
        lines = [*wrap_text(safe(text), "danger", self.inside)]
        for each in unknown[:MAX_SHOWN]:
            lines += wrap_text(each, "bright", self.inside)
        if len(unknown) > MAX_SHOWN:
            lines.append(((safe(f"and {len(unknown) - MAX_SHOWN} more"), "muted"),))
        return [*lines, BLANK]

    def action_take(self) -> None:
        """Leave, if the question could be read: the Enter of `:q` may still be held down."""
        if self.is_active and self.painted is not None and monotonic() - self.painted > TO_READ:
            self.dismiss(result=True)


def must_ask(store: Store) -> bool:
    """Return whether a trade has no stop, as far as trades are known; or they are not."""
    return bool(unprotected_trades(store)) or not is_known(store)
