"""The page of a transaction: its relations are reached by Enter, Esc goes back, and every size shows it."""

import pytest

from keydesk.forms.account.transaction import Take, TransactionForm
from keydesk.store.transactions.details import Related, TransactionDetails
from keydesk.text.sanitize import safe
from keydesk.words.log_line import LogLine
from support.data.desk_store import WALL_NS, example_store
from support.fakes.form_app import FormApp
from support.walks import sampled

LINE = LogLine("6418", WALL_NS, "FILL", "EUR_USD", safe("Bought 50,000 at 1.08502 #6418"))
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\nsecond"


class Broker:
    """Transactions that each name the next two; counts what was read."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def read(self, id_: str, take: Take) -> None:
        self.asked.append(id_)
        number = int(id_)
        others = tuple(
            Related(str(other), how, LogLine(str(other), 1, "ORDER", "EUR_USD", safe(HOSTILE)))
            for other, how in ((number + 1, "filled by"), (number + 2, HOSTILE))
        )
        rows = [("what", HOSTILE), *((f"member {n}", "value " * 12) for n in range(30))]
        take(TransactionDetails(id_, tuple(rows), others, raw=(("units", "50000"),)))


@pytest.mark.parametrize("size", sampled([(40, 12), (80, 24), (120, 35), (200, 50), (10, 3)], 2))
async def test_relations_are_opened_and_gone_back_from_at_every_size(size: tuple[int, int]) -> None:
    broker = Broker()
    form = TransactionForm(example_store(), LINE, broker.read)
    app = FormApp(lambda: form)
    async with app.run_test(size=size) as pilot:
        await pilot.press("j", "enter")
        assert broker.asked == ["6418", "6420"]
        await pilot.press("enter", "v", "v", "space", "backspace")
        assert broker.asked[-1] == "6421"
        await pilot.press("escape", "escape")
        assert broker.asked[-2:] == ["6420", "6418"]
        assert not app.results
        assert "\x1b" not in app.words
        await pilot.press("escape")
        assert app.results == [None]


async def test_the_way_is_in_the_title_and_the_record_is_shown_as_sent_by_a_key() -> None:
    form = TransactionForm(example_store(), LINE, Broker().read)
    app = FormApp(lambda: form)
    async with app.run_test(size=(120, 35)) as pilot:
        await pilot.press("enter")
        assert "Transaction #6418 → #6419" in app.words
        await pilot.press("v")
        assert "50000" in app.words
        await pilot.press("escape")
        assert "Related transactions" in app.words


async def test_before_anything_is_read_the_line_of_the_log_is_shown() -> None:
    form = TransactionForm(example_store(), LINE)
    app = FormApp(lambda: form)
    async with app.run_test(size=(80, 24)):
        assert "Bought 50,000 at 1.08502" in app.words
        assert "loading" in app.words
        form.show(TransactionDetails("6418", troubles=("the transaction cannot be read: refused",)))
        assert "Bought 50,000 at 1.08502" in app.words


async def test_an_answer_that_comes_after_the_reader_went_on_is_not_shown() -> None:
    takes: list[Take] = []
    form = TransactionForm(example_store(), LINE, lambda _, take: takes.append(take))
    app = FormApp(lambda: form)
    async with app.run_test(size=(80, 24)) as pilot:
        takes[0](TransactionDetails("6418", (("what", "first"),), (Related("7", "order"),)))
        await pilot.press("enter")
        takes[0](TransactionDetails("6418", (("what", "late answer"),)))
        await pilot.pause()
        assert "late answer" not in app.words


async def test_a_line_of_the_desks_own_has_no_relations_to_read() -> None:
    broker = Broker()
    line = LogLine("", WALL_NS, "LINK", "", safe("The price stream is down"))
    app = FormApp(lambda: TransactionForm(example_store(), line, broker.read))
    async with app.run_test(size=(80, 24)) as pilot:
        assert "The price stream is down" in app.words
        await pilot.press("enter", "j", "v", "v", "escape")
        assert broker.asked == []
        assert app.results == [None]


@pytest.mark.parametrize(
    ("keys", "leaving"),
    [((), "Esc closes"), (("enter",), "Esc back  q closes"), (("v",), "v Esc words  q closes")],
)
async def test_the_smallest_window_still_shows_how_to_leave(
    keys: tuple[str, ...], leaving: str
) -> None:
    form = TransactionForm(example_store(), LINE, Broker().read)
    app = FormApp(lambda: form)
    async with app.run_test(size=(40, 12)) as pilot:
        await pilot.press(*keys)
        assert leaving in app.words


async def test_the_name_of_a_relation_is_not_cut_at_80_columns() -> None:
    how = "take-profit of trade #64"
    form = TransactionForm(example_store(), LINE)
    app = FormApp(lambda: form)
    async with app.run_test(size=(80, 24)) as pilot:
        form.show(TransactionDetails("6418", related=(Related("6420", how), Related("7", "order"))))
        await pilot.pause()
        assert how in app.words


async def test_the_name_of_a_member_is_not_cut() -> None:
    gain, loss = (f"homeConversionFactors.{way}QuoteHome.factor" for way in ("gain", "loss"))
    form = TransactionForm(example_store(), LINE)
    app = FormApp(lambda: form)
    async with app.run_test(size=(120, 35)) as pilot:
        raw = ((gain, "1.129"), (loss, "1.141"))
        form.show(TransactionDetails("6418", (("what", "x"),), raw=raw))
        await pilot.press("v")
        assert gain in app.words
        assert loss in app.words
        await pilot.resize_terminal(40, 12)
        await pilot.pause()
        inner = [line.strip("│ ").split() for line in app.words.splitlines()]
        names = "".join(words[0] for words in inner if words)
        assert loss in names
