"""How real and how fair the practice market's prices are: ten years, all pairs, five seeds; the figures go into practice/README.md.

The same strategies trade the market and a market whose fixings are drawn: each day's published moves with a sign at random, so
that nothing can be foreseen. What the best of them earns there is chance; more than that would be a fault of the market.

Strategies that look back more than a week trade the published fixings themselves, whose trends are history (the managed yuan),
not a product of the noise in between; they are listed apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from keydesk_practice.market.instruments import LISTINGS
from keydesk_practice.market.practice_market import PracticeMarket
from support.realism import (
    HourlyRates,
    autocorrelation,
    deviation_t,
    drawn_rates,
    hourly_rates,
    kurtosis,
    pair_prices,
    published_ratio,
    seasons,
)
from support.strategies import SLOW_STRATEGIES, STRATEGIES, Strategy, profits, sharpe

pytestmark = pytest.mark.bench

SEEDS = (1, 2, 3, 4, 5)
FIRST, LAST = "2015-01-01", "2025-01-01"
NAMES = tuple(listing.name for listing in LISTINGS)
README = Path(__file__).parents[2] / "practice" / "README.md"
BEGIN = "<!-- realism: written by tests/bench/test_market_realism.py -->\n"
END = "<!-- end of realism -->\n"
EXPLANATION = (
    "as Sharpe ratio after spread and financing: on the market, and by chance, where the fixings are drawn. The last column"
    " has those that look back more than a week: they trade the published fixings, whose trends are history."
)
MAX_ABOVE_CHANCE = 0.2  # of Sharpe


@dataclass(frozen=True, slots=True)
class PairFigures:
    """The figures of one pair with one seed."""

    ratio: float  # volatility of hourly moves over that of the fixings
    deviation_t: float  # of the next hour's move on the deviation from the last fixing
    kurtosis: float  # of hourly moves
    memory: float  # autocorrelation of hourly moves, one hour later
    clusters: float  # autocorrelation of their sizes, a day later


@dataclass(frozen=True, slots=True)
class Earned:
    """The Sharpe ratio of a strategy on a pair."""

    sharpe: float
    pair: str
    strategy: str

    def __str__(self) -> str:
        """Return it as a cell of the table."""
        return f"{self.sharpe:.2f} {self.pair}, {self.strategy}"


@dataclass(frozen=True, slots=True)
class SeedFigures:
    """The figures of one seed."""

    pairs: Mapping[str, PairFigures]
    seasons: Sequence[float]  # relative size of the moves of each hour of the day, UTC
    earned: Sequence[Earned]  # by the fast strategies on the market
    slowly: Sequence[Earned]
    by_chance: Sequence[Earned]  # by the fast strategies on drawn fixings


def test_prices_are_as_volatile_as_their_fixings_and_pay_no_simple_strategy() -> None:
    figures = [figures_of(seed) for seed in SEEDS]
    write_table(figures)
    ratios = [pair.ratio for one in figures for pair in one.pairs.values()]
    assert min(ratios) > 0.9
    assert max(ratios) < 1.1
    assert max(abs(pair.deviation_t) for one in figures for pair in one.pairs.values()) < 3
    best = sum(one.earned[0].sharpe for one in figures) / len(figures)
    rng = sum(one.by_chance[0].sharpe for one in figures) / len(figures)
    assert best <= rng + MAX_ABOVE_CHANCE


def figures_of(seed: int) -> SeedFigures:
    """Return the figures of a seed, with those of the same seed on drawn fixings."""
    market = PracticeMarket(seed)
    rates = hourly_rates(market, FIRST, LAST)
    drawn = hourly_rates(PracticeMarket(seed, rates=drawn_rates(market.rates, seed)), FIRST, LAST)
    return measured(rates, drawn)


def measured(rates: HourlyRates, drawn: HourlyRates) -> SeedFigures:
    """Return the figures of hourly rates, and of those with drawn fixings."""
    return SeedFigures(
        {name: _pair_figures(rates, name) for name in NAMES},
        seasons(pair_prices(rates, "EUR_USD")),
        earned(rates, STRATEGIES),
        earned(rates, SLOW_STRATEGIES),
        earned(drawn, STRATEGIES),
    )


def earned(rates: HourlyRates, strategies: Mapping[str, Strategy]) -> list[Earned]:
    """Return the Sharpe ratio of each strategy on each pair, the best first."""
    found = []
    for name in NAMES:
        prices = pair_prices(rates, name)
        found += [
            Earned(sharpe(profits(prices, strategy(prices))), name, title)
            for title, strategy in strategies.items()
        ]
    return sorted(found, key=lambda one: -one.sharpe)


def _pair_figures(rates: HourlyRates, name: str) -> PairFigures:
    prices = pair_prices(rates, name)
    moves = np.diff(prices.logs)
    return PairFigures(
        published_ratio(rates, prices, name),
        deviation_t(prices),
        kurtosis(moves),
        autocorrelation(moves, 1),
        autocorrelation(np.abs(moves), 24),
    )


def write_table(figures: Sequence[SeedFigures]) -> None:
    """Write the figures into the README of the broker, between its two marks."""
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    README.write_text(before + BEGIN + "\n" + "\n".join(_table(figures)) + "\n\n" + END + after)


def _table(figures: Sequence[SeedFigures]) -> list[str]:
    return [*_summary(figures), "", *_strategy_table(figures), "", *_pair_table(figures)]


def _summary(figures: Sequence[SeedFigures]) -> list[str]:
    def spread(of: str) -> str:
        values = [getattr(pair, of) for one in figures for pair in one.pairs.values()]
        return f"{min(values):.2f} to {max(values):.2f}, median {median(values):.2f}"

    hours = np.mean([one.seasons for one in figures], axis=0)
    return [
        "| what | all pairs and seeds |",
        "|---|---|",
        f"| volatility of hourly moves over that of the fixings | {spread('ratio')} |",
        f"| t of the deviation from the last fixing, for the next hour | {spread('deviation_t')} |",
        f"| kurtosis of hourly moves (normal: 3) | {spread('kurtosis')} |",
        f"| autocorrelation of hourly moves, one hour apart | {spread('memory')} |",
        f"| autocorrelation of their sizes, a day apart | {spread('clusters')} |",
        f"| size of EUR_USD's moves by hour, 0 to 23 UTC, mean 1 | {' '.join(f'{one:.2f}' for one in hours)} |",
    ]


def _strategy_table(figures: Sequence[SeedFigures]) -> list[str]:
    rows = [
        f"| {seed} | {one.earned[0]} | {one.by_chance[0]} | {one.slowly[0]} |"
        for seed, one in zip(SEEDS, figures, strict=False)
    ]
    return [
        f"The best of {len(STRATEGIES)} strategies on {len(NAMES)} pairs, {EXPLANATION}",
        "",
        "| seed | best on the market | best by chance | best of the slow ones |",
        "|--:|---|---|---|",
        *rows,
        "",
        f"The strategies: {', '.join(STRATEGIES)}. The slow ones: {', '.join(SLOW_STRATEGIES)}.",
    ]


def _pair_table(figures: Sequence[SeedFigures]) -> list[str]:
    """Return the volatility ratio of each pair, mean of the seeds, seven pairs a row."""
    cells = [f"{name} {np.mean([one.pairs[name].ratio for one in figures]):.2f}" for name in NAMES]
    rows = [cells[at : at + 7] for at in range(0, len(cells), 7)]
    return [
        "Volatility of hourly moves over that of the fixings, by pair, mean of the seeds:",
        "",
        "|" + "  |" * 7,
        "|" + "---|" * 7,
        *(f"| {' | '.join(row + [''] * (7 - len(row)))} |" for row in rows),
    ]
