"""The small chart of an alert: candles of its instrument, with the level."""

from collections.abc import Callable, Sequence

from msgspec import Struct

from keydesk.calc.alerts.alert import Alert
from keydesk.calc.alerts.price_conditions import PriceCondition
from keydesk.calc.market.granularity import SECONDS
from keydesk.chart.glyphs import CandleStyle
from keydesk.chart.picture import Picture
from keydesk.chart.price_axis import PriceLine
from keydesk.chart.scene import Scene
from keydesk.forms.modal_form import BLANK, TextLine, as_lines
from keydesk.store.state import CandleSeries
from keydesk.store.store import Store
from keydesk.text.format import at, pair, price, shorten
from keydesk.text.sanitize import Printable, safe
from keydesk_client.models import Instrument


class ReadCandles(Struct, frozen=True):
    """Candles that were read for the page; `trouble` says why there are none."""

    series: CandleSeries | None = None
    trouble: Printable = ""


ReadFor = Callable[[str, str, Callable[[ReadCandles], None]], None]
"""Reads candles of an instrument and a length, and hands them on."""
IN_SIGHT = 60  # candles that such a chart shows, about
BEING_READ = ReadCandles(trouble="candles are being read …")


def charted(store: Store, instrument: str, level: float | None = None) -> CandleSeries | None:
    """Return candles that a chart of the desk has: those among which the level is, else of the desk's own length, else any."""
    own = store.series.get((instrument, store.granularity))
    others = (each for (name, _), each in store.series.items() if name == instrument)
    known = [each for each in (own, *others) if each and each.candles]
    around = (each for each in known if level is not None and _is_among(level, each))
    return next(around, known[0] if known else None)


def _is_among(level: float, series: CandleSeries) -> bool:
    seen = series.candles[-IN_SIGHT:]
    return min(each.low for each in seen) <= level <= max(each.high for each in seen)


def alert_chart(
    store: Store,
    alert: Alert,
    read: ReadCandles,
    size: tuple[int, int],
    picture: Picture,
    *,
    ascii_only: bool,
) -> Sequence[TextLine]:
    """Return the chart with its title above it, of these columns and rows; nothing for an alert without instrument.

    Args:
        store: Has the candles of the charts, which go before those that were read.
        alert: Its level is a line.
        read: Candles of an instrument that no chart shows.
        size: Columns and rows of the chart itself.
        picture: Draws the candles again where they differ.
        ascii_only: Whether the terminal shows ASCII characters only.
    """
    name = alert.condition.instrument
    known = store.instruments.get(name)
    if known is None or not alert.condition.HAS_INSTRUMENT:
        return ()
    level = float(alert.condition.level) if alert.condition.UNIT == "price" else None
    series = charted(store, name, level) or read.series
    if series is None or not series.candles:
        title = safe(f"{pair(name)}  ")
        why = shorten(read.trouble or "no candles", max(1, size[0] - len(title)))
        return [((title, "bright"), (why, "muted")), *[BLANK] * size[1]]
    picture.show(_scene(store, alert, series, known, size, ascii_only=ascii_only))
    title = safe(f"{pair(name)} {series.granularity}")
    return [((title, "bright"),), *as_lines(picture.rows)]


def _scene(
    store: Store,
    alert: Alert,
    series: CandleSeries,
    known: Instrument,
    size: tuple[int, int],
    *,
    ascii_only: bool,
) -> Scene:
    newest, is_price = series.candles[-1], alert.condition.UNIT == "price"
    quote = store.quotes.get(series.instrument)
    mid = None if quote is None else price((quote.bid + quote.ask) / 2, known.display_precision)
    condition = alert.condition
    side = condition.side if isinstance(condition, PriceCondition) else ""
    level = PriceLine(float(condition.level), "alert", "alert", in_scale=True, side=side)
    return Scene(
        candles=series.candles,
        end=len(series.candles),
        width=size[0],
        height=size[1],
        seconds=SECONDS[series.granularity],
        last=newest.close if mid is None else float(mid),  # as the table above rounds it
        decimals=known.display_precision,
        pip=float(known.pip),
        look=CandleStyle(ascii_only=ascii_only),
        zone=store.zone,
        this_year=at(newest.time_ns, store.zone).year,
        lines=(level,) if is_price else (),
        shows_everything=True,  # the level is what the chart is for
        sides={} if quote is None else {"bid": float(quote.bid), "ask": float(quote.ask)},
    )
