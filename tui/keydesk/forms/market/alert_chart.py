"""The small chart of an alert: candles that a chart of the desk has, else the day of the watchlist, with the level."""

from collections.abc import Sequence
from decimal import Decimal

from keydesk.calc.alerts.alert import Alert
from keydesk.calc.market.granularity import SECONDS
from keydesk.chart.glyphs import CandleStyle
from keydesk.chart.picture import Picture
from keydesk.chart.plots import Label, Plot, Signed, Span, span_of
from keydesk.chart.price_axis import PriceLine
from keydesk.chart.scene import Scene
from keydesk.forms.modal_form import TextLine, as_lines
from keydesk.store.state import CandleSeries
from keydesk.store.store import Store
from keydesk.text.format import at, pair, price
from keydesk.text.sanitize import safe
from keydesk_client.models import Instrument

AXIS = 10  # columns of the prices beside a day


def alert_chart(
    store: Store, alert: Alert, size: tuple[int, int], picture: Picture, *, ascii_only: bool
) -> Sequence[TextLine]:
    """Return the chart with its title above it, of these columns and rows; nothing where no price is known.

    Args:
        store: Has the candles and the day.
        alert: Its level is a line.
        size: Columns and rows of the chart itself.
        picture: Draws the candles again where they differ.
        ascii_only: Whether the terminal shows ASCII characters only.
    """
    name = alert.condition.instrument
    known, series = store.instruments.get(name), _series(store, name)
    if known is None:
        return ()
    if series is None:
        return _day(store, alert, known, size, ascii_only=ascii_only)
    picture.show(_scene(store, alert, series, known, size, ascii_only=ascii_only))
    title = safe(f"{pair(name)} {series.granularity}")
    return [((title, "bright"),), *as_lines(picture.rows)]


def _series(store: Store, instrument: str) -> CandleSeries | None:
    """Return candles that a chart of the desk has, those of the desk's own length first."""
    own = store.series.get((instrument, store.granularity))
    others = (each for (name, _), each in store.series.items() if name == instrument)
    return next((each for each in (own, *others) if each and each.candles), None)


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
    level = PriceLine(float(alert.condition.level), "alert", "alert", in_scale=True)
    return Scene(
        candles=series.candles,
        end=len(series.candles),
        width=size[0],
        height=size[1],
        seconds=SECONDS[series.granularity],
        last=newest.close,
        decimals=known.display_precision,
        pip=float(known.pip),
        look=CandleStyle(ascii_only=ascii_only),
        zone=store.zone,
        this_year=at(newest.time_ns, store.zone).year,
        lines=(level,) if is_price else (),
    )


def _day(
    store: Store, alert: Alert, known: Instrument, size: tuple[int, int], *, ascii_only: bool
) -> Sequence[TextLine]:
    condition = alert.condition
    line, quote = store.day_lines.get(condition.instrument), store.quotes.get(condition.instrument)
    if line is None or quote is None or condition.UNIT != "price":
        return ()
    now, level = (quote.bid + quote.ask) / 2, condition.level
    prices = [*line.path, float(now), float(now)]
    spans = Span(0, len(prices) - 1), span_of((*prices, float(level)))
    plot = Plot((size[0] - AXIS, size[1]), *spans, ascii_only=ascii_only)
    plot.steps([(float(x), y) for x, y in enumerate(prices)], Signed("plain", "plain"))
    plot.line_across(float(level), "alert")
    labels = [_label(plot, level, known, "alert"), _label(plot, now, known, "last")]
    title = safe(f"{pair(condition.instrument)} today")
    return [((title, "bright"),), *as_lines(plot.with_values(labels, AXIS))]


def _label(plot: Plot, value: Decimal, known: Instrument, role: str) -> Label:
    return Label(plot.row(float(value)), price(value, known.display_precision), role)
