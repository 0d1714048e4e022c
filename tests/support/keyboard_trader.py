"""A trader at the real desk: opens, closes, edits and cancels by keys, and what the screen said of each at last.

    trader = Trader(random.Random(1), account_id="101-001-1000001-001")
    with desk() as terminal:
        trader.sit_down(terminal)
        trader.deal()
        trader.wait_for_last_words(60.0)
    trader.differences(ledger)                    # screen and ledger, of each deal

Each new order has units of its own, and a trade or an order is closed, edited, cancelled and moved at most once: so each
line on the screen is about one deal, as each effect in the ledger is.
"""

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from typing import Final, Literal

from support.order_evidence import Shown, ShownForms, Transaction, form_on
from support.terminal import READ_WITHIN, NeverSeen, Terminal

Kind = Literal["open", "rest", "close", "edit", "cancel", "move"]
KINDS: Final[tuple[Kind, ...]] = (
    *("open",) * 6,
    *("rest",) * 3,
    *("close",) * 4,
    *("edit",) * 4,
    *("cancel",) * 2,
    *("move",) * 2,
)
KEY_PAUSE: Final = 0.12  # seconds between two keys
READ_A_FORM: Final = 0.35  # seconds; a confirm in the first quarter second does not count
FORM_WITHIN: Final = 4.0
TRIES: Final = 6
ACCOUNT_SHOWN: Final = "NAV "
ALL_READY: Final = ("prices ok", "events ok")

NOTICE = re.compile(r"^ ?(\d\d:\d\d:\d\d) [·✓!✗] (.*)")
PAGES = re.compile(r"Space page (\d+)/(\d+)")
MAX_PAGES: Final = 40
MESSAGE = re.compile(r"(?=\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC )")
EARLIER = re.compile(r"^NOT SEEN BEFORE, from [^:]+:\d\d:\d\d \S+: ")
HEADLINE = re.compile(r"(?:BUY|SELL|LONG|SHORT) ([\d,]+) ([A-Z]{3}/[A-Z]{3})(?:.*?#(\d+))?")
TOOK_EFFECT: Final = (
    "FILLED",
    "RESTING",
    "RESTED",
    "CLOSED",
    "DONE",
    "CANCELLED",
    "TOOK EFFECT LATE",
    "TURNED",
)
TURNED = re.compile(r"TURNED (\S+) ([+−][\d,]+) → ([+−][\d,]+)")
HAD_NONE: Final = ("REJECTED", "NOT SENT", "NOT FILLED", "UNCONFIRMED")
HAD_NONE_LATE: Final = ("had rejected it after all", ": it had no effect: ")


@dataclass(frozen=True, slots=True)
class Deal:
    """What a confirming key asked for."""

    kind: Kind
    units: int  # of the order or the trade
    pair: str
    target: str = ""  # the number of the trade or order, "" of a new order
    at: float = field(default=0.0, compare=False)

    def is_like(self, other: "Deal") -> bool:
        """Whether a line of the screen could be about either: two of one kind on one trade or order, or the same twice."""
        on_one = self.target != "" and self.target == other.target
        return self == other or (on_one and self.kind == other.kind)

    def is_meant_by(self, text: str) -> bool:
        """Whether a line of the screen is about this deal."""
        size = f"{self.units:,} {self.pair}"
        number = re.search(rf"#{self.target}\b", text) is not None
        match self.kind:
            case "open" | "rest":
                is_named = size in text and "CLOSE" not in text and "CANCEL" not in text
                return is_named or self._turned_a_position(text)
            case "close":
                closed = text.startswith(f"CLOSED {size}")
                return closed or ("CLOSE all of" in text and number)
            case "edit":
                return number and (" on #" in text or "PROTECTION of" in text)
            case "cancel":
                return number and "CANCEL" in text
            case "move":
                return (number and "MOVE order" in text) or (size in text and "CANCEL" not in text)

    def _turned_a_position(self, text: str) -> bool:
        """Whether a line tells of a position that an order of this size turned: it gives both sizes, not the order's."""
        turned = TURNED.search(text)
        if turned is None or turned[1] != self.pair:
            return False
        before, after = (
            int(each.replace("−", "-").replace(",", "")) for each in turned.groups()[1:]
        )
        return abs(after - before) == self.units

    def took_effect(self, ledger: Sequence[Transaction]) -> bool:
        """Whether the broker carried it out."""
        made = [each for each in ledger if self._is_made_by(each)]
        if self.kind in {"open", "close"}:
            return any(_is_filled(each["id"], ledger) for each in made)
        return bool(made)

    def _is_made_by(self, each: Transaction) -> bool:
        kind, reason = each["type"], each.get("reason")
        match self.kind:
            case "open":
                return kind == "MARKET_ORDER" and self._is_mine(each)
            case "rest":
                return kind == "LIMIT_ORDER" and self._is_mine(each)
            case "close":
                close = each.get("tradeClose", {})
                return reason == "TRADE_CLOSE" and close.get("tradeID") == self.target
            case "edit":
                is_stop = kind == "STOP_LOSS_ORDER" and reason != "ON_FILL"
                return is_stop and bool(each["tradeID"] == self.target)
            case "cancel":
                return reason == "CLIENT_REQUEST" and each.get("orderID") == self.target
            case "move":
                return bool(each.get("replacesOrderID") == self.target)

    def _is_mine(self, order: Transaction) -> bool:
        same = order["instrument"].replace("_", "/") == self.pair
        return same and abs(Decimal(order["units"])) == self.units


def _is_filled(order_id: str, ledger: Sequence[Transaction]) -> bool:
    fills = (each for each in ledger if each["type"] == "ORDER_FILL")
    return any(each["orderID"] == order_id for each in fills)


def verdict_of(text: str) -> bool | None:
    """Whether a line says that a deal took effect; None for a line that says neither."""
    said = EARLIER.sub("", text)
    if said.startswith(HAD_NONE) or any(words in said for words in HAD_NONE_LATE):
        return False
    if said.startswith(TOOK_EFFECT) or ": FILLED" in said:
        return True
    return None


@dataclass(slots=True)
class ScreenWords:
    """Every message that the screen showed, in order."""

    lines: list[tuple[str, str]] = field(default_factory=list)  # time of day, words
    _known: set[tuple[str, str]] = field(default_factory=set)
    _read: int = -1

    def look(self, terminal: Terminal) -> None:
        """Note the messages that stand on the screen now."""
        if len(terminal.raw) == self._read:
            return
        self._read = len(terminal.raw)
        self._add(_messages_in(terminal.rows))

    def read_page(self, terminal: Terminal) -> None:
        """Note the messages of the open page `:messages`, newest first."""
        inside = [row.partition("│")[2].rpartition("│")[0] for row in terminal.rows]
        text = " ".join(" ".join(inside).split())
        parts = [part.split(" ", 3) for part in MESSAGE.split(text)[1:]]
        self._add((part[1], part[3].strip()) for part in reversed(parts) if len(part) > 3)

    def last_about(self, deal: Deal) -> str:
        """Return the last message about a deal that says what became of it; "" if there is none."""
        found = [text for _, text in self.lines if deal.is_meant_by(EARLIER.sub("", text))]
        return next((text for text in reversed(found) if verdict_of(text) is not None), "")

    def _add(self, lines: Iterable[tuple[str, str]]) -> None:
        for line in lines:
            if line not in self._known:
                self._known.add(line)
                self.lines.append(line)


def _messages_in(rows: Sequence[str]) -> list[tuple[str, str]]:
    """The messages at the bottom, oldest first; a long one goes on in the next rows."""
    found: list[tuple[str, str]] = []
    for row in rows:
        if match := NOTICE.match(row):
            found.append((match[1], match[2].strip()))
        elif found and row.startswith(" " * 11) and row.strip():
            found[-1] = (found[-1][0], f"{found[-1][1]} {row.strip()}")
    return [(at, text.removesuffix("Esc: seen").strip()) for at, text in reversed(found)]


@dataclass
class Trader:
    """A pair of hands, what they did, and what the eyes saw."""

    random: random.Random
    account_id: str
    shown: ShownForms = field(default_factory=ShownForms)
    screen: ScreenWords = field(default_factory=ScreenWords)
    deals: list[Deal] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    _terminal: Terminal | None = None
    _units: int = 1000

    @property
    def terminal(self) -> Terminal:
        assert self._terminal is not None
        return self._terminal

    def sit_down(self, terminal: Terminal, seconds: float = 60.0) -> None:
        """Begin at a desk that was just started, once it shows the account."""
        self._terminal = terminal
        self.screen._read = -1
        self._until(lambda: ACCOUNT_SHOWN in terminal.text, seconds)

    # Eyes.

    def watch(self, seconds: float) -> None:
        """Read what the desk writes for so long."""
        end = time.monotonic() + seconds
        self._until(lambda: time.monotonic() > end, seconds + 1)

    def _until(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Read what the desk writes until the condition holds; False if it did not in time."""

        def holds() -> bool:
            self.shown.look(self.terminal)
            self.screen.look(self.terminal)
            return condition()

        with suppress(NeverSeen):
            self.terminal.until(holds, seconds)
            return True
        return False

    def unanswered(self) -> list[Deal]:
        """Return the deals of which the screen has not said yet what became of them."""
        return [deal for deal in self.deals if not self.screen.last_about(deal)]

    def wait_for_last_text(self, seconds: float, but: Callable[[Deal], bool]) -> list[Deal]:
        """Wait until the screen said of each deal what became of it; return those that it said nothing of."""

        def missing() -> list[Deal]:
            return [deal for deal in self.unanswered() if not but(deal)]

        if not self._until(lambda: not missing(), seconds):
            self.read_messages()
        return missing()

    def read_messages(self) -> None:
        """Read the page of all messages since the start."""
        self._press("\x1b")
        self._press(":")
        self._until(lambda: "Command  " in self.terminal.text, 5)
        self.terminal.write(b"messages\r")
        if self._until(lambda: "─ Messages ─" in self.terminal.text, 5):
            for page in range(1, MAX_PAGES + 1):
                self._until(partial(self._shows_page, page), FORM_WITHIN)
                self.screen.read_page(self.terminal)
                if self._shows_last_page():
                    break
                self._press(" ")
        self._press("\x1b")

    def differences(self, ledger: Sequence[Transaction]) -> list[str]:
        """Return where the screen's last word about a deal is not the ledger's."""
        found: list[str] = []
        for deal in self.deals:
            text, made = self.screen.last_about(deal), deal.took_effect(ledger)
            if (verdict_of(text) if text else False) != made:
                found.append(f"{deal}: the screen said {text!r}, the ledger {made}")
        return found

    # Hands.

    def deal(self, then: Callable[[Deal], object]) -> bool:
        """Try one deal, and do something when its key was pressed; False if it could not be sent."""
        self._press("\x1b")
        if self.form is not None:
            self._press("\x1b")
        if "exit only" in self.terminal.text:
            self._arm()
        kind = self.random.choice(KINDS)
        form = self._fill(kind)
        if form is None:
            self.dropped[f"{kind}: no form"] += 1
            return False
        deal = self._deal_of(kind, form)
        if deal is None or any(deal.is_like(each) for each in self.deals):
            self.dropped[f"{kind}: another form, or done before"] += 1
            self._press("\x1b")
            return False
        return self._confirm(deal, then)

    @property
    def form(self) -> Shown | None:
        return form_on(self.terminal)

    def _shows_page(self, number: int) -> bool:
        found = PAGES.search(self.terminal.text)
        return number == (int(found[1]) if found else 1)

    def _shows_last_page(self) -> bool:
        found = PAGES.search(self.terminal.text)
        return found is None or found[1] == found[2]

    def _press(self, keys: str, pause: float = KEY_PAUSE) -> None:
        for key in keys:
            self.terminal.write(key.encode())
            self._until(lambda: not self.terminal.has_unread_keys, READ_WITHIN)
            self.watch(pause)

    def _arm(self) -> None:
        self._press("A")
        if self._until(lambda: "ARM the keyboard" in self.terminal.text, FORM_WITHIN):
            self._press(self.account_id[-3:])
            self._until(lambda: " ARMED " in self.terminal.text, 1.0)

    def _fill(self, kind: Kind) -> Shown | None:
        """Open the form of a kind, and type into it; None if there is none."""
        match kind:
            case "open" | "rest":
                return self._ticket(kind)
            case "close" | "edit":
                self._row("t")
                return self._opened("C" if kind == "close" else "M", ("CLOSE", "MODIFY"))
            case "cancel" | "move":
                self._row("o")
                return self._opened("D" if kind == "cancel" else "M", ("CANCEL", "MOVE"))

    def _row(self, pane: str) -> None:
        self._press("g" + pane)
        self.terminal.write(b"j" * self.random.randrange(4))
        self.watch(KEY_PAUSE)

    def _ticket(self, kind: Kind) -> Shown | None:
        self._press("gw")
        self.terminal.write(b"j" * self.random.randrange(1, 4))
        self.watch(KEY_PAUSE)
        self._units += 1
        form = self._opened("B", ("BUY",))
        if form is not None and not _pair_in(form):  # it waits for a price
            self._until(lambda: bool(_pair_in(self.form)), FORM_WITHIN)
            form = self.form if _pair_in(self.form) else None
        # One side for an instrument: an opposite order would close what was opened before.
        if form is not None and kind == "open" and sum(map(ord, _pair_in(form))) % 2:
            self._press("\x1b")
            form = self._opened("S", ("SELL",))
        if form is None:
            return None
        keys = f"u{self._units}" if kind == "open" else f"ou{self._units}p-{15 + self._units % 9}"
        self._press(keys, 0.03)
        size = f" {self._units:,} "
        done = lambda: (form := self.form) is not None and size in f"{form.headline} "  # noqa: E731
        return self.form if self._until(done, FORM_WITHIN) else None

    def _opened(self, key: str, heads: tuple[str, ...]) -> Shown | None:
        self._press(key)
        stands = lambda: (form := self.form) is not None and form.headline.startswith(heads)  # noqa: E731
        return self.form if self._until(stands, FORM_WITHIN) else None

    def _deal_of(self, kind: Kind, form: Shown) -> Deal | None:
        """Return the deal that the form shows; a form of another kind is none."""
        found = HEADLINE.search(form.headline)
        if found is None:
            return None
        units, pair, target = int(found[1].replace(",", "")), found[2], found[3] or ""
        if kind == "edit":
            self._press("s")
            self.terminal.write(b"\x1b[A")
            self.watch(KEY_PAUSE)
        if kind == "move":
            self._units += 1
            units = self._units
            self._press(f"u{units}", 0.03)
        if (kind in {"open", "rest"}) == bool(target):
            return None
        return Deal(kind, units, pair, target, time.monotonic())

    def _confirm(self, deal: Deal, then: Callable[[Deal], object]) -> bool:
        """Press what the form asks for, as often as it asks anew."""
        for _ in range(TRIES):
            if not self._until(lambda: bool(_asked(self.form)), FORM_WITHIN):
                break
            self.watch(READ_A_FORM)
            key = _asked(self.form)
            if not key:
                continue
            self.shown.typed(key)
            self.terminal.write(key.encode())
            if self._until(lambda: self.form is None, 1.5):
                self.deals.append(deal)
                then(deal)
                return True
        self.dropped[f"{deal.kind}: cannot be sent"] += 1
        self._press("\x1b")
        return False

    def wait_for_text(self, deal: Deal) -> None:
        """Wait for a moment for what the screen says of a deal."""
        self._until(lambda: bool(self.screen.last_about(deal)), 0.8)


def _asked(form: Shown | None) -> str:
    return "" if form is None else form.asks


def _pair_in(form: Shown | None) -> str:
    found = None if form is None else HEADLINE.search(form.headline)
    return found[2] if found else ""
