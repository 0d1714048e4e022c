"""The page of market hours: sessions, rollover and week with countdowns, and what has no stop over the weekend."""

from collections.abc import Callable, Sequence
from datetime import tzinfo
from typing import ClassVar

from keydesk.calc.market.sessions import (
    Hours,
    closed_text,
    is_friday_evening,
    overlap,
    sessions_at,
    week_at,
    week_text,
)
from keydesk.calc.market.trading_day import DAY_END_TEXT, next_day_start
from keydesk.forms.info_form import ScrolledForm
from keydesk.forms.modal_form import BLANK, TextLine, fold_line, wrap_text
from keydesk.forms.trades.trade_form import trade_name
from keydesk.store.frame import Frame
from keydesk.store.risk import unprotected_trades
from keydesk.store.store import Store
from keydesk.text.format import date_and_time, duration, pair
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import ColourRole
from keydesk_client.arithmetic.constants import SECOND

NAME_WIDTH = 12
STATE_WIDTH = 28
MAX_SHOWN = 5


class SessionsForm(ScrolledForm):
    """Shows the hours as they are each second; it sends nothing."""

    WIDTH: ClassVar[int] = 72

    def __init__(self, store: Store, now_ns: Callable[[], int]) -> None:
        self.store, self.now_ns = store, now_ns
        super().__init__()

    def on_frame(self, frame: Frame) -> None:  # noqa: ARG002 - the time moves on by itself
        self.redraw()

    def title_text(self) -> Printable:
        """Name the page."""
        return "Market hours"

    def all_lines(self) -> Sequence[TextLine]:
        """Return sessions, rollover, week, and the risks of the weekend."""
        return [part for line in self._whole_lines() for part in fold_line(line, self.inside)]

    def _whole_lines(self) -> Sequence[TextLine]:
        now_ns = self.now_ns()
        sessions, week = sessions_at(now_ns), week_at(now_ns)
        lines = [_line(each, now_ns, self.store.zone) for each in sessions]
        if text := overlap(sessions):
            lines.append(((safe(f"{'':<{NAME_WIDTH}}{text} overlap"), "good"),))
        left = duration((next_day_start(now_ns) - now_ns) / SECOND)
        lines += [
            BLANK,
            _pair("Rollover", f"in {left}, {DAY_END_TEXT}: financing, wide spreads"),
            _pair("The week", f"{week.text(now_ns)}, {week.at(self.store.zone)}"),
            _pair("Hours", week_text(now_ns, self.store.zone)),
            _pair("Now", date_and_time(now_ns, self.store.zone)),
        ]
        return [*lines, *self._focus_lines(now_ns, week), *self._unprotected_lines(now_ns)]

    def _focus_lines(self, now_ns: int, week: Hours) -> list[TextLine]:
        """Return when the instrument opens, or why it trades while the market is closed."""
        quote, name = self.store.quotes.get(self.store.focus), pair(self.store.focus)
        if quote is None:
            return []
        if not quote.tradeable:
            return [
                BLANK,
                *wrap_text(safe(f"{name}: {closed_text(now_ns)}"), "warn", self.inside),
            ]
        if week.is_open:
            return []
        is_practice = self.store.health.environment == "PRACTICE"
        market = "this practice market" if is_practice else f"{name} at this broker"
        text = f"The real market is closed; {market} goes on through the weekend"
        return [BLANK, *wrap_text(safe(text), "muted", self.inside)]

    def _unprotected_lines(self, now_ns: int) -> list[TextLine]:
        unprotected = unprotected_trades(self.store)
        if not unprotected:
            return []
        near: ColourRole = "danger" if is_friday_evening(now_ns) else "muted"
        lines: list[TextLine] = [BLANK, (("No stop over the weekend:", near),)]
        lines.extend(
            ((safe(f"  {trade_name(each)}"), "plain"),) for each in unprotected[:MAX_SHOWN]
        )
        if len(unprotected) > MAX_SHOWN:
            lines.append(((safe(f"  and {len(unprotected) - MAX_SHOWN} more"), "muted"),))
        return lines


def _line(hours: Hours, now_ns: int, zone: tzinfo) -> TextLine:
    """Return a session with its countdown, and the time of the trader's zone that it counts to."""
    role: ColourRole = "good" if hours.is_open else "muted"
    return (
        (safe(f"{hours.name:<{NAME_WIDTH}}"), "plain"),
        (safe(f"{hours.text(now_ns):<{STATE_WIDTH}}"), role),
        (safe(hours.at(zone)), "muted"),
    )


def _pair(name: str, text: str) -> TextLine:
    return ((safe(f"{name:<{NAME_WIDTH}}"), "plain"), (safe(text), "muted"))
