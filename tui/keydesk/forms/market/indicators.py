"""The choice of indicators: a row for each, on or off, with its periods; Enter keeps and shows them."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from msgspec import Struct
from msgspec.structs import replace
from textual.events import Key as KeyPress

from keydesk.calc.market.indicator_specs import (
    KINDS,
    NAMES,
    USUAL,
    IndicatorChoice,
    IndicatorSpec,
    IndicatorSyntaxError,
    Kind,
    parse_indicator,
    refuse_too_many,
)
from keydesk.calc.orders.field_draft import Entry, is_number_key
from keydesk.forms.info_form import InfoForm
from keydesk.forms.modal_form import BLANK, TextLine, Words, wrap_text
from keydesk.keys.keymap import INDICATORS, KEYMAP, KeyMap
from keydesk.keys.textual_bindings import bindings_of
from keydesk.store.store import Store
from keydesk.text.format import pair
from keydesk.text.sanitize import Printable, safe
from keydesk.widgets.theme import ColourRole

MORE_ROWS: dict[Kind, tuple[tuple[float, ...], ...]] = {"ema": ((20,), (50,), (200,))}
"""The rows of a kind that may be chosen several times."""
NAME_WIDTH = 13
NUMBER_WIDTH = 4
WORDS: dict[Kind, str] = {
    "bb": "period, deviations",
    "donchian": "highest and lowest",
    "pivots": "P, R1-R3, S1-S3 of the day before",
    "prevday": "high, low, close of the day before",
    "rsi": "under the price",
    "macd": "fast, slow, signal; under price",
    "atr": "under the price",
}


class Row(Struct, frozen=True):
    """An indicator as typed."""

    kind: Kind
    numbers: tuple[Entry, ...]
    on: bool = False

    @property
    def text(self) -> str:
        """Return its text form, as far as it can be read."""
        return " ".join((self.kind, *(entry.text for entry in self.numbers)))

    def with_number(self, at: int, entry: Entry) -> "Row":
        """Return the row with a number changed, turned on."""
        numbers = (*self.numbers[:at], entry, *self.numbers[at + 1 :])
        return replace(self, numbers=numbers, on=True)


def rows_of(specs: Sequence[IndicatorSpec]) -> list[Row]:
    """Return the rows of the form: the chosen indicators, and those of their kinds that could be chosen."""
    rows: list[Row] = []
    for kind in KINDS:
        chosen = [spec for spec in specs if spec.kind == kind]
        rows += [_row(spec, on=True) for spec in chosen]
        usual = MORE_ROWS.get(kind, (USUAL[kind],))
        known = {spec.parameters for spec in chosen}
        others = [each for each in usual if each not in known]
        missing = max(0, len(usual) - len(chosen))
        rows += [_row(IndicatorSpec(kind, each), on=False) for each in others[:missing]]
    return rows


def _row(spec: IndicatorSpec, *, on: bool) -> Row:
    return Row(spec.kind, tuple(Entry(f"{each:g}", "units") for each in spec.parameters), on)


def specs_of(rows: Sequence[Row]) -> tuple[IndicatorSpec, ...]:
    """Return the indicators that are on.

    Raises:
        IndicatorSyntaxError: a number is missing or not valid, or there are too many indicators.
    """
    chosen = [row for row in rows if row.on]
    for row in chosen:
        if any(not entry.text for entry in row.numbers):
            raise IndicatorSyntaxError(
                f"{row.kind}: a number is missing, type it or turn the row off"
            )
    specs = tuple(parse_indicator(row.text) for row in chosen)
    refuse_too_many(specs)
    return specs


class IndicatorForm(InfoForm[IndicatorChoice]):
    """Chooses the indicators of the instrument in the chart, or of every instrument without its own."""

    KEY_CONTEXT: ClassVar[str] = INDICATORS
    BINDINGS = bindings_of(INDICATORS)
    WIDTH: ClassVar[int] = 76
    IS_PAGE: ClassVar[bool] = False

    def __init__(self, store: Store, keymap: KeyMap = KEYMAP) -> None:
        super().__init__()
        self.keymap = keymap
        self.instrument = store.focus
        self.everywhere = False
        self.rows = rows_of(store.indicators_of(store.focus))
        self.at = 0  # row
        self.number = 0  # of the row's numbers, the one that digits fill
        self.refused = False  # Enter was pressed on rows that cannot be kept

    def title_text(self) -> Printable:
        """Name the instrument that they are chosen for."""
        whose = "every instrument" if self.everywhere else pair(self.instrument)
        return safe(f"Indicators of {whose}")

    def foot_text(self) -> Printable:
        """Return the keys that are not seen on the rows."""
        keeps, scope = self.keymap.name("indicator-take"), self.keymap.name("indicator-scope")
        other = f"only {pair(self.instrument)}" if self.everywhere else "all instruments"
        return safe(f"{keeps} keeps  Space on/off  Tab number  {scope} {other}  Esc drops")

    def lines(self) -> Sequence[TextLine]:
        """Return the rows, and the reason why they cannot be kept."""
        lines = [self._line(index, row) for index, row in enumerate(self.rows)]
        trouble = self.trouble()
        if trouble:
            lines += [BLANK, *wrap_text(safe(f"✗ {trouble}"), self._trouble_role, self.inside)]
        return lines

    @property
    def _trouble_role(self) -> ColourRole:
        return "danger" if self.refused else "warn"

    def trouble(self) -> str:
        """Return why the rows cannot be kept, "" if they can."""
        try:
            specs_of(self.rows)
        except IndicatorSyntaxError as error:
            return str(error)
        return ""

    def _line(self, index: int, row: Row) -> TextLine:
        active = index == self.at
        line: list[Words] = [
            ("▶ " if active else "  ", "focus"),
            ("[x] " if row.on else "[ ] ", "bright" if row.on else "muted"),
            (safe(f"{NAMES[row.kind]:<{NAME_WIDTH}}"), "bright" if row.on else "muted"),
        ]
        for at, entry in enumerate(row.numbers):
            framed = active and at == self.number
            left, right = ("[", "]") if framed else (" ", " ")
            line += [
                (left, "focus"),
                (safe(f"{entry.text:>{NUMBER_WIDTH}}"), "bright" if framed else "plain"),
                (right, "focus"),
            ]
        line.append((safe(f"  {WORDS.get(row.kind, '')}"), "faint"))
        return line

    # The keys.

    def on_key(self, event: KeyPress) -> None:
        """Type a digit, point or minus into the active number."""
        key = event.character or ""
        if is_number_key(key):
            event.stop()
            self._change_number(lambda entry: entry.typed(key))

    def action_row(self, step: int) -> None:
        self.at = max(0, min(len(self.rows) - 1, self.at + step))
        self._pick(0)

    def action_next_number(self, step: int) -> None:
        """Go to the next number, of this row or of the next one that has any."""
        places = [
            (row, number)
            for row, each in enumerate(self.rows)
            for number in range(len(each.numbers))
        ]
        here = (self.at, self.number)
        if here in places:
            self.at, number = places[(places.index(here) + step) % len(places)]
        else:
            after = [place for place in places if place > here]
            before = [place for place in places if place < here]
            self.at, number = (after or places)[0] if step > 0 else (before or places)[-1]
        self._pick(number)

    def action_turn(self) -> None:
        row = self.rows[self.at]
        self.rows[self.at] = replace(row, on=not row.on)
        self._redraw_without_refusal()

    def action_erase(self) -> None:
        """Erase a digit; all of them where nothing was typed yet."""
        self._change_number(Entry.erased)

    def action_scope(self) -> None:
        """Choose for every instrument without its own, or for this one."""
        self.everywhere = not self.everywhere
        self._redraw_without_refusal()

    def action_take(self) -> None:
        """Close with the indicators that are on; rows that cannot be kept stay open for correction."""
        self.refused = bool(self.trouble())
        if self.refused:
            self.redraw()
        elif self.is_active:
            self.dismiss(IndicatorChoice(self.instrument, specs_of(self.rows), self.everywhere))

    def _pick(self, number: int) -> None:
        """Make a number the active one: the first digit replaces it."""
        self.number = number
        row = self.rows[self.at]
        fresh = tuple(replace(entry, fresh=True) for entry in row.numbers)
        self.rows[self.at] = replace(row, numbers=fresh)
        self._redraw_without_refusal()

    def _change_number(self, change: Callable[[Entry], Entry]) -> None:
        row = self.rows[self.at]
        if self.number < len(row.numbers):
            self.rows[self.at] = row.with_number(self.number, change(row.numbers[self.number]))
        self._redraw_without_refusal()

    def _redraw_without_refusal(self) -> None:
        self.refused = False
        self.redraw()
