"""Every row of a chart is exactly as wide as the chart, whatever the market, and a price update equals a redraw."""

from copy import deepcopy
from decimal import ROUND_HALF_UP, Decimal
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from keydesk.chart.canvas import Run
from keydesk.chart.glyphs import STYLES, CandleStyle
from keydesk.chart.layout import fitted, sub_panes_with_room
from keydesk.chart.picture import Picture, dimmed
from keydesk.chart.price_axis import PriceLine, PriceMark, Rank
from keydesk.chart.price_labels import is_in_row
from keydesk.chart.scene import Cursor, Scene
from keydesk.store.state import Candle
from support.data.chart_scenes import MARKETS, ROLES, WORDS, own_lines, path, scene_of
from support.examples import examples
from support.walks import sampled

SIZES = [(1, 1), (5, 3), (20, 8), (33, 12), (34, 20), (60, 24), (90, 28), (150, 45), (250, 70)]
LOOKS = [
    CandleStyle(style, body, gap, hollow=hollow)
    for style in STYLES
    for body, gap in ((1, 0), (1, 1), (3, 1))
    for hollow in (False, True)
] + [CandleStyle(style, 1, 0, per_column=count) for style in STYLES for count in (2, 4)]
ASCII_LOOKS = [
    CandleStyle("candles", body, gap, ascii_only=True, per_column=count)
    for body, gap, count in ((1, 0, 4), (1, 0, 2), (1, 0, 1), (1, 1, 1), (3, 1, 1))
]


PLANNED_OR_OWN = {*ROLES, "planned"}


def text_of(row: list[Run]) -> str:
    return "".join(text for text, _ in row)


def drawn(scene: Scene) -> Picture:
    picture = Picture()
    picture.show(scene)
    return picture


def cells(picture: Picture) -> list[list[tuple[str, str]]]:
    """Every cell as it is seen: the role of a blank is seen only where it is filled."""
    return [
        [
            (glyph, role if glyph != " " or role[:1] == "~" else "")
            for text, role in row
            for glyph in text
        ]
        for row in picture.rows
    ]


def assert_exact(scene: Scene) -> None:
    picture = drawn(scene)
    case = f"{scene.width} x {scene.height}"
    assert len(picture.rows) == scene.height, case
    assert {len(text_of(row)) for row in picture.rows} == {scene.width}, case


@pytest.mark.parametrize("market", sampled(MARKETS, 3))
def test_rows_are_exact_in_every_market_at_every_width(market: str) -> None:
    shapes = ((1, False, 0.0), (300, True, 0.0), (300, False, 0.4))
    for width, (count, gaps, jump) in product(range(20, 251, 23), shapes):
        candles = path(MARKETS[market][0], count, gaps=gaps, jump=jump)
        lines = own_lines(candles[-1].close, 5)
        assert_exact(
            scene_of(candles, market=market, width=width, lines=lines, with_indicators=True)
        )


@pytest.mark.parametrize("look", sampled([*LOOKS, *ASCII_LOOKS], 15))
def test_rows_are_exact_in_every_style_and_size(look: CandleStyle) -> None:
    candles = path(1.08431, 300, jump=0.4)
    for width, height in SIZES:
        assert_exact(scene_of(candles, width=width, height=height, look=look, with_indicators=True))


@pytest.mark.parametrize("pace", [0.0, 1e-7, 0.3])
def test_a_still_and_a_wild_market_are_drawn(pace: float) -> None:
    assert_exact(scene_of(path(1.08431, 200, pace=pace)))


def test_four_round_prices_are_in_sight_where_rows_allow() -> None:
    for pace in [0.00005, 0.0003, 0.003, 0.02]:
        for height in [9, 12, 16, 24, 28, 45, 70]:
            scene = replace(scene_of(path(1.08431, 200, pace=pace), height=height), marks=())
            rounds = [row[-1] for row in drawn(scene).rows if row[-1][1] == "muted"]
            assert len(rounds) >= (4 if height > 16 else 2)
            steps = {round(float(text), 5) for text, _ in rounds}
            assert len(steps) == len(rounds)


@pytest.mark.parametrize("count", [1, 4, 12, 40, 500])
@pytest.mark.parametrize("width", [34, 60, 90, 250])
def test_names_of_own_lines_stand_beside_the_axis_and_over_no_candle(
    count: int, width: int
) -> None:
    scene = scene_of(path(1.08431, 300), width=width, lines=own_lines(1.08431, count))
    picture = drawn(scene)
    layout = picture.layout
    assert layout is not None
    beside = layout.plot - layout.names
    assert layout.columns[-1] < beside
    area = [text_of(row) for row in picture.rows[layout.top : layout.top + layout.rows]]
    names = [word[:3] for word in WORDS]  # in the narrowest chart some are cut
    assert sum(any(name in row[beside:] for name in names) for row in area) >= min(count, 2)
    assert not any(word in row[:beside] for row in area for word in WORDS)


@given(
    moves=st.lists(st.integers(-30, 30), min_size=1, max_size=8),
    look=st.sampled_from([*LOOKS, *ASCII_LOOKS]),
    size=st.sampled_from([*SIZES, (40, 1), (40, 2), (40, 3)]),
    lines=st.integers(0, 8),
    braille=st.booleans(),
    market=st.sampled_from(sorted(MARKETS)),
    everything=st.booleans(),
)
@settings(max_examples=examples(10, soak=60), deadline=None)
def test_a_price_update_looks_like_a_redraw(  # noqa: PLR0917 - drawn by Hypothesis
    moves: list[int],
    look: CandleStyle,
    size: tuple[int, int],
    lines: int,
    braille: bool,
    market: str,
    everything: bool,
) -> None:
    price, _, pip = MARKETS[market]
    candles = path(price, 120)
    own = own_lines(price, lines)
    scene = scene_of(
        candles,
        market=market,
        width=size[0],
        height=size[1],
        look=look,
        lines=own,
        with_indicators=True,
    )
    scene = replace(scene, braille=braille, shows_everything=everything)
    picture = drawn(scene)
    for move in moves:
        last = scene.candles[-1]
        close = max(pip, last.close + move * pip / 10)
        newest = Candle(
            last.time_ns,
            last.open,
            max(last.high, close),
            min(last.low, close),
            close,
            complete=False,
        )
        moved = [*scene.candles[:-1], newest]
        overlay = replace(scene.overlays[0], values=[each.close for each in moved])
        scene = replace(scene, candles=moved, last=close, overlays=(overlay,))
        before = cells(picture)
        changed = set(picture.show(scene))
        after = cells(picture)
        assert all(y in changed or after[y] == before[y] for y in range(scene.height))
        whole = Picture()
        whole.scale, whole.held_lines = picture.scale, deepcopy(picture.held_lines)
        whole.labels = deepcopy(picture.labels)
        whole.show(scene)
        if whole.scale is picture.scale and whole.grid_step == picture.grid_step:
            assert cells(whole) == after


@pytest.mark.parametrize("height", [11, 14, 22, 30, 45])
def test_own_prices_on_a_wider_scale_leave_the_candles_their_rows_and_what_is_beyond_has_an_arrow(
    height: int,
) -> None:
    candles = path(1.08431, 200)
    far = PriceLine(1.12, "target", "target", in_scale=True)
    near = [PriceLine(1.08431 - i * 0.0004, "stop", "stop", in_scale=True) for i in range(1, 5)]
    scene = replace(scene_of(candles, height=height, lines=(far, *near)), shows_everything=True)
    picture = drawn(scene)
    assert picture.scale is not None
    assert picture.layout is not None
    shown = candles[picture.layout.first :]
    low, high = min(each.low for each in shown), max(each.high for each in shown)
    rows = picture.scale.row(low) - picture.scale.row(high) + 1
    assert rows >= max(4, picture.scale.rows // 3)
    [label] = [text_of(row) for row in picture.rows if "target" in text_of(row)]
    assert "↑ 357p" in label


def test_a_far_own_price_does_not_squeeze_the_candles() -> None:
    candles = path(1.08431, 200)
    near = drawn(scene_of(candles)).scale
    far = (PriceLine(1.15, "target", "target"), PriceLine(1.02, "stop", "stop"))
    picture = drawn(scene_of(candles, lines=far))
    assert near is not None
    assert picture.scale is not None
    assert picture.scale.high - picture.scale.low < 1.25 * (near.high - near.low)
    labels = [text_of(row) for row in picture.rows]
    assert any(label.endswith(" target 1.15000  ↑ 657p") for label in labels)
    assert any(label.endswith(" stop 1.02000  ↓ 643p") for label in labels)


@pytest.mark.parametrize("height", [10, 14, 24, 45])
@pytest.mark.parametrize("pips", [5, 20, 40, 200])
def test_a_wanted_price_is_in_the_scale_unless_that_makes_it_half_as_large_again(
    height: int, pips: int
) -> None:
    candles = path(1.08431, 200)
    wanted = PriceLine(1.08431 + pips * 0.0001, "target", "target", in_scale=True)
    picture = drawn(scene_of(candles, height=height, lines=(wanted,)))
    assert picture.scale is not None
    assert picture.layout is not None
    shown = candles[picture.layout.first :]
    low, high = min(each.low for each in shown), max(each.high for each in shown)
    share = (high - low) / (picture.scale.high - picture.scale.low)
    needed = (high - low) / (max(high, wanted.price) - low)
    assert picture.scale.holds(wanted.price) == (needed >= 1 / 1.5)
    assert share >= 0.5, "headroom takes a part of two thirds where rows are few"


def test_prices_on_both_sides_squeeze_no_candles_and_more_of_them_are_shown_when_asked_for() -> (
    None
):
    candles = path(1.08431, 200)
    away = (0.0030, -0.0030, 0.0054, -0.0054, 0.0090, -0.0090)
    lines = tuple(PriceLine(1.08431 + each, "stop", "stop", in_scale=True) for each in away)
    shares, held = [], []
    for everything in (False, True):
        picture = drawn(replace(scene_of(candles, lines=lines), shows_everything=everything))
        assert picture.scale is not None
        assert picture.layout is not None
        shown = candles[picture.layout.first :]
        low, high = min(each.low for each in shown), max(each.high for each in shown)
        shares.append((high - low) / (picture.scale.high - picture.scale.low))
        held.append(sum(picture.scale.holds(each.price) for each in lines))
    assert 0.2 <= shares[1] < 0.5 <= shares[0], "a quarter without the headroom"
    assert held == [1, 4], (
        "of six: one within 1.5 times, four within 4 times the range of the candles"
    )


@given(
    kinds=st.lists(
        st.tuples(st.integers(-60, 60), st.sampled_from(range(len(WORDS)))), min_size=9, max_size=60
    ),
    height=st.integers(10, 30),
    everything=st.booleans(),
)
@settings(max_examples=examples(20, soak=200), deadline=None)
def test_no_label_lies_about_its_price_and_the_nearest_stop_of_each_side_is_named(
    kinds: list[tuple[int, int]], height: int, everything: bool
) -> None:
    candles = path(1.08431, 100)
    lines = tuple(
        PriceLine(1.08431 + pips / 10000, WORDS[kind], ROLES[kind], in_scale=True)
        for pips, kind in kinds
    )
    scene = scene_of(candles, height=height, lines=lines)
    picture = drawn(replace(scene, shows_everything=everything))
    layout, labels, scale = picture.layout, picture.words, picture.scale
    assert layout is not None
    assert labels is not None
    assert scale is not None
    last = scene.last
    for y, label in labels.own.items():
        row, price = text_of(picture.rows[layout.top + y]), label.line.price
        if scale.holds(price) and scale.row(price) == y:
            assert row.rstrip().endswith(f"{price:.5f}")
        else:
            arrow = "↑" if y < labels.last_row else "↓"
            pips = abs(Decimal(str(price)) - Decimal(str(last))) * 10_000
            digits = Decimal("0.1" if pips < 10 else "1")
            assert row.rstrip().endswith(f"{arrow} {pips.quantize(digits, ROUND_HALF_UP)}p")
    rows = sorted(labels.own)
    prices = [labels.own[y].line.price for y in rows]
    assert prices == sorted(prices, reverse=True)
    assert labels.last_row not in rows
    in_labels = [line for label in labels.own.values() for line in label.lines]
    assert sorted(map(repr, in_labels)) == sorted(map(repr, lines))
    kinds_shown = [
        (line.role, line.price) for line in (label.line for label in labels.own.values())
    ]
    for label in labels.own.values():
        if label.line.role != "entry" and len({line.price for line in label.lines}) > 1:
            for role, price in kinds_shown:
                is_beyond = (
                    label.line.price < price
                    if label.line.price >= last
                    else price < label.line.price
                )
                assert (
                    role != label.line.role
                    or not is_beyond
                    or (price >= last) != (label.line.price >= last)
                )
    for above in (True, False):
        side = [line for line in lines if (line.price >= last) == above]
        stops = [line.price for line in side if line.role == "stop"]
        nearest = min(stops, key=lambda price: abs(price - last), default=last)
        if stops:
            firsts = [label.line for label in labels.own.values()]
            assert any(line.price == nearest and line.role == "stop" for line in firsts)


def test_a_line_crosses_the_candles_for_each_label_in_its_row() -> None:
    plan = PriceLine(1.0843, "new entry", "planned", Rank.PLANNED)
    scene = scene_of(path(1.08431, 300), lines=(*own_lines(1.08431, 40), plan))
    picture = drawn(scene)
    layout, labels, scale = picture.layout, picture.words, picture.scale
    assert layout is not None
    assert labels is not None
    assert scale is not None
    newest = layout.columns[-1]
    across, beside = (
        {
            y - layout.top
            for y, row in enumerate(cells(picture))
            for glyph, role in row[part]
            if role in PLANNED_OR_OWN and glyph in "╌─"
        }
        for part in (slice(0, newest), slice(newest + 1, newest + 3))
    )
    at_row = {y for y, label in labels.own.items() if is_in_row(scale, label.line, y)}
    assert across == beside == at_row
    assert at_row < set(labels.own)


@pytest.mark.parametrize(("per_column", "times"), [(2, 2), (4, 4)])
def test_a_narrower_step_shows_as_many_times_the_candles(per_column: int, times: int) -> None:
    candles = path(1.08431, 600)
    narrow = drawn(scene_of(candles, look=CandleStyle(gap=0))).layout
    dense = drawn(scene_of(candles, look=CandleStyle(gap=0, per_column=per_column))).layout
    assert narrow is not None
    assert dense is not None
    assert len(dense.columns) == times * len(narrow.columns)


def test_the_scale_stays_while_it_fits_so_that_the_picture_stands_still() -> None:
    candles = path(1.08431, 200)
    picture = drawn(scene_of(candles))
    scale = picture.scale
    picture.show(scene_of([*candles[:-1], replace(candles[-1], close=candles[-1].open)]))
    assert picture.scale is scale
    higher = replace(candles[-1], high=1.2, close=1.2)
    picture.show(scene_of([*candles[:-1], higher]))
    assert picture.scale is not scale


def test_the_cursor_is_a_cross_with_its_price_and_time() -> None:
    scene = scene_of(path(1.08431, 200))
    picture = drawn(replace(scene, cursor=Cursor(190, 1.0842)))
    assert any(
        ("1.08420" in text and role == "~cursor") for row in picture.rows for text, role in row
    )
    assert any(role == "~cursor" for _, role in picture.rows[-1])


def test_the_cursor_removes_no_sub_pane() -> None:
    for height in range(12, 40):
        scene = scene_of(path(1.08431, 200), height=height, with_indicators=True)
        panes = scene.sub_panes[: sub_panes_with_room(height, len(scene.sub_panes))]
        scene = replace(scene, sub_panes=panes, cursor=Cursor(190, 1.0842))
        assert_exact(scene)
        rules = [row for row in drawn(scene).rows if "─ RSI 14 " in text_of(row)]
        assert len(rules) == len(panes)


def test_old_data_has_no_colours() -> None:
    picture = drawn(scene_of(path(1.08431, 200), with_indicators=True))
    assert {role for row in dimmed(picture.rows) for _, role in row} <= {
        "",
        "faint",
        "~line",
        "faint@line",
    }


def test_a_legend_shows_whole_groups_only() -> None:
    groups = ((("EMA 20", "a"),), (("a long name", "b"),), (("RSI", "c"),))
    assert text_of(fitted(groups, 14)) == "EMA 20  RSI   "


def test_the_blank_behind_the_words_of_a_line_is_not_underlined_with_them() -> None:
    candles = path(1.08431, 200)
    stops = (PriceLine(candles[-1].close - 0.0010, "stop", "stop"),) * 2
    picture = drawn(scene_of(candles, width=90, height=24, lines=stops))
    [row] = [row for row in picture.rows if "stop" in text_of(row)]
    assert row[-4:-1] == [(" ", "muted"), ("2 stops", "stop"), (" at", "muted")]


def test_a_line_whose_label_is_in_another_row_ends_with_the_candles() -> None:
    candles = path(1.08431, 200)
    last = candles[-1].close
    lines = tuple(
        PriceLine(last - 0.0010, role, role, Rank.WORKING) for role in ("stop", "target", "alert")
    )
    picture = drawn(scene_of(candles, width=90, height=24, lines=lines))
    layout, labels, scale = picture.layout, picture.words, picture.scale
    assert layout is not None
    assert labels is not None
    assert scale is not None
    at = scale.row(last - 0.0010)
    assert sorted(labels.own) == [at, at + 1, at + 2]
    assert labels.own[at].line.role == "stop"
    for y in labels.own:
        dashes = [role for glyph, role in cells(picture)[layout.top + y] if glyph == "╌"]
        assert bool(dashes) == (y == at)
    beyond = cells(picture)[layout.top + at][layout.columns[-1] + 2 :]
    assert {role for glyph, role in beyond if glyph == "╌"} == {labels.own[at].line.role}


def test_a_price_whose_row_has_the_label_of_one_beyond_the_edge_has_its_distance_and_no_line() -> (
    None
):
    candles = path(1.08431, 20)
    low, high = min(each.low for each in candles), max(each.high for each in candles)
    stop = PriceLine(low - 0.55 * (high - low), "stop", "stop")  # in a row of the edge
    limits = [PriceLine(low - 0.01 - i, "buy limit", "buy") for i in range(3)]
    picture = drawn(scene_of(candles, width=90, height=9, lines=(stop, *limits)))
    assert picture.layout is not None
    assert picture.words is not None
    [*_, above, lowest] = sorted(picture.words.own)
    assert [picture.words.own[y].line for y in (above, lowest)] == [stop, limits[0]]
    assert ("╌", "stop") not in {cell for row in cells(picture) for cell in row}
    assert "↓" in picture.words.rows[above][0]


def test_the_line_of_an_entry_is_solid_and_others_are_dashed() -> None:
    candles = path(1.08431, 200)
    last = candles[-1].close
    lines = (PriceLine(last - 0.0010, "long", "entry"), PriceLine(last - 0.0020, "stop", "stop"))
    picture = drawn(scene_of(candles, width=90, height=24, lines=lines))
    drawn_cells = {cell for row in cells(picture) for cell in row}
    assert {("─", "entry"), ("╌", "stop")} <= drawn_cells
    assert not {("╌", "entry"), ("─", "stop")} & drawn_cells


def test_the_line_of_a_mark_ends_with_the_candles_and_one_without_room_for_its_name_is_not_drawn() -> (
    None
):
    candles = path(1.08431, 200)
    marks = (PriceMark(max(each.high for each in candles[-60:]) + 0.0001, "day high"),)
    scene = replace(scene_of(candles, width=90, height=24), marks=marks)
    picture = drawn(scene)
    layout = picture.layout
    assert layout is not None
    [row] = [text_of(row) for row in picture.rows if "┄" in text_of(row)]
    assert f"day high {marks[0].price:.5f} ┄" in row
    assert row.rindex("┄") <= layout.columns[-1]
    long = replace(scene, marks=(replace(marks[0], text="a name longer than the plot " * 4),))
    assert not any("┄" in text_of(row) for row in drawn(long).rows)


def test_in_ascii_a_line_is_drawn_with_another_sign_than_a_candle_that_stood_still() -> None:
    candles = path(1.08431, 200)
    lines = (PriceLine(candles[-1].close - 0.0003, "stop", "stop"),)
    [look, *_] = ASCII_LOOKS
    scene = replace(scene_of(candles, width=90, height=24, lines=lines), look=look)
    of_line = [each for row in drawn(scene).rows for each in row if each[1] == "stop"]
    drawn_line = "".join(text for text, _ in of_line)
    assert drawn_line.count("_") > 5
    assert "-" not in drawn_line
