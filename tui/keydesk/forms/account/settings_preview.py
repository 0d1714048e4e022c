"""What the settings show of the colours: rows as the desk draws them, and a small chart where there is room for it."""

from collections.abc import Sequence
from datetime import UTC
from itertools import accumulate, pairwise

from keydesk.chart.glyphs import CandleStyle
from keydesk.chart.picture import Picture
from keydesk.chart.price_axis import PriceLine
from keydesk.chart.scene import Scene
from keydesk.forms.modal_form import BLANK, TextLine, as_lines
from keydesk.store.state import Candle

WIDTH = 44  # columns of the rows
LEAST_CHART = 6  # rows
MINUTES = 5  # of a candle
START_NS = 1_772_445_600_000_000_000  # 2 March 2026
BADGES: Sequence[TextLine] = (
    (
        *((" LIVE ", "live-text on live"), ("  ", "plain")),
        *((" PRACTICE ", "practice-text on practice"), ("  ", "plain")),
        (" READ-ONLY ", "readonly-text on readonly"),
    ),
)
WATCHED: Sequence[TextLine] = (
    (("pair        bid      ask  spread  day %", "muted"),),
    (
        *(("EUR/USD  1.08", "plain"), ("43", "bright"), ("1  1.08", "plain"), ("43", "bright")),
        *(("9     0.8  ", "plain"), ("+0.21", "profit")),
    ),
    (
        *(("GBP/USD  1.26", "plain"), ("71", "tick-up"), ("0  1.26", "plain")),
        *(("72", "tick-down"), ("3     1.3  ", "plain"), ("\N{MINUS SIGN}0.34", "loss")),
    ),
)
TRADES: Sequence[TextLine] = (
    (
        ("EUR/USD  ", "plain"),
        ("LONG   ", "buy"),
        ("10,000  1.08380  ", "plain"),
        ("+5.10", "profit"),
    ),
    (
        *(("USD/JPY  ", "plain"), ("SHORT  ", "sell"), (" 5,000  151.204  ", "plain")),
        ("\N{MINUS SIGN}4.20", "loss"),
    ),
)
LEVELS: Sequence[TextLine] = (
    (
        *(("entry ", "entry"), ("stop ", "stop"), ("target ", "target"), ("pending ", "pending")),
        *(("alert ", "alert"), ("bid ", "bid"), ("ask", "ask")),
    ),
)
ROLES: Sequence[TextLine] = (
    (
        *(("bright ", "bright"), ("plain ", "plain"), ("muted ", "muted"), ("focus ", "focus")),
        *(("done ", "good"), ("warning ", "warn"), ("danger", "danger")),
    ),
)
MOVES = (
    4,
    3,
    -5,
    6,
    2,
    -3,
    -7,
    -2,
    5,
    -4,
    -6,
    3,
    8,
    5,
    -2,
    6,
    -3,
    4,
    -6,
    -8,
    3,
    -2,
    5,
    7,
    -4,
    6,
    2,
    -3,
    4,
    5,
)
LINES = (
    PriceLine(1.08380, "entry", "entry", in_scale=True),
    PriceLine(1.08300, "stop", "stop", in_scale=True),
    PriceLine(1.08600, "target", "target", in_scale=True),
)


def preview_lines(width: int, rows: int, *, has_chart: bool, ascii_only: bool) -> list[TextLine]:
    """Return the preview in these columns; with a chart where it is wanted and has room."""
    lower = [*TRADES, BLANK, *LEVELS, BLANK, *ROLES]
    still = [*BADGES, BLANK, *WATCHED, BLANK, *lower]
    height = rows - len(still) - 1
    if not has_chart or height < LEAST_CHART:
        return still
    chart = _chart(width, height, ascii_only=ascii_only)
    return [*BADGES, BLANK, *WATCHED, BLANK, *chart, BLANK, *lower]


def _chart(width: int, height: int, *, ascii_only: bool) -> Sequence[TextLine]:
    candles = _candles(width)
    picture = Picture()
    picture.show(
        Scene(
            candles=candles,
            end=len(candles),
            width=width,
            height=height,
            seconds=MINUTES * 60,
            last=candles[-1].close,
            decimals=5,
            pip=0.0001,
            look=CandleStyle(ascii_only=ascii_only),
            zone=UTC,
            this_year=2026,
            lines=LINES,
        )
    )
    return as_lines(picture.rows)


def _candles(count: int) -> list[Candle]:
    """Return made-up candles, always the same ones."""
    moves = [MOVES[n % len(MOVES)] for n in range(count)]
    closes = [1.08431 + (each - sum(moves)) * 0.00004 for each in accumulate(moves, initial=0)]
    step = MINUTES * 60 * 10**9
    return [
        Candle(
            START_NS + n * step,
            before,
            max(before, after) + 0.00012,
            min(before, after) - 0.0001,
            after,
            complete=True,
        )
        for n, (before, after) in enumerate(pairwise(closes))
    ]
