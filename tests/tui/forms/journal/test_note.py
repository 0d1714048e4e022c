"""The form of a note, by keys alone."""

from pathlib import Path

import pytest

from keydesk.calc.trade_journal.notes import MAX_NAME_LENGTH, MAX_NOTE_LENGTH, NoteField, TradeNote
from keydesk.forms.journal.note import NoteEdit, NoteForm, trouble_with
from keydesk.text.sanitize import safe
from keydesk.trade_journal.notes_file import change_note, read_notes
from support.fakes.form_app import FormApp

BEFORE = TradeNote(("news",), "fade", "Before.", 3, "late")
SIZES = [(40, 12), (60, 16), (80, 24), (200, 50)]


class Form:
    """The form over a note."""

    def __init__(self, note: TradeNote = BEFORE, *, is_open: bool = True) -> None:
        self.is_open = is_open
        about = safe("#5 LONG 10,000 EUR/USD, open")
        self.form = NoteForm("5", about, note, is_open=lambda: self.is_open)
        self.app = FormApp(lambda: self.form)

    async def after(self, *keys: str, size: tuple[int, int] = (80, 24)) -> str:
        async with self.app.run_test(size=size) as pilot:
            await pilot.press(*keys)
            await pilot.pause()
            return self.app.words


async def test_each_field_is_written_by_its_key_and_only_changes_are_returned() -> None:
    form = Form()
    async with form.app.run_test(size=(80, 24)) as pilot:
        await pilot.press("t", *", Late #trend", "enter")
        for key, text in (("s", "!"), ("n", "; more"), ("m", "2")):
            await pilot.press(key, *text, "enter")
        await pilot.press("5")
        await pilot.pause()
        words = form.app.words
        for each in (
            "news late trend",
            "fade!",
            "Before.; more",
            "late2",
            "5 of 5",
            "Enter keeps it",
        ):
            assert each in words
        await pilot.press("enter")
    changes = {
        "tags": ("news", "late", "trend"),
        "setup": "fade!",
        "note": "Before.; more",
        "mistake": "late2",
        "rating": 5,
    }
    assert form.app.results == [NoteEdit("5", changes)]


async def test_what_is_typed_back_is_no_change_and_nothing_is_kept_without_one() -> None:
    form = Form()
    text = await form.after("0", "3", "s", "enter", "enter")
    assert form.form.changes == {}
    assert "Nothing is changed" in text
    assert form.app.results == []


async def test_the_rating_is_taken_off() -> None:
    form = Form()
    await form.after("0", "enter")
    assert form.app.results == [NoteEdit("5", {"rating": None})]


async def test_changes_are_dropped_only_by_the_second_escape() -> None:
    form = Form()
    text = await form.after("1", "escape")
    assert "Esc again drops what you changed, Enter keeps it" in text
    again = Form()
    await again.after("1", "escape", "q")
    assert again.app.results == [None]
    untouched = Form()
    await untouched.after("escape")
    assert untouched.app.results == [None]


async def test_escape_in_a_text_leaves_it_as_it_was() -> None:
    form = Form()
    text = await form.after("n", *"lost", "escape")
    assert form.form.changes == {}
    assert "Before." in text


async def test_a_text_that_cannot_be_kept_stays_open_with_the_reason() -> None:
    form = Form(TradeNote(setup="x" * MAX_NAME_LENGTH))
    text = await form.after("s", "y", "enter")
    assert f"{MAX_NAME_LENGTH + 1} characters, at most {MAX_NAME_LENGTH}" in text
    assert form.form.changes == {}


TROUBLES: list[tuple[NoteField, str, str]] = [
    ("tags", "a" * 41, "at most 40 characters"),
    ("tags", " ".join(map(str, range(21))), "at most 20"),
    ("tags", "news late", ""),
    ("note", "x" * (MAX_NOTE_LENGTH + 1), "at most"),
    ("note", "x" * MAX_NOTE_LENGTH + "  ", ""),
    ("mistake", "", ""),
]


@pytest.mark.parametrize(("name", "text", "words"), TROUBLES)
def test_trouble_with_a_text_is_said(name: NoteField, text: str, words: str) -> None:
    found = trouble_with(name, text)
    assert words in found
    assert bool(found) == bool(words)


async def test_the_broker_is_offered_only_while_the_trade_is_open() -> None:
    form = Form()
    text = await form.after("b", "enter")
    assert form.app.results == [NoteEdit("5", {}, to_broker=True)]
    assert text
    closed = Form(is_open=False)
    text = await closed.after("b")
    assert "only while the trade is open" in text
    assert not closed.form.to_broker


async def test_a_trade_that_closes_meanwhile_keeps_its_note_to_the_file() -> None:
    form = Form()
    async with form.app.run_test() as pilot:
        await pilot.press("b", "1")
        form.is_open = False
        await pilot.press("enter")
    assert form.app.results == [NoteEdit("5", {"rating": 1}, to_broker=False)]


async def test_a_note_of_another_desk_shows_and_both_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes" / "main.notes.jsonl"
    form = Form()
    async with form.app.run_test(size=(80, 24)) as pilot:
        await pilot.press("s", "!", "enter")
        other = TradeNote(("theirs",), "theirs", "Of the other desk.")
        change_note(path, "5", lambda _: other)
        form.form.show_note(other)
        await pilot.pause()
        assert "Of the other desk." in form.app.words
        assert "fade!" in form.app.words
        await pilot.press("enter")
    [edit] = form.app.results
    assert isinstance(edit, NoteEdit)
    kept = change_note(path, "5", edit.applied)
    assert kept == TradeNote(("theirs",), "fade!", "Of the other desk.")
    assert read_notes(path).by_trade["5"] == kept


async def test_every_window_shows_the_fields_and_a_long_note_is_cut_with_a_sign() -> None:
    form = Form(TradeNote(("news",), "fade", "word " * 700 + "漢字", 3, "\x1b]0;x\x07late"))
    async with form.app.run_test(size=(100, 30)) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            text = form.app.words
            for each in ("news", "fade", "3 of 5", "late", "word", "no: the note", "Esc closes"):
                assert each in text
            assert "…" in text or size[1] == 50
            assert not set("\x1b\x07") & set(text)
        await pilot.press("n")
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        assert "Enter takes it" in form.app.words
