"""Chart indicators: moving averages, Bollinger bands, Donchian channel, RSI, MACD, ATR, pivots and the previous day.

Definitions: `docs/formulas.md`. Averages of EMA, RSI and ATR start from the mean of the first period
(EMA: of the first `n` closes; RSI and ATR: of the first `n` changes), so their first values depend on where the candles
begin; `warm_up` says how many candles before the first visible one make that difference invisible. There is no VWAP:
the volume of a candle is a count of price updates.

Values are plain floats: every average is a recurrence over the values before it, which array arithmetic cannot shorten,
and numpy would add 21 MB and 0.2 s to the desk.
"""

from collections.abc import Mapping, Sequence
from math import nan, sqrt
from typing import Literal, Protocol

from msgspec import Struct, field

from keydesk.calc.market.indicator_specs import IndicatorSpec, Kind

NOT_YET = nan
EMA_WARM_UP = 4  # times the period: under 0.3 % of the value is still that of the starting mean
WILDER_WARM_UP = 8  # likewise; Wilder's average of n moves like an EMA of 2n - 1
Role = Literal["average", "band", "band middle", "oscillator", "signal", "histogram", "level"]


class Candle(Protocol):
    """What an indicator reads of a candle."""

    @property
    def high(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def close(self) -> float: ...


class PreviousDay(Struct, frozen=True):
    """High, low and close of the last complete trading day."""

    high: float
    low: float
    close: float


class IndicatorLine(Struct):
    """One line: a value for each candle, NaN where there is none yet."""

    name: str
    role: Role
    values: list[float] = field(default_factory=list)


class Level(Struct, frozen=True):
    """One price that holds for the whole day."""

    name: str
    price: float
    role: Role = "level"


class IndicatorSeries(Struct):
    """An indicator computed on candles.

    Its lines are as long as the candles. One with `spec.in_sub_pane` has a scale of its own: `bounds` is its fixed
    range, and `guides` are values to mark on it.
    """

    spec: IndicatorSpec
    lines: tuple[IndicatorLine, ...] = ()
    levels: tuple[Level, ...] = ()
    guides: tuple[float, ...] = ()
    bounds: tuple[float, float] | None = None
    averages: tuple[list[float], ...] = ()  # what the next value is computed from


def warm_up(specs: Sequence[IndicatorSpec]) -> int:
    """Return how many candles are needed before the first visible one, so that it has a value that has settled."""
    return max((_warm_up(spec) for spec in specs), default=0)


def _warm_up(spec: IndicatorSpec) -> int:
    match spec.kind:
        case "ema":
            return EMA_WARM_UP * spec.periods[0]
        case "macd":
            _, slow, signal = spec.periods
            return EMA_WARM_UP * (slow + signal)
        case "rsi" | "atr":
            return WILDER_WARM_UP * spec.periods[0]
        case "sma" | "bb" | "donchian":
            return spec.periods[0] - 1
        case "pivots" | "prevday":
            return 0


def compute(
    spec: IndicatorSpec, candles: Sequence[Candle], day: PreviousDay | None = None
) -> IndicatorSeries:
    """Compute an indicator on candles, oldest first; `day` is needed by `pivots` and `prevday` only."""
    return Indicators((spec,)).refresh(candles, day)[0]


class Indicators:
    """The indicators of one chart, kept up to date with its candles.

    `refresh` computes again from the first candle that changed: where a price moved the last candle, only that one.
    """

    def __init__(self, specs: Sequence[IndicatorSpec]) -> None:
        self.specs = tuple(specs)
        self._series = tuple(_empty(spec) for spec in self.specs)
        self._columns = _Columns()
        self._candles: list[Candle] = []  # as last computed
        self._day: PreviousDay | None = None

    def refresh(
        self, candles: Sequence[Candle], day: PreviousDay | None = None
    ) -> Sequence[IndicatorSeries]:
        """Return the indicators on these candles, in the order of the specs."""
        start = self._first_change(candles)
        if start < max(len(candles), len(self._candles)):
            self._candles[start:] = candles[start:]
            self._columns.replace(start, candles[start:])
            for series in self._series:
                _extend(series, self._columns, start)
        if day != self._day:
            self._day = day
            for series in self._series:
                series.levels = levels(series.spec.kind, day)
        return self._series

    def _first_change(self, candles: Sequence[Candle]) -> int:
        """Return the index of the first candle that is not as it was; a list compares equal objects by identity."""
        before = self._candles
        common = max(0, min(len(before), len(candles)) - 1)
        if before[:common] != candles[:common]:
            for i in range(common):
                if before[i] != candles[i]:
                    return i
        if common < len(before) and common < len(candles) and before[common] == candles[common]:
            return common + 1
        return common


class _Columns(Struct):
    """The candles as lists of floats."""

    high: list[float] = field(default_factory=list)
    low: list[float] = field(default_factory=list)
    close: list[float] = field(default_factory=list)

    def replace(self, start: int, candles: Sequence[Candle]) -> None:
        """Replace the candles from an index on."""
        self.high[start:] = [each.high for each in candles]
        self.low[start:] = [each.low for each in candles]
        self.close[start:] = [each.close for each in candles]


def _empty(spec: IndicatorSpec) -> IndicatorSeries:
    series = IndicatorSeries(spec, tuple(IndicatorLine(*each) for each in _LINES[spec.kind]))
    if spec.kind == "rsi":
        series.bounds, series.guides = (0.0, 100.0), (30.0, 70.0)
        series.averages = ([], [])
    elif spec.kind == "macd":
        series.guides = (0.0,)
        series.averages = ([], [])
    return series


_LINES: Mapping[Kind, tuple[tuple[str, Role], ...]] = {
    "ema": (("EMA", "average"),),
    "sma": (("SMA", "average"),),
    "bb": (("middle", "band middle"), ("upper", "band"), ("lower", "band")),
    "donchian": (("middle", "band middle"), ("upper", "band"), ("lower", "band")),
    "pivots": (),
    "prevday": (),
    "rsi": (("RSI", "oscillator"),),
    "macd": (("MACD", "oscillator"), ("signal", "signal"), ("histogram", "histogram")),
    "atr": (("ATR", "oscillator"),),
}


def _extend(series: IndicatorSeries, columns: _Columns, start: int) -> None:
    """Compute the values from an index on; those before it are kept."""
    outs = [line.values for line in series.lines]
    for values in (*outs, *series.averages):
        del values[start:]
    spec = series.spec
    match spec.kind:
        case "ema":
            extend_ema(outs[0], columns.close, spec.periods[0])
        case "sma":
            extend_sma(outs[0], columns.close, spec.periods[0])
        case "bb":
            extend_bands(outs, columns.close, spec.periods[0], spec.parameters[1])
        case "donchian":
            extend_channel(outs, columns.high, columns.low, spec.periods[0])
        case "rsi":
            extend_rsi(outs[0], series.averages, columns.close, spec.periods[0])
        case "macd":
            extend_macd(outs, series.averages, columns.close, spec.periods)
        case "atr":
            extend_atr(outs[0], columns, spec.periods[0])
        case "pivots" | "prevday":
            pass


# Each function appends to its output lists the values that they lack to be as long as its input.


def extend_ema(out: list[float], values: Sequence[float], period: int, first: int = 0) -> None:
    """Append exponential moving averages; `values` begin at the index `first`, NaN stands before it."""
    weight, seed = 2 / (period + 1), first + period - 1
    for i in range(len(out), len(values)):
        if i > seed:
            before = out[-1]
            out.append(before + weight * (values[i] - before))
        else:
            out.append(sum(values[first : i + 1]) / period if i == seed else NOT_YET)


def extend_sma(out: list[float], values: Sequence[float], period: int) -> None:
    """Append means of the last `period` values."""
    for i in range(len(out), len(values)):
        enough = i >= period - 1
        out.append(sum(values[i + 1 - period : i + 1]) / period if enough else NOT_YET)


def extend_bands(
    outs: Sequence[list[float]], values: Sequence[float], period: int, width: float
) -> None:
    """Append middle, upper and lower Bollinger band: the mean, and `width` population deviations from it."""
    middle, upper, lower = outs
    for i in range(len(middle), len(values)):
        mean = deviation = NOT_YET
        if i >= period - 1:
            window = values[i + 1 - period : i + 1]
            mean = sum(window) / period
            deviation = sqrt(sum([(apart := each - mean) * apart for each in window]) / period)
        middle.append(mean)
        upper.append(mean + width * deviation)
        lower.append(mean - width * deviation)


def extend_channel(
    outs: Sequence[list[float]], highs: Sequence[float], lows: Sequence[float], period: int
) -> None:
    """Append middle, upper and lower line of the Donchian channel: highest high and lowest low of `period` candles."""
    middle, upper, lower = outs
    for i in range(len(middle), len(highs)):
        high = low = NOT_YET
        if i >= period - 1:
            high, low = max(highs[i + 1 - period : i + 1]), min(lows[i + 1 - period : i + 1])
        middle.append((high + low) / 2)
        upper.append(high)
        lower.append(low)


def extend_rsi(
    out: list[float], averages: Sequence[list[float]], closes: Sequence[float], period: int
) -> None:
    """Append Wilder's relative strength index; an average loss of 0 makes it 100."""
    gains, losses = averages
    for i in range(len(out), len(closes)):
        gain = loss = NOT_YET
        if i == period:
            changes = [closes[k] - closes[k - 1] for k in range(1, period + 1)]
            gain = sum([each for each in changes if each > 0]) / period
            loss = -sum([each for each in changes if each < 0]) / period
        elif i > period:
            change = closes[i] - closes[i - 1]
            gain = (gains[-1] * (period - 1) + max(change, 0.0)) / period
            loss = (losses[-1] * (period - 1) + max(-change, 0.0)) / period
        gains.append(gain)
        losses.append(loss)
        out.append(100.0 if loss == 0 else 100 - 100 / (1 + gain / loss))


def extend_macd(
    outs: Sequence[list[float]],
    averages: Sequence[list[float]],
    closes: Sequence[float],
    periods: tuple[int, ...],
) -> None:
    """Append the difference of two averages, the average of that as signal, and what lies between them."""
    (line, signal, histogram), (fast, slow) = outs, averages
    extend_ema(fast, closes, periods[0])
    extend_ema(slow, closes, periods[1])
    line += [quick - calm for quick, calm in zip(fast[len(line) :], slow[len(line) :], strict=True)]
    extend_ema(signal, line, periods[2], first=periods[1] - 1)
    start = len(histogram)
    histogram += [value - mean for value, mean in zip(line[start:], signal[start:], strict=True)]


def extend_atr(out: list[float], columns: _Columns, period: int) -> None:
    """Append Wilder's average true range; the first candle has no candle before it and is left out."""
    for i in range(len(out), len(columns.close)):
        if i > period:
            out.append((out[-1] * (period - 1) + _true_range(columns, i)) / period)
        elif i == period:
            ranges = [_true_range(columns, k) for k in range(1, period + 1)]
            out.append(sum(ranges) / period)
        else:
            out.append(NOT_YET)


def _true_range(columns: _Columns, i: int) -> float:
    before = columns.close[i - 1]
    return max(columns.high[i], before) - min(columns.low[i], before)


def levels(kind: Kind, day: PreviousDay | None) -> tuple[Level, ...]:
    """Return the levels of the previous day, none while it is unknown; other kinds have none."""
    if day is None or kind not in {"pivots", "prevday"}:
        return ()
    high, low, close = day.high, day.low, day.close
    if kind == "prevday":
        return (Level("prev high", high), Level("prev low", low), Level("prev close", close))
    pivot, span = (high + low + close) / 3, high - low
    return (
        Level("P", pivot),
        Level("R1", 2 * pivot - low),
        Level("R2", pivot + span),
        Level("R3", high + 2 * (pivot - low)),
        Level("S1", 2 * pivot - high),
        Level("S2", pivot - span),
        Level("S3", low - 2 * (high - pivot)),
    )
