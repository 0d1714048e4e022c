"""A form in a wide window: two columns below the chart; panes beside it end where it begins, and come back whole."""

from pathlib import Path

import pytest
from msgspec.structs import replace
from textual.pilot import Pilot

from keydesk.forms.form import Form
from keydesk.screens.desk import SECONDS_PER_FRAME_BENEATH
from keydesk.tables.column import needed
from keydesk.tables.table_pane import TablePane
from keydesk.trading.desk_session import DeskLock
from keydesk.widgets.lines import LinePane
from support.data.desk_data import frame_of
from support.data.in_flight import in_flight
from support.fakes.pane_app import text_of
from support.fakes.working_desk import WorkingDesk
from support.walks import crossed, sampled

SIZES = ((120, 24), (120, 35), (148, 45), (250, 70))


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


def form_of(app: WorkingDesk) -> Form[object]:
    form = app.screen
    assert isinstance(form, Form)
    assert form.panel is not None
    return form


def words_of(app: WorkingDesk) -> str:
    """The words of the open form, wrapped lines joined."""
    panel = form_of(app).panel
    assert panel is not None
    return " ".join(panel.text.split())


def assert_docked(app: WorkingDesk) -> None:
    """Assert that the form stands at the bottom in two columns, above the footer where there is room beside it.

    It covers neither account nor health.
    """
    form = form_of(app)
    at = form.docked_region
    rows_below = int(at.width < app.size.width)
    assert (at.bottom, at.right) == (app.size.height - rows_below, app.size.width)
    assert at.y >= 2
    assert form.column >= 40


@pytest.mark.parametrize("size", sampled(SIZES, 2))
async def test_a_form_has_two_columns_below_the_chart_and_nothing_touches_its_border(
    app: WorkingDesk, size: tuple[int, int]
) -> None:
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await drawn(app, pilot)
        await pilot.press("B")
        lines = await drawn(app, pilot)
        assert_docked(app)
        at = form_of(app).docked_region
        for line in lines[at.y + 1 : at.bottom - 1]:
            inside = line[at.x + 1 : at.right - 1]
            assert inside.startswith(" ")
            assert inside.endswith(" ")
        if size[1] >= 45:
            assert not at.overlaps(app.window.screen.pane("chart").region)


async def test_a_ticket_has_no_blank_lines_where_they_would_cover_prices_and_chart(
    app: WorkingDesk,
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        await drawn(app, pilot)
        await pilot.press("B")
        lines = await drawn(app, pilot)
        at = form_of(app).docked_region
        assert not any(line[1:-1].isspace() for line in lines[at.y + 1 : at.bottom - 1])
        above = "\n".join(lines[: at.y])
        for each in ("S sell", "B buy", "spread   1.2 pips", "position +10,000", "P/L", "UTC"):
            assert each in above, "deal pane and time axis stand above it"
        for each in FORMS["market"][1]:
            assert each in words_of(app), "nothing but blank lines is left out"


async def test_panes_beside_the_form_end_where_it_begins_and_come_back(app: WorkingDesk) -> None:
    async with app.run_test(size=(200, 50)) as pilot:
        await pilot.pause()
        await drawn(app, pilot)
        panes = app.window.screen.query(LinePane)
        before = {pane: text_of(pane) for pane in panes}
        await pilot.press("B")
        await drawn(app, pilot)
        at = form_of(app).docked_region
        covered = {pane: pane.covered for pane in panes if pane.display and pane.covered}
        assert {pane.id for pane in covered} >= {"orders", "notices"}
        for pane in covered:
            edge = at.x - pane.region.x
            for y in range(pane.outer_size.height):
                assert not pane.render_line(y).text[edge - 1 :].strip(), (pane.id, y)
            if isinstance(pane, TablePane) and pane.keys:
                assert needed(pane.fitted, pane.gap) <= edge
        await pilot.press("?")
        frame = frame_of(app.store, everything=True)
        later = frame.now + SECONDS_PER_FRAME_BENEATH
        app.window.screen.on_frame(replace(frame, now=later))
        assert {pane: pane.covered for pane in covered} == covered, "while its keys are listed"
        await pilot.press("escape", "escape")
        await drawn(app, pilot)
        assert {pane: text_of(pane) for pane in covered} == {pane: before[pane] for pane in covered}


def warn_of_everything(app: WorkingDesk) -> None:
    """Set up a bad link and an order that was not found: two warnings for every order."""
    app.store.health.rtt_ms = 800.0
    app.store.set_in_flight(in_flight("EUR_USD", state="unconfirmed"))


ALL_FIELDS = ("B", "o", "n")
TICKET = ("at stop", "margin", "closeout", "position", "Esc drops")
FORMS = {
    "market": (("B",), ("y sends", *TICKET)),
    "limit, all fields": (ALL_FIELDS, ("k tag", "j comment", "y sends", *TICKET)),
    "refused": ((*ALL_FIELDS, "s", *"999999"), ("at or below 0", "k tag", *TICKET)),
    "no stop": (
        ("B", "s", *["backspace"] * 2, "t", "backspace"),
        ("UNLIMITED", "No stop", "to send", *TICKET[1:]),
    ),
    "modify": (("}", "M", "up"), ("s stop", "t target", "at stop", "Esc drops")),
    "modify, refused": (("}", "M", "s", *"99999"), ("s stop", "✗", "Esc drops")),
    "close": (("}", "C"), ("realizes", "y sends")),
    "protect": (("}", "P"), ("s stop", "t target", "Esc drops")),
}


@pytest.mark.parametrize(("name", "size"), crossed(FORMS, [(120, 30), (200, 50)]))
async def test_a_form_shows_fields_refusal_risk_margin_position_and_keys(
    app: WorkingDesk, name: str, size: tuple[int, int]
) -> None:
    keys, words = FORMS[name]
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        await pilot.press(*keys)
        await drawn(app, pilot)
        assert_docked(app)
        for each in (*words, *(() if "…" not in words_of(app) else ("x shows",))):
            assert each in words_of(app)


async def test_a_ticket_has_its_warnings_whole(app: WorkingDesk) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        warn_of_everything(app)
        await pilot.press(*ALL_FIELDS, "s", "3")
        await drawn(app, pilot)
        for each in ("UNCONFIRMED", "this order as well", "to send", "j comment", *TICKET):
            assert each in words_of(app)


async def test_no_form_begins_with_an_error_and_a_key_shows_it(app: WorkingDesk) -> None:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for form, hint in (("M", "No change yet"), ("O", "Choose: 2 5 7")):
            await pilot.press("}", form)
            await drawn(app, pilot)
            assert hint in words_of(app)
            assert "✗" not in words_of(app)
            await pilot.press("y")
            await drawn(app, pilot)
            assert f"✗ {hint}" in words_of(app)
            assert app.decided == []
            await pilot.press("escape")
            await drawn(app, pilot)


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
        assert "exposure" in words_of(app)
        assert "x shows the fields again" in words_of(app)
        await pilot.press("y")
        await drawn(app, pilot)
        assert app.decided == []
        assert "its fields were hidden" in words_of(app)
        assert "j comment" in words_of(app)
        await pilot.press("y")
        await pilot.pause()
    assert len(app.decided) == 1
