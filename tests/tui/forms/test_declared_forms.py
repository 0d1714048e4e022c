"""What follows from the fields that a form declares: editing, nudging, units, refusals, hints and help."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar

import pytest

from keydesk.calc.orders.field_draft import FieldDraft, opening
from keydesk.calc.orders.fields import Field, not_zero
from keydesk.forms.modal_form import FormContext, TextLine, Words
from keydesk.forms.number_fields import NumberFields
from keydesk.forms.text_form import TextForm
from keydesk.keys.confirm import Action
from keydesk.keys.keymap import EXIT_PLAN, LABELS
from keydesk.text.sanitize import safe
from support.fakes.form_app import FormApp, example_context
from support.walks import sampled_rows

D = Decimal
LEVELS: Mapping[str, Field] = {
    "even": Field("", "e", "first", "The first number", units=("R", "pips"), default="2"),
    "offset": Field("", "o", "second", "The second number", units=("pips",)),
    "from": Field("", "t", "third", "The third number", check=not_zero),
}
WORDS: Mapping[str, Field] = {
    "tag": Field("", "k", "tag", "Write the tag"),
    "comment": Field("", "j", "comment", "Write the comment"),
}


class LevelsForm(NumberFields[tuple[str, ...], str]):
    """Three numbers; returns them as typed."""

    ACTION: ClassVar[Action] = Action.ADD_PROTECTION
    KEY_CONTEXT: ClassVar[str] = EXIT_PLAN
    FIELDS = LEVELS

    def __init__(self, context: FormContext, gone: str = "") -> None:
        self._why = gone
        super().__init__(context)

    def gone(self) -> str:
        return self._why

    def first_draft(self) -> FieldDraft[str]:
        return opening(LEVELS)

    def headline(self) -> TextLine:
        return (("LEVELS", "bright"),)

    def meaning(self, name: str) -> Words:
        return (safe(f"is {name}"), "plain")

    def effect(self) -> Sequence[TextLine]:
        return ((("what follows", "plain"),),)

    def problems(self) -> Sequence[str]:
        return () if self.draft.entry("from").text else ("third: t, then digits",)

    def request(self) -> tuple[str, ...]:
        return tuple(f"{each.text} {each.unit}" for each in self.draft.entries.values())


class WordsForm(TextForm[Mapping[str, str]]):
    """Two texts; returns what was changed."""

    ACTION: ClassVar[Action] = Action.LABEL
    KEY_CONTEXT: ClassVar[str] = LABELS
    FIELDS: ClassVar[Mapping[str, Field]] = WORDS
    NO_CHANGE: ClassVar[str] = "Nothing is changed"

    def texts(self) -> Mapping[str, str]:
        return {"tag": "swing", "comment": ""}

    def headline(self) -> TextLine:
        return (("WORDS", "bright"),)

    def request(self) -> Mapping[str, str]:
        return {name: text for name in WORDS if (text := self.fields.changed(name)) is not None}


async def levels_after(*keys: str, gone: str = "") -> FormApp:
    app = FormApp(lambda: LevelsForm(example_context(), gone))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        app.last_text = app.said
    return app


async def words_after(*keys: str) -> FormApp:
    app = FormApp(lambda: WordsForm(example_context()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        app.last_text = app.said
    return app


async def test_numbers_stand_with_key_unit_and_meaning_before_what_follows() -> None:
    text = (await levels_after()).last_text
    assert "e first 2 R is even o second pips is offset t third is from what follows" in text
    assert "m unit ↑ ↓ ±1 Tab next ? keys" in text


@pytest.mark.parametrize(
    ("keys", "sent"),
    sampled_rows(
        [
            ("t 5 y", ("2 R", " pips", "5 ")),
            ("tab tab 5 y", ("2 R", " pips", "5 ")),
            ("shift+tab 5 backspace 7 y", ("2 R", " pips", "7 ")),
            ("up t up up y", ("2.1 R", " pips", "2 ")),
            ("down m o . t 1 . 5 y", ("1.9 pips", "10 pips", "1.5 ")),
            ("e backspace o down t 3 y", (" R", "0 pips", "3 ")),
        ],
        3,
    ),
)
async def test_keys_pick_fill_erase_nudge_and_turn_a_field(
    keys: str, sent: tuple[str, ...]
) -> None:
    assert (await levels_after(*keys.split())).results == [sent]


@pytest.mark.parametrize(
    ("keys", "why"),
    sampled_rows(
        [
            ("y", "third: t, then digits"),
            ("t 0", "from: 0 is not above 0. t and digits set it, t Backspace empties it"),
            ("t 5 e 1 , 5", "even: 1,5 has a comma"),
            ("t 5 o 1 - 2", "offset: 1-2 has a minus after its first character"),
        ],
        2,
    ),
)
async def test_a_number_that_cannot_be_is_refused_by_its_field_and_key(keys: str, why: str) -> None:
    app = await levels_after(*keys.split())
    assert why in app.last_text
    app = await levels_after(*keys.split(), "y")
    assert app.results == []


async def test_a_number_without_a_unit_stays_as_it_is_when_the_unit_is_turned() -> None:
    text = (await levels_after("t", "5", "m")).last_text
    assert "t third 5 is from" in text
    assert "invalid" not in text


async def test_a_form_whose_subject_is_gone_shows_no_fields_and_sends_nothing() -> None:
    app = await levels_after("t", "5", "y", gone="It is closed already")
    assert "It is closed already" in app.last_text
    assert not {"first", "follows"} & set(app.last_text.split())
    assert app.results == []


async def test_only_a_text_that_was_changed_is_sent() -> None:
    assert (await words_after("j", *"why", "enter", "y")).results == [{"comment": "why"}]
    assert (await words_after("k", *(["backspace"] * 9), "enter", "y")).results == [{"tag": ""}]


@pytest.mark.parametrize(
    ("keys", "why"),
    sampled_rows(
        [
            (("y",), "Nothing is changed"),
            (("k", *"y"), "Enter ends the text"),
            (("k", *("z" * 140), "enter"), "tag: it is longer than 128 characters. k Backspace"),
        ],
        1,
    ),
)
async def test_a_text_that_cannot_be_is_refused(keys: tuple[str, ...], why: str) -> None:
    app = await words_after(*keys)
    assert why in app.last_text
    assert app.results == []
