"""The one-line strips: account, link health, focused instrument, and the key footer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal

from rich.style import Style

from keydesk.keys.keymap import CROSSHAIR, DESK, LOG, ORDERS, POSITIONS, ROWS, TRADES, Key, KeyMap
from keydesk.panes.price_cells import price_runs, prices_are_old, shape_of
from keydesk.panes.watch_order import spread_pips
from keydesk.records import AccountState
from keydesk.store.frame import Frame
from keydesk.store.state import LinkState, Topic
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import Printable, clean_name, safe
from keydesk.widgets.lines import Run, cut, width_of
from keydesk.widgets.strip_line import Item, StripLine

CALL = Decimal("0.5")  # of the way to the closeout
NEAR = Decimal("0.8")
LONGEST_ALIAS = 20  # columns
NARROW = 60  # columns
DIGITS = 4  # of the account's number
LOSS_LOCK = safe(" LOSS LOCK ")
FIRST_TO_GO, SECOND_TO_GO = 9, 8  # ranks: alias, currency


def band_of(store: Store) -> str:
    """Return the environment's role of colour; read-only outranks both, for nothing is sent."""
    if store.arming.level == "READ-ONLY":
        return "readonly"
    return "live" if store.health.environment == "LIVE" else "practice"


class AccountStrip(StripLine):
    """The environment's band across the whole first line, the account's numbers in it."""

    is_short = False  # the figures stand in a line of their own

    def backdrop(self, frame: Frame) -> Style:
        """Return the environment's colour."""
        band = band_of(frame.store)
        return self.palette.on(f"{band}-text", band)

    def changed(self, frame: Frame) -> None:
        """Redraw when a number or the arming level changed."""
        if frame.touched(Topic.ACCOUNT, Topic.ARMING, Topic.HEALTH):
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield environment and account, then the figures; the alias goes first, the account's digits never."""
        text = self.backdrop(frame)
        bold = text + Style(bold=True)
        yield Item(((safe(_environment(frame.store)), bold),))
        account = frame.store.account
        if account is None:
            yield Item((("connecting …", text),))
            return
        alias = show.shorten(safe(account.alias), LONGEST_ALIAS)
        yield Item(((alias, text),) if alias else (), FIRST_TO_GO)
        yield Item(((safe(f"…{clean_name(_tail(account.id))}"), text),))
        yield Item(((clean_name(account.currency), text),), SECOND_TO_GO)
        if not self.is_short:
            yield from _figures(account, text, text if prices_are_old(frame.store) else bold, bold)

    def right(self, frame: Frame) -> Iterable[Item]:
        """Return whether keys may open risk, told apart from the band by reversing it."""
        armed = frame.store.arming.level
        text = self.backdrop(frame)
        words = {"ARMED": " ARMED ", "DISARMED": "exit only", "READ-ONLY": "nothing is sent"}
        is_locked = frame.store.loss_lock.is_on and armed != "READ-ONLY"
        bold = armed == "ARMED" or is_locked
        style = text + Style(bold=True, reverse=True) if bold else text
        run: Run = (LOSS_LOCK if is_locked else safe(words[armed]), style)
        yield Item((run,))


def _tail(account_id: str) -> str:
    """Return the end of the account's number from its fourth digit from behind on: 7-001."""
    at = [place for place, letter in enumerate(account_id) if letter.isdecimal()]
    return account_id[at[-DIGITS] :] if len(at) >= DIGITS else account_id[-DIGITS:]


class FundsLine(StripLine):
    """The account's figures in a line of their own, where the band has no room for them."""

    def backdrop(self, frame: Frame) -> Style:
        """Return the environment's colour."""
        band = band_of(frame.store)
        return self.palette.on(f"{band}-text", band)

    def changed(self, frame: Frame) -> None:
        """Redraw when a number changed."""
        if frame.touched(Topic.ACCOUNT, Topic.ARMING, Topic.HEALTH):
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield the figures that have room."""
        account, text = frame.store.account, self.backdrop(frame)
        if account is not None:
            bold = text + Style(bold=True)
            yield from _figures(account, text, text if prices_are_old(frame.store) else bold, bold)


def _figures(account: AccountState, text: Style, worth: Style, bold: Style) -> Iterable[Item]:
    """Yield the account's figures; risk, margin and closeout stay longest behind net worth and profit."""

    def item(label: str, value: Printable, rank: int, style: Style = text) -> Item:
        return Item((((safe(f"{label} "), text)), (value, style)), rank)

    yield item("NAV", show.money(account.nav), 0, worth)
    yield item("uPL", show.money(account.unrealized_pl, signed=True), 0, worth)
    if account.naked_trades:
        yield Item(((safe(f"{account.naked_trades} no stop !"), bold),), 1)
    yield item("day", show.money(account.day_pl, signed=True), 5, worth)
    yield item("margin", _margin(account), 2)
    yield item("risk", _risk(account), 3)
    yield item("closeout", safe(f"{show.percent(account.margin_closeout_percent, 0)}%"), 4)
    yield item("bal", show.money(account.balance), 6)
    yield item("free", show.money(account.margin_available), 7)


def _margin(account: AccountState) -> Printable:
    if not account.nav:
        return show.EMPTY
    return safe(f"{show.percent(account.margin_used / account.nav, 0)}%")


def _risk(account: AccountState) -> Printable:
    if account.open_risk is None or not account.nav:
        return show.EMPTY
    return safe(f"{show.percent(account.open_risk / account.nav)}%")


def _environment(store: Store) -> str:
    if store.arming.level == "READ-ONLY":
        return f"READ-ONLY {store.health.environment}"
    return "LIVE real money" if store.health.environment == "LIVE" else "PRACTICE"


ROLE_OF: dict[LinkState, str] = {
    "OK": "muted",
    "SLOW": "warn",
    "STALE": "danger",
    "DOWN": "danger",
    "CONNECTING": "warn",
}
WORDS: dict[LinkState, str] = {
    "OK": "ok",
    "SLOW": "SLOW",
    "STALE": "STALE",
    "DOWN": "DOWN",
    "CONNECTING": "connecting",
}


WARNED_SECONDS = (
    60.0  # seconds for which a record that could not be read, or a feed that failed, is shown
)


class HealthLine(StripLine):
    """The state of both streams, the round trip and the time; muted while nothing is wrong."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._second = -1

    def changed(self, frame: Frame) -> None:
        """Redraw once a second, and at once when a link changed."""
        second = frame.wall_ns // show.SECOND
        if second != self._second or frame.touched(Topic.HEALTH):
            self._second = second
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield streams and round trip, then warnings."""
        health = frame.store.health
        links = (
            self._link("prices", health.prices, health.prices_heard, frame),
            self._link("events", health.events, health.events_heard, frame),
        )
        yield from links
        if health.unanswered_since is not None:
            yield self._unanswered(health.requests, frame.now - health.unanswered_since)
        elif health.rtt_ms is not None:
            p95 = f" (p95 {health.rtt_p95_ms:.0f})" if health.rtt_p95_ms is not None else ""
            yield Item(self._pair("round trip", safe(f"{health.rtt_ms:.0f} ms{p95}")), 3)
        if health.clock_offset_ms is not None and frame.store.market is None:
            offset = f"{health.clock_offset_ms:+.0f} ms".replace("-", show.MINUS)
            yield Item(self._pair("clock", safe(offset)), 4)
        if frame.now - (health.unreadable_at or float("-inf")) < WARNED_SECONDS:
            records = "record" if health.unreadable == 1 else "records"
            words = f"{health.unreadable} {records} unreadable"
            yield Item(((safe(words), self.palette["warn"]),), 2)
        for name, at in health.restarted.items():
            if frame.now - at < WARNED_SECONDS:
                yield Item(((safe(f"{name} failed, restarted"), self.palette["danger"]),), 1)
        if health.throttled:
            yield Item(((safe(f"throttled {health.throttled}×"), self.palette["warn"]),), 3)
        if health.warning:
            beside = [*links, *self.right(frame)]
            room = self.inside - sum(width_of(item.runs) + self.GAPS[-1] for item in beside)
            yield Item(tuple(cut([(safe(health.warning), self.palette["danger"])], room)), 1)

    def right(self, frame: Frame) -> Iterable[Item]:
        """Return the time, its zone named; in a narrow terminal it makes room for what is wrong."""
        health = frame.store.health
        if self.inside < NARROW and (health.prices, health.events) != ("OK", "OK"):
            return
        market = frame.store.market
        now_ns = frame.wall_ns if market is None else market.state.now_ns(frame.now)
        time = show.clock(now_ns, frame.store.zone, named=True)
        yield Item(((time, self.palette["muted"]),))

    def _link(self, name: str, state: LinkState, heard: float | None, frame: Frame) -> Item:
        age = "" if heard is None else f" {show.duration(frame.now - heard)}"
        shown = "" if state == "OK" else age
        return Item(
            (
                (safe(f"{name} "), self.palette["muted"]),
                (safe(f"{WORDS[state]}{shown}"), self.palette[ROLE_OF[state]]),
            )
        )

    def _unanswered(self, state: LinkState, age: float) -> Item:
        shown = "waiting" if state == "OK" else WORDS[state]
        role = "warn" if state == "OK" else ROLE_OF[state]
        return Item(
            (
                ("requests ", self.palette["muted"]),
                (safe(f"{shown} {show.duration(age)}"), self.palette[role]),
            )
        )

    def _pair(self, label: str, value: Printable) -> tuple[Run, ...]:
        return ((safe(f"{label} "), self.palette["faint"]), (value, self.palette["muted"]))


LOT = Decimal(10_000)


def pip_value(store: Store, instrument: str) -> Decimal | None:
    """Return the value of a pip of 10,000 units in the home currency, at the mid rate."""
    known = store.instruments.get(instrument)
    conversion = store.conversions.get(instrument.partition("_")[2])
    if known is None or conversion is None:
        return None
    value: Decimal = LOT * shape_of(store, instrument).pip * conversion.position_value
    return value


class InstrumentLine(StripLine):
    """One line on the instrument that chart, ticket and books show, and the size that B and S would open with."""

    preset = ""

    def take(self, words: str) -> None:
        """Show another size preset: a small screen shows it only here."""
        self.preset = words
        self.redraw()

    def changed(self, frame: Frame) -> None:
        """Redraw when the instrument, or its price, changed."""
        if frame.touched(Topic.FOCUS, Topic.INSTRUMENTS, Topic.HEALTH) or (
            frame.store.focus in frame.keys(Topic.PRICES)
        ):
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:
        """Yield name and price, then spread, size, pip value, margin rate and limit."""
        store = frame.store
        name = store.focus
        quote = store.quotes.get(name)
        if not name or quote is None:
            return
        shape = shape_of(store, name)
        yield Item(((show.pair(name), self.palette["bright"]),))
        bid, ask = (
            price_runs(
                self.palette,
                show.split_price(p, shape.pip_location, shape.precision),
                dim=prices_are_old(store),
            )
            for p in (quote.bid, quote.ask)
        )
        yield Item((*bid, (" / ", self.palette["faint"]), *ask))
        yield self._item("spread", show.pips(spread_pips(store, name), signed=False), 1)
        if self.preset:
            yield self._item("size", safe(self.preset), 1)
        yield from self._details(store, name)
        if not quote.tradeable:
            yield Item((("not tradeable now", self.palette["warn"]),))

    def _details(self, store: Store, name: str) -> Iterable[Item]:
        known = store.instruments.get(name)
        value = pip_value(store, name)
        if value is not None and store.account is not None:
            home = clean_name(store.account.currency)
            yield self._item("pip", safe(f"{show.money(value)} {home}/10k"), 2)
        if known is not None:
            yield self._item("margin", safe(f"{show.percent(known.margin_rate)}%"), 3)
            most = show.short_units(known.maximum_order_units, signed=False)
            yield self._item("largest order", most, 4)

    def _item(self, label: str, value: Printable, rank: int) -> Item:
        runs: tuple[Run, ...] = (
            (safe(f"{label} "), self.palette["faint"]),
            (value, self.palette["muted"]),
        )
        return Item(runs, rank)


WATCHED = (Topic.ARMING, Topic.HEALTH, Topic.FOCUS, Topic.MARKET)
ROWS_OF = (Topic.TRADES, Topic.ORDERS, Topic.POSITIONS)
# The keys that a pane is there for; then those of the desk.
FIRST: Mapping[str, tuple[str, ...]] = {
    TRADES: (
        *("row-down", "details", "close", "scale-out", "break-even"),
        *("modify", "trailing", "protect"),
    ),
    POSITIONS: ("row-down", "details", "close", "scale-out", "reverse", "flatten"),
    ORDERS: ("row-down", "details", "cancel", "modify", "cancel-entries"),
    LOG: ("row-down", "details", "page-down"),
    CROSSHAIR: ("cross-older", "cross-up", "buy", "sell", "modify", "cross-off"),
}
BESIDE = {  # one hint for two keys
    "row-down": "row-up",
    "cross-older": "cross-newer",
    "cross-up": "cross-down",
    "cross-up-10": "cross-down-10",
}
FORM_HAS_KEYS = "The form has the keys; Esc drops it."
EXITS = ("close", "flatten", "break-even", "trailing", "protect", "cancel", "scale-out")
REPLAY = "replay-status"  # of a practice market that the desk may control
ALWAYS = ("command", "help")  # how to leave and how to learn the rest stay at the end


class KeyFooter(StripLine):
    """Keys and what they do, from the key map."""

    GAP = 2
    exits_only = False  # the terminal has no room for more

    def __init__(
        self,
        keymap: KeyMap,
        unavailable: Callable[[str], bool] = lambda _: False,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own word
    ) -> None:
        super().__init__(id=id)
        self._keymap = keymap
        self._unavailable = unavailable
        self._pane = DESK
        self._over_it = FORM_HAS_KEYS
        self._state: list[bool] = []

    def show_context(self, context: str, over_it: str = FORM_HAS_KEYS) -> None:
        """Show the keys of another pane; with an empty context, the message of the form on top."""
        if (context, over_it) != (self._pane, self._over_it):
            self._pane, self._over_it = context, over_it
            self.redraw()

    def changed(self, frame: Frame) -> None:
        """Redraw when the availability of a key may have changed."""
        if frame.touched(*WATCHED) or any(frame.whole(topic) for topic in ROWS_OF):
            self._redraw_if_different()

    def _redraw_if_different(self) -> None:
        state = [self._has_market, *(self._unavailable(key.id) for key in self._entries())]
        if state != self._state:
            self._state = state
            self.redraw()

    def left(self, frame: Frame) -> Iterable[Item]:  # noqa: ARG002 - keys do not depend on data
        """Return the keys that have room; beneath a form or a window, who has them."""
        if not self._pane:
            yield Item(((safe(self._over_it), self.palette["muted"]),))
            return
        room = self.inside - sum(width_of(i.runs) + self.GAP for i in self._kept_at_end())
        for entry in self._entries():
            item = self._item(entry)
            room -= width_of(item.runs) + self.GAP
            if room < 0:
                return
            yield item

    def right(self, frame: Frame) -> Iterable[Item]:  # noqa: ARG002
        """How to leave, and how to see all keys."""
        return self._kept_at_end()

    @property
    def _has_market(self) -> bool:
        return self.frame is not None and self.frame.store.market is not None

    def _kept_at_end(self) -> list[Item]:
        keys = {key.id: key for key in self._keymap.keys} if self._pane else {}
        names = ALWAYS[self.exits_only :]
        if self._has_market and not self.exits_only:
            names = (REPLAY, *names)
        return [self._item(keys[name]) for name in names if name in keys]

    def _entries(self) -> list[Key]:
        found = self._keymap.in_force(self._pane)
        if self.exits_only:
            exits = (key for key in found if key.id in EXITS)
            return sorted(exits, key=lambda key: EXITS.index(key.id))
        hinted = [key for key in found if key.hint and key.id not in (REPLAY, *ALWAYS)]
        first = FIRST.get(self._pane, ())
        last = len(first) + 1  # to move among rows is no news where it does not come first

        def rank(key: Key) -> int:
            if key.id in first:
                return first.index(key.id)
            return last if key.context == ROWS else len(first)

        return sorted(hinted, key=rank)

    def _item(self, key: Key) -> Item:
        off = self._unavailable(key.id)
        strong, weak = ("faint", "faint") if off else ("plain", "muted")
        name = key.shown.split()[0]  # the help has the others
        if key.id in BESIDE:
            name += f" {self._keymap.name(BESIDE[key.id])}"
        return Item(
            ((safe(name), self.palette[strong]), (safe(f" {key.hint}"), self.palette[weak]))
        )
