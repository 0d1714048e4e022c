"""The text of each form at 80x24 on fixed data; after a wanted change: `pytest tests/tui/forms --snapshot-update`."""

from collections.abc import Callable
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.screen import Screen

from keydesk import forms
from keydesk.calc.watchlists import Watchlist
from keydesk.forms.arming import ArmForm
from keydesk.forms.break_even import BreakEvenForm
from keydesk.forms.close_position import ClosePositionForm
from keydesk.forms.close_trade import CloseForm, ScaleOutForm
from keydesk.forms.command_line import CommandForm, FindForm
from keydesk.forms.indicators import IndicatorForm
from keydesk.forms.info_form import DetailsForm, HelpForm
from keydesk.forms.move_order import MoveForm
from keydesk.forms.orders import CancelEntriesForm, CancelForm
from keydesk.forms.position_part import PositionPartForm
from keydesk.forms.protection import ProtectForm, ProtectionForm, TrailingForm
from keydesk.forms.reverse_flatten import FlattenForm, ReverseForm
from keydesk.forms.ticket import TicketForm
from keydesk.forms.timeframes import TimeframeForm
from keydesk.forms.watchlists import AddForm, ColumnsForm, DeleteListForm, NameForm
from keydesk.keys.keymap import KEYMAP
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp, example_context

TRADE, ENTRY, PAIR = "6411", "6415", "EUR_USD"
LIST = Watchlist("Majors", (PAIR, "USD_JPY"))
FORMS: dict[str, Callable[[], Screen[Any]]] = {
    "AddForm": lambda: AddForm(example_store(), LIST),
    "ArmForm": lambda: ArmForm(example_context()),
    "BreakEvenForm": lambda: BreakEvenForm(example_context(), TRADE),
    "CancelEntriesForm": lambda: CancelEntriesForm(example_context(), PAIR),
    "CancelForm": lambda: CancelForm(example_context(), ENTRY),
    "CloseForm": lambda: CloseForm(example_context(), PAIR, [TRADE]),
    "ClosePositionForm": lambda: ClosePositionForm(example_context(), PAIR),
    "ColumnsForm": lambda: ColumnsForm(LIST),
    "CommandForm": lambda: CommandForm(example_store()),
    "DeleteListForm": lambda: DeleteListForm(LIST),
    "DetailsForm": lambda: DetailsForm("Trade #6411", [("units", "10,000"), ("price", "1.08231")]),
    "FindForm": lambda: FindForm(example_store()),
    "FlattenForm": lambda: FlattenForm(example_context(), PAIR),
    "HelpForm": lambda: HelpForm(KEYMAP),
    "IndicatorForm": lambda: IndicatorForm(example_store()),
    "MoveForm": lambda: MoveForm(example_context(), ENTRY),
    "NameForm": lambda: NameForm("Rename Majors", "Majors", trouble=lambda _: "", hint="Enter"),
    "PositionPartForm": lambda: PositionPartForm(example_context(), PAIR),
    "ProtectForm": lambda: ProtectForm(example_context(), TRADE),
    "ProtectionForm": lambda: ProtectionForm(example_context(), TRADE),
    "ReverseForm": lambda: ReverseForm(example_context(), PAIR),
    "ScaleOutForm": lambda: ScaleOutForm(example_context(), TRADE),
    "TicketForm": lambda: TicketForm(example_context(), "BUY", PAIR),
    "TimeframeForm": lambda: TimeframeForm("H1"),
    "TrailingForm": lambda: TrailingForm(example_context(), TRADE),
}


def test_every_form_has_its_body_kept() -> None:
    assert set(FORMS) == set(forms.__all__) - {"load"}


@pytest.mark.parametrize("form", FORMS)
async def test_the_body_of_a_form_reads_as_it_did(form: str, snapshot: SnapshotAssertion) -> None:
    app = FormApp(FORMS[form])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.words.strip("\n") == snapshot
