"""The twelve tasks of a trader's day, each in its number of keys: the desk with all its keys and forms."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.screen import ModalScreen

from keydesk.calc.orders.instructions import CancelOrders, CloseTrades, Flatten, SetProtection
from keydesk.forms.form import Form
from keydesk.trading.commands import Instruction
from keydesk.trading.desk_session import DeskLock
from keydesk.trading.entry_requests import OpenOrder, Reverse
from keydesk_client.models import HomeConversions
from support.data.desk_data import desk_store
from support.data.entry_orders import price_of, stop_of
from support.fakes.working_desk import WorkingDesk
from support.walks import sampled

D = Decimal
IN_DOLLARS = HomeConversions(
    currency="JPY", account_gain=D("0.0064"), account_loss=D("0.0065"), position_value=D("0.0064")
)
SEND = "<send>"  # `y`, or the letter that the form shows


@dataclass(frozen=True)
class Task:
    """What is typed from the desk at rest, the pane that has the keys, and what it asks for."""

    number: int
    keys: tuple[str, ...]
    does: type
    pane: str = "watchlist"


TASKS = (
    Task(1, ("B", SEND), OpenOrder),
    Task(2, ("0", "S", "s", "2", "0", SEND), OpenOrder),
    Task(3, ("slash", "g", "j", "enter", "B", SEND), OpenOrder),
    Task(3, ("apostrophe", "g", "B", SEND), OpenOrder),
    Task(4, ("B", "o", "p", "-", "1", "5", SEND), OpenOrder),
    Task(5, ("E", SEND), SetProtection, "trades"),
    Task(6, ("O", "5", SEND), CloseTrades, "trades"),
    Task(7, ("C", SEND), CloseTrades, "trades"),
    Task(8, ("T", SEND), SetProtection, "trades"),
    Task(9, ("Z", SEND), CancelOrders),
    Task(9, ("Z", "a", SEND), CancelOrders),
    Task(10, ("X", SEND), Flatten),
    Task(11, ("R", SEND), Reverse, "trades"),
    Task(12, ("M", "s", "up", "up", "up", SEND), SetProtection, "trades"),
)
MAX_KEYS = {1: 2, 2: 6, 3: 6, 4: 7, 5: 2, 6: 3, 7: 2, 8: 2, 9: 3, 10: 2, 11: 2, 12: 6}


async def carried_out(app: WorkingDesk, pilot: Pilot[int], task: Task) -> Instruction:
    await pilot.pause()
    app.draw()
    app.window.screen.action_go(task.pane)
    for key in task.keys:
        await pilot.press(_letter(app) if key == SEND else key)
        app.draw()
    assert not isinstance(app.screen, ModalScreen), app.screen
    [instruction] = app.decided
    return instruction


def _letter(app: WorkingDesk) -> str:
    form = app.screen
    assert isinstance(form, Form)
    asked = form.confirmation()
    assert not asked.reason or asked.letter, asked
    return asked.letter or "y"


@pytest.mark.parametrize(
    "task", sampled(TASKS, 5), ids=lambda task: f"{task.number} {' '.join(task.keys)}"
)
async def test_each_task_takes_its_number_of_keys_and_no_more(task: Task, tmp_path: Path) -> None:
    app = WorkingDesk(DeskLock.of(tmp_path, "practice"))
    if task.does is OpenOrder:  # nothing is held that it would only reduce
        app.store.trades, app.store.positions = {}, {}
    app.store.conversions["JPY"] = IN_DOLLARS
    async with app.run_test(size=(120, 35)) as pilot:
        if task.keys[0] == "apostrophe":
            await pilot.press("m", "g")  # bookmarked in an earlier session
        instruction = await carried_out(app, pilot, task)
    assert isinstance(instruction, task.does)
    assert len(task.keys) <= MAX_KEYS[task.number]
    if task.number in CHECKS:
        CHECKS[task.number](instruction)


def _sized_by_risk(order: Instruction) -> None:
    assert isinstance(order, OpenOrder)
    assert order.request.units < 0
    stop = stop_of(order)
    assert stop is not None
    assert order.expected is not None
    assert stop - order.expected == D("0.00200")


def _fifteen_under(order: Instruction) -> None:
    assert isinstance(order, OpenOrder)
    ask = desk_store(20).quotes["EUR_USD"].ask
    assert (order.request.type, price_of(order)) == ("LIMIT", ask - D("0.00150"))


def _half(close: Instruction) -> None:
    assert isinstance(close, CloseTrades)
    assert close.units is not None


CHECKS = {2: _sized_by_risk, 4: _fifteen_under, 6: _half}
