"""The dialog of the daily loss lock."""

from textual.events import Paste

from keydesk.calc.daily_loss import SENTENCE, LossLock
from keydesk.forms.account.arming import UnlockForm
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp, example_context


async def test_an_early_unlock_that_is_under_way_is_not_offered_again() -> None:
    store = example_store()
    store.loss_lock = LossLock(day_ns=1, is_on=True)
    app = FormApp(lambda: UnlockForm(example_context(store)))
    async with app.run_test(size=(120, 35)):
        assert "Enter requests the early unlock" in app.words
    store.loss_lock = LossLock(day_ns=1, is_on=True, unlock_at_ns=2)
    app = FormApp(lambda: UnlockForm(example_context(store)))
    async with app.run_test(size=(120, 35)):
        assert "requested, 0s left" in app.words
        assert "Enter requests" not in app.words


async def test_the_sentence_is_typed_by_hand_and_any_other_text_stays_for_correction() -> None:
    store = example_store()
    store.loss_lock = LossLock(day_ns=1, is_on=True)
    app = FormApp(lambda: UnlockForm(example_context(store)))
    async with app.run_test(size=(80, 24)) as pilot:
        app.screen.post_message(Paste(SENTENCE))
        await pilot.press(*"I accept?q", "enter")
        assert "That is not the sentence above" in app.words
        assert "[I accept?q_" in app.words
        assert app.results == []
        keys = ["space" if each == " " else each for each in SENTENCE[len("I accept") :]]
        await pilot.press("backspace", "backspace", *keys, "enter")
    assert app.results == [True]
