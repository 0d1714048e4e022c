"""The journal of the open account on the desk: its pages, and notes kept in the file."""

from pathlib import Path
from typing import cast

from keydesk.calc.trade_journal.notes import TradeNote
from keydesk.forms.journal.note import NoteForm
from keydesk.forms.journal.trades import JournalForm
from keydesk.forms.trades.labels import LabelsForm
from keydesk.trade_journal.notes_file import read_notes
from keydesk.trading.account_changes import LabelTrade
from support.data.desk_data import frame_of
from support.fakes.journal_app import JournalApp, settle

NOT_OPEN, OPEN = "5", "6411"  # a closed trade of the journal, an open one of the store


async def test_before_the_account_is_open_its_keys_say_so(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test():
        app.journal.show()
        app.journal.write_note("4")
        app.journal.read()
    assert app.said == ["The journal is read once the account is open"] * 2


async def test_the_page_shows_what_is_read_and_follows_a_fill(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.journal.show()
        await settle(app, pilot)
        page = app.screen
        assert isinstance(page, JournalForm)
        page.on_frame(frame_of(app.store))
        assert page.keys == [NOT_OPEN]
        seen = len(app.service.history)
        app.service.account.trade("EUR_USD", 3000)
        for each in app.service.history[seen:]:
            app.heard[0](each)
        page.on_frame(frame_of(app.store))
        assert len(page.keys) == 2


async def test_a_missed_transaction_is_read_by_the_open_page(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.journal.show()
        await settle(app, pilot)
        page = cast("JournalForm", app.screen)
        app.service.account.trade("EUR_USD", 3000)
        app.heard[0](app.service.history[-1])
        page.on_frame(frame_of(app.store))
        await settle(app, pilot)
        page.on_frame(frame_of(app.store))
        assert len(page.keys) == 2


async def test_a_journal_notices_that_the_market_began_anew_since_the_account_was_opened(
    tmp_path: Path,
) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.heard[0](app.service.history[-1])  # before anything of the journal was asked for
        app.journal.show()
        await settle(app, pilot)
        page = cast("JournalForm", app.screen)
        assert not page.journal.is_behind
        app.heard[0](app.service.history[0])
        assert page.journal.is_behind


async def test_a_note_written_from_the_page_is_in_the_file_and_on_the_page(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.journal.show()
        await settle(app, pilot)
        page = cast("JournalForm", app.screen)
        page.on_frame(frame_of(app.store))
        await pilot.press("n", "t", *"news", "enter", "4", "enter")
        await settle(app, pilot)
        page.on_frame(frame_of(app.store))
        assert app.screen is page
        assert page.journal.notes.by_trade[NOT_OPEN].rating == 4
    assert read_notes(app.notes).by_trade == {NOT_OPEN: TradeNote(("news",), rating=4)}
    assert app.notes.stat().st_mode & 0o777 == 0o600
    assert app.told == [("good", f"Note on #{NOT_OPEN} kept")]


async def test_a_note_that_cannot_be_kept_is_shown_again_as_typed(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.journal.write_note(OPEN)
        await settle(app, pilot)
        app.notes.mkdir(parents=True)
        app.notes.parent.chmod(0o700)
        await pilot.press("n", *"seen", "enter", "enter")
        await settle(app, pilot)
        form = app.screen
        assert isinstance(form, NoteForm)
        assert form.changes == {"note": "seen"}
        assert "NOT SAVED" in str(form.panel.text if form.panel else "")
        app.notes.rmdir()
        await pilot.press("enter")
        await settle(app, pilot)
    assert read_notes(app.notes).by_trade[OPEN].note == "seen"
    assert [level for level, _ in app.told] == ["bad", "good"]


async def test_what_was_typed_in_a_form_that_the_guard_closed_is_there_again(
    tmp_path: Path,
) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.journal.write_note(OPEN)
        await settle(app, pilot)
        await pilot.press("n", *"seen", "enter")
        app.screen.dismiss(None)
        await settle(app, pilot)
        assert "NOT SAVED: open it again" in app.told[-1][1]
        app.journal.write_note(OPEN)
        await settle(app, pilot)
        assert cast("NoteForm", app.screen).changes == {"note": "seen"}
        await pilot.press("escape", "escape")
        app.journal.write_note(OPEN)
        await settle(app, pilot)
        assert cast("NoteForm", app.screen).changes == {}


async def test_by_choice_the_note_goes_to_the_broker_as_labels_that_y_sends(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.journal.write_note(OPEN)
        await settle(app, pilot)
        await pilot.press("t", *"a b", "enter", "n", *"why" * 43, "enter", "b", "enter")
        await settle(app, pilot)
        form = app.screen
        assert isinstance(form, LabelsForm)
        assert app.sent == []
        await pilot.press("y")
        await settle(app, pilot)
    assert app.sent == [LabelTrade(OPEN, "EUR_USD", "a b", ("why" * 43)[:128])]
    assert read_notes(app.notes).by_trade[OPEN].note == "why" * 43


async def test_a_line_of_the_file_that_cannot_be_read_is_named_and_kept(tmp_path: Path) -> None:
    app = JournalApp(tmp_path)
    async with app.run_test(size=(120, 35)) as pilot:
        app.open()
        app.notes.parent.mkdir(mode=0o700, exist_ok=True)
        app.notes.write_text(
            '{"trade": "1", "note": "kept"}\nnot JSON\n\n{"trade": 5, "rating": 9}\n'
        )
        app.notes.chmod(0o600)
        await settle(app, pilot)
        app.journal.reread_notes()
        await settle(app, pilot)
        app.journal.write_note(OPEN)
        await pilot.pause()
        form = cast("NoteForm", app.screen)
        assert form.panel is not None
        assert "main.notes.jsonl: lines 2, 4 cannot be read" in " ".join(form.panel.text.split())
        await pilot.press("3", "enter")
        await settle(app, pilot)
    text = app.notes.read_text()
    assert "not JSON" in text
    assert '"rating": 9' in text
    assert read_notes(app.notes).by_trade.keys() == {"1", OPEN}
