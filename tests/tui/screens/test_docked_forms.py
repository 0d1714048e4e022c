"""A form that stands in the right column: what reaches under it ends where the form begins, and comes back whole."""

from dataclasses import replace
from pathlib import Path

import pytest
from textual.pilot import Pilot

from keydesk.forms.form import Form
from keydesk.panes.strips.instrument import InstrumentLine
from keydesk.screens.desk import SECONDS_PER_FRAME_BENEATH
from keydesk.store.state import Notice
from keydesk.text.sanitize import safe
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.lines import LinePane
from keydesk.widgets.table import TablePane, needed
from support.data.desk_data import WALL_NS, frame_of
from support.data.in_flight import in_flight
from support.fakes.pane_app import text_of
from support.fakes.working_desk import WorkingDesk
from support.walks import crossed

SIZES = ((120, 35), (140, 45), (250, 70))


@pytest.fixture
def app(tmp_path: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(tmp_path, "practice"))


async def drawn(app: WorkingDesk, pilot: Pilot[int]) -> list[str]:
    """The lines of the screen after a frame."""
    app.draw()
    await pilot.pause()
    app.draw()
    await pilot.pause()
    return [line.text for line in app.screen._compositor.render_strips()]


def beneath(app: WorkingDesk) -> list[LinePane]:
    """The panes of the desk that reach under the form."""
    form = app.screen
    assert isinstance(form, Form)
    assert form.sheet is not None
    at = form.sheet.region
    shown = [pane for pane in app.window.screen.query(LinePane) if pane.display]
    return [pane for pane in shown if pane.region.x < at.x and pane.region.overlaps(at)]


@pytest.mark.parametrize("size", SIZES)
async def test_what_reaches_under_the_form_ends_beside_it_whole(
    app: WorkingDesk, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await drawn(app, pilot)
        before = {pane: text_of(pane) for pane in app.window.screen.query(LinePane)}
        await pilot.press("B")
        lines = await drawn(app, pilot)
        form = app.screen
        assert isinstance(form, Form)
        assert form.sheet is not None
        panes = beneath(app)
        assert panes or size[1] > 35, (
            "the sheet ends above the other panes where there are rows enough"
        )
        for pane in panes:
            edge = form.sheet.region.x - pane.region.x
            for y in range(pane.outer_size.height):
                assert not pane.render_line(y).text[edge - 1 :].strip(), (pane.id, y)
            if isinstance(pane, TablePane) and pane.keys:
                assert needed(pane.fitted, pane.gap) <= edge
        for y in form.sheet.region.line_range:
            assert lines[y][form.sheet.region.x] in "┏┃┗"
        await pilot.press("escape")
        await drawn(app, pilot)
        assert {pane: text_of(pane) for pane in panes} == {pane: before[pane] for pane in panes}


async def test_a_message_beside_the_form_is_told_whole_or_with_an_ellipsis(
    app: WorkingDesk,
) -> None:
    text = "Not filled: the price moved past the bound 1.08449 while the order was on its way; send again: B"
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.store.notify(Notice("warn", safe(text), WALL_NS))
        await drawn(app, pilot)
        await pilot.press("B")
        lines = await drawn(app, pilot)
        form = app.screen
        assert isinstance(form, Form)
        form_at = form.docked_region
        told = " ".join(
            line[: form_at.x] if y in form_at.line_range else line
            for y, line in list(enumerate(lines))[-4:]
        )
        assert "Not filled: the price moved past the bound" in told
        assert "send again: B" in " ".join(told.split()) or "…" in told


async def test_the_instrument_line_names_no_figure_that_the_form_hides(app: WorkingDesk) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press("B")
        lines = await drawn(app, pilot)
        strip = app.window.screen.query_one(InstrumentLine)
        form = app.screen
        assert isinstance(form, Form)
        line = lines[strip.region.y][: form.docked_region.x].rstrip()
    assert "largest order" not in line
    assert line.endswith("%")


def words_of(app: WorkingDesk) -> str:
    """The words of the open form, wrapped lines joined."""
    form = app.screen
    assert isinstance(form, Form)
    assert form.sheet is not None
    return " ".join(form.sheet.text.split())


def assert_docked(app: WorkingDesk) -> None:
    """Assert that the form stands in the right column and covers neither chart, watchlist nor the account."""
    form, desk = app.screen, app.window.screen
    assert isinstance(form, Form)
    assert form.sheet is not None
    assert form.dock > 0
    at = form.sheet.region
    assert at.y >= 2
    assert at.bottom <= app.size.height
    for name in ("watchlist", "chart"):
        assert not at.overlaps(desk.pane(name).region), name


def warn_of_everything(app: WorkingDesk) -> None:
    """Set up a bad link and an order that was not found: two warnings for every order."""
    app.store.health.rtt_ms = 800.0
    app.store.set_in_flight(in_flight("EUR_USD", state="unconfirmed"))


ALL_FIELDS = ("B", "o", "n")
TICKET = ("at stop", "margin", "closeout", "pos", "Esc drops")
FORMS = {
    "market": (("B",), ("y sends", *TICKET)),
    "limit, all fields": (ALL_FIELDS, ("k tag", "j comment", "y sends", *TICKET)),
    "refused": ((*ALL_FIELDS, "s", *"999999"), ("at or below 0", "k tag", *TICKET)),
    "no stop": (
        ("B", "s", *["backspace"] * 2, "t", "backspace"),
        ("UNLIMITED", "No stop", "to send", *TICKET[1:]),
    ),
    "modify": (("}", "M", "up"), ("s stop", "t target", "at stop", "Esc drops")),
    "modify, refused": (("}", "M", "s", "9"), ("s stop", "✗", "Esc drops")),
    "close": (("}", "C"), ("realizes", "y sends")),
    "protect": (("}", "P"), ("s stop", "t target", "Esc drops")),
}


TOO_LONG_FOR_30_ROWS = ("limit, all fields", "refused")


@pytest.mark.parametrize(
    ("name", "size"), crossed(FORMS, [(120, 30), (120, 35), (160, 45), (200, 50)])
)
async def test_a_form_docks_with_fields_refusal_risk_margin_position_and_keys(
    app: WorkingDesk, name: str, size: tuple[int, int]
) -> None:
    keys, words = FORMS[name]
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await drawn(app, pilot)
        if size[1] > 30 or name not in TOO_LONG_FOR_30_ROWS:
            assert_docked(app)
            assert "more in a larger window" not in words_of(app)
        for each in words:
            assert each in words_of(app)


@pytest.mark.parametrize(
    ("keys", "size"),
    crossed([("B",), ALL_FIELDS, (*ALL_FIELDS, "s", "3")], [(120, 35), (160, 45), (200, 50)]),
)
async def test_a_ticket_docks_with_its_warnings_whole(
    app: WorkingDesk, keys: tuple[str, ...], size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        warn_of_everything(app)
        await pilot.press(*keys)
        await drawn(app, pilot)
        assert_docked(app)
        text = words_of(app)
        for each in ("UNCONFIRMED", "this order as well", "to send", *TICKET):
            assert each in text
        assert ("j comment" in text) == (len(keys) > 1)


async def test_lines_go_in_a_fixed_order_and_a_key_shows_them_over_the_desk(
    app: WorkingDesk,
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await pilot.press(*ALL_FIELDS, "s", *"999999")
        await drawn(app, pilot)
        assert "holds" not in words_of(app)
        assert "more: x shows" in words_of(app)
        await pilot.press("x")
        await drawn(app, pilot)
        assert isinstance(app.screen, Form)
        assert app.screen.dock == 0
        for each in ("holds", "spread costs", "position", "risk"):
            assert each in words_of(app)
        await pilot.press("x")
        await drawn(app, pilot)
        assert_docked(app)


async def test_figures_stay_at_80_columns_with_all_fields_and_a_key_shows_the_rest(
    app: WorkingDesk,
) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        await pilot.press(*ALL_FIELDS)
        await drawn(app, pilot)
        for each in ("at stop", "margin", "closeout", "position", "j comment", "more: x shows"):
            assert each in words_of(app)
        await pilot.press("x")
        await drawn(app, pilot)
        assert "holds" in words_of(app)
        assert "x shows the fields again" in words_of(app)
        await pilot.press("y")
        await drawn(app, pilot)
        assert app.decided == []
        assert "its fields were hidden" in words_of(app)
        assert "j comment" in words_of(app)
        await pilot.press("y")
        await pilot.pause()
    assert len(app.decided) == 1


async def test_the_panes_end_beside_the_form_also_while_its_keys_are_listed(
    app: WorkingDesk,
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await drawn(app, pilot)
        await pilot.press("B")
        await drawn(app, pilot)
        before = {pane: pane.covered for pane in beneath(app)}
        assert any(before.values())
        await pilot.press("?")
        frame = frame_of(app.store, everything=True)
        later = frame.now + SECONDS_PER_FRAME_BENEATH
        app.window.screen.on_frame(replace(frame, now=later))
        assert {pane: pane.covered for pane in before} == before
