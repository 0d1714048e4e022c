"""`keydesk chart`: print a candle chart."""

import asyncio
import os
import shutil
import sys
from argparse import Namespace
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import TextIO, TypeAlias

import plotext

from keydesk.chart.time_axis import label_time
from keydesk.cli.account_access import open_account, trader_theme
from keydesk.cli.option_values import instrument_of
from keydesk.cli.script_output import Refusal
from keydesk.settings import theme_data
from keydesk.settings.theme_data import ThemeData
from keydesk.terminal.output import print_picture
from keydesk.terminal.query import Depth, colour_depth
from keydesk.text.format import at as show_at
from keydesk.text.format import pair, price
from keydesk.text.sanitize import clean
from keydesk_client.errors import NotFound, Refused
from keydesk_client.models.pricing import Candlestick, CandlestickData

DATED = frozenset({"D", "W", "M"})
MARGIN = 12  # columns of prices and frame
TALLEST = 40  # rows
TIMES = 5  # labels under the candles
PRICES = 7
Colour: TypeAlias = str | tuple[int, int, int]
Colours: TypeAlias = tuple[Colour, Colour]  # of a rising and of a falling candle
PLAIN_COLOURS: Colours = ("green+", "red")


def chart(options: Namespace) -> int:
    """Print the chart, with times in the trader's zone; return the exit code."""
    candles, zone = asyncio.run(_candles(options))
    size = shutil.get_terminal_size((100, 30))
    theme, own = trader_theme(options)
    colours = colours_of_candles(theme, colour_depth(os.environ), own.themes)
    text = draw_chart(candles, options.instrument, options.granularity, size, zone, colours=colours)
    print_picture(text if has_colours(sys.stdout, os.environ) else plotext.uncolorize(text))
    return 0


def colours_of_candles(
    theme: str, depth: Depth, own: Mapping[str, ThemeData] | None = None
) -> Colours:
    """Return what the library calls the colours of rising and falling candles, as the desk draws them in a theme.

    A terminal of 16 colours has its own green and red; so has one of 256, of which the library knows no red, green and blue.
    """
    data = (own or {}).get(theme)
    if data is None and theme in theme_data.names():
        data = theme_data.read(theme)
    if depth != "truecolor" or data is None or data.one_colour:
        return PLAIN_COLOURS
    return rgb_of(data.colours["rise"]), rgb_of(data.colours["fall"])


def rgb_of(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of a colour such as #5fbf83."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def has_colours(output: TextIO, environment: Mapping[str, str]) -> bool:
    """Return whether the output is a terminal that shows colours, and they are wanted."""
    is_dumb = environment.get("TERM", "dumb") in ("", "dumb")
    return output.isatty() and not is_dumb and not environment.get("NO_COLOR")


async def _candles(options: Namespace) -> tuple[Sequence[Candlestick], tzinfo]:
    async with open_account(options) as account:
        options.instrument = await instrument_of(account, options.instrument)
        try:
            answer = await account.client.candles.get(
                options.instrument, granularity=options.granularity, count=options.count
            )
        except (NotFound, Refused) as error:
            raise Refusal(
                f"no candles of {options.instrument}: {clean(error.error_message)}"
            ) from error
    return answer.candles, account.zone


def draw_chart(
    candles: Sequence[Candlestick],
    instrument: str,
    granularity: str,
    size: tuple[int, int],
    zone: tzinfo,
    *,
    colours: Colours = PLAIN_COLOURS,
) -> str:
    """Return the chart as lines of a terminal of this size; old candles that do not fit are left out.

    Raises:
        Refusal: there is nothing to draw.
    """
    columns, rows = size
    shown = [(each, each.mid) for each in candles if each.mid][-max(1, columns - MARGIN) :]
    if not shown:
        raise Refusal(f"{instrument} has no {granularity} candles there")
    bars = [bar for _, bar in shown]
    plotext.clear_figure()
    plotext.theme("clear")
    plotext.limit_size(False, False)  # it would look for a terminal of its own
    plotext.plot_size(columns, min(rows - 1, TALLEST))
    zone_name = show_at(shown[-1][0].time.ns, zone).tzname() or ""
    plotext.title(f"{_title(bars, len(candles), instrument, granularity)}   {zone_name}".rstrip())
    plotext.candlestick(
        list(range(len(bars))),
        {
            "Open": [float(bar.o) for bar in bars],
            "High": [float(bar.h) for bar in bars],
            "Low": [float(bar.l) for bar in bars],
            "Close": [float(bar.c) for bar in bars],
        },
        colors=list(colours),
    )
    places = [index * (len(bars) - 1) // (TIMES - 1) for index in range(TIMES)]
    plotext.xticks(places, [_time(shown[place][0], granularity, zone) for place in places])
    _name_prices(bars)
    return str(plotext.build())


def _title(bars: Sequence[CandlestickData], asked: int, instrument: str, granularity: str) -> str:
    first, last = bars[0], bars[-1]
    moved = (last.c / first.o - 1) * 100
    arrow = "▲" if moved > 0 else "▼" if moved < 0 else "="
    cut = f", last {len(bars)} of {asked}" if len(bars) < asked else ""
    return f"{pair(instrument)} {granularity}{cut}   {last.c} {arrow} {moved:+.2f} %"


def _name_prices(bars: Sequence[CandlestickData]) -> None:
    """Label the price axis with all decimals."""
    low, high = min(bar.l for bar in bars), max(bar.h for bar in bars)
    exponent = bars[-1].c.as_tuple().exponent
    precision = -exponent if isinstance(exponent, int) else 0
    levels = [low + (high - low) * step / (PRICES - 1) for step in range(PRICES)]
    plotext.yticks([float(each) for each in levels], [price(each, precision) for each in levels])


def _time(candle: Candlestick, granularity: str, zone: tzinfo) -> str:
    at = label_time(candle.time.ns, zone, daily=granularity in DATED)
    return f"{at:%Y-%m-%d}" if granularity in DATED else f"{at:%m-%d %H:%M}"
