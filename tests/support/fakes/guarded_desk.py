"""A small app behind the guard, and a hand that types at times of its own: no test waits, none depends on the machine."""

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.pilot import Pilot
from textual.widgets import Static

from keydesk.forms.command_line import CommandForm, FindForm
from keydesk.forms.info_form import HelpForm
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.keys.guard import Cause
from keydesk.keys.guarded_app import GuardedKeys
from keydesk.keys.keymap import DESK, KEYMAP, textual_name
from keydesk.store.store import Store
from keydesk.widgets import theme
from support.data.desk_store import example_store
from support.fakes.form_app import example_context
from support.fakes.quick_pilot import QuickTests

HUMAN = 0.45


class HeardKeys(GuardedKeys):
    """Guarded keys that keep why they were disarmed, also where they stay armed."""

    def disarm(self, cause: Cause) -> None:
        """Keep why."""
        assert isinstance(self.app, Desk)
        self.app.causes.append(cause)
        super().disarm(cause)


class Desk(QuickTests[None]):
    """B opens a ticket, / finds; what is sent is kept."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("B", "buy"),
        Binding("slash", "find"),
        Binding("colon", "command"),
        Binding("C", "refuse"),
        Binding("question_mark", "help"),
        Binding("j", "down"),
        *(Binding(str(digit), f"preset({digit})") for digit in range(10)),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.continued_at: Callable[[], float] = lambda: float("-inf")
        self.store = Store()
        self.causes: list[Cause] = []
        self.guarded_keys = HeardKeys(
            self,
            super().on_event,
            self.store,
            continued_at=lambda: self.continued_at(),  # noqa: PLW0108 - a test replaces it
        )
        self.register_theme(theme.load("dark", "truecolor").textual())
        self.theme = "dark"
        self.sent: list[object] = []
        self.commands: list[object] = []
        self.presets: list[int] = []
        self.downs = 0
        self.went: list[str] = []
        self.performed: list[tuple[object, ...]] = []

    def on_mount(self) -> None:
        """See every form that opens."""
        self.guarded_keys.watch_screens()

    async def on_event(self, event: events.Event) -> None:
        """Let the guard check the event first."""
        await self.guarded_keys.on_event(event)

    def compose(self) -> ComposeResult:
        """Something to look at."""
        yield Static("desk")

    @property
    def told(self) -> list[str]:
        """What was said, with its level."""
        return [f"{each.level} {each.text}" for each in self.store.notices]

    def action_buy(self) -> None:
        """Open a ticket."""
        self.push_screen(
            TicketForm(example_context(guard=self.guarded_keys), "BUY", "EUR_USD"), self.sent.append
        )

    def action_find(self) -> None:
        """Open the finder."""
        self.push_screen(FindForm(example_store()))

    def action_command(self) -> None:
        """Open the command line."""
        self.push_screen(CommandForm(example_store()), self.commands.append)

    def action_refuse(self) -> None:
        """Open nothing, as when there is nothing to close."""
        self.store.notify("info", "Nothing to close")

    def action_preset(self, number: int) -> None:
        """Keep the size."""
        self.presets.append(number)

    def action_help(self) -> None:
        """Open the help."""
        self.push_screen(HelpForm(KEYMAP, DESK))

    def action_down(self) -> None:
        """Count."""
        self.downs += 1

    def action_go(self, place: str) -> None:
        """Keep where to."""
        self.went.append(place)

    def action_perform(self, name: str, *arguments: object) -> None:
        """Keep the action and what it is given."""
        self.performed.append((name, *arguments))

    @property
    def words(self) -> str:
        """Everything on the screen, as plain lines."""
        return "\n".join(strip.text for strip in self.screen._compositor.render_strips())

    @property
    def orders(self) -> list[object]:
        """What tickets returned, but for dropped ones."""
        return [result for result in self.sent if result is not None]


class Hand:
    """Types keys at chosen times of the events' own clock, after what the app painted last."""

    def __init__(self, app: Desk, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot
        self.at = events.Key("j", "j").time - 1000  # long ago: forms are painted after it

    async def types(self, keys: str, gap: float = 0.001, after: float = HUMAN) -> None:
        names = {"\r": "enter", "\x1b": "escape"}
        await self.press([(names.get(key, textual_name(key)), key) for key in keys], gap, after)

    async def repeats(self, key: str, times: int, gap: float = 0.033) -> None:
        await self.press([(key, "")] * times, gap, HUMAN)

    async def press(self, keys: list[tuple[str, str]], gap: float, after: float) -> None:
        for number, (name, character) in enumerate(keys):
            event = events.Key(name, character or None)
            self.at += after if number == 0 else gap
            event.time = self.at
            self.app.post_message(event)
        await self.settle()

    async def settle(self) -> None:
        """Wait until held keys were let through or dropped."""
        while True:
            await self.pilot.pause()
            if not self.app.guarded_keys.guard.held:
                break
            await self.pilot.pause(0.01)
        await self.pilot.pause()
        screen = self.app.screen
        if isinstance(screen, TicketForm):
            while screen.painted is None:
                await self.pilot.pause()
            self.at = max(self.at, screen.painted)

    async def until_stop(self, text: str) -> None:
        """Wait until the open ticket's stop reads so; the test's own time limit ends a wait in vain."""
        form = self.app.screen
        assert isinstance(form, TicketForm)
        for _ in range(500):
            if form.draft.stop.text == text:
                return
            await self.pilot.pause(0.01)
        raise AssertionError(f"the stop reads {form.draft.stop.text!r}, not {text!r}")

    async def pastes(self, text: str) -> None:
        event = events.Paste(text)
        self.at += HUMAN
        event.time = self.at
        self.app.post_message(event)
        await self.settle()
