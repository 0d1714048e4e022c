"""The commands of the command line, each declared once; parse and complete a line of it.

What a command means is a record of `parsed_commands.py`; `app/actions/commands.py` carries it out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from msgspec import Struct

from keydesk.calc.alerts.condition_base import AlertSyntaxError
from keydesk.calc.market.granularity import SECONDS, find_granularity
from keydesk.calc.market.indicator_specs import IndicatorSyntaxError, parse_indicators
from keydesk.calc.market.market_state import ControlledMarket
from keydesk.calc.market.price_levels import PriceLevels
from keydesk.calc.orders.ticket_draft import Side
from keydesk.parse.alerts import WORDS as ALERT_WORDS
from keydesk.parse.alerts import parse_alert
from keydesk.parse.instruments import find_instrument
from keydesk.parse.orders import KEYWORDS, OrderSyntaxError, parse_order
from keydesk.parse.pages import ORDER_STATES, PAGES, ShowOrders, ShowPage
from keydesk.parse.parsed_commands import (
    AccountCommand,
    AccountVerb,
    BeginTour,
    ChooseIndicators,
    GoToDate,
    MakeAlert,
    OpenTicket,
    ParsedCommand,
    QuitDesk,
    ShowGranularity,
    ShowHelp,
    ShowInstrument,
    ShowMessage,
    ShowMessages,
    ToggleMute,
    UseLayout,
)
from keydesk.parse.profile_names import is_profile_name
from keydesk.parse.replay import NOT_OFFERED, ReplaySyntaxError, parse_replay, replay_text
from keydesk.text.sanitize import Printable
from keydesk.text.typed import date_time, tokens
from keydesk.values import Task

KNOWN = "Try :q, :help, :messages, :eurusd, :tf h4, :date 2015-01-15, :b eurusd 50k sl 20p, :alert > 1.12"


class Typed(Struct, frozen=True):
    """A line, and what its words may name."""

    line: str  # as typed, without the colon
    words: Sequence[str]
    instruments: Sequence[str]
    focus: str
    market: ControlledMarket | None  # the practice market that may be controlled
    now: float  # monotonic
    levels: PriceLevels

    @property
    def rest(self) -> Sequence[str]:
        """The words behind the command."""
        return self.words[1:]

    @property
    def rest_text(self) -> str:
        """The words behind the command, in one."""
        return " ".join(self.rest)


class Completing(Struct, frozen=True):
    """The words before the one that is completed, and what it may name."""

    before: Sequence[str]
    names: Sequence[str]  # of instruments
    market: ControlledMarket | None


def _order_words(typed: Completing) -> Sequence[str]:
    """Return an instrument, then the fields of an order."""
    return [*typed.names, *KEYWORDS] if len(typed.before) == 1 else KEYWORDS


def _alert_words(typed: Completing) -> Sequence[str]:
    return [*typed.names, *ALERT_WORDS] if len(typed.before) == 1 else ALERT_WORDS


def _order_states(_: Completing) -> Sequence[str]:
    return [state.lower() for state in ORDER_STATES]


def _replay_words(typed: Completing) -> Sequence[str]:
    if typed.market is None:
        return _order_words(typed)
    return replay_text(typed.before[1:], typed.market) or typed.names


class DeskCommand(Struct, frozen=True):
    """A command: what is typed, what the help and the list say of it, and what it means."""

    name: str
    text: Printable = ""  # what it does; without it the list and the help leave it out
    example: Printable = ""  # of one that takes more words
    parse: Callable[[Typed], ParsedCommand | None] | None = None  # without it: a setting
    aliases: tuple[str, ...] = ()
    key: str = ""  # the id of the key that does the same
    acts_with: str = ""  # the id of a key that cannot act when the command cannot; else `key`
    task: Task = Task.MOVE
    completions: Callable[[Completing], Sequence[str]] = _order_words


def _alone(command: ParsedCommand) -> Callable[[Typed], ParsedCommand | None]:
    """Return the meaning of a command that takes no more words."""
    return lambda typed: None if typed.rest else command


def _orders(typed: Typed) -> ParsedCommand:
    if not typed.rest:
        return ShowOrders("ALL")
    for state in ORDER_STATES:
        if typed.rest_text == state.lower():
            return ShowOrders(state)
    states = ", ".join(state.lower() for state in ORDER_STATES)
    return ShowMessage("warn", f"orders: {typed.rest_text} is not a state; use one of {states}")


def _account(verb: AccountVerb, typed: Typed) -> ParsedCommand:
    """Return a sign-in or sign-out of one profile; the words are not repeated, as one of them may be a token."""
    names = typed.line.split()[1:]
    if not names:
        return AccountCommand(verb)
    if len(names) != 1 or not is_profile_name(names[0]):
        text = f"{verb}: write :{verb} and the name of a profile; a token is asked for, unseen, never typed here"
        return ShowMessage("warn", text)
    return AccountCommand(verb, names[0])


def _replay(typed: Typed) -> ParsedCommand:
    if typed.market is None:
        return ShowMessage("warn", NOT_OFFERED)
    try:
        return parse_replay(typed.rest, typed.market, typed.now)
    except ReplaySyntaxError as error:
        return ShowMessage("warn", str(error))


def _page(name: str) -> Callable[[Typed], ParsedCommand | None]:
    return _instrument_page if name == "instrument" else _alone(ShowPage(name))


def _instrument_page(typed: Typed) -> ParsedCommand:
    if not typed.rest:
        return ShowPage("instrument")
    instrument = find_instrument(typed.rest_text, typed.instruments)
    if instrument is None:
        text = f"instrument: {typed.rest_text} is not valid; write :instrument eurusd"
        return ShowMessage("warn", text)
    return ShowPage("instrument", instrument)


def _granularity(typed: Typed) -> ParsedCommand:
    granularity = find_granularity(typed.rest_text)
    if granularity is None:
        return ShowMessage(
            "warn", f"{typed.rest_text!r} is not a timeframe; use one of {' '.join(SECONDS)}"
        )
    return ShowGranularity(granularity)


def _date(typed: Typed) -> ParsedCommand:
    date = date_time(typed.rest_text)  # of the trader's zone
    if date is None:
        return ShowMessage(
            "warn", f"{typed.rest_text!r} is not a date; write it as 2015-01-15 or 2015-01-15 09:30"
        )
    return GoToDate(date)


def _indicators(typed: Typed) -> ParsedCommand:
    if typed.rest_text in {"none", "off"}:
        return ChooseIndicators(())
    try:
        return ChooseIndicators(
            parse_indicators(each.strip() for each in typed.rest_text.split(","))
        )
    except IndicatorSyntaxError as error:
        return ShowMessage("warn", str(error))


def _layout(typed: Typed) -> ParsedCommand:
    match typed.rest_text.split():
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


def _alert(typed: Typed) -> ParsedCommand:
    text = typed.line[len("alert") :]
    try:
        return MakeAlert(parse_alert(text, typed.instruments, typed.focus, typed.levels))
    except AlertSyntaxError as error:
        return ShowMessage("warn", str(error))


def _ticket(side: Side, typed: Typed) -> ParsedCommand:
    rest = list(typed.rest)
    named = find_instrument(rest[0], typed.instruments) if rest and rest[0][0].isalpha() else None
    if named is None and rest and rest[0][0].isalpha() and rest[0] not in KEYWORDS:
        return ShowMessage("warn", f"instrument: {rest[0]} is not valid; write it as eurusd")
    instrument = named or typed.focus
    if not instrument:
        return ShowMessage("warn", "instrument: the chart shows none; write it after the side")
    try:
        words = rest[1:] if named else rest
        return OpenTicket(side, instrument, parse_order(words, typed.levels.get(instrument, ())))
    except OrderSyntaxError as error:
        return ShowMessage("warn", str(error))


COMMANDS: tuple[DeskCommand, ...] = (
    DeskCommand(
        *("buy", "Buy ticket from one line", "buy eurusd 50k sl 20p tp 2r"),
        parse=partial(_ticket, "BUY"),
        aliases=("b",),
        key="buy",
        task=Task.OPEN,
    ),
    DeskCommand(
        *("sell", "Sell ticket from one line", "sell gbpusd @1.2500 sl 25p"),
        parse=partial(_ticket, "SELL"),
        aliases=("s",),
        key="sell",
        task=Task.OPEN,
    ),
    DeskCommand(
        *("alert", "Alert on a condition", "alert > 1.12"),
        parse=_alert,
        key="new-alert",
        task=Task.MANAGE,
        completions=_alert_words,
    ),
    DeskCommand(
        *("tf", "Candle length of the chart", "tf h4"),
        parse=_granularity,
        key="timeframes",
        task=Task.READ,
    ),
    DeskCommand(
        *("date", "The chart at a date", "date 2015-01-15"),
        parse=_date,
        task=Task.READ,
    ),
    DeskCommand(
        *("ind", "Indicators of the chart", "ind ema 20, rsi 14"),
        parse=_indicators,
        key="indicators",
        task=Task.READ,
    ),
    DeskCommand(
        *("layout", "Show, save, delete a layout", "layout save scalping"),
        parse=_layout,
    ),
    DeskCommand(
        *("replay", "Control the practice market", "replay pause"),
        parse=_replay,
        acts_with="replay-status",
        task=Task.PRACTISE,
        completions=_replay_words,
    ),
    DeskCommand(
        *("orders", "The account's orders by state", "orders filled"),
        parse=_orders,
        task=Task.REVIEW,
        completions=_order_states,
    ),
    DeskCommand(
        *("messages", "All messages since the start", ""),
        parse=_alone(ShowMessages()),
        task=Task.REVIEW,
    ),
    DeskCommand(
        *("mute", "Mute bell, notifications", ""),
        parse=_alone(ToggleMute()),
        key="mute",
    ),
    DeskCommand(
        *("help", "The keys of this pane", ""),
        parse=_alone(ShowHelp()),
        aliases=("?",),
        key="help",
    ),
    DeskCommand(
        *("tour", "The first trade in five steps", ""),
        parse=_alone(BeginTour()),
    ),
    DeskCommand(
        *("quit", "Leave the desk", ""),
        parse=_alone(QuitDesk()),
        aliases=("q", "exit"),
    ),
    DeskCommand(
        *("profile", "Open another account", "profile main"),
        parse=_alone(AccountCommand("profile")),
    ),
    DeskCommand(
        *("login", "Sign in, with a token", "login main"),
        parse=partial(_account, "login"),
    ),
    DeskCommand(
        *("logout", "Remove a profile, its token", "logout main"),
        parse=partial(_account, "logout"),
    ),
    DeskCommand("keys", parse=_alone(ShowHelp())),
    DeskCommand(
        "undo",
        parse=_alone(ShowMessage("warn", "Orders cannot be undone: close, cancel or reverse")),
    ),
)
"""The commands but for the pages, in the order of the help."""
PAGE_COMMANDS = tuple(
    DeskCommand(name, parse=_page(name), key=page.key, task=page.task)
    for name, page in PAGES.items()
)
BY_WORD: Mapping[str, DeskCommand] = {
    word: command
    for command in (*PAGE_COMMANDS, *COMMANDS)
    for word in (command.name, *command.aliases)
}


def parse_command(
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
    text = line.strip().lstrip(":").strip()
    words = tokens(text)
    if not words:
        return ShowMessage("info", f"Nothing typed. {KNOWN}. Pages: {', '.join(PAGES)}")
    typed = Typed(text, words, list(instruments), focus, market, now, levels or {})
    command = BY_WORD.get(words[0])
    parsed = command.parse(typed) if command is not None and command.parse is not None else None
    if parsed is not None:
        return parsed
    if typed.rest:
        return ShowMessage("warn", f"Not understood: {' '.join(words)}. {KNOWN}")
    instrument = find_instrument(words[0], typed.instruments)
    if instrument is None:
        return ShowMessage("warn", f"Neither a command nor an instrument: {words[0]}. {KNOWN}")
    return ShowInstrument(instrument)


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
    """Return the words that may follow: a command or instrument, then what the command takes."""
    if not before:
        listed = [
            *(name for name, page in PAGES.items() if page.is_listed),
            *(each.name for each in COMMANDS if each.parse is not None),
        ]
        return [*listed, *PAGES, *names]
    command = BY_WORD.get(before[0].lstrip(":"))
    follows = _order_words if command is None else command.completions
    return follows(Completing(before, names, market))


def _common(words: Sequence[str]) -> str:
    shortest = min(words, key=len)
    for at, letter in enumerate(shortest):
        if any(word[at] != letter for word in words):
            return shortest[:at]
    return shortest
