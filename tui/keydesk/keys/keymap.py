"""The table of keys that dispatch, footer, help and the user's overrides read.

Lower-case keys show something, upper-case keys open a form that may send. A test checks the table: no reserved key, no
clash, every action exists.
"""

from collections.abc import Iterable, Mapping
from string import ascii_lowercase
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from keydesk.calc.orders.fields import (
    EXIT_PLAN_FIELDS,
    MODIFY_CHOICES,
    MODIFY_FIELDS,
    TICKET_CHOICES,
    TICKET_FIELDS,
    Field,
    Name,
)
from keydesk.calc.orders.order_options import OPTIONS, TICKET_TEXTS, TextName
from keydesk.text.sanitize import Printable, SafeText, safe

DIGITS = 10

DESK = "desk"  # everywhere on the main screen
ROWS = "rows"  # every pane that has rows and a cursor
TABLE = "table"  # trades, positions, orders and log: sorted and filtered
CHART = "chart"
CROSSHAIR = "crosshair"  # the chart while its crosshair is on
WATCHLIST = "watchlist"
TRADES = "trades"
POSITIONS = "positions"
ORDERS = "orders"
LOG = "log"
BOOKS = "books"
FORM = "form"  # every open form
TICKET = "ticket"
SCALE_OUT = "scale-out"
CLOSE_POSITION = "close-position"
POSITION_PART = "position-part"
MODIFY = "modify"
EXIT_PLAN = "exit-plan"
BREAK_EVEN = "break-even"
ONE_TRADE = "one-trade"  # every form about one trade of several
CANCEL_ENTRIES = "cancel-entries"
FLATTEN = "flatten"
HELP = "help"  # forms that only look
KEY_LIST = "key-list"  # the list of keys itself
PAGE = "page"  # every page and list that sends nothing
FIND = "find"  # a field of text over a list
COMMAND = "command"  # the command line
NAME = "name"  # a field of text
LABELS = "labels"  # tag and comment of a trade or an order
ACCOUNT = "account"  # the page of the account
ALL_ACCOUNTS = "all-accounts"  # the page of all accounts of all profiles
CONFIGURE = "account-settings"  # name and margin rate of the account
COLUMNS = "columns"  # the columns of a watchlist
DELETE_LIST = "delete-list"
TIMEFRAMES = "timeframes"  # the list of candle lengths
CHOICE = "choice"  # a list of which one line is chosen, such as the accounts of a token
PROFILES = "profiles"  # the choice of another account
INDICATORS = "indicators"  # the choice of indicators
LEAVING = "leaving"  # the question before leaving
LIMITS = "limits"  # the page of limits
SETTINGS = "settings"  # the page of settings
ALERTS = "alerts"  # the page of alerts
NEW_ALERT = "new-alert"  # an alert before it is made
JOURNAL = "journal"  # the list of the trade journal
JOURNAL_TRADE = "journal-trade"  # one trade of the journal
TRADE_NOTE = "trade-note"  # what the trader writes about a trade
STATISTICS = "statistics"  # the page of statistics
DAY_PAGE = "day-page"  # the page of a day or a week
REPLAY = "replay"  # the question before the practice market is replaced
ORDER_TRANSITIONS = "order-outcomes"  # the page of order outcomes
MESSAGES = "messages"  # the page of messages
TRANSACTION = "transaction"  # the page of one transaction
ACCOUNT_ORDERS = "account-orders"  # the page of the account's orders by state

# The contexts of the main screen, where the trader may move keys.
ON_THE_DESK = (
    *(DESK, ROWS, TABLE, CHART, CROSSHAIR, WATCHLIST),
    *(TRADES, POSITIONS, ORDERS, LOG, BOOKS),
)

# The contexts that also apply in a context: a form has the keys of every form, too.
BENEATH: Mapping[str, tuple[str, ...]] = {
    WATCHLIST: (ROWS, DESK),
    **dict.fromkeys((TRADES, POSITIONS, ORDERS, LOG), (TABLE, ROWS, DESK)),
    ROWS: (DESK,),
    TABLE: (ROWS, DESK),
    CHART: (DESK,),
    CROSSHAIR: (DESK,),
    BOOKS: (DESK,),
    TICKET: (FORM,),
    **dict.fromkeys((SCALE_OUT, MODIFY), (ONE_TRADE, FORM)),
    **dict.fromkeys((CANCEL_ENTRIES, FLATTEN), (FORM,)),
    **dict.fromkeys((CLOSE_POSITION, POSITION_PART, ONE_TRADE), (FORM,)),
    **dict.fromkeys((EXIT_PLAN, BREAK_EVEN, LABELS), (ONE_TRADE, FORM)),
    CONFIGURE: (FORM,),
    PROFILES: (CHOICE,),
    **dict.fromkeys((ACCOUNT, MESSAGES), (HELP,)),
    **dict.fromkeys((ALL_ACCOUNTS, JOURNAL, TRADE_NOTE), ()),
    JOURNAL_TRADE: (HELP,),
    DAY_PAGE: (HELP,),
}

# The contexts that have the key of every page.
PAGES = frozenset(
    {
        *(HELP, ACCOUNT, JOURNAL, JOURNAL_TRADE, TRADE_NOTE, STATISTICS, DAY_PAGE, TRANSACTION),
        *(SETTINGS, ORDER_TRANSITIONS, ALERTS, NEW_ALERT, LIMITS, INDICATORS, TIMEFRAMES, COLUMNS),
        *(ACCOUNT_ORDERS, ALL_ACCOUNTS, MESSAGES),
    }
)


# The pages from which a chord of the desk goes on: the others hold a draft, which Enter keeps and Esc drops.
GO_ON = PAGES - {NEW_ALERT, INDICATORS, COLUMNS}


# The fields of forms that they alone read; those that are also read by arithmetic stand in `calc/orders/fields.py`.
LABEL_FIELDS: Mapping[str, Field] = {
    "tag": Field("label-tag", "k", "tag", "Write the tag", "tag"),
    "comment": Field("label-comment", "j", "comment", "Write the comment", "comment"),
}
"""The texts of a trade or a pending order."""

ACCOUNT_FIELDS: Mapping[str, Field] = {
    "name": Field("account-name", "k", "name", "Write the account's name", "name"),
    "margin": Field("account-margin", "m", "margin", "Write the margin rate", "margin"),
}
"""What is changed of the account."""

CLOSE_SIDES: Mapping[str, Field] = {
    "side('both')": Field("close-both", "a", "both", "Both sides", "both"),
    "side('long')": Field("close-long", "l", "long", "The long side", "long"),
    "side('short')": Field("close-short", "s", "short", "The short side", "short"),
}
PART_SIDES: Mapping[str, Field] = {
    "side('long')": Field("part-long", "l", "long", "Of the long side", "long"),
    "side('short')": Field("part-short", "s", "short", "Of the short side", "short"),
}
"""The sides of a position to close, or to close a part of, by the action of the key."""

CANCEL_SCOPES: Mapping[str, Field] = {
    "scope('all')": Field("cancel-all", "a", "whole account", "Of the whole account", "all"),
    "scope('one')": Field("cancel-one", "i", "instrument", "Of this instrument", "instrument"),
}
FLATTEN_SCOPES: Mapping[str, Field] = {
    "scope('all')": Field("flatten-all", "a", "everything", "Everything", "all"),
    "scope('one')": Field("flatten-one", "i", "instrument", "This instrument", "instrument"),
}
"""What is cancelled or flattened, by the action of the key."""

Offset = Literal["beyond"]
BREAK_EVEN_FIELDS: Mapping[Offset, Field] = {
    "beyond": Field("even-beyond", " ", "beyond", "Pips beyond break-even", units=("pips",)),
}
"""The one of break-even, which needs no key."""

ON_TRADE = "on_trade"  # the action of a key that opens a form for the selected trade


class Key(Struct, frozen=True):
    """One line of the key map; `keys` are as typed, a chord has a space ("g w")."""

    id: str
    keys: tuple[str, ...]
    context: str
    hint: str  # one or two words for the footer; "" leaves it out
    text: str  # the sentence of the help
    action: str  # "{key}" stands for the last key typed

    @property
    def shown(self) -> str:
        """Return how the key is written in the footer and the help."""
        names = [key.replace(" ", "") for key in self.keys]
        if len(names) > 1 and all(name[-1].isdigit() for name in names):
            return f"{names[0]}-{names[-1][-1]}"
        if len(names) > DIGITS:  # a key for every letter
            return f"{names[0]}-z"
        return " ".join(SHOWN.get(key, name) for key, name in zip(self.keys, names, strict=True))

    @property
    def opens_on_trade(self) -> bool:
        """Return whether the key opens a form for the selected trade."""
        return self.action.startswith(ON_TRADE)

    @property
    def touches_money(self) -> bool:
        """Return whether the key is a capital, which the guard checks more strictly."""
        return any(len(key) == 1 and key.isalpha() and key.isupper() for key in self.keys)


SHOWN = {
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "enter": "Enter",
    "escape": "Esc",
    "tab": "Tab",
    "shift+tab": "Shift+Tab",
    "space": "Space",
    "backspace": "Bksp",
    "ctrl+d": "Ctrl+D",
    "ctrl+u": "Ctrl+U",
    "home": "Home",
    "end": "End",
    "pageup": "PgUp",
    "pagedown": "PgDn",
}

_ARROWS = {ord(SHOWN[each]): each.capitalize() for each in ("up", "down", "left", "right")}


def arrows_in_words(text: Printable) -> SafeText:
    """Return a text on keys with the arrows in words: in ASCII their signs would read as the keys ^, v, < and >."""
    return safe(text.translate(_ARROWS))


# As typed -> as Textual names it; letters and digits are their own names.
TEXTUAL_NAMES = {
    "?": "question_mark",
    "/": "slash",
    ":": "colon",
    "'": "apostrophe",
    "-": "minus",
    "=": "equals_sign",
    ",": "comma",
    ".": "full_stop",
    "+": "plus",
    "%": "percent_sign",
    "_": "underscore",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    ";": "semicolon",
}


_PAGE_ON = ("space", "ctrl+d", "pagedown")
_PAGE_BACK = ("backspace", "ctrl+u", "pageup")


def _on_trade(id_: str, key: str, hint: str, text: str, form: str) -> Key:
    """Return the key that opens a form, of a module of `forms/trades/`, for the selected trade."""
    return Key(id_, (key,), DESK, hint, text, f"{ON_TRADE}('{form}')")


def _editing(context: str, name: str, step: str = "") -> tuple[Key, ...]:
    """Return the keys that change the active field, the same in every form with fields; `step` is what it counts in."""
    hint, one = f"±1 {step}".strip(), f"One {step}".strip()
    return (
        Key(f"{name}-up", ("up",), context, hint, f"{one} up", "nudge(1)"),
        Key(f"{name}-down", ("down",), context, "", f"{one} down", "nudge(-1)"),
        Key(f"{name}-up-10", (".",), context, "", "Ten up, or decimal point", "nudge(10)"),
        Key(f"{name}-down-10", (",",), context, "", "Ten down", "nudge(-10)"),
        Key(f"{name}-next", ("tab",), context, "", "Next field", "next_field(1)"),
        Key(f"{name}-previous", ("shift+tab",), context, "", "Previous field", "next_field(-1)"),
        Key(f"{name}-erase", ("backspace",), context, "", "Erase a digit", "erase"),
    )


def _fields(context: str, fields: Mapping[Name, Field]) -> Iterable[Key]:
    """Return the keys that choose the fields of a form, from their declaration."""
    for name, field in fields.items():
        yield Key(field.id, (field.key,), context, field.hint, field.text, f"pick('{name}')")


def _numbers(context: str, name: str, fields: Mapping[Name, Field], *more: Key) -> Iterable[Key]:
    """Return all keys of a form of numbers: they choose its fields, count in another unit and edit."""
    yield from _fields(context, fields)
    if any(len(field.units) > 1 for field in fields.values()):
        unit = "What the field counts in"
        yield Key(f"{name}-unit", ("m",), context, "unit", unit, "next_unit")
    yield from more
    yield from _editing(context, name)


def _texts(context: str, fields: Mapping[Name, Field]) -> Iterable[Key]:
    """Return the keys that write the fields of text of a form, from their declaration."""
    for name, field in fields.items():
        yield Key(field.id, (field.key,), context, field.hint, field.text, f"write('{name}')")


def _choices(context: str, choices: Mapping[str, Field]) -> Iterable[Key]:
    """Return the keys that turn a value of a form to its next one, from their declaration."""
    for action, field in choices.items():
        yield Key(field.id, (field.key,), context, field.hint, field.text, action)


def _choice(action: str) -> Key:
    """Return the key that turns a value of the ticket."""
    return next(iter(_choices(TICKET, {action: TICKET_CHOICES[action]})))


def _text_field(name: TextName) -> Key:
    """Return the key that writes a field of text of the ticket."""
    return next(iter(_texts(TICKET, {name: TICKET_TEXTS[name]})))


def _options() -> Iterable[Key]:
    """Return the keys that turn or write the members of an order that are rarely changed."""
    for name, (field, _, words, *_) in OPTIONS.items():
        action = f"turn('{name}')" if words else f"write('{name}')"
        yield Key(field.id, (field.key,), TICKET, field.hint, field.text, action)


_LETTERS_BEHIND = {first: tuple(f"{first} {each}" for each in ascii_lowercase) for first in "'m"}

KEYS: tuple[Key, ...] = (
    # The desk: money. A capital opens a form, never more.
    Key("buy", ("B",), DESK, "buy", "Buy ticket, active preset", "buy"),
    Key("sell", ("S",), DESK, "sell", "Sell ticket, active preset", "sell"),
    Key("close", ("C",), DESK, "close", "Close the trade or position", "close"),
    Key("scale-out", ("O",), DESK, "part", "Close a part of it", "scale_out"),
    _on_trade("break-even", "E", "even", "Move the stop to break-even", "break_even.BreakEvenForm"),
    _on_trade("protect", "P", "protect", "Add the template's bracket", "protection.ProtectForm"),
    Key("modify", ("M",), DESK, "modify", "Move its stop or target", "modify"),
    _on_trade("trailing", "T", "trail", "Set a trailing stop", "protection.TrailingForm"),
    _on_trade("exit-plan", "H", "plan", "Exit plan of the trade", "exit_plan.ExitPlanForm"),
    Key("labels", ("K",), DESK, "", "Edit tag and comment", "labels"),
    Key("cancel", ("D",), DESK, "cancel", "Cancel the selected order", "cancel_order"),
    Key("cancel-entries", ("Z",), DESK, "cancel all", "Cancel entry orders", "cancel_entries"),
    Key("reverse", ("R",), DESK, "reverse", "Reverse the position", "reverse"),
    Key("flatten", ("X",), DESK, "flatten", "Close all, cancel entries", "flatten"),
    Key("limit", ("L",), DESK, "", "Limit at the crosshair", "limit"),
    Key("arm", ("A",), DESK, "arm", "Arm, or disarm at once", "arm"),
    Key("new-alert", ("N",), DESK, "alert", "New alert here", "new_alert"),
    # The desk: looking.
    Key("find", ("/",), DESK, "find", "Find an instrument", "find"),
    Key("command", (":",), DESK, "command", "Command line; :q leaves", "command_line"),
    Key("help", ("?",), DESK, "keys", "The keys of this pane", "help"),
    Key("details", ("enter",), DESK, "details", "Details of the row", "details"),
    Key("next-pane", ("tab",), DESK, "", "Next pane", "next_pane"),
    Key("previous-pane", ("shift+tab",), DESK, "", "Previous pane", "previous_pane"),
    Key("preset", tuple("123456789"), DESK, "size", "Size preset", "preset({key})"),
    Key("preset-risk", ("0",), DESK, "", "Size by risk %", "preset(0)"),
    Key("granularity", ("f",), DESK, "frame", "Next timeframe", "granularity"),
    Key("timeframes", ("g f",), DESK, "", "Choose the timeframe", "timeframes"),
    Key("zoom", ("z",), DESK, "zoom", "This pane alone, or all", "zoom"),
    Key("go-watchlist", ("g w",), DESK, "", "Go to the watchlist", "go('watchlist')"),
    Key("go-chart", ("g c",), DESK, "", "Go to the chart", "go('chart')"),
    Key("go-trades", ("g t",), DESK, "", "Go to the trades", "go('trades')"),
    Key("go-orders", ("g o",), DESK, "", "Go to the orders", "go('orders')"),
    Key("go-positions", ("g p",), DESK, "", "Go to the positions", "go('positions')"),
    Key("go-books", ("g b",), DESK, "", "Go to the books", "go('books')"),
    Key("go-log", ("g l",), DESK, "", "Go to the log", "go('log')"),
    Key("sessions", ("g u",), DESK, "", "Market hours, countdowns", "sessions"),
    Key("account-page", ("g a",), DESK, "", "The account in full", "account_page"),
    Key("exposure-page", ("g x",), DESK, "", "Exposure by currency", "exposure_page"),
    Key("instrument-page", ("g n",), DESK, "", "Instrument: swap, margin", "instrument_page"),
    Key("outcomes", ("g i",), DESK, "", "Orders in flight, outcomes", "outcomes"),
    Key("journal", ("g j",), DESK, "", "Your trades, notes, R", "journal"),
    Key("statistics", ("g k",), DESK, "", "Statistics of your trades", "statistics"),
    Key("day-page", ("g d",), DESK, "", "The trading day, the week", "day_page"),
    Key("limits", ("g s",), DESK, "", "Your limits: see, change", "limits"),
    Key("alerts", ("g r",), DESK, "", "Your alerts: see, change", "alerts"),
    # `y` sends and nothing else, and a capital opens an order form: copying is a chord of its own.
    Key("copy-row", ("p p",), DESK, "", "Copy the row as text", "copy('row')"),
    Key("copy-id", ("p i",), DESK, "", "Copy its id or instrument", "copy('id')"),
    Key("copy-pane", ("p a",), DESK, "", "Copy all of the pane", "copy('pane')"),
    Key("mute", ("b",), DESK, "", "Mute bell, notifications", "mute"),
    Key("jump", _LETTERS_BEHIND["'"], DESK, "", "Go to a bookmark or layout", "jump('{key}')"),
    Key("bookmark", _LETTERS_BEHIND["m"], DESK, "", "Bookmark the instrument", "bookmark('{key}')"),
    # The practice market; only where the desk may control it.
    Key("replay-status", ("; ;",), DESK, "replay", "What the market replays", "replay('status')"),
    Key("replay-pause", ("; p",), DESK, "", "Pause the market, or play", "replay('pause')"),
    Key("replay-step", ("; n",), DESK, "", "On by a candle, paused", "replay('step')"),
    Key("replay-faster", ("; f",), DESK, "", "The market faster", "replay('faster')"),
    Key("replay-slower", ("; s",), DESK, "", "The market slower", "replay('slower')"),
    Key("replay-jump", ("; j",), DESK, "", "Jump to a later time", "replay('jump')"),
    Key("replay-random", ("; r",), DESK, "", "Replay a random time", "replay('random')"),
    Key("replay-blind", ("; b",), DESK, "", "Replay blind", "replay('blind')"),
    Key("replay-scenario", ("; c",), DESK, "", "Replay a scenario", "replay('scenario')"),
    Key("replay-present", ("; g",), DESK, "", "Back to the present", "replay('present')"),
    Key("replay-finish", ("; e",), DESK, "", "End it: where, when it was", "replay('finish')"),
    Key("replay-shock", ("; x",), DESK, "", "Shock the market", "replay('shock')"),
    Key("replay-faults", ("; t",), DESK, "", "Faults on, or all off", "replay('faults')"),
    Key("replay-deposit", ("; d",), DESK, "", "Add practice money", "replay('deposit')"),
    Key("replay-withdraw", ("; w",), DESK, "", "Take practice money out", "replay('withdraw')"),
    Key("replay-save", ("; m",), DESK, "", "Save a checkpoint", "replay('save')"),
    Key("replay-restore", ("; u",), DESK, "", "Back to a checkpoint", "replay('restore')"),
    Key("back", ("escape",), DESK, "", "Messages seen; all panes", "step_back"),
    # Rows.
    Key("row-down", ("j", "down"), ROWS, "rows", "Row down", "row_down"),
    Key("row-up", ("k", "up"), ROWS, "", "Row up", "row_up"),
    Key("page-down", _PAGE_ON, ROWS, "page", "Page down", "page_down"),
    Key("page-up", _PAGE_BACK, ROWS, "", "Page up", "page_up"),
    Key("top", ("g g", "home"), ROWS, "", "First row", "top"),
    Key("bottom", ("g e", "end"), ROWS, "", "Last row", "bottom"),
    # Tables: their order and which rows are shown.
    Key("table-view", ("v",), TABLE, "sort", "Sort ▼, ▲, in own order", "view"),
    Key("table-right", ("l", "right"), TABLE, "", "Sort by the next column", "sort_by(1)"),
    Key("table-left", ("h", "left"), TABLE, "", "Sort by the column before", "sort_by(-1)"),
    Key("table-again", ("w v",), TABLE, "", "Sort again now", "sort_again"),
    Key("table-live", ("w s",), TABLE, "", "Sorting held, or live", "sort_live"),
    Key("table-filter", ("w f",), TABLE, "filter", "Only rows with letters", "letters"),
    Key("table-whole", ("w e",), TABLE, "", "Every row", "every_row"),
    Key("trades-group", ("w g",), TRADES, "group", "Group by instrument", "group"),
    Key("note", ("n",), TRADES, "note", "Tags, note of the trade", "note"),
    Key("log-audit", ("a",), LOG, "audit", "The audit log of this desk", "audit"),
    # The chart, and the order of the watchlist.
    Key("older", ("left", "h"), CHART, "back", "Some candles back in time", "older"),
    Key("newer", ("right", "l"), CHART, "forth", "Some candles nearer to now", "newer"),
    Key("newest", ("g e", "end"), CHART, "now", "The newest candle", "newest"),
    Key("watch-view", ("v",), WATCHLIST, "sort", "Sort ▼, ▲, in own order", "view"),
    Key("sort-right", ("l", "right"), WATCHLIST, "", "Sort by the next column", "sort_by(1)"),
    Key("sort-left", ("h", "left"), WATCHLIST, "", "Sort by the column before", "sort_by(-1)"),
    Key("sort-again", ("w v",), WATCHLIST, "", "Sort again now", "sort_again"),
    Key("sort-live", ("w s",), WATCHLIST, "", "Sorting held, or live", "sort_live"),
    Key("list-next", ("w w",), WATCHLIST, "list", "Next watchlist", "change('next')"),
    Key(
        "list-number",
        tuple(f"w {digit}" for digit in "123456789"),
        WATCHLIST,
        "",
        "Watchlist by its number",
        "change('number {key}')",
    ),
    Key("list-add", ("w a",), WATCHLIST, "add", "Add an instrument", "change('add')"),
    Key("list-remove", ("w x",), WATCHLIST, "", "Remove the row or list", "change('remove')"),
    Key("list-down", ("w j",), WATCHLIST, "", "Move the row down", "move_row(1)"),
    Key("list-up", ("w k",), WATCHLIST, "", "Move the row up", "move_row(-1)"),
    Key("list-new", ("w n",), WATCHLIST, "", "New watchlist", "change('new')"),
    Key("list-rename", ("w r",), WATCHLIST, "", "Rename the watchlist", "change('rename')"),
    Key("list-columns", ("w c",), WATCHLIST, "", "Choose the columns", "change('columns')"),
    Key("list-filter", ("w f",), WATCHLIST, "filter", "Only rows with letters", "change('filter')"),
    Key("list-held", ("w o",), WATCHLIST, "", "Only own positions", "show_only('held')"),
    Key("list-open", ("w t",), WATCHLIST, "", "Only what trades now", "show_only('tradeable')"),
    Key("list-whole", ("w e",), WATCHLIST, "", "Every row of the list", "show_only('')"),
    Key("indicators", ("e",), CHART, "indicators", "Indicators, their periods", "indicators"),
    Key("crosshair", ("i",), CHART, "cross", "Crosshair on the chart", "crosshair"),
    Key("cross-older", ("left", "h"), CROSSHAIR, "candle", "A candle back", "cross(-1)"),
    Key("cross-newer", ("right", "l"), CROSSHAIR, "", "A candle forth", "cross(1)"),
    Key("cross-up", ("up", "k"), CROSSHAIR, "price", "A price step up", "lift(1)"),
    Key("cross-down", ("down", "j"), CROSSHAIR, "", "A price step down", "lift(-1)"),
    Key("cross-up-10", (".", "pageup"), CROSSHAIR, "±10", "Ten price steps up", "lift(10)"),
    Key("cross-down-10", (",", "pagedown"), CROSSHAIR, "", "Ten steps down", "lift(-10)"),
    Key("cross-older-10", ("backspace", "ctrl+u"), CROSSHAIR, "", "Ten candles back", "cross(-10)"),
    Key("cross-newer-10", ("space", "ctrl+d"), CROSSHAIR, "", "Ten candles forth", "cross(10)"),
    Key("cross-newest", ("g e", "end"), CROSSHAIR, "now", "Newest candle, last price", "to_last"),
    Key("cross-off", ("i",), CROSSHAIR, "off", "Crosshair off; Esc, too", "crosshair"),
    Key("level-line", ("n n",), CROSSHAIR, "", "Name a line here", "price_level('line')"),
    Key("level-ray", ("n r",), CROSSHAIR, "", "Name a ray from here on", "price_level('ray')"),
    Key("level-move", ("n m",), CROSSHAIR, "", "Move nearest level here", "price_level('move')"),
    Key("level-remove", ("n x",), CROSSHAIR, "", "Remove nearest level", "price_level('remove')"),
    Key("level-rename", ("n e",), CROSSHAIR, "", "Rename nearest level", "price_level('rename')"),
    Key("chart-page-older", _PAGE_BACK, CHART, "page", "A page back in time", "page_older"),
    Key("chart-page-newer", _PAGE_ON, CHART, "", "A page nearer to now", "page_newer"),
    Key("zoom-in", ("+", ">"), CHART, "zoom", "Fewer, wider candles", "zoom_in"),
    Key("zoom-out", ("_", "<"), CHART, "", "More, narrower candles", "zoom_out"),
    Key("chart-whole", ("=",), CHART, "", "Wider scale for own prices", "every_price"),
    Key("chart-view", ("v",), CHART, "style", "Candles, bars, line, Heikin", "view"),
    Key("chart-prices", ("a",), CHART, "bid/ask", "Mid, bid, ask; of the size", "prices"),
    Key("chart-pin", ("c p",), CHART, "", "Pin a further chart", "pin"),
    Key("chart-dots", ("o",), CHART, "", "Indicators: strokes or dots", "overlay_dots"),
    Key("chart-book", ("c c",), CHART, "clients", "Client orders, positions", "book"),
    Key("chart-book-older", ("c h",), CHART, "", "The book before", "book_step(-1)"),
    Key("chart-book-newer", ("c l",), CHART, "", "The book after", "book_step(1)"),
    Key("chart-book-newest", ("c e",), CHART, "", "The newest book", "book_step(0)"),
    Key("books-older", ("h", "left"), BOOKS, "back", "The snapshot before", "step(-1)"),
    Key("books-newer", ("l", "right"), BOOKS, "forth", "The snapshot after", "step(1)"),
    Key("books-newest", ("g e", "end"), BOOKS, "now", "The newest snapshot", "step(0)"),
    Key("books-view", ("v",), BOOKS, "orders/positions", "The orders or the positions", "view"),
    # Every form. Challenge letters are no keys of their own: the form shows one when it asks for it.
    Key("send", ("y",), FORM, "send", "Send, or the letter shown", "send"),
    Key("drop", ("escape", "q"), FORM, "drop", "Drop it, nothing is sent", "drop"),
    Key("left-out", ("x",), FORM, "", "Lines that had no room", "left_out"),
    Key("form-keys", ("?",), FORM, "", "The keys of this form", "form_keys"),
    # The ticket: letters pick fields, digits fill them.
    _choice("next_kind"),
    *_fields(TICKET, TICKET_FIELDS),
    *map(_choice, ("next_expiry", "next_unit", "next_template", "more")),
    _text_field("until"),
    _choice("guarantee"),
    *_options(),
    _choice("next_lifetime"),
    _text_field("ends"),
    _text_field("scale"),
    _choice("count_in_atr"),
    *_editing(TICKET, "ticket", "pip"),
    # Modify, protect, trailing: the same letters.
    *_fields(MODIFY, MODIFY_FIELDS),
    *_choices(MODIFY, MODIFY_CHOICES),
    *_editing(MODIFY, "modify", "pip"),
    # Break-even: pips beyond it.
    Key("even-up", ("up",), BREAK_EVEN, "±1 pip", "A pip more beyond it", "nudge(1)"),
    Key("even-down", ("down",), BREAK_EVEN, "", "A pip less", "nudge(-1)"),
    Key("even-up-10", (".",), BREAK_EVEN, "", "Ten more, or decimal point", "nudge(10)"),
    Key("even-down-10", (",",), BREAK_EVEN, "", "Ten less", "nudge(-10)"),
    Key("even-erase", ("backspace",), BREAK_EVEN, "", "Erase a digit", "erase"),
    # An exit plan.
    *_numbers(
        *(EXIT_PLAN, "plan", EXIT_PLAN_FIELDS),
        Key("plan-none", ("w",), EXIT_PLAN, "no plan", "Remove the plan", "no_plan"),
    ),
    # Tag and comment of a trade; name and margin rate of the account.
    *_texts(LABELS, LABEL_FIELDS),
    *_texts(CONFIGURE, ACCOUNT_FIELDS),
    Key("account-configure", ("e",), ACCOUNT, "change", "Name and margin rate", "configure"),
    Key("next-trade", ("n",), ONE_TRADE, "next trade", "Next trade of it", "next_trade"),
    # A part to close.
    Key("quarter", ("2", "5", "7"), SCALE_OUT, "25 50 75 %", "25, 50, 75 %", "part({key})"),
    Key("percent", ("%",), SCALE_OUT, "own %", "Any digits, then %", "percent"),
    Key("part-erase", ("backspace",), SCALE_OUT, "", "Erase a digit", "erase"),
    # A position: which side of it, and which part.
    *_choices(CLOSE_POSITION, CLOSE_SIDES),
    Key("part-of", ("2", "5", "7"), POSITION_PART, "25 50 75 %", "25, 50, 75 %", "part({key})"),
    Key("part-percent", ("%",), POSITION_PART, "own %", "Any digits, then %", "percent"),
    Key("part-units", ("u",), POSITION_PART, "units", "Any digits, then u", "units"),
    Key("part-order", ("o",), POSITION_PART, "order", "Oldest, newest, worst, best", "next_order"),
    Key("part-next", ("down",), POSITION_PART, "", "Next trade to pick", "cursor(1)"),
    Key("part-before", ("up",), POSITION_PART, "", "Trade before", "cursor(-1)"),
    Key("part-pick", ("space",), POSITION_PART, "", "Pick the trade", "pick"),
    *_choices(POSITION_PART, PART_SIDES),
    # Scopes.
    *_choices(CANCEL_ENTRIES, CANCEL_SCOPES),
    *_choices(FLATTEN, FLATTEN_SCOPES),
    # Looking and finding.
    Key("help-page", ("space",), HELP, "page", "Next page", "next_page"),
    Key("help-down", ("j", "down"), HELP, "", "Line down", "scroll_lines(1)"),
    Key("help-up", ("k", "up"), HELP, "", "Line up", "scroll_lines(-1)"),
    Key("help-page-down", ("pagedown",), HELP, "", "Page down", "scroll_pages(1)"),
    Key("help-page-up", ("pageup",), HELP, "", "Page up", "scroll_pages(-1)"),
    Key("help-top", ("home",), HELP, "", "Top", "scroll_to('top')"),
    Key("help-bottom", ("end",), HELP, "", "Bottom", "scroll_to('bottom')"),
    Key("help-close", ("escape", "q"), HELP, "close", "Close", "drop"),
    Key("messages-kind", ("tab",), MESSAGES, "kind", "Next kind of message", "next_kind"),
    Key("messages-ledger", ("shift+tab",), MESSAGES, "", "Other account, replay", "next_ledger"),
    Key("key-list-close", ("?",), KEY_LIST, "", "Close", "drop"),
    Key("page-copy", ("p p",), PAGE, "", "Copy the page's text", "copy_page"),
    Key("page-keys", ("?",), PAGE, "", "The keys of this page", "page_keys"),
    Key("find-down", ("down",), FIND, "down", "Next match", "choose(1)"),
    Key("find-up", ("up",), FIND, "up", "Previous match", "choose(-1)"),
    Key("find-close", ("escape",), FIND, "close", "Close", "drop"),
    Key("name-close", ("escape",), NAME, "close", "Close", "drop"),
    Key("column-down", ("j", "down"), COLUMNS, "", "Column down", "choose(1)"),
    Key("column-up", ("k", "up"), COLUMNS, "", "Column up", "choose(-1)"),
    Key("column-turn", ("space",), COLUMNS, "turn", "Show or hide it", "turn"),
    Key("column-take", ("enter",), COLUMNS, "take", "Take these columns", "take"),
    Key("column-close", ("escape", "q"), COLUMNS, "close", "Close", "drop"),
    Key("row-gone", ("enter",), DELETE_LIST, "row off", "Take the row off", "take"),
    Key("list-gone", ("x",), DELETE_LIST, "delete", "Delete the list", "delete"),
    Key("list-stays", ("escape", "q"), DELETE_LIST, "keep", "Keep both", "drop"),
    Key("begin-anew", ("y",), REPLAY, "start", "Start the replay", "take"),
    Key("begin-not", ("escape", "q"), REPLAY, "stay", "Stay as it is", "drop"),
    Key("leave", ("enter",), LEAVING, "leave", "Leave anyway", "take"),
    Key("leave-not", ("escape", "q"), LEAVING, "stay", "Stay", "drop"),
    Key("indicator-down", ("j", "down"), INDICATORS, "", "Row down", "row(1)"),
    Key("indicator-up", ("k", "up"), INDICATORS, "", "Row up", "row(-1)"),
    Key("indicator-turn", ("space",), INDICATORS, "on/off", "Show it, or not", "turn"),
    Key("indicator-next", ("tab",), INDICATORS, "", "Next number", "next_number(1)"),
    Key("indicator-before", ("shift+tab",), INDICATORS, "", "Number before", "next_number(-1)"),
    Key("indicator-erase", ("backspace",), INDICATORS, "", "Erase a digit", "erase"),
    Key("indicator-scope", ("a",), INDICATORS, "all", "This instrument, or all", "scope"),
    Key("indicator-take", ("enter",), INDICATORS, "keep", "Keep and show them", "take"),
    Key("indicator-close", ("escape", "q"), INDICATORS, "drop", "Change nothing", "drop"),
    Key("outcome-down", ("j", "down"), ORDER_TRANSITIONS, "", "Next order", "choose(1)"),
    Key("outcome-up", ("k", "up"), ORDER_TRANSITIONS, "", "Order before", "choose(-1)"),
    Key(
        "outcome-more",
        ("space", "pagedown"),
        ORDER_TRANSITIONS,
        "more",
        "More of the order",
        "more(1)",
    ),
    Key(
        "outcome-back", ("backspace", "pageup"), ORDER_TRANSITIONS, "", "Back up in it", "more(-1)"
    ),
    Key(
        "outcome-seen",
        ("a",),
        ORDER_TRANSITIONS,
        "seen",
        "Acknowledge or dismiss it",
        "acknowledge",
    ),
    Key(
        "outcome-dismiss",
        ("enter",),
        ORDER_TRANSITIONS,
        "",
        "Dismiss it, when asked",
        "dismiss_order",
    ),
    Key("outcome-raw", ("r",), ORDER_TRANSITIONS, "as sent", "Requests as sent, in words", "raw"),
    Key("outcome-view", ("v",), ORDER_TRANSITIONS, "times", "Slippage, times; orders", "view"),
    Key("outcome-close", ("escape", "q"), ORDER_TRANSITIONS, "close", "Close", "drop"),
    Key("order-down", ("j", "down"), ACCOUNT_ORDERS, "", "Next order", "choose(1)"),
    Key("order-up", ("k", "up"), ACCOUNT_ORDERS, "", "Order before", "choose(-1)"),
    Key("order-page-down", _PAGE_ON, ACCOUNT_ORDERS, "page", "Page down", "page(1)"),
    Key("order-page-up", _PAGE_BACK, ACCOUNT_ORDERS, "", "Page up", "page(-1)"),
    Key("order-open", ("enter",), ACCOUNT_ORDERS, "open", "Its transactions", "open"),
    Key("order-state", ("v",), ACCOUNT_ORDERS, "state", "Orders in the next state", "next_state"),
    Key("order-read", ("r",), ACCOUNT_ORDERS, "again", "Read again", "read"),
    Key("order-close", ("escape", "q"), ACCOUNT_ORDERS, "close", "Close", "drop"),
    Key("transaction-down", ("j", "down"), TRANSACTION, "", "Next related one", "choose(1)"),
    Key("transaction-up", ("k", "up"), TRANSACTION, "", "Related one before", "choose(-1)"),
    Key("transaction-open", ("enter",), TRANSACTION, "open", "Open the related one", "open"),
    Key("transaction-more", ("space", "pagedown"), TRANSACTION, "more", "More of it", "more(1)"),
    Key("transaction-page-back", ("backspace", "pageup"), TRANSACTION, "", "Back up", "more(-1)"),
    Key("transaction-view", ("v",), TRANSACTION, "as sent", "As the broker sent it", "view"),
    Key("transaction-back", ("escape",), TRANSACTION, "back", "Back to the one before", "back"),
    Key("transaction-close", ("q",), TRANSACTION, "close", "Close", "drop"),
    Key("journal-down", ("j", "down"), JOURNAL, "", "Row down", "row(1)"),
    Key("journal-up", ("k", "up"), JOURNAL, "", "Row up", "row(-1)"),
    Key("journal-page-down", _PAGE_ON, JOURNAL, "", "Page down", "page(1)"),
    Key("journal-page-up", _PAGE_BACK, JOURNAL, "", "Page up", "page(-1)"),
    Key("journal-top", ("home",), JOURNAL, "", "First row", "end('top')"),
    Key("journal-bottom", ("end",), JOURNAL, "", "Last row", "end('bottom')"),
    Key("journal-details", ("enter",), JOURNAL, "details", "All of the trade", "details"),
    Key("journal-note", ("n",), JOURNAL, "note", "Tags, note of the trade", "note"),
    Key("journal-view", ("v",), JOURNAL, "sort", "Sort ▼, ▲, newest first", "view"),
    Key("journal-right", ("l", "right"), JOURNAL, "", "Sort by the next column", "sort_by(1)"),
    Key("journal-left", ("h", "left"), JOURNAL, "", "Sort by the column before", "sort_by(-1)"),
    Key("journal-filter", ("w f",), JOURNAL, "filter", "Only trades with letters", "letters"),
    Key("journal-whole", ("w e",), JOURNAL, "", "Every trade", "every_row"),
    Key("journal-group", ("w g",), JOURNAL, "positions", "By position, or trade", "group"),
    Key("journal-read", ("r",), JOURNAL, "", "Read what is missing", "read"),
    Key("journal-close", ("escape", "q"), JOURNAL, "close", "Close", "drop"),
    Key("journal-trade-note", ("n",), JOURNAL_TRADE, "note", "Tags, note of the trade", "note"),
    Key("journal-trade-view", ("v",), JOURNAL_TRADE, "screens", "Kept screens, figures", "view"),
    Key(
        "journal-trade-right",
        ("l", "right"),
        JOURNAL_TRADE,
        "",
        "More of a wide screen",
        "shift(1)",
    ),
    Key("journal-trade-left", ("h", "left"), JOURNAL_TRADE, "", "Back to its left", "shift(-1)"),
    Key("note-tags", ("t",), TRADE_NOTE, "tags", "Write the tags", "write('tags')"),
    Key("note-setup", ("s",), TRADE_NOTE, "setup", "Write the setup", "write('setup')"),
    Key("note-rating", tuple("123450"), TRADE_NOTE, "rate", "Rate it; 0: no rating", "rate({key})"),
    Key("note-mistake", ("m",), TRADE_NOTE, "mistake", "Write a mistake", "write('mistake')"),
    Key("note-text", ("n",), TRADE_NOTE, "note", "Write the note", "write('note')"),
    Key("note-broker", ("b",), TRADE_NOTE, "broker", "To the broker as well", "broker"),
    Key("note-keep", ("enter",), TRADE_NOTE, "keep", "Keep what was changed", "keep"),
    Key("note-close", ("escape", "q"), TRADE_NOTE, "close", "Close; twice to drop", "drop"),
    Key("stat-view", tuple("12345678"), STATISTICS, "view", "A view", "show_view({key})"),
    Key("stat-next", ("tab", "v"), STATISTICS, "", "Next view", "next_view(1)"),
    Key("stat-before", ("shift+tab",), STATISTICS, "", "View before", "next_view(-1)"),
    Key("stat-right", ("l", "right"), STATISTICS, "", "Right; next grouping", "move(1, 0)"),
    Key("stat-left", ("h", "left"), STATISTICS, "", "Left; grouping before", "move(-1, 0)"),
    Key("stat-down", ("j", "down"), STATISTICS, "", "Down", "move(0, 1)"),
    Key("stat-up", ("k", "up"), STATISTICS, "", "Up", "move(0, -1)"),
    Key("stat-page", _PAGE_ON, STATISTICS, "", "More of the view", "page(1)"),
    Key("stat-page-back", _PAGE_BACK, STATISTICS, "", "Back up in it", "page(-1)"),
    Key("stat-take", ("enter",), STATISTICS, "open", "The day; only this group", "take"),
    Key("stat-week", ("d",), STATISTICS, "week", "The week of the day", "week"),
    Key("stat-read", ("r",), STATISTICS, "", "Read the journal again", "read"),
    Key("stat-close", ("escape", "q"), STATISTICS, "close", "All trades; close", "drop"),
    Key("day-before", ("h", "left"), DAY_PAGE, "before", "Day or week before", "turn(-1)"),
    Key("day-next", ("l", "right"), DAY_PAGE, "next", "Next day or week", "turn(1)"),
    Key("day-week", ("d",), DAY_PAGE, "week", "The week, or the day", "week"),
    Key("limit-down", ("j", "down"), LIMITS, "", "Row down", "row(1)"),
    Key("limit-up", ("k", "up"), LIMITS, "", "Row up", "row(-1)"),
    Key("limit-off", ("x", "space"), LIMITS, "off", "No such limit", "turn"),
    Key("limit-erase", ("backspace",), LIMITS, "", "Erase a digit", "erase"),
    Key("limit-scope", ("a",), LIMITS, "scope", "Account, or instrument", "scope"),
    Key("limit-take", ("enter",), LIMITS, "keep", "Keep and write them", "take"),
    Key("limit-close", ("escape", "q"), LIMITS, "drop", "Change nothing", "drop"),
    Key("setting-down", ("j", "down"), SETTINGS, "", "Row down", "row(1)"),
    Key("setting-up", ("k", "up"), SETTINGS, "", "Row up", "row(-1)"),
    Key("setting-right", ("l", "right"), SETTINGS, "", "Next value, or channel", "turn(1)"),
    Key("setting-left", ("h", "left"), SETTINGS, "", "Value, channel before", "turn(-1)"),
    Key("setting-switch", ("space",), SETTINGS, "switch", "Next value; on or off", "switch"),
    Key("setting-take", ("enter",), SETTINGS, "choose", "Choose from a list", "take"),
    Key("setting-close", ("escape", "q"), SETTINGS, "close", "Close", "drop"),
    Key("accounts-down", ("j", "down"), ALL_ACCOUNTS, "", "Next account", "choose(1)"),
    Key("accounts-up", ("k", "up"), ALL_ACCOUNTS, "", "Account before", "choose(-1)"),
    Key("accounts-page-down", _PAGE_ON, ALL_ACCOUNTS, "", "Ten accounts down", "choose(10)"),
    Key("accounts-page-up", _PAGE_BACK, ALL_ACCOUNTS, "", "Ten accounts up", "choose(-10)"),
    Key("accounts-top", ("home",), ALL_ACCOUNTS, "", "First account", "choose(-9999)"),
    Key("accounts-bottom", ("end",), ALL_ACCOUNTS, "", "Last account", "choose(9999)"),
    Key("accounts-open", ("enter",), ALL_ACCOUNTS, "open", "Open the account", "open"),
    Key("accounts-close", ("escape", "q"), ALL_ACCOUNTS, "close", "Close", "drop"),
    Key("alerts-down", ("j", "down"), ALERTS, "", "Row down", "row(1)"),
    Key("alerts-up", ("k", "up"), ALERTS, "", "Row up", "row(-1)"),
    Key("alerts-page-down", _PAGE_ON[1:], ALERTS, "", "Ten rows down", "row(10)"),
    Key("alerts-page-up", _PAGE_BACK[1:], ALERTS, "", "Ten rows up", "row(-10)"),
    Key("alerts-new", ("a",), ALERTS, "new", "A new alert, typed", "act('new')"),
    Key("alerts-edit", ("e",), ALERTS, "edit", "Edit the alert", "act('edit')"),
    Key("alerts-take", ("enter",), ALERTS, "", "Edit; delete, when asked", "take"),
    Key("alerts-pause", ("space",), ALERTS, "pause", "Pause it, or go on", "act('pause')"),
    Key("alerts-delete", ("x",), ALERTS, "delete", "Delete it, after Enter", "delete"),
    Key("alerts-history", ("h",), ALERTS, "fired", "Alerts that fired", "history"),
    Key("alerts-clear", ("c",), ALERTS, "clear", "Clear done, expired", "act('clear')"),
    Key("alerts-mute", ("b",), ALERTS, "mute", "Mute bell, notifications", "act('mute')"),
    Key("alerts-close", ("escape", "q"), ALERTS, "close", "Close", "drop"),
    Key("alert-take", ("enter",), NEW_ALERT, "make", "Make the alert", "take"),
    Key("alert-up", ("up", "k"), NEW_ALERT, "level", "Level a pip up", "level(1)"),
    Key("alert-down", ("down", "j"), NEW_ALERT, "", "Level a pip down", "level(-1)"),
    Key("alert-up-10", (".",), NEW_ALERT, "", "Ten pips up", "level(10)"),
    Key("alert-down-10", (",",), NEW_ALERT, "", "Ten pips down", "level(-10)"),
    Key("alert-direction", ("d",), NEW_ALERT, "way", "Up, down or touch", "direction"),
    Key("alert-side", ("s",), NEW_ALERT, "side", "Bid, ask, mid; R, money", "side"),
    Key("alert-often", ("o",), NEW_ALERT, "often", "Once, or repeat", "often"),
    Key("alert-text", ("e",), NEW_ALERT, "type", "Type it as a line", "text"),
    Key("alert-drop", ("escape", "q"), NEW_ALERT, "drop", "Make no alert", "drop"),
    Key("choice-down", ("j", "down"), CHOICE, "down", "Line down", "choose(1)"),
    Key("choice-up", ("k", "up"), CHOICE, "up", "Line up", "choose(-1)"),
    Key("choice-take", ("enter",), CHOICE, "take", "Take it", "take"),
    Key("choice-close", ("escape", "q"), CHOICE, "close", "Close", "drop"),
    Key("profile-other", ("a",), PROFILES, "others", "Other accounts of its token", "other"),
    Key("timeframe-next", ("l", "right"), TIMEFRAMES, "", "Next longer", "choose(1)"),
    Key("timeframe-before", ("h", "left"), TIMEFRAMES, "", "Next shorter", "choose(-1)"),
    Key("timeframe-unit", ("j", "down"), TIMEFRAMES, "", "Longer unit", "unit(1)"),
    Key("timeframe-unit-up", ("k", "up"), TIMEFRAMES, "", "Shorter unit", "unit(-1)"),
    Key("timeframe-take", ("enter",), TIMEFRAMES, "take", "Show it", "take"),
    Key("timeframe-close", ("escape", "q"), TIMEFRAMES, "close", "Close", "drop"),
    Key("command-down", ("down",), COMMAND, "", "Line down", "choose(1)"),
    Key("command-up", ("up",), COMMAND, "", "Line up; earlier lines", "choose(-1)"),
    Key("complete", ("tab",), COMMAND, "complete", "Complete the word", "complete"),
    Key("command-close", ("escape",), COMMAND, "close", "Close", "drop"),
)

GOING = frozenset(
    key.id
    for key in KEYS
    if key.context == DESK and any(each.startswith("g ") for each in key.keys)
)


class KeyMap:
    """The table of keys with the user's overrides, queried by context."""

    def __init__(
        self, keys: Iterable[Key] = KEYS, overrides: Mapping[str, str] | None = None
    ) -> None:
        own = overrides or {}
        self.keys = tuple(
            replace(key, keys=(own[key.id],)) if key.id in own else key for key in keys
        )

    def take(self, other: "KeyMap") -> None:
        """Have the keys of another map from now on: whoever holds this one goes by them."""
        self.keys = other.keys

    def lone(self, context: str, key: str) -> str | None:
        """Return the action of a chord that the trader has put on a single key, None if it is none."""
        usual = {each.id: each.keys[0] for each in KEYS}
        for entry in self.with_chords(context):
            if key in entry.keys and " " in usual[entry.id]:
                return entry.action.format(key=key)
        return None

    @property
    def moved(self) -> Mapping[str, str]:
        """Return the user's own single keys by id, in Textual's names."""
        usual = {key.id: key.keys for key in KEYS}
        return {
            key.id: textual_name(key.keys[0])
            for key in self.keys
            if key.keys != usual.get(key.id) and " " not in key.keys[0]
        }

    def name(self, id_: str) -> SafeText:
        """Return the key of an action as it is written, "B" or "g t"; an unknown id is returned unchanged."""
        keys = next((key.keys for key in self.keys if key.id == id_), (id_,))
        return safe(SHOWN.get(keys[0], keys[0]))

    def own(self, context: str) -> tuple[Key, ...]:
        """Return the keys of exactly this context, most used first."""
        return tuple(key for key in self.keys if key.context == context)

    def in_force(self, context: str) -> tuple[Key, ...]:
        """Return the keys of the context, then those of the contexts beneath it."""
        places = (context, *BENEATH.get(context, ()), *((PAGE,) if context in PAGES else ()))
        return tuple(key for place in places for key in self.own(place))

    def with_chords(self, context: str) -> tuple[Key, ...]:
        """Return the keys in force, and on a page those that go on to a pane or to another page."""
        return (*self.in_force(context), *(self.going if context in GO_ON else ()))

    @property
    def going(self) -> tuple[Key, ...]:
        """The keys that go to a pane or a page: those of the desk with `g`, wherever the trader has moved them."""
        return tuple(key for key in self.own(DESK) if key.id in GOING)

    def prefixes(self, context: str) -> frozenset[str]:
        """Return the first keys of all chords in the context."""
        return frozenset(
            key.split()[0]
            for entry in self.with_chords(context)
            for key in entry.keys
            if " " in key
        )

    def chord(self, context: str, first: str, second: str) -> str | None:
        """Return the action of a chord, None when there is none."""
        typed = f"{first} {second}"
        for entry in self.with_chords(context):
            if typed in entry.keys:
                return entry.action.format(key=second)
        return None


def textual_name(key: str) -> str:
    """Return the key in Textual's names."""
    return TEXTUAL_NAMES.get(key, key)


KEYMAP = KeyMap()
