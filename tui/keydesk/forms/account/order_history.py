"""The page of order outcomes: open ones first, each with what is known of it and what to do; slippage and times by instrument."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.cells import cell_len

from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, wrap_text
from keydesk.keys.keymap import ORDER_TRANSITIONS
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.tables.column import Column, needed
from keydesk.text.format import EMPTY, clock, lines_of, made_at, pair, pips, shorten, shorten_text
from keydesk.text.sanitize import Printable, clean, clean_name, safe
from keydesk.trading.executions import ExecutionFigures
from keydesk.trading.order_history import OrderHistory, with_states
from keydesk.widgets.theme import ColourRole
from keydesk.words.order_text import words_of_text

LEAST_LIST = 3  # rows of the list
LABEL = 10  # columns of the names in the part about one order
NEWEST = 2**62  # of an order that the journal did not have when it was read
PAIR_WIDTH = 8  # columns


class FigureColumn(Column, frozen=True, kw_only=True):
    """A column of the figures by instrument; its width has the space before it."""

    text: Callable[[ExecutionFigures], str]


COLUMNS = (
    FigureColumn(
        *("pair", "pair", PAIR_WIDTH),
        right=False,
        text=lambda of: shorten(pair(of.instrument), PAIR_WIDTH - 1) if of.instrument else EMPTY,
    ),
    FigureColumn(*("orders", "orders", 7), text=lambda of: f"{of.orders}"),
    FigureColumn(*("lost", "lost", 5), text=lambda of: f"{of.lost}"),
    FigureColumn(*("rejected", "rejected", 9), text=lambda of: f"{of.rejected}"),
    FigureColumn(*("ack", "ack ms", 7), text=lambda of: _whole(of.median_ms)),
    FigureColumn(*("slowest", "slowest", 8), text=lambda of: _whole(of.slowest_ms)),
    FigureColumn(*("fills", "fills", 6), text=lambda of: f"{of.fills}"),
    FigureColumn(*("slippage", "slippage", 10), text=lambda of: pips(of.mean_slippage)),
    FigureColumn(*("worst", "worst", 7), text=lambda of: pips(of.worst_slippage)),
)
"""From left to right; the last leaves a narrow page first."""
DISMISSAL = (
    "Dismiss it? Compare trades and orders first. It is then treated as settled, also after a restart. "
    "If it takes effect after all, this desk says so while it is open. Enter dismisses it."
)
Take = Callable[[Sequence[OrderHistory], Sequence[ExecutionFigures]], None]


class OrderHistoryForm(InfoForm[None]):
    """Shows what became of each order; it sends nothing.

    Args:
        store: Has the orders in flight, and the trader's zone.
        read: Reads journal, audit log and executions, and hands them to its argument.
        acknowledge: Records that the trader has compared what an order that cannot be told, or is unconfirmed, may have done.
    """

    KEY_CONTEXT: ClassVar[str] = ORDER_TRANSITIONS
    BINDINGS = bindings_of(ORDER_TRANSITIONS)
    WIDTH: ClassVar[int] = 176

    def __init__(
        self,
        store: Store,
        read: Callable[[Take], None],
        acknowledge: Callable[[OrderHistory], None] = lambda _: None,
    ) -> None:
        super().__init__()
        self.store, self._read, self._acknowledge = store, read, acknowledge
        self.histories: Sequence[OrderHistory] = ()
        self.figures: Sequence[ExecutionFigures] = ()
        self.chosen = ""  # id of the order under the cursor
        self.top = 0  # first line of the part about it
        self.shows_figures = False
        self.shows_raw = False  # the requests as they were sent
        self._asked = ""  # id of the order about which the page asks whether to dismiss it
        self._is_read = False
        self._in_flight: object = None

    def on_mount(self) -> None:
        super().on_mount()
        self._read(self.show)

    def show(self, histories: Sequence[OrderHistory], figures: Sequence[ExecutionFigures]) -> None:
        """Show what was read."""
        self.histories, self.figures, self._is_read = histories, figures, True
        self.redraw()

    def on_frame(self, _frame: Frame) -> None:
        """Follow the orders in flight; what was settled is read again."""
        now = tuple(self.store.in_flight.values())
        if now != self._in_flight:
            if self._in_flight is not None:
                self._read(self.show)
            self._in_flight = now
            self.redraw()

    # What is shown.

    @property
    def shown(self) -> Sequence[OrderHistory]:
        """Return the orders with their present states, open ones first."""
        return with_states(self.histories, self.store.in_flight.values())

    def title_text(self) -> Printable:
        """Return the number of orders without a known outcome."""
        if self.shows_figures:
            return "Slippage and time to acknowledge"
        still_open = sum(history.is_open for history in self.shown)
        return safe(f"Order outcomes  {still_open:,} open, {len(self.shown):,} in all")

    def foot_text(self) -> Printable:
        """Return the keys that fit."""
        if self.shows_figures:
            return self.keys_that_fit("v orders")
        match self._chosen():
            case None:
                return self.keys_that_fit("v slippage, times")
            case OrderHistory(state="one of several"):
                acts = "a acknowledges"
            case OrderHistory(state="unconfirmed", id=id_):
                acts = "Enter dismisses it" if id_ == self._asked else "a dismisses"
            case _:
                acts = ""
        if acts:
            return self.keys_that_fit("↑ ↓ choose", acts, "Space more", "v slippage")
        return self.keys_that_fit("↑ ↓ choose", "Space more", "r as sent", "v slippage, times")

    def _chosen(self) -> OrderHistory | None:
        histories = self.shown
        return histories[self._place(histories)] if histories else None

    def lines(self) -> Sequence[TextLine]:
        """Return the list above the chosen order, or the figures."""
        if self.shows_figures:
            return self._figure_lines()
        histories = self.shown
        if not histories:
            text = "No order was sent from here yet" if self._is_read else "Reading …"
            return (((text, "muted"),),)
        at = self._place(histories)
        rows = min(len(histories), max(LEAST_LIST, self.room // 2 - 1))
        first = max(0, min(at - rows // 2, len(histories) - rows))
        widest = max((len(history.state) for history in histories if history.is_open), default=-1)
        listed = [
            self._line(histories[row], widest + 1, chosen=row == at)
            for row in range(first, first + rows)
        ]
        room = self.room - len(listed) - 1
        if room < 1:
            return listed[: self.room]
        about = self._about(histories[at])
        self.top = max(0, min(self.top, len(about) - room))
        return [*listed, BLANK, *about[self.top : self.top + room]]

    def _place(self, histories: Sequence[OrderHistory]) -> int:
        places = (at for at, history in enumerate(histories) if history.id == self.chosen)
        return next(places, 0)

    def _line(self, history: OrderHistory, width: int, *, chosen: bool) -> TextLine:
        time = (
            safe("now     ")
            if history.time_ns > NEWEST
            else clock(history.market_ns or history.time_ns, self.store.zone)
        )
        state = safe(f" {history.state.upper() if history.is_open else '':<{width}} ")
        lead = cell_len(time) + cell_len(state) + 2
        text = safe(f"{history.text}  {history.outcome}")
        return (
            ("▶ " if chosen else "  ", "focus"),
            (time, "faint"),
            (state, "warn" if history.is_open else "muted"),
            (shorten_text(text, max(1, self.inside - lead)), "bright" if chosen else "plain"),
        )

    def _about(self, history: OrderHistory) -> list[TextLine]:
        """Return everything that is known of an order, then what to do, wrapped."""
        zone = self.store.zone
        made = (
            "now" if history.time_ns > NEWEST else made_at(history.time_ns, history.market_ns, zone)
        )
        state = history.state.upper() if history.is_open else "settled"
        to_do = DISMISSAL if history.id == self._asked else history.to_do
        lines = [
            *self._named("order", history.text, "plain"),
            *self._named("state", safe(state), "warn" if history.is_open else "plain"),
            *self._named("to do", safe(to_do), "bright" if history.is_open else "muted"),
            *self._named("made", safe(f"{made}  {clean_name(history.id)}"), "muted"),
        ]
        if history.outcome:
            lines += self._named("outcome", history.outcome, "plain")
        for line in history.lines:
            event_text = line.text.partition(" {")[0] if line.what == "sending" else line.text
            text = safe(f"{line.what}: {event_text}")
            lines += self._named(clock(line.market_ns or line.time_ns, zone), text, "muted")
        if history.request:
            request = history.request if self.shows_raw else clean(words_of_text(history.request))
            lines += self._named("request", request, "faint")
        return lines

    def _named(self, name: Printable, text: Printable, role: ColourRole) -> list[TextLine]:
        width = max(1, self.inside - LABEL)
        wrapped = lines_of(text, width) or [safe("")]
        names = [name, *[""] * (len(wrapped) - 1)]
        return [
            ((safe(f"{label:<{LABEL}}"), "muted"), (line, role))
            for label, line in zip(names, wrapped, strict=True)
        ]

    def _figure_lines(self) -> Sequence[TextLine]:
        if not self.figures:
            return (((_no_figures(is_read=self._is_read), "muted"),),)
        shown = self._fitting()
        head = "".join(_aligned(each.title, each) for each in shown)
        lines: list[TextLine] = [((safe(head), "muted"),)]
        for figures in self.figures[: max(1, self.room - 3)]:
            row = "".join(_aligned(each.text(figures), each) for each in shown)
            lines.append(((safe(row), "plain"),))
        text = "slippage in pips, + is worse: from the order's price, at market from the best price at the fill; ack: from sending to the answer"
        return [*lines, *wrap_text(text, "faint", self.inside)]

    def _fitting(self) -> Sequence[FigureColumn]:
        """Return the columns that fit, whole."""
        kept = list(COLUMNS)
        while len(kept) > 1 and needed(kept, 0) > self.inside:
            kept.pop()
        return kept

    # Keys.

    def action_choose(self, step: int) -> None:
        """Choose the next order, or the one before."""
        histories = self.shown
        if histories:
            at = max(0, min(len(histories) - 1, self._place(histories) + step))
            self.chosen, self.top, self._asked = histories[at].id, 0, ""
            self.redraw()

    def action_more(self, step: int) -> None:
        """Scroll the part about the order; past its end it begins again."""
        before, self.top = self.top, self.top + step * max(1, self.room // 2 - 1)
        self.lines()  # bounds it
        if self.top == before:
            self.top = 0
        self.redraw()

    def action_acknowledge(self) -> None:
        """Remove the chosen order from the open ones if it can never be told from others; ask first if it is unconfirmed."""
        history = self._chosen()
        if history is None or self.shows_figures:
            return
        if history.state == "one of several":
            self._acknowledge(history)
            self._read(self.show)
        elif history.state == "unconfirmed":
            self.chosen, self.top, self._asked = history.id, 0, history.id
            self.redraw()

    def action_dismiss_order(self) -> None:
        """Dismiss the unconfirmed order about which the page has asked."""
        history = self._chosen()
        if history is not None and history.id == self._asked and history.state == "unconfirmed":
            self._asked = ""
            self._acknowledge(history)
            self._read(self.show)

    def action_raw(self) -> None:
        """Show requests as they were sent, or in words."""
        self.shows_raw = not self.shows_raw
        self.redraw()

    def action_view(self) -> None:
        """Show slippage and times by instrument, or the orders."""
        self.shows_figures, self._asked = not self.shows_figures, ""
        self.redraw()


def _no_figures(*, is_read: bool) -> Printable:
    return "No order was answered yet" if is_read else "Reading …"


def _aligned(text: str, column: Column) -> str:
    return f"{text:>{column.width}}" if column.right else f"{text:<{column.width}}"


def _whole(value: float | None) -> str:
    return EMPTY if value is None else f"{value:.0f}"
