"""The page of replays: the scenarios to choose from, a date to type, what runs now, and the last ones."""

import asyncio
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import ClassVar, NamedTuple

from textual.events import Key
from textual.worker import Worker

from keydesk.calc.market.market_state import ControlledMarket, Replay, Scenario, speed_text
from keydesk.forms.info_form import InfoForm
from keydesk.forms.market.replay import CATCHES_UP, WHAT_IT_IS, left_text
from keydesk.forms.modal_form import BLANK, TextLine, Words, fold_line, wrap_text
from keydesk.forms.page_lines import beside
from keydesk.forms.page_table import Cells, is_whole, rows_in_sight, share_bar, table_lines
from keydesk.forms.text_fields import edited_text
from keydesk.keys.guard import KeyPlace
from keydesk.keys.keymap import HELP, KEYMAP, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.parse.replay import (
    REPLAYED,
    VERBS,
    ReplayCommand,
    ReplaySyntaxError,
    parse_replay,
)
from keydesk.store.frame import Frame
from keydesk.store.store import Store
from keydesk.tables.column import Column
from keydesk.text.format import age, at, counted, date_and_time, pair
from keydesk.text.sanitize import Printable, clean, safe
from keydesk.trading.audit import AuditEntry, try_to_read
from keydesk.widgets.theme import ColourRole

RECENT = 6  # replays
MAX_DATE_LENGTH = 40  # characters
EXAMPLE = "2015-01-15 09:30"
BAR = 6  # least cells of a range: whole sentences come first
NAME_WIDTH = 17  # columns of the names of what is said below the table
LEAST_TABLE = 4  # rows
LEAST_BELOW = 2  # lines
WIDE = 180  # columns of the page, in which it stands beside the table
BESIDE, GAP = 84, 4  # of it with a gap, and of the gap
ROOMY = 100  # columns of the page, in which two columns of its table are two apart
SMALL = 20  # rows with room for what a replay is
PAGE = 5  # rows of a page key
ON_DESK = ("pause", "step", "faster", "slower", "jump", "blind", "random", "finish", "present")
COLUMNS = (
    Column("name", "name", 0, right=False),
    Column("date", "date", 0, rank=2, right=False),
    Column("pair", "pair", 0, right=False),
    Column("what", "what happens", 35, rank=1, right=False, flexible=True),
    Column("bar", "range", 0, rank=4, right=False),
    Column("pips", "pips", 0, rank=3),
    Column("days", "in", 0, rank=5, right=False),
)


class _Choice(NamedTuple):
    """A row: a scenario, or a replay of a time that is drawn."""

    name: str
    words: Sequence[str]  # behind `:replay`
    what: str = ""
    scenario: Scenario | None = None

    @property
    def searched(self) -> str:
        """What typed words are looked for in."""
        each = self.scenario
        when = (
            "" if each is None else f"{at(each.start_ns):%Y-%m-%d %d %b %Y} {pair(each.instrument)}"
        )
        return f"{self.name} {self.what} {when}".lower()


_DRAWN = (
    _Choice("random", ("random",), "Any time since 1999, drawn"),
    _Choice("blind", ("blind",), "Pair and date hidden until its end"),
)


class ReplayPage(InfoForm[ReplayCommand]):
    """Lists the replays to choose from below a field for a date; returns the one to start, which the desk asks about.

    Args:
        store: Has the market and the account.
        clock: Monotonic seconds.
        audit: The audit log, which has the last replays; None: none yet.
        keymap: The keys, as the page names them.
    """

    KEYS_GO_TO: ClassVar[KeyPlace] = "text"
    BINDINGS = bindings_of(HELP)
    WIDTH: ClassVar[int] = 240
    IS_SNUG: ClassVar[bool] = True

    def __init__(
        self,
        store: Store,
        clock: Callable[[], float],
        audit: Path | None = None,
        keymap: KeyMap = KEYMAP,
    ) -> None:
        self.store, self._clock = store, clock
        self._audit, self._keymap = audit, keymap
        self.text = ""
        self.at = 0
        self._recent: Sequence[AuditEntry] = ()
        super().__init__()

    def on_mount(self) -> None:
        """Read the last replays in a thread."""
        super().on_mount()
        if self._audit is not None:
            _: Worker[None] = self.run_worker(self._read(self._audit), group="replays")

    async def _read(self, audit: Path) -> None:
        entries, _ = await asyncio.to_thread(try_to_read, audit)
        self._recent = [each for each in entries if each.what == REPLAYED][:RECENT]
        self.redraw()

    def on_frame(self, _frame: Frame) -> None:
        self.redraw()

    def title_text(self) -> Printable:
        """Name the page."""
        return "Replay"

    def foot_text(self) -> Printable:
        """Return the keys."""
        if self.store.market is None:
            return self.keys_that_fit()
        return self.keys_that_fit("Enter starts it, asks first", "↑ ↓ choose")

    # What is shown.

    def lines(self) -> Sequence[TextLine]:
        """Return the field with what Enter starts, the rows around the chosen one, and what runs now as far as it fits."""
        market = self.store.market
        if market is None:
            text = (
                "The market is not controlled by this desk; keydesk --practice opens one that is."
            )
            return [*self._wrapped(WHAT_IT_IS), BLANK, *wrap_text(safe(text), "warn", self.inside)]
        choices = self._choices(market)
        self.at = max(0, min(self.at, len(choices) - 1))
        intro = [*self._wrapped(WHAT_IT_IS), BLANK] if self.room > SMALL else []
        top = [*intro, self._field(), *self._meaning(market, choices), BLANK]
        room = max(1, self.room - len(top) - 1)
        is_wide = self.inside >= WIDE
        least_below = 0 if is_wide else LEAST_BELOW + 1
        rows = min(len(choices), max(min(LEAST_TABLE, room), room - least_below))
        width = self.inside - (BESIDE if is_wide else 0)
        table = self._table(market, choices, rows, width) if choices else []
        if is_wide:
            below = self._below(market, room, BESIDE - GAP)
            return [*top, *beside(table, width + GAP, below)]
        below = self._below(market, self.room - len(top) - len(table) - 1, self.inside)
        return [*top, *table, *([BLANK, *below] if below else [])]

    def _wrapped(self, text: str) -> list[TextLine]:
        return wrap_text(safe(text), "muted", self.inside)

    def _field(self) -> TextLine:
        if self.text:
            return ("from  ", "muted"), (clean(self.text), "bright"), ("_", "focus")
        hint = f" type a time of UTC such as {EXAMPLE}, or part of a name"
        return ("from  ", "muted"), ("_", "focus"), (safe(hint), "muted")

    def _meaning(self, market: ControlledMarket, choices: Sequence[_Choice]) -> list[TextLine]:
        """Return what Enter would start."""
        command = self._command(market, choices)
        if isinstance(command, str):
            return wrap_text(clean(f"✗ {command}"), "warn", self.inside)
        replay = market.state.replay
        ends = "" if replay is None or replay.finished else "ends the running replay, "
        return wrap_text(clean(f"→ {ends}{command.text}"), "good", self.inside)

    def _table(
        self, market: ControlledMarket, choices: Sequence[_Choice], rows: int, width: int
    ) -> list[TextLine]:
        sight = rows_in_sight(len(choices), self.at, rows)
        widest = max((each.scenario.range_pips for each in choices if each.scenario), default=0)
        is_date = self._date() is not None
        running = _running(market)
        cells: Sequence[Cells] = ()
        pad = int(width < ROOMY)  # a second column before the pips
        for bar in range(width // 3, BAR - 1, -1):
            cells = [
                _cells(
                    choices[place],
                    widest,
                    (bar, pad),
                    is_chosen=place == self.at and not is_date,
                    is_running=choices[place].name == running,
                )
                for place in sight
            ]
            if is_whole(COLUMNS, cells, width):
                break
        return table_lines(COLUMNS, cells, width, None if is_date else self.at - sight.start)

    def _below(self, market: ControlledMarket, room: int, width: int) -> list[TextLine]:
        """Return what runs, what becomes of the account, and what else the market offers: each text whole, or not at all."""
        zone = self.store.zone
        recent = [f"{date_and_time(each.time_ns, zone)}  {each.text}" for each in self._recent]
        keys = "  ".join(f"{self._key(f'replay-{id_}')} {id_}" for id_ in ON_DESK)
        said: list[tuple[str, str, ColourRole]] = [
            ("now", "" if market.state.is_usual else self._state_text(market), "bright"),
            ("trouble", market.trouble, "warn"),
            ("your own account", self._account_text(market), "plain"),
            ("", self._return_text(market), "plain"),
            *(("" if n else "last replays", each, "plain") for n, each in enumerate(recent)),
            ("checkpoints", ", ".join(market.checkpoints), "plain"),
            ("keys of the desk", keys, "plain"),
            ("commands", f":replay, then {', '.join(VERBS)}", "plain"),
        ]
        lines: list[TextLine] = []
        for each in said:
            more = _named(*each, width) if each[1] else []
            lines += more if len(lines) + len(more) <= room else []
        return lines

    def _state_text(self, market: ControlledMarket) -> str:
        """Return what is replayed, else the market's time; the speed, shocks and faults."""
        state, store = market.state, self.store
        rate = speed_text(state.speed) if state.running else f"paused, {speed_text(state.speed)}"
        time = date_and_time(store.time_ns(self._clock(), state.time_ns), store.zone)
        special = (
            *(f"shock {each}" for each in state.shocks),
            *(f"fault {each}" for each in state.faults),
        )
        if state.replay is None:
            return "; ".join((f"{time}, {rate}", "no replay", *special))
        return "; ".join((_replay_text(state.replay, store), rate, *special))

    def _account_text(self, market: ControlledMarket) -> str:
        """Return what becomes of the trader's own account, and how to come back to it."""
        back, replay = self._key("replay-present"), market.state.replay
        if replay is None:
            return f"Stays as it is while a replay runs; {back} goes back to it."
        if replay.home is None:
            return f"None was left for this replay; {back} starts a new one at the present"
        return f"Waits{left_text(replay.home, self.store)}; {back} goes back to it."

    def _return_text(self, market: ControlledMarket) -> str:
        """Return what comes of the market of the trader's own account."""
        replay = market.state.replay
        return CATCHES_UP if replay is None or replay.home is not None else ""

    def _key(self, name: str) -> str:
        return self._keymap.name(name).replace(" ", "")

    # What is chosen.

    def _choices(self, market: ControlledMarket) -> Sequence[_Choice]:
        """Return the rows with all typed words, every row for a date: the scenarios, a random time, a blind one last."""
        scenarios = (
            _Choice(each.name, ("scenario", *each.name.lower().split()), each.facts, each)
            for each in market.scenarios
        )
        words = () if self._date() is not None else self.text.lower().split()
        rows = (*scenarios, *_DRAWN)
        return [each for each in rows if all(word in each.searched for word in words)]

    def _date(self) -> ReplayCommand | None:
        """Return the replay of the typed date, None for any other text."""
        try:
            return parse_replay(["start", *self.text.lower().split()], ControlledMarket())
        except ReplaySyntaxError:
            return None

    def _command(self, market: ControlledMarket, choices: Sequence[_Choice]) -> ReplayCommand | str:
        """Return what Enter starts, or why there is nothing to start."""
        if (dated := self._date()) is not None:
            return dated
        if not choices:
            return f"neither a time of UTC such as {EXAMPLE} nor the name of a scenario"
        try:
            return parse_replay(choices[self.at].words, market)
        except ReplaySyntaxError as error:
            return str(error)

    # Keys.

    def on_key(self, event: Key) -> None:
        """Write the date or the letters; Enter starts what is chosen."""
        character = event.character if event.is_printable else None
        if event.key == "enter":
            self._start()
        elif event.key == "backspace" or character:
            self.text = edited_text(self.text, event.key, character, MAX_DATE_LENGTH).lstrip()
            self.at = 0
            self.redraw()
        else:
            return
        event.stop()
        event.prevent_default()

    def _start(self) -> None:
        market = self.store.market
        if market is None or not self.is_active:
            return
        command = self._command(market, self._choices(market))
        if isinstance(command, ReplayCommand):
            self.dismiss(command)

    def action_scroll_lines(self, step: int) -> None:
        """Go to another row."""
        self.at = max(0, self.at + step)
        self.redraw()

    def action_scroll_pages(self, step: int) -> None:
        self.action_scroll_lines(step * PAGE)

    def action_scroll_to(self, end: str) -> None:
        """Go to the first row, or to the last one."""
        market = self.store.market
        if market is not None:
            self.at = 0 if end == "top" else len(self._choices(market)) - 1
            self.redraw()


def _running(market: ControlledMarket) -> str:
    """Return the name of the scenario that runs now; "" for none, and while a blind replay hides it."""
    replay = market.state.replay
    return "" if replay is None or replay.hides or replay.finished else replay.scenario


def _cells(
    choice: _Choice, widest: int, bar: tuple[int, int], *, is_chosen: bool, is_running: bool
) -> Cells:
    """Return the cells of a row; the range is a bar beside those of the others, of so many cells and columns behind it."""
    each, cells = choice.scenario, dict[str, TextLine]()
    cells["name"] = ((clean(choice.name, 16), "bright" if is_chosen else "plain"),)
    what: Words = (clean(choice.what), "plain" if is_chosen else "muted")
    cells["what"] = (("runs now: ", "good"), what) if is_running else (what,)
    if each is None:
        is_hidden = choice.name == "blind"
        cells["pair"] = (("hidden" if is_hidden else "any", "muted"),)
        cells["date"] = (("hidden" if is_hidden else "any", "muted"),)
        return cells
    cells["date"] = ((safe(f"{at(each.start_ns):%Y-%m-%d}"), "plain"),)
    cells["pair"] = ((safe(pair(each.instrument)), "plain"),)
    if each.range_pips and each.days and widest:
        size, pad = bar
        drawn = share_bar(Decimal(each.range_pips) / widest, size)
        cells["bar"] = ((safe(f"{drawn:<{size + pad}}"), "focus"),)
        cells["pips"] = ((safe(f"{each.range_pips:,}"), "plain"),)
        cells["days"] = ((counted(each.days, "day"), "muted"),)
    return cells


def _named(name: str, text: str, role: ColourRole, width: int) -> list[TextLine]:
    """Return a text behind its name, wrapped beside it."""
    parts = fold_line(((clean(text), role),), max(1, width - NAME_WIDTH))
    return [
        ((safe(f"{'' if n else name:<{NAME_WIDTH}}"), "muted"), *part)
        for n, part in enumerate(parts)
    ]


def _replay_text(replay: Replay, store: Store) -> str:
    """Return what is replayed, and how far it is; the market's own clock is in the second line of the desk."""
    if replay.hides:
        return "a blind replay: instrument and date are hidden until it is ended"
    name = replay.scenario or (pair(replay.instrument) if replay.instrument else "own time")
    what = f"{name}, {pair(replay.instrument)}" if replay.scenario and replay.instrument else name
    ended = ", finished" if replay.finished else ""
    real, since = date_and_time(replay.real_ns, store.zone), age(replay.began_ns, replay.real_ns)
    return f"replay of {what}{ended}: {real}, {since} after its start"
