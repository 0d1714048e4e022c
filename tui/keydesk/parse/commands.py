"""Parse and complete a line of the command line."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar, Literal, LiteralString

from msgspec import Struct, field

from keydesk.calc.alerts.alert import AlertLine
from keydesk.calc.alerts.condition_base import AlertSyntaxError
from keydesk.calc.market.granularity import SECONDS, find_granularity
from keydesk.calc.market.indicator_specs import (
    IndicatorSpec,
    IndicatorSyntaxError,
    parse_indicators,
)
from keydesk.calc.market.price_levels import PriceLevels
from keydesk.calc.market.replay import ControlledMarket
from keydesk.calc.orders.ticket_draft import Side
from keydesk.parse.alerts import WORDS as ALERT_WORDS
from keydesk.parse.alerts import parse_alert
from keydesk.parse.instruments import find_instrument
from keydesk.parse.orders import (
    KEYWORDS,
    OrderSyntaxError,
    ParsedOrder,
    parse_order,
)
from keydesk.parse.pages import ORDER_STATES, PAGES, ShowOrders, ShowPage
from keydesk.parse.profile_names import is_profile_name
from keydesk.parse.replay import (
    NOT_OFFERED,
    ReplayCommand,
    ReplaySyntaxError,
    parse_replay,
    replay_text,
)
from keydesk.text.typed import date_time, tokens

COMMANDS = (
    "quit",
    "help",
    "keys",
    "messages",
    *PAGES,
    "orders",
    "undo",
    "buy",
    "sell",
    "tf",
    "date",
    "ind",
    "layout",
    "alert",
    "mute",
    "tour",
    "replay",
    "profile",
    "login",
    "logout",
)
USAGES: Mapping[str, tuple[LiteralString, LiteralString]] = {
    "buy": ("buy eurusd 50k sl 20p tp 2r", "Buy ticket from one line"),
    "sell": ("sell gbpusd @1.2500 sl 25p", "Sell ticket from one line"),
    "alert": ("alert > 1.12", "Alert on a condition"),
    "tf": ("tf h4", "Candle length of the chart"),
    "date": ("date 2015-01-15", "The chart at a date"),
    "ind": ("ind ema 20, rsi 14", "Indicators of the chart"),
    "layout": ("layout save scalping", "Show, save, delete a layout"),
    "replay": ("replay pause", "Control the practice market"),
    "orders": ("orders filled", "The account's orders by state"),
    "messages": ("", "All messages since the start"),
    "mute": ("", "Mute bell, notifications"),
    "help": ("", "The keys of this pane"),
    "tour": ("", "The first trade in five steps"),
    "quit": ("", "Leave the desk"),
    "profile": ("profile main", "Open another account"),
    "login": ("login main", "Sign in, with a token"),
    "logout": ("logout main", "Remove a profile, its token"),
}
"""The commands but for pages and settings: an example of those that take more words, and what each does."""
SIDES: dict[str, Side] = {"b": "BUY", "buy": "BUY", "s": "SELL", "sell": "SELL"}
KNOWN = "Try :q, :help, :messages, :eurusd, :tf h4, :date 2015-01-15, :b eurusd 50k sl 20p, :alert > 1.12"


def complete(line: str, instruments: Iterable[str], market: ControlledMarket | None = None) -> str:
    """Return the line with its last word completed as far as that is unambiguous."""
    before, space, last = line.rpartition(" ")
    colon = ":" if last.startswith(":") else ""
    endings = completions(line, instruments, market)
    if not endings:
        return line
    end = " " if len(endings) == 1 else ""
    return f"{before}{space}{colon}{_common(endings)}{end}"


def completions(
    line: str, instruments: Iterable[str], market: ControlledMarket | None = None
) -> Sequence[str]:
    """Return the words that the last word of the line begins, commands first."""
    before, _, last = line.rpartition(" ")
    typed = last.lower().lstrip(":")
    names = [name.replace("_", "").lower() for name in instruments]
    words = dict.fromkeys(_known_text(before.lower().lstrip(":").split(), names, market))
    return [word for word in words if typed and word.startswith(typed)]


def _known_text(
    before: Sequence[str], names: Sequence[str], market: ControlledMarket | None
) -> Sequence[str]:
    """Return the words that may follow: a command or instrument, then an instrument, then fields."""
    if before and before[0].lstrip(":").lower() == "alert":
        return [*names, *ALERT_WORDS] if len(before) == 1 else ALERT_WORDS
    if before[:1] == ["orders"]:
        return [state.lower() for state in ORDER_STATES]
    if before[:1] == ["replay"] and market is not None:
        return replay_text(before[1:], market) or names
    match len(before):
        case 0:
            return [*COMMANDS, *names]
        case 1:
            return [*names, *KEYWORDS]
        case _:
            return KEYWORDS


def _common(words: Sequence[str]) -> str:
    shortest = min(words, key=len)
    for at, letter in enumerate(shortest):
        if any(word[at] != letter for word in words):
            return shortest[:at]
    return shortest


class QuitDesk(Struct, frozen=True):
    """Leave the desk."""


class ShowHelp(Struct, frozen=True):
    """Show the keys."""


class ShowMessages(Struct, frozen=True):
    """Show the messages since the desk was opened."""


class ShowInstrument(Struct, frozen=True):
    """Show an instrument in chart, ticket and books."""

    instrument: str


class ShowGranularity(Struct, frozen=True):
    """Show candles of another length."""

    granularity: str

    @property
    def text(self) -> str:
        """Return what it does."""
        return f"shows {self.granularity} candles"


class GoToDate(Struct, frozen=True):
    """Show the chart around a date and time of the trader's zone; at midnight where no time was typed."""

    date: datetime

    @property
    def text(self) -> str:
        """Return what it does."""
        return f"shows the chart at {self.date:%A} {self.date.day} {self.date:%B %Y %H:%M}"


class ChooseIndicators(Struct, frozen=True):
    """Draw these indicators on the charts of the instrument; none of them: no indicators."""

    specs: tuple[IndicatorSpec, ...]

    @property
    def text(self) -> str:
        """Return what it does."""
        return f"draws {', '.join(each.name for each in self.specs) or 'no indicators'}"


class MakeAlert(Struct, frozen=True):
    """Watch a condition and tell the trader when it is met."""

    line: AlertLine

    @property
    def text(self) -> str:
        """Return what it does."""
        return self.line.text


class ToggleMute(Struct, frozen=True):
    """Mute bell and desktop notifications, or end that."""

    text: ClassVar[str] = "mutes bell and desktop notifications, or ends that"


class BeginTour(Struct, frozen=True):
    """Show the five steps of the first trade again."""

    text: ClassVar[str] = "shows the five steps of the first trade again"


AccountVerb = Literal["login", "logout", "profile"]


class AccountCommand(Struct, frozen=True):
    """Sign in, sign out, or choose another account."""

    verb: AccountVerb
    name: str = ""  # of the profile; "" if it is not named

    @property
    def text(self) -> str:
        """What it does."""
        named = f" {self.name}" if self.name else ""
        match self.verb:
            case "login":
                return f"signs in{named}: asks for a token, unseen, and opens its account"
            case "logout":
                return f"removes the profile{named or ' that is open'} and its token"
            case "profile":
                return "chooses another account"


LayoutVerb = Literal["show", "save", "delete"]


class UseLayout(Struct, frozen=True):
    """Show, save or delete a named workspace: panes, timeframes, indicators and list."""

    verb: LayoutVerb
    name: str

    @property
    def text(self) -> str:
        """Return what it does."""
        return (
            f"{self.verb}s the layout {self.name}" if self.name else "shows which layouts there are"
        )


class OpenTicket(Struct, frozen=True):
    """Open a ticket; it asks for its own confirmation."""

    side: Side
    instrument: str
    fields: ParsedOrder = field(default_factory=ParsedOrder)


class ShowMessage(Struct, frozen=True):
    """Show a message; nothing else is done."""

    level: Literal["info", "warn"]
    text: str


ViewCommand = ShowGranularity | GoToDate | ChooseIndicators | UseLayout
ParsedCommand = (
    QuitDesk
    | ShowHelp
    | ShowMessages
    | ShowPage
    | ShowOrders
    | ShowInstrument
    | ViewCommand
    | MakeAlert
    | ToggleMute
    | BeginTour
    | AccountCommand
    | OpenTicket
    | ReplayCommand
    | ShowMessage
)


SINGLE_WORDS: Mapping[str, ParsedCommand] = {
    **dict.fromkeys(("q", "quit", "exit"), QuitDesk()),
    **dict.fromkeys(("help", "keys", "?"), ShowHelp()),
    "messages": ShowMessages(),
    "mute": ToggleMute(),
    "tour": BeginTour(),
    "login": AccountCommand("login"),
    "logout": AccountCommand("logout"),
    "profile": AccountCommand("profile"),
    "orders": ShowOrders("ALL"),
    **{name: ShowPage(name) for name in PAGES},
    "undo": ShowMessage("warn", "Orders cannot be undone: close, cancel or reverse"),
}


def parse_command(  # noqa: PLR0911 - one return a kind of command
    line: str,
    instruments: Iterable[str],
    focus: str,
    market: ControlledMarket | None = None,
    now: float = 0.0,
    *,
    levels: PriceLevels | None = None,
) -> ParsedCommand:
    """Parse a line of the command line; `market` is the practice market that may be controlled, `now` monotonic.

    `levels` are the trader's price levels, which an order or an alert may name.
    """
    typed = line.strip().lstrip(":").strip()
    words = tokens(typed)
    match words:
        case []:
            return ShowMessage("info", f"Nothing typed. {KNOWN}. Pages: {', '.join(PAGES)}")
        case [word] if word in SINGLE_WORDS:
            return SINGLE_WORDS[word]
        case ["alert", *_]:
            return _alert(typed[len("alert") :], instruments, focus, levels or {})
        case ["orders", *rest]:
            return _orders(" ".join(rest))
        case ["login" | "logout" as verb, *_]:
            return _account(verb, typed.split()[1:])
        case ["replay", *rest]:
            return _replay(rest, market, now)
        case [verb, *rest] if verb in VIEW_VERBS or verb == "instrument":
            return _view(verb, " ".join(rest), instruments)
        case [verb, *rest] if verb in SIDES:
            return _ticket(SIDES[verb], rest, instruments, focus, levels or {})
        case [name]:
            instrument = find_instrument(name, instruments)
            return (
                ShowInstrument(instrument)
                if instrument
                else ShowMessage("warn", f"Neither a command nor an instrument: {name}. {KNOWN}")
            )
        case _:
            return ShowMessage("warn", f"Not understood: {' '.join(words)}. {KNOWN}")


def _orders(typed: str) -> ParsedCommand:
    for state in ORDER_STATES:
        if typed == state.lower():
            return ShowOrders(state)
    states = ", ".join(state.lower() for state in ORDER_STATES)
    return ShowMessage("warn", f"orders: {typed} is not a state; use one of {states}")


def _account(verb: AccountVerb, names: Sequence[str]) -> ParsedCommand:
    """Return a sign-in or sign-out of one profile; the words are not repeated, as one of them may be a token."""
    if len(names) != 1 or not is_profile_name(names[0]):
        text = f"{verb}: write :{verb} and the name of a profile; a token is asked for, unseen, never typed here"
        return ShowMessage("warn", text)
    return AccountCommand(verb, names[0])


def _replay(
    rest: Sequence[str], market: ControlledMarket | None, now: float
) -> ReplayCommand | ShowMessage:
    if market is None:
        return ShowMessage("warn", NOT_OFFERED)
    try:
        return parse_replay(rest, market, now)
    except ReplaySyntaxError as error:
        return ShowMessage("warn", str(error))


def _view(verb: str, typed: str, instruments: Iterable[str]) -> ParsedCommand:
    if verb in VIEW_VERBS:
        return VIEW_VERBS[verb](typed)
    instrument = find_instrument(typed, instruments)
    if instrument is None:
        text = f"instrument: {typed} is not valid; write :instrument eurusd"
        return ShowMessage("warn", text)
    return ShowPage("instrument", instrument)


def _granularity(typed: str) -> ParsedCommand:
    granularity = find_granularity(typed)
    if granularity is None:
        return ShowMessage("warn", f"{typed!r} is not a timeframe; use one of {' '.join(SECONDS)}")
    return ShowGranularity(granularity)


def _date(typed: str) -> ParsedCommand:
    date = date_time(typed)  # of the trader's zone
    if date is None:
        return ShowMessage(
            "warn", f"{typed!r} is not a date; write it as 2015-01-15 or 2015-01-15 09:30"
        )
    return GoToDate(date)


def _indicators(typed: str) -> ParsedCommand:
    if typed in {"none", "off"}:
        return ChooseIndicators(())
    try:
        return ChooseIndicators(parse_indicators(each.strip() for each in typed.split(",")))
    except IndicatorSyntaxError as error:
        return ShowMessage("warn", str(error))


def _layout(typed: str) -> ParsedCommand:
    match typed.split():
        case ["save", name]:
            return UseLayout("save", name)
        case ["delete", name]:
            return UseLayout("delete", name)
        case [] | ["save" | "delete"]:
            return UseLayout("show", "")
        case [name]:
            return UseLayout("show", name)
        case _:
            return ShowMessage("warn", "layout: write :layout save scalping, or :layout scalping")


def _alert(
    typed: str, instruments: Iterable[str], focus: str, levels: PriceLevels
) -> ParsedCommand:
    try:
        return MakeAlert(parse_alert(typed, instruments, focus, levels))
    except AlertSyntaxError as error:
        return ShowMessage("warn", str(error))


VIEW_VERBS: Mapping[str, Callable[[str], ParsedCommand]] = {
    "tf": _granularity,
    "date": _date,
    "ind": _indicators,
    "layout": _layout,
}


def _ticket(
    side: Side, rest: list[str], instruments: Iterable[str], focus: str, levels: PriceLevels
) -> ParsedCommand:
    names = list(instruments)
    named = find_instrument(rest[0], names) if rest and rest[0][0].isalpha() else None
    if named is None and rest and rest[0][0].isalpha() and rest[0] not in KEYWORDS:
        return ShowMessage("warn", f"instrument: {rest[0]} is not valid; write it as eurusd")
    instrument = named or focus
    if not instrument:
        return ShowMessage("warn", "instrument: the chart shows none; write it after the side")
    try:
        words = rest[1:] if named else rest
        return OpenTicket(side, instrument, parse_order(words, levels.get(instrument, ())))
    except OrderSyntaxError as error:
        return ShowMessage("warn", str(error))
