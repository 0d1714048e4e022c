"""From the crosshair to a form: the order at its price, the nearest own line, the plan on the chart."""

from decimal import Decimal
from pathlib import Path

import pytest
from textual.pilot import Pilot

from keydesk.calc.orders.instructions import MoveEntry, SetProtection
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.move_order import MoveForm
from keydesk.forms.trades.protection import ProtectionForm
from keydesk.panes.chart import Chart
from keydesk.screens.desk import DeskScreen
from keydesk.trading.desk_session import DeskLock
from keydesk.trading.entry_requests import OpenOrder
from support.data.entry_orders import price_of
from support.fakes.working_desk import WorkingDesk
from support.walks import sampled_rows

D = Decimal
SIZES = ((80, 24), (100, 30), (120, 24), (120, 35), (140, 45), (160, 35), (200, 50), (250, 70))


def chart_of(app: WorkingDesk) -> Chart:
    return app.window.screen.chart


def planned(app: WorkingDesk) -> dict[str, float]:
    scene = chart_of(app).scene
    assert scene is not None
    return {line.text: line.price for line in scene.lines if line.text.startswith("new ")}


async def point_at(pilot: Pilot[int], app: WorkingDesk, steps: int) -> Decimal:
    """Turn the crosshair on and move it by price steps; return its price."""
    await pilot.pause()
    app.draw()
    app.window.screen.action_go("chart")
    await pilot.press("i")
    for _ in range(abs(steps)):
        await pilot.press("k" if steps > 0 else "j")
    price = chart_of(app).crosshair_price
    assert price is not None
    return price


@pytest.fixture
def app(tmp_path: Path) -> WorkingDesk:
    return WorkingDesk(DeskLock.of(tmp_path, "practice"))


@pytest.mark.parametrize(
    ("capital", "steps", "kind", "side"),
    sampled_rows(
        [
            *(("B", -9, "LIMIT", "BUY"), ("B", 9, "STOP", "BUY")),
            *(("S", -9, "STOP", "SELL"), ("S", 9, "LIMIT", "SELL")),
            *(("L", -9, "LIMIT", "BUY"), ("L", 9, "LIMIT", "SELL")),
        ],
        3,
    ),
)
async def test_a_capital_opens_a_limit_or_a_stop_at_the_crosshair(
    app: WorkingDesk, capital: str, steps: int, kind: str, side: str
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        price = await point_at(pilot, app, steps)
        await pilot.press(capital)
        ticket = app.screen
        assert isinstance(ticket, TicketForm)
        assert (ticket.draft.kind, ticket.draft.side) == (kind, side)
        order = ticket.request()
        assert isinstance(order, OpenOrder)
        assert price_of(order) == price
        assert app.decided == []


async def test_without_the_crosshair_a_ticket_is_at_market_and_the_limit_key_says_what_to_do(
    app: WorkingDesk,
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await point_at(pilot, app, 3)
        await pilot.press("escape", "B")
        ticket = app.screen
        assert isinstance(ticket, TicketForm)
        assert ticket.draft.kind == "MARKET"
        await pilot.press("escape", "L")
        assert isinstance(app.screen, DeskScreen)
        assert "Point at a price first" in str(app.store.notices[-1].text)


async def test_modify_takes_the_nearest_line_and_the_line_follows_the_keys(
    app: WorkingDesk,
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await point_at(pilot, app, 0)
        trade = next(each for each in app.store.trades.values() if each.instrument == "EUR_USD")
        assert trade.stop_loss is not None
        stop = trade.stop_loss.price
        assert stop is not None
        for _ in range(40):
            price = chart_of(app).crosshair_price
            if price is None or price <= stop:
                break
            await pilot.press("comma")
        await pilot.press("M")
        form = app.screen
        assert isinstance(form, ProtectionForm)
        assert (form.trade_id, form.draft.active) == (trade.id, "stop")
        assert planned(app) == {}
        await pilot.press("up", "up")
        await pilot.pause()
        assert planned(app) == {"new stop": pytest.approx(float(stop + D("0.0002")))}
        decision = form.request()
        assert isinstance(decision, SetProtection)
        await pilot.press("escape")
        await pilot.pause()
        assert planned(app) == {}
        assert app.decided == []


async def test_modify_takes_an_entry_order_that_is_nearest(app: WorkingDesk) -> None:
    order = next(
        each
        for each in app.store.orders.values()
        if each.instrument == "EUR_USD" and each.type == "LIMIT"
    )
    async with app.run_test(size=(120, 35)) as pilot:
        await point_at(pilot, app, 0)
        assert chart_of(app).crosshair_price is not None
        order.price = chart_of(app).crosshair_price
        await pilot.press("M")
        form = app.screen
        assert isinstance(form, MoveForm)
        assert form.order_id == order.id
        await pilot.press("down")
        moved = form.request()
        assert isinstance(moved, MoveEntry)
        assert order.price is not None
        assert moved.price == order.price - D("0.0001")


async def test_a_ticket_draws_its_plan_as_it_is_typed_and_nothing_of_what_cannot_be_read(
    app: WorkingDesk,
) -> None:
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.pause()
        app.draw()
        await pilot.press("B")
        await pilot.pause()
        assert {"new entry", "new stop", "new target"} <= set(planned(app))
        await pilot.press("b", "2", "s", "3", "0")
        await pilot.pause()
        lines = planned(app)
        assert lines["new entry"] - lines["new stop"] == pytest.approx(0.0030)
        assert lines["new bound"] - lines["new entry"] == pytest.approx(0.0002)
        await pilot.press("comma")
        await pilot.pause()
        assert "new stop" not in planned(app)
        await pilot.press("escape")
        await pilot.pause()
        assert planned(app) == {}
