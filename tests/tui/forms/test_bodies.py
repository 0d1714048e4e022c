"""The text of each form at 80x24 on fixed data; after a wanted change: `pytest tests/tui/forms --snapshot-update`."""

from collections.abc import Callable
from datetime import UTC
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.screen import Screen

from keydesk.calc.alerts.price_conditions import PriceCross
from keydesk.calc.market.watchlists import Watchlist
from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.forms.account.all_accounts import AllAccountsPage
from keydesk.forms.account.arming import ArmForm, UnlockForm
from keydesk.forms.account.audit import AuditForm
from keydesk.forms.account.configure import ConfigureForm
from keydesk.forms.account.leaving import LeaveForm
from keydesk.forms.account.limits import LimitsForm
from keydesk.forms.account.messages import MessagesPage
from keydesk.forms.account.order_history import OrderHistoryForm
from keydesk.forms.account.orders_by_state import AccountOrdersForm
from keydesk.forms.account.sessions import SessionsForm
from keydesk.forms.account.settings import Choice, SettingsForm
from keydesk.forms.account.sign_in import (
    ChoiceForm,
    LiveSafetyPage,
    ProfileForm,
    TextForm,
    WaitForm,
)
from keydesk.forms.account.transaction import Take, TransactionForm
from keydesk.forms.command_line import CommandForm, FindForm
from keydesk.forms.details_form import DetailsForm
from keydesk.forms.info_form import HelpForm
from keydesk.forms.journal.note import NoteForm
from keydesk.forms.journal.trade import JournalTradeForm
from keydesk.forms.journal.trades import JournalForm
from keydesk.forms.market.alerts import AlertsForm
from keydesk.forms.market.indicators import IndicatorForm
from keydesk.forms.market.new_alert import AlertLineForm, NewAlertForm
from keydesk.forms.market.replay import StartReplayForm
from keydesk.forms.market.replay_page import ReplayPage
from keydesk.forms.market.timeframes import TimeframeForm
from keydesk.forms.market.watchlists import AddForm, ColumnsForm, NameForm, RemoveForm
from keydesk.forms.ticket.ticket_form import TicketForm
from keydesk.forms.trades.break_even import BreakEvenForm
from keydesk.forms.trades.cancel_orders import CancelEntriesForm, CancelForm
from keydesk.forms.trades.close_position import ClosePositionForm
from keydesk.forms.trades.close_trade import CloseForm, ScaleOutForm
from keydesk.forms.trades.exit_plan import ExitPlanForm
from keydesk.forms.trades.labels import LabelsForm, OrderLabelsForm
from keydesk.forms.trades.move_order import MoveForm
from keydesk.forms.trades.position_part import PositionPartForm
from keydesk.forms.trades.protection import ProtectForm, ProtectionForm, TrailingForm
from keydesk.forms.trades.reverse_flatten import FlattenForm, ReverseForm
from keydesk.keys.keymap import KEYMAP
from keydesk.parse.pages import OrdersIn
from keydesk.parse.replay import ReplayCommand
from keydesk.settings.values import USUAL
from keydesk.store.transactions.account_orders import AccountOrder, OrderList
from keydesk.store.transactions.details import Related, TransactionDetails
from keydesk.text.sanitize import safe
from keydesk.words.log_line import LogLine
from support.data.all_forms import form_names
from support.data.desk_store import WALL_NS, example_store
from support.data.journal_service import read_journal
from support.data.journal_trades import closed_trade
from support.fakes.form_app import FormApp, example_context
from support.fakes.journal_host import JournalHost

TRADE, ENTRY, PAIR = "6411", "6415", "EUR_USD"
ABOVE = PriceCross(instrument=PAIR, side="mid", direction="up", level=Decimal("1.12"))
LIST = Watchlist("Majors", (PAIR, "USD_JPY"))
FRANC = ReplayCommand(
    "starts a replay of franc: EUR/CHF, 2015-01-15 09:00 UTC", path="/replay", begins_anew=True
)
FILLED = LogLine("6411", WALL_NS, "FILL", PAIR, safe("Bought 10,000 at 1.08380 #6411"))


def read_fill(id_: str, take: Take) -> None:
    """Hand on what a fill and its relations say."""
    order = LogLine("6410", WALL_NS, "ORDER", PAIR, safe("Market buy 10,000 SL 1.08180"))
    related = (Related("6410", "order", order), Related("6440", "closed trade #6411"))
    take(TransactionDetails(id_, (("what", FILLED.text), ("units", "+10,000")), related))


def read_orders(_state: OrdersIn, _before_id: str, take: Callable[[OrderList], None]) -> None:
    """Hand on two orders, behind which there are more."""
    texts = (("6415", "PENDING", "BUY 20,000 EUR/USD limit"), ("6411", "FILLED", "BUY market"))
    listed = [AccountOrder(id_, WALL_NS, state, PAIR, safe(text)) for id_, state, text in texts]
    take(OrderList(listed, "6410"))


FORMS: dict[str, Callable[[], Screen[Any]]] = {
    "AccountOrdersForm": lambda: AccountOrdersForm(example_store(), "ALL", read_orders),
    "AddForm": lambda: AddForm(example_store(), LIST),
    "AllAccountsPage": lambda: AllAccountsPage("main"),
    "ChoiceForm": lambda: ChoiceForm("Sign in: main", [safe("practice"), safe("live")]),
    "LiveSafetyPage": LiveSafetyPage,
    "ProfileForm": lambda: ProfileForm(
        "Open another account", [safe("● PRACTICE  practice-market")]
    ),
    "TextForm": lambda: TextForm("Token of main", [safe("Shown as dots.")], hidden=True),
    "WaitForm": lambda: WaitForm("Asking the broker"),
    "AlertLineForm": lambda: AlertLineForm(example_store(), "eurusd > 1.12", "Alert"),
    "AlertsForm": lambda: AlertsForm(example_store()),
    "ArmForm": lambda: ArmForm(example_context()),
    "AuditForm": lambda: AuditForm([], UTC),
    "StartReplayForm": lambda: StartReplayForm(example_store(), FRANC),
    "BreakEvenForm": lambda: BreakEvenForm(example_context(), TRADE),
    "CancelEntriesForm": lambda: CancelEntriesForm(example_context(), PAIR),
    "CancelForm": lambda: CancelForm(example_context(), ENTRY),
    "CloseForm": lambda: CloseForm(example_context(), PAIR, [TRADE]),
    "ClosePositionForm": lambda: ClosePositionForm(example_context(), PAIR),
    "ColumnsForm": lambda: ColumnsForm(LIST),
    "CommandForm": lambda: CommandForm(example_store()),
    "ConfigureForm": lambda: ConfigureForm(example_context()),
    "RemoveForm": lambda: RemoveForm(LIST, PAIR),
    "DetailsForm": lambda: DetailsForm("Trade #6411", [("units", "10,000"), ("price", "1.08231")]),
    "ExitPlanForm": lambda: ExitPlanForm(example_context(), TRADE),
    "FindForm": lambda: FindForm(example_store()),
    "FlattenForm": lambda: FlattenForm(example_context(), PAIR),
    "HelpForm": lambda: HelpForm(KEYMAP),
    "IndicatorForm": lambda: IndicatorForm(example_store()),
    "ReplayPage": lambda: ReplayPage(example_store(), lambda: 0.0),
    "MoveForm": lambda: MoveForm(example_context(), ENTRY),
    "NameForm": lambda: NameForm("Rename Majors", "Majors", trouble=lambda _: "", hint="Enter"),
    "MessagesPage": lambda: MessagesPage(example_store()),
    "NewAlertForm": lambda: NewAlertForm(example_store(), ABOVE),
    "NoteForm": lambda: NoteForm(
        TRADE,
        "#6411 LONG 10,000 EUR/USD, open",
        TradeNote(("news", "trend"), "pullback", "Bought the second push.", 4, "late"),
        is_open=lambda: True,
    ),
    "PositionPartForm": lambda: PositionPartForm(example_context(), PAIR),
    "ProtectForm": lambda: ProtectForm(example_context(), TRADE),
    "ProtectionForm": lambda: ProtectionForm(example_context(), TRADE),
    "ReverseForm": lambda: ReverseForm(example_context(), PAIR),
    "ScaleOutForm": lambda: ScaleOutForm(example_context(), TRADE),
    "TicketForm": lambda: TicketForm(example_context(), "BUY", PAIR),
    "TimeframeForm": lambda: TimeframeForm("H1"),
    "JournalForm": lambda: JournalForm(
        example_store(), read_journal([closed_trade("12.5")], Path("none")), JournalHost()
    ),
    "JournalTradeForm": lambda: JournalTradeForm(
        example_store(), read_journal([closed_trade("12.5")], Path("none")), "1", JournalHost()
    ),
    "LabelsForm": lambda: LabelsForm(example_context(), TRADE),
    "LeaveForm": lambda: LeaveForm(example_store()),
    "LimitsForm": lambda: LimitsForm(example_context()),
    "OrderHistoryForm": lambda: OrderHistoryForm(example_store(), lambda take: take((), ())),
    "OrderLabelsForm": lambda: OrderLabelsForm(example_context(), ENTRY),
    "SessionsForm": lambda: SessionsForm(example_store(), lambda: WALL_NS),
    "SettingsForm": lambda: SettingsForm(
        lambda: [Choice("theme", "dark", ("dark", "light")), Choice("zone", "system")],
        lambda: USUAL,
    ),
    "TrailingForm": lambda: TrailingForm(example_context(), TRADE),
    "TransactionForm": lambda: TransactionForm(example_store(), FILLED, read_fill),
    "UnlockForm": lambda: UnlockForm(example_context()),
}


# Pages whose words have tests of their own, and the form of a text that another one opens.
KEPT_ELSEWHERE = {
    *("AccountPage", "DayPage", "ExposurePage", "InstrumentPage", "StatisticsPage"),
    "NoteTextForm",
}


def test_every_form_has_its_body_kept() -> None:
    assert set(FORMS) == form_names() - KEPT_ELSEWHERE


@pytest.mark.parametrize("form", FORMS)
async def test_the_body_of_a_form_reads_as_it_did(form: str, snapshot: SnapshotAssertion) -> None:
    app = FormApp(FORMS[form])
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        assert app.words.strip("\n") == snapshot
