"""The question before the practice market is replaced: what starts, and what becomes of the account."""

from collections.abc import Sequence
from typing import ClassVar

from keydesk.calc.market.market_state import Home
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.keys.keymap import KEYMAP, REPLAY, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.parse.replay import ReplayCommand
from keydesk.store.store import Store
from keydesk.text.format import counted, date_and_time, money
from keydesk.text.sanitize import Printable, clean, safe

WHAT_IT_IS = (
    "A replay runs the practice market again from a past time, on a new account with practice money. "
    "Trade it as that day; pause it, step by candles, run it faster. Your own account waits meanwhile."
)
CATCHES_UP = "Its market then catches up: orders and stops may be filled."  # one line at 80 columns
AT_MOST = "Of more than 30 days, the last 30 are run."
KEPT = "It is kept: keydesk practice ledgers, typed in a shell, lists it and opens it again."
SMALL = 16  # rows with room for what a replay is


class StartReplayForm(InfoForm[bool]):
    """Returns True when the trader starts a replay, or goes back to the account that was left for one."""

    KEY_CONTEXT: ClassVar[str] = REPLAY
    BINDINGS = bindings_of(REPLAY)
    WIDTH: ClassVar[int] = 84
    IS_PAGE: ClassVar[bool] = False

    def __init__(self, store: Store, command: ReplayCommand, keymap: KeyMap = KEYMAP) -> None:
        self.store, self.command = store, command
        self._back_key = keymap.name("replay-present").replace(" ", "")
        super().__init__()

    @property
    def _starts(self) -> bool:
        """Whether a replay starts; else the command goes back, or restores a checkpoint."""
        return self.command.path == "/replay" and not self.command.returns

    def title_text(self) -> Printable:
        """Say what it is about."""
        if self.command.returns:
            return "Back from the replay"
        return "Start a replay" if self._starts else "Restore a checkpoint"

    def foot_text(self) -> Printable:
        """Return the keys."""
        does = (
            "goes back" if self.command.returns else "starts it" if self._starts else "restores it"
        )
        return safe(f"y {does}  Esc stays")

    def lines(self) -> Sequence[TextLine]:
        """Say what follows, and what becomes of the present account and of the one that was left."""
        holds = bool(self.store.trades or self.store.orders)
        first, *more = self.consequences()
        what = wrap_text(safe(WHAT_IT_IS), "muted", self.inside) if self._starts else []
        return [
            *wrap_text(clean(f"The market {self.command.text}."), "bright", self.inside),
            *([BLANK, *what] if self.room > SMALL else []),
            BLANK,
            *wrap_text(clean(first), "warn" if holds else "plain", self.inside),
            *(
                line
                for each in more
                for line in (BLANK, *wrap_text(clean(each), "plain", self.inside))
            ),
        ]

    def consequences(self) -> Sequence[str]:
        """Return what becomes of the present account, then what becomes of the one that was left."""
        store = self.store
        market, held = store.market, _held(len(store.trades), len(store.orders))
        replay = None if market is None else market.state.replay
        if replay is None:
            back = f"{self._back_key} goes back to it. {CATCHES_UP} {AT_MOST}"
            if self.command.path != "/replay":
                back = KEPT
            return (f"Your account{held} stays as it is now. {back}",)
        kept = f"The account of this replay{held} stays as it is now. {KEPT}"
        home = replay.home
        if home is None:
            return (kept,)
        if self.command.returns:
            return f"Your own account{left_text(home, store)}. {CATCHES_UP} {AT_MOST}", kept
        return kept, f"{self._back_key} goes back to your own account{left_text(home, store)}."

    def action_take(self) -> None:
        if self.is_active:
            self.dismiss(result=True)


def left_text(home: Home, store: Store) -> str:
    """Return when the account was left, and what it held."""
    when = f", left at {date_and_time(home.left_ns, store.zone)}" if home.left_ns else ""
    account = store.account
    kept = None if account is None else home.accounts.get(account.id)
    if kept is None:
        return when
    return (
        f"{when} with {money(kept.balance)} {kept.currency}{_held(kept.trades, kept.orders, ',')}"
    )


def _held(trades: int, orders: int, joined: str = " with") -> str:
    if not (trades or orders):
        return ""
    return f"{joined} {counted(trades, 'open trade')} and {counted(orders, 'order')}"
