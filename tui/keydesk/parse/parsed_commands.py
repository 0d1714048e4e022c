"""What a line of the command line means: a record for each command, with what it does in words."""

from datetime import datetime
from typing import ClassVar, Literal

from msgspec import Struct, field

from keydesk.calc.alerts.alert import AlertLine
from keydesk.calc.market.indicator_specs import IndicatorSpec
from keydesk.calc.orders.ticket_draft import Side
from keydesk.parse.orders import ParsedOrder
from keydesk.parse.pages import ShowOrders, ShowPage
from keydesk.parse.replay import ReplayCommand
from keydesk.text.format import pair


class QuitDesk(Struct, frozen=True):
    """Leave the desk."""

    text: ClassVar[str] = "leaves the desk"


class ShowHelp(Struct, frozen=True):
    """Show the keys."""

    text: ClassVar[str] = "shows the keys"


class ShowMessages(Struct, frozen=True):
    """Show the messages since the desk was opened."""

    text: ClassVar[str] = "shows all messages"


class ShowInstrument(Struct, frozen=True):
    """Show an instrument in chart, ticket and books."""

    instrument: str

    @property
    def text(self) -> str:
        """Return what it does."""
        return f"turns to {pair(self.instrument)}"


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

    @property
    def text(self) -> str:
        """Return what it does."""
        size = f" {self.fields.size_text}" if self.fields.size_text else ""
        return f"ticket: {self.side}{size} {pair(self.instrument)} {self.fields.text}".rstrip()


class ShowMessage(Struct, frozen=True):
    """Show a message; nothing else is done."""

    level: Literal["info", "warn"]
    text: str


ParsedCommand = (
    QuitDesk
    | ShowHelp
    | ShowMessages
    | ShowPage
    | ShowOrders
    | ShowInstrument
    | ShowGranularity
    | GoToDate
    | ChooseIndicators
    | UseLayout
    | MakeAlert
    | ToggleMute
    | BeginTour
    | AccountCommand
    | OpenTicket
    | ReplayCommand
    | ShowMessage
)
