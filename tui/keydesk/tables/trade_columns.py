"""The columns of the trades: what each shows, is sorted and found by, sums, and has in the CSV of `keydesk export`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from msgspec import Struct

from keydesk.calc.risk.trade_groups import TradeGroup
from keydesk.store.store import Store
from keydesk.tables.column import ValueColumn, number_of_id
from keydesk.text import format as show
from keydesk.text.sanitize import clean, clean_name, safe
from keydesk.values import DependentOrder, TradeRow, is_unprotected
from keydesk.widgets.lines import Run
from keydesk.widgets.price_cells import price_format_of
from keydesk.widgets.theme import ColourRole, Palette, role_of_sign, signed_role
from keydesk_client.arithmetic.risk import nearest_stop

WIDEST_TAG = 12
LAST = 99


class CsvMember(Struct, frozen=True):
    """A member of the broker's record of a trade that `keydesk export trades` writes, and its place in the file."""

    name: str
    place: int = LAST


class TradeLine(Struct, frozen=True):
    """What the columns read of a trade."""

    trade: TradeRow
    store: Store
    now_ns: int
    grouped: bool = False  # beneath a row of sums

    def price(self, value: Decimal | None) -> str:
        """Return a price as the instrument's are written."""
        return price_format_of(self.store, self.trade.instrument).write(value)

    def dependent(self, order: DependentOrder | None) -> str:
        """Return the price of a dependent order."""
        return self.price(order.price if order else None)

    @property
    def stop(self) -> Decimal | None:
        """The nearest of its stops."""
        stops = (self.trade.stop_loss, self.trade.guaranteed_stop, self.trade.trailing_stop)
        return nearest_stop(self.trade.units, (each.price for each in stops if each is not None))

    @property
    def to_stop(self) -> Decimal | None:
        """The pips from the closing price to the nearest stop."""
        away = self._beyond(self.stop)
        return None if away is None else -away

    @property
    def to_target(self) -> Decimal | None:
        """The pips from the closing price to the target."""
        target = self.trade.take_profit
        return self._beyond(None if target is None else target.price)

    def _beyond(self, level: Decimal | None) -> Decimal | None:
        """Return the pips that the closing price has to win to a level; None without one."""
        trade = self.trade
        if level is None or trade.now is None:
            return None
        distance = level - trade.now if trade.units > 0 else trade.now - level
        return price_format_of(self.store, trade.instrument).pips(distance)


class TradeSums(Struct, frozen=True):
    """What the columns read of an instrument's trades together."""

    name: str
    count: int
    group: TradeGroup
    store: Store

    def price(self, value: Decimal | None) -> str:
        """Return a price as the instrument's are written, "" without one."""
        return "" if value is None else price_format_of(self.store, self.name).write(value)


class TradeColumn(ValueColumn[TradeLine], frozen=True, kw_only=True):
    """A column of trades; `sums` is what it shows of an instrument's trades together."""

    sums: Callable[[TradeSums], str] = lambda _: ""
    sums_role: Callable[[TradeSums], ColourRole] | None = None  # without it: plain, at stake
    csv: CsvMember | None = None  # without it: not in the CSV

    def sum_cell(self, sums: TradeSums, palette: Palette, *, old: bool) -> Run:
        """Return what the column shows of a row of sums."""
        text = safe(self.sums(sums))
        if self.sums_role is None:
            return (text, palette["plain"] + palette.at_stake)
        return (text, self.style(self.sums_role(sums), palette, old=old))


def side_role(units: Decimal) -> ColourRole:
    """Return the colour of a side."""
    return "buy" if units > 0 else "sell"


def _stop_marks(line: TradeLine, palette: Palette) -> list[Run]:
    """Return `t` when the nearest stop is the trailing one and `p` when an exit plan moves it.

    The plan's has the colour of a warning while it waits or another desk carries it out.
    """
    trade, store = line.trade, line.store
    plan: list[Run] = []
    if trade.id in store.exit_plans:
        waits = store.exit_plan_states.get(trade.id)
        plan = [("p", palette["warn" if waits else "focus"])]
    trailing = trade.trailing_stop
    if trailing is None or line.stop is None or trailing.price != line.stop:
        return plan
    mark: Run = ("t" if plan else " t", palette["muted"])
    return [mark, *plan]


def _without(*members: str) -> Callable[[TradeLine], bool]:
    """Return whether one of these members of a trade could not be read."""
    return lambda line: not line.trade.unread.isdisjoint(members)


TRADE_COLUMNS: tuple[TradeColumn, ...] = (
    TradeColumn(
        *("id", "id", 6, 6),
        right=False,
        text=lambda line: clean_name(line.trade.id) + (" ?" if "id" in line.trade.unread else ""),
        value=lambda line: number_of_id(line.trade.id),
        search_text=lambda line: line.trade.id,
        csv=CsvMember("id", 0),
    ),
    TradeColumn(
        *("pair", "pair", 7),
        right=False,
        ascending=True,
        text=lambda line: show.pair(line.trade.instrument),
        role=lambda line: "faint" if line.grouped else "plain",
        value=lambda line: line.trade.instrument,
        search_text=lambda line: line.trade.instrument,
        sums=lambda sums: f"{show.pair(sums.name)} ×{sums.count}",
        csv=CsvMember("instrument", 1),
    ),
    TradeColumn(
        *("side", "side", 5, 1),
        unknown=_without("current_units"),
        right=False,
        ascending=True,
        text=lambda line: show.side_word(line.trade.units),
        role=lambda line: side_role(line.trade.units),
        value=lambda line: show.side_word(line.trade.units),
        search_text=lambda line: "long buy" if line.trade.units > 0 else "short sell",
        sums=lambda sums: "BOTH" if sums.group.is_hedged else show.side_word(sums.group.units),
        sums_role=lambda sums: "muted" if sums.group.is_hedged else side_role(sums.group.units),
    ),
    TradeColumn(
        *("units", "units", 9, 1),
        unknown=_without("current_units"),
        text=lambda line: show.units(abs(line.trade.units)),
        role="plain",
        value=lambda line: abs(line.trade.units),
        sums=lambda sums: show.units(abs(sums.group.units)),
        csv=CsvMember("currentUnits", 6),
    ),
    TradeColumn(
        *("entry", "entry", 9, 4),
        text=lambda line: line.price(line.trade.price),
        role="plain",
        value=lambda line: line.trade.price,
        sums=lambda sums: sums.price(sums.group.entry),
        csv=CsvMember("price", 4),
    ),
    TradeColumn(
        *("now", "now", 9, 5),
        text=lambda line: line.price(line.trade.now),
        role="plain",
        by_price=True,
        value=lambda line: line.trade.now,
        sums=lambda sums: sums.price(sums.group.now),
    ),
    TradeColumn(
        *("pips", "pips", 7, 2),
        text=lambda line: show.pips(line.trade.pips),
        role=lambda line: signed_role(line.trade.pips),
        by_price=True,
        value=lambda line: line.trade.pips,
        sums=lambda sums: show.pips(sums.group.pips),
        sums_role=lambda sums: signed_role(sums.group.pips),
    ),
    TradeColumn(
        *("pl", "P/L", 10),
        unknown=_without("current_units"),
        text=lambda line: show.money(line.trade.unrealized_pl, signed=True),
        role=lambda line: signed_role(line.trade.unrealized_pl),
        by_price=True,
        at_stake=True,
        value=lambda line: line.trade.unrealized_pl,
        sums=lambda sums: show.money(sums.group.profit, signed=True),
        sums_role=lambda sums: signed_role(sums.group.profit),
        csv=CsvMember("unrealizedPL", 10),
    ),
    TradeColumn(
        *("r", "R", 5, 7),
        unknown=_without("current_units", "realized_pl", "financing", "initial_units"),
        text=lambda line: show.r_multiple(line.trade.r_multiple),
        role=lambda line: role_of_sign(show.r_multiple(line.trade.r_multiple)),
        by_price=True,
        value=lambda line: line.trade.r_multiple,
        sums=lambda sums: show.r_multiple(sums.group.r_multiple),
        sums_role=lambda sums: role_of_sign(show.r_multiple(sums.group.r_multiple)),
    ),
    TradeColumn(
        *("stop", "stop", 9, 0),
        unknown=lambda line: line.stop is None and not is_unprotected(line.trade),
        text=lambda line: "none !" if is_unprotected(line.trade) else line.price(line.stop),
        role=lambda line: "danger" if is_unprotected(line.trade) else "plain",
        marks=_stop_marks,
        value=lambda line: line.to_stop,
        search_text=lambda line: "naked" if is_unprotected(line.trade) else "",
        sums=lambda sums: f"{sums.group.unprotected} none !" if sums.group.unprotected else "",
        sums_role=lambda _: "danger",
    ),
    TradeColumn(
        *("target", "target", 9, 3),
        unknown=_without("take_profit_order_id"),
        text=lambda line: line.dependent(line.trade.take_profit),
        role="plain",
        value=lambda line: line.to_target,
    ),
    TradeColumn(
        *("to_stop", "to stop", 8, 8),
        text=lambda line: show.pips(line.to_stop, signed=False),
        by_price=True,
        value=lambda line: line.to_stop,
    ),
    TradeColumn(
        *("to_target", "to target", 9, 9),
        text=lambda line: show.pips(line.to_target, signed=False),
        by_price=True,
        value=lambda line: line.to_target,
    ),
    TradeColumn(
        *("trail", "trail", 9, 11),
        text=lambda line: line.dependent(line.trade.trailing_stop),
        value=lambda line: line.trade.trailing_stop.distance if line.trade.trailing_stop else None,
    ),
    TradeColumn(
        *("risk", "risk", 9, 10),
        unknown=_without("current_units"),
        text=lambda line: show.money(line.trade.risk),
        value=lambda line: line.trade.risk,
        sums=lambda sums: show.money(sums.group.risk),
    ),
    TradeColumn(
        *("financing", "swap", 8, 13),
        unknown=_without("financing"),
        text=lambda line: show.money(line.trade.financing, signed=True),
        value=lambda line: line.trade.financing,
        sums=lambda sums: show.money(sums.group.financing, signed=True),
        csv=CsvMember("financing", 11),
    ),
    TradeColumn(
        *("margin", "margin", 9, 15),
        unknown=_without("current_units"),
        text=lambda line: show.money(line.trade.margin_used),
        value=lambda line: line.trade.margin_used,
        sums=lambda sums: show.money(sums.group.margin),
    ),
    TradeColumn(
        *("age", "age", 6, 14),
        unknown=_without("open_time"),
        text=lambda line: show.age(line.trade.open_time_ns, line.now_ns),
        value=lambda line: -Decimal(line.trade.open_time_ns),
        csv=CsvMember("openTime", 3),
    ),
    TradeColumn(
        *("tag", "tag", 6, 12),
        right=False,
        ascending=True,
        text=lambda line: show.shorten(clean(line.trade.tag or show.EMPTY), WIDEST_TAG),
        value=lambda line: line.trade.tag or None,
        search_text=lambda line: line.trade.tag,
        csv=CsvMember("tag", 15),
    ),
)
CSV_ALONE = (
    *(CsvMember("state", 2), CsvMember("initialUnits", 5)),
    *(CsvMember("averageClosePrice", 7), CsvMember("closeTime", 8), CsvMember("realizedPL", 9)),
    *(CsvMember("dividendAdjustment", 12), CsvMember("closingTransactionIDs", 13)),
    *(CsvMember("clientID", 14), CsvMember("comment", 16)),
)
"""What the CSV has and the table does not show: most of it is of closed trades."""


def csv_members(columns: Sequence[TradeColumn] = TRADE_COLUMNS) -> tuple[str, ...]:
    """Return the headings of the CSV in their order; those without a place of their own are last."""
    declared = (column.csv for column in columns if column.csv is not None)
    return tuple(each.name for each in sorted((*CSV_ALONE, *declared), key=lambda each: each.place))
