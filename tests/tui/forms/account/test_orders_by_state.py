"""The page of the account's orders: by state, newest first, older ones as they are reached."""

from keydesk.forms.account.orders_by_state import AccountOrdersForm, Take
from keydesk.parse.pages import OrdersIn
from keydesk.store.transactions.account_orders import AccountOrder, OrderList
from keydesk.text.sanitize import safe
from support.data.desk_store import WALL_NS, example_store
from support.fakes.form_app import FormApp


def order(number: int, state: str = "FILLED") -> AccountOrder:
    return AccountOrder(str(number), WALL_NS, state, "EUR_USD", safe(f"BUY 1,000 #{number}"))


class Page:
    """The page over a broker that answers when it is told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.answers: list[Take] = []
        self.opened: list[str] = []
        self.app = FormApp(
            lambda: AccountOrdersForm(
                example_store(), "FILLED", self.read, lambda each: self.opened.append(each.id)
            )
        )

    def read(self, state: OrdersIn, before_id: str, take: Take) -> None:
        self.asked.append((state, before_id))
        self.answers.append(take)

    def answer(self, page: OrderList) -> None:
        self.answers[-1](page)


def orders(first: int, last: int, before_id: str = "") -> OrderList:
    return OrderList([order(number) for number in range(first, last, -1)], before_id)


async def test_older_orders_are_read_when_the_last_one_is_passed_and_enter_opens_one() -> None:
    page = Page()
    async with page.app.run_test(size=(80, 24)) as pilot:
        assert "Reading" in page.app.words
        page.answer(orders(100, 60, "60"))
        await pilot.press("space", "space", "space")
        assert page.asked == [("FILLED", ""), ("FILLED", "60")]
        page.answer(orders(60, 50))
        await pilot.press("j", "enter")
        assert page.opened == ["60"]
        await pilot.press("space")
        assert "Orders filled  50 of 50 " in page.app.words
        assert len(page.asked) == 2


async def test_an_answer_to_the_state_before_is_dropped() -> None:
    page = Page()
    async with page.app.run_test(size=(80, 24)) as pilot:
        late = page.answers[-1]
        await pilot.press("v")
        assert page.asked[-1] == ("CANCELLED", "")
        late(orders(9, 8))
        await pilot.pause()
        assert "#9" not in page.app.words
        page.answer(OrderList())
        await pilot.pause()
        assert "No such order" in page.app.words


async def test_a_page_that_cannot_be_read_leaves_those_before_and_says_how_to_go_on() -> None:
    page = Page()
    async with page.app.run_test(size=(80, 24)) as pilot:
        page.answer(orders(100, 98, "98"))
        await pilot.press("j", "j")
        page.answer(OrderList(trouble="the connection was cut"))
        await pilot.pause()
        text = page.app.words
        assert "#99" in text
        assert "Could not be read: the connection was cut. r reads again" in text
        await pilot.press("j")
        assert page.asked[-1] == ("FILLED", "98")


async def test_without_a_row_no_key_is_named_that_acts_on_one() -> None:
    page = Page()
    async with page.app.run_test(size=(80, 24)):
        page.answer(OrderList())
        assert "Enter opens" not in page.app.words
        page.answer(orders(100, 90))
        assert "Enter opens" in page.app.words
