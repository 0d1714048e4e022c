"""The first rows of a chart: the last candle's prices and the time left to it, or those of the crosshair's candle."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import tzinfo
from decimal import Decimal

from msgspec import Struct

from keydesk.calc.market.granularity import SECONDS
from keydesk.chart.canvas import Run
from keydesk.panes.chart_marks import day_legend
from keydesk.panes.crosshair import Crosshair
from keydesk.panes.strips.instrument import LOT, pip_value
from keydesk.store.frame import Frame
from keydesk.store.state import Candle
from keydesk.store.store import Store
from keydesk.text import format as show
from keydesk.text.sanitize import clean_name, safe
from keydesk.widgets.price_cells import price_format_of
from keydesk.widgets.theme import role_of_sign
from keydesk_client.arithmetic.constants import SECOND

PACE = 2.0  # seconds
Groups = tuple[tuple[Run, ...], ...]  # each is shown whole or not at all


class ChartLegend:
    """The legend of one chart, made anew every other second: a price moves the last candle in the picture at once.

    Digits that change with every price would cost as many bytes as the picture.
    """

    def __init__(self) -> None:
        self._key: object = None
        self._groups: Groups = ()

    def groups(
        self,
        frame: Frame,
        shown: tuple[str, str],
        candles: Sequence[Candle],
        end: int,
        *,
        names: Groups,
        is_narrow: bool,
        is_live: bool,
    ) -> Groups:
        """Return the legend without a crosshair: of the newest candle in sight, then `names`, then of the day.

        Args:
            frame: Has the store and the time.
            shown: Instrument and candle length.
            candles: Those of the chart.
            end: Index behind the newest one in sight.
            names: What the chart says of its indicators.
            is_narrow: Whether columns are few.
            is_live: Whether the newest candle in sight is the newest of all.
        """
        newest = candles[end - 1]
        key = int(frame.now / PACE), shown, newest.time_ns, names, is_live, is_narrow
        if key != self._key:
            self._key = key
            self._groups = _of_candle(frame.store, shown, newest, is_narrow=is_narrow)
            self._groups += names
            if is_live:
                self._groups += day_legend(frame.store, shown[0])
        return self._groups


def _of_candle(store: Store, shown: tuple[str, str], candle: Candle, *, is_narrow: bool) -> Groups:
    """Return the prices of a candle and the time left to it."""
    from keydesk.store.candles import period_end  # noqa: PLC0415 - loads the models; candles have them

    instrument, granularity = shown
    shape = price_format_of(store, instrument)
    prices = prices_of(candle, shape.precision, float(shape.pip))
    left = countdown(period_end(candle.time_ns, granularity), store.now_ns)
    return *prices, *(group[:1] if is_narrow else group for group in left)


def crosshair_legend(
    store: Store,
    shown: tuple[str, str],
    crosshair: Crosshair,
    candles: Sequence[Candle],
    *,
    last: float,
    units: Decimal | None,
) -> Groups:
    """Return the legend of a crosshair; its distance from the last price also in money for a size."""
    instrument, granularity = shown
    shape = price_format_of(store, instrument)
    pip = float(shape.pip)
    measure = Measure(
        shape.precision,
        pip,
        store.zone,
        show.at(candles[-1].time_ns, store.zone).year,
        SECONDS.get(granularity, SECONDS["D"]),
    )
    money = money_of(store, instrument, (crosshair.price - last) / pip, units)
    return legend(candles[crosshair.index(candles)], crosshair.price, last, measure, money)


class Measure(Struct, frozen=True):
    """What the legend counts in."""

    decimals: int
    pip: float
    zone: tzinfo
    this_year: int
    seconds: int  # length of a candle


def legend(candle: Candle, price: float, last: float, measure: Measure, money: str) -> Groups:
    """Return the groups of the legend: time, distance to the last price, the candle's prices, its change and range."""
    pip = measure.pip
    distance = _pips(price - last, pip)
    behind = (f" {money}", "muted") if money else ("", "")
    return (
        ((_time(candle.time_ns, measure), "bright"),),
        ((f"{distance}p", "cursor"), behind, (" from last", "faint")),
        *prices_of(candle, measure.decimals, pip),
        (("range ", "faint"), (f"{_pips(candle.high - candle.low, pip).lstrip('+')}p", "muted")),
    )


def prices_of(candle: Candle, digits: int, pip: float) -> Groups:
    """Return the groups of a candle's four prices and of its change."""
    prices = (("O", candle.open), ("H", candle.high), ("L", candle.low), ("C", candle.close))
    named: list[Run] = []
    for name, each in prices:
        named += [(name, "faint"), (f"{each:.{digits}f}{'' if name == 'C' else ' '}", "plain")]
    change = _pips(candle.close - candle.open, pip)
    return tuple(named), ((f"{change}p", role_of_sign(change)),)


def countdown(end_ns: int | None, now_ns: int) -> Groups:
    """Return the group of the time that is left to a candle; none once it is over."""
    seconds = 0 if end_ns is None else -(-(end_ns - now_ns) // SECOND)
    if seconds <= 0:
        return ()
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    text = f"{minutes}:{seconds:02}"
    if days:
        text = f"{days}d{hours:02}"
    elif hours:
        text = f"{hours}h{minutes:02}"
    return (((text, "muted"), (" left", "faint")),)


def money_of(store: Store, instrument: str, pips: float, units: Decimal | None) -> str:
    """Return what so many pips are worth for a size, with the account's currency; empty while it is not known."""
    value = pip_value(store, instrument)
    if value is None or units is None or store.account is None:
        return ""
    worth = value * units / LOT * Decimal(f"{abs(pips):.1f}")
    return safe(f"{show.money(worth)} {clean_name(store.account.currency)}")


def _time(time_ns: int, measure: Measure) -> str:
    at = show.at(time_ns, measure.zone)
    year = "" if at.year == measure.this_year else f" {at.year}"
    clock = f"{at:%H:%M:%S}" if measure.seconds % 60 else f"{at:%H:%M}"
    return f"{at.day} {at:%b}{year} {clock} {at.tzname() or ''}".rstrip()


def _pips(distance: float, pip: float) -> str:
    pips = round(distance / pip, 1)
    return f"{pips:+,.1f}".replace("-", show.MINUS) if pips else "0.0"
