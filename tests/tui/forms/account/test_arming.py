"""The dialog of the daily loss lock."""

from keydesk.calc.daily_loss import LossLock
from keydesk.forms.account.arming import UnlockForm
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp, example_context


async def test_an_early_unlock_that_is_under_way_is_not_offered_again() -> None:
    store = example_store()
    store.loss_lock = LossLock(day_ns=1, is_on=True)
    app = FormApp(lambda: UnlockForm(example_context(store)))
    async with app.run_test(size=(120, 35)):
        assert "Enter asks for the early unlock" in app.words
    store.loss_lock = LossLock(day_ns=1, is_on=True, unlock_at_ns=2)
    app = FormApp(lambda: UnlockForm(example_context(store)))
    async with app.run_test(size=(120, 35)):
        assert "It is requested already" in app.words
        assert "Enter asks" not in app.words
