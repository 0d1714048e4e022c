"""Tag and comment of an open trade or a pending order, edited by key."""

from keydesk.forms.trades.labels import LabelsForm, OrderLabelsForm
from keydesk.store.store import Store
from keydesk.trading.account_changes import LabelOrder, LabelTrade
from support.data.desk_store import example_store
from support.fakes.form_app import FormApp, example_context


def trade_of(store: Store) -> str:
    return next(iter(store.trades))


def labels_app(store: Store) -> FormApp:
    return FormApp(lambda: LabelsForm(example_context(store), trade_of(store)))


async def typed_in(app: FormApp, *keys: str) -> str:
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press(*keys)
        return app.words


async def test_only_what_was_typed_is_changed() -> None:
    store = example_store()
    trade = store.trades[trade_of(store)]
    trade.tag, trade.comment = "old", "as planned"
    app = labels_app(store)
    async with app.run_test(size=(80, 24)) as pilot:
        assert "as planned" in app.words
        await pilot.press("k", "backspace", *"Y y", "enter", "y")
    assert app.results == [LabelTrade(trade.id, trade.instrument, tag="olY y")]


async def test_an_entry_order_gives_its_labels_to_its_trade() -> None:
    store = example_store()
    store.orders["6415"].comment = "as planned"
    app = FormApp(lambda: OrderLabelsForm(example_context(store), "6415"))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "as planned" in app.words
        await pilot.press("k", *"dip", "enter", "y")
    assert app.results == [LabelOrder("6415", "EUR_USD", tag="dip", with_trade=True)]


async def test_an_order_that_filled_meanwhile_cannot_be_labelled() -> None:
    store = example_store()
    app = FormApp(lambda: OrderLabelsForm(example_context(store), "6415"))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("k", *"dip", "enter")
        del store.orders["6415"]
        await pilot.press("y")
        assert "It is filled or cancelled already" in app.words
    assert app.results == []


async def test_letters_of_a_text_send_nothing_until_it_is_ended() -> None:
    store = example_store()
    app = labels_app(store)
    text = await typed_in(app, "j", "y", "y")
    assert app.results == []
    assert "Enter ends the text" in text
    assert "yy_" in text


async def test_nothing_changed_is_nothing_to_send() -> None:
    app = labels_app(example_store())
    assert "Nothing is changed: k tag, j comment" in await typed_in(app, "y")
    assert app.results == []


async def test_a_text_beyond_the_brokers_limit_is_refused_by_name() -> None:
    app = labels_app(example_store())
    text = await typed_in(app, "k", *("a" * 130), "enter", "y")
    assert "tag: it is longer than 128 characters" in text
    assert app.results == []


async def test_text_that_would_move_the_cursor_is_shown_harmless() -> None:
    store = example_store()
    store.trades[trade_of(store)].comment = "x\x1b]0;owned\x07"
    text = await typed_in(labels_app(store))
    assert "\x1b" not in text
