"""Ctrl-C: the second one leaves, but trades without a stop are asked about first; a third one, or y, leaves then."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from keydesk.app.actions.shutdown_flow import INTERRUPTED, ShutdownFlow
from keydesk.app.lifecycle import ForcedExit
from keydesk.cli.desk import last_words
from keydesk.store.store import Store
from keydesk.values import Command, CommandState

if TYPE_CHECKING:
    from keydesk.app.app import KeydeskApp


class Hand(ShutdownFlow):
    """Leaving by Ctrl-C, with the exit codes that it would leave with."""

    def __init__(self, *, unprotected: bool) -> None:
        nothing: Any = None
        self.seconds, self.asked, self.codes = 100.0, 0, list[int]()
        self.unprotected = unprotected
        forced_exit = ForcedExit(lambda: None)
        super().__init__(nothing, forced_exit, lambda: self.seconds)

    def ask(self) -> bool:
        self.asked += self.unprotected
        return self.unprotected

    def leave(self, code: int = 0) -> None:
        self.codes.append(code)

    def presses(self, after: float) -> bool:
        self.seconds += after
        return self.interrupt()


def test_without_an_unprotected_trade_the_second_ctrl_c_leaves() -> None:
    hand = Hand(unprotected=False)
    assert not hand.presses(0)
    assert hand.presses(1)
    assert (hand.codes, hand.asked) == ([INTERRUPTED], 0)


def test_two_that_are_far_apart_leave_nothing() -> None:
    hand = Hand(unprotected=False)
    assert not hand.presses(0)
    assert not hand.presses(3)
    assert hand.codes == []


def test_the_second_asks_about_unprotected_trades_and_the_third_leaves() -> None:
    hand = Hand(unprotected=True)
    hand.presses(0)
    assert hand.presses(1)
    assert (hand.asked, hand.codes) == (1, [])
    assert hand.presses(30)
    assert (hand.asked, hand.codes) == (1, [INTERRUPTED])


def test_a_ctrl_c_that_is_held_down_does_not_answer_the_question() -> None:
    hand = Hand(unprotected=True)
    for _ in range(10):
        hand.presses(0.03)
    assert (hand.asked, hand.codes) == (1, [])


def test_who_stays_is_asked_again_the_next_time() -> None:
    hand = Hand(unprotected=True)
    hand.presses(0)
    hand.presses(1)
    hand.stay()
    assert not hand.presses(1)
    assert hand.presses(1)
    assert (hand.asked, hand.codes) == (2, [])


@pytest.mark.parametrize("state", ["sent", "unknown", "unconfirmed"])
def test_the_shell_is_told_which_order_has_no_known_outcome(state: CommandState) -> None:
    store, trouble = Store(), "the broker ended"
    app = cast("KeydeskApp", SimpleNamespace(last_text="", desk=SimpleNamespace(store=store)))
    assert last_words(app) == []
    store.set_in_flight(Command("BUY 10,000 EUR/USD at market", id="kd-1", state=state))
    [text] = last_words(app)
    assert text.startswith("NOT KNOWN what became of BUY 10,000 EUR/USD at market")
    app.last_text = trouble
    assert last_words(app) == [trouble, text]
