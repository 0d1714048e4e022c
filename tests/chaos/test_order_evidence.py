"""The soak's own proof fails on an order that nobody confirmed, and where journal and ledger differ."""

from collections import Counter
from decimal import Decimal
from typing import Any

import pytest

from keydesk.calc.orders.instructions import (
    CancelOrders,
    ClosePosition,
    CloseTrades,
    Flatten,
    MoveEntry,
    SetProtection,
)
from keydesk.calc.orders.ticket_draft import Draft
from keydesk.calc.orders.ticket_levels import SendableLevels
from keydesk.trading.account_changes import LabelTrade
from keydesk.trading.commands import Instruction
from keydesk.trading.entry_requests import reversal_of
from keydesk.words.order_text import instruction_text
from support.data.entry_orders import open_order
from support.order_evidence import (
    SECOND,
    Decision,
    Journalled,
    Shown,
    ShownForms,
    disagreements,
    unexplained,
)

NOW = 1_000 * SECOND
OPEN = instruction_text(open_order("EUR_USD", "MARKET", Decimal(-10_000)))
SELL = Shown("SELL 10,000 EUR/USD at market", "y", is_small=False)


def shown(form: Shown, key: str, *, keys: int = 1) -> ShownForms:
    """A form that stood on the screen for ten seconds, and the key typed half a second before its end."""
    forms = [(NOW - 10 * SECOND, form), (NOW, None)]
    return ShownForms(forms, [(NOW - SECOND // 2, key)] * keys)


def test_a_key_on_a_form_that_showed_the_order_explains_it() -> None:
    assert unexplained([Decision(NOW, OPEN)], shown(SELL, "y")) == []


def test_no_order_is_explained_without_its_key_and_its_form() -> None:
    buy = Shown("BUY 10,000 EUR/USD at market", "y", is_small=False)
    larger = Shown("SELL 110,000 EUR/USD at market", "y", is_small=False)
    other = Shown("SELL 10,000 EUR/GBP at market", "y", is_small=False)
    asks_letter = Shown(SELL.headline, "c", is_small=False)
    for form in (buy, larger, other, asks_letter):
        assert len(unexplained([Decision(NOW, OPEN)], shown(form, "y"))) == 1
    assert len(unexplained([Decision(NOW, OPEN)], shown(SELL, "y", keys=0))) == 1
    assert len(unexplained([Decision(NOW + 60 * SECOND, OPEN)], shown(SELL, "y"))) == 1


@pytest.mark.parametrize(
    ("instruction", "headline", "other"),
    [
        (CloseTrades("EUR_USD", ("5",)), "CLOSE EUR/USD #5", "CLOSE EUR/USD #6"),
        (CloseTrades("EUR_USD", ("5", "7")), "CLOSE all 2 trades", "CLOSE all 3 trades"),
        (
            ClosePosition("EUR_USD", "ALL"),
            "CLOSE long position EUR/USD",
            "CLOSE long position EUR/GBP",
        ),
        (SetProtection("5", "EUR_USD", stop=Decimal(1)), "MODIFY #5", "MODIFY #6"),
        (LabelTrade("5", "EUR_USD", "a"), "TAG AND COMMENT #5", "MODIFY #5"),
        (
            MoveEntry("8", "EUR_USD", Decimal("1.1"), None, None),
            "MOVE limit #8",
            "MOVE limit #9",
        ),
        (CancelOrders(("8", "9"), "both"), "CANCEL 2 entry orders", "CANCEL 3 entry orders"),
        (
            reversal_of(
                Draft("SELL", "EUR_USD"),
                Decimal(-40_000),
                SendableLevels(Decimal(1), Decimal(1), None, None, None),
            ),
            "REVERSE EUR/USD LONG 20,000 to SHORT 20,000",
            "REVERSE EUR/USD LONG 40,000 to SHORT 40,000",
        ),
        (Flatten(), "FLATTEN EVERYTHING", "FLATTEN EUR/USD"),
        (Flatten("EUR_USD"), "FLATTEN EUR/USD", "FLATTEN EVERYTHING"),
    ],
)
def test_each_instruction_is_explained_by_its_own_form_only(
    instruction: Instruction, headline: str, other: str
) -> None:
    decision = Decision(NOW, instruction_text(instruction))
    for text, count in ((headline, 0), (other, 1)):
        form = Shown(text, "y", is_small=False)
        assert len(unexplained([decision], shown(form, "y"))) == count


def test_one_key_explains_one_order_only() -> None:
    twice = [Decision(NOW, OPEN), Decision(NOW, OPEN)]
    assert len(unexplained(twice, shown(SELL, "y"))) == 1
    assert unexplained(twice, shown(SELL, "y", keys=2)) == []


def test_a_window_that_cuts_a_form_off_hides_no_opening_order() -> None:
    small = Shown("SELL 10,0", "", is_small=True)
    close = instruction_text(CloseTrades("EUR_USD", ("5",)))
    assert len(unexplained([Decision(NOW, OPEN)], shown(small, "y"))) == 1
    assert unexplained([Decision(NOW, close)], shown(small, "y")) == []


def order(batch: int, client_id: str = "", units: str = "-10000") -> list[dict[str, Any]]:
    """A market order and its fill, as the ledger has them."""
    id_ = str(batch)
    made = {"id": id_, "batchID": id_, "type": "MARKET_ORDER", "reason": "CLIENT_ORDER"}
    made |= {"instrument": "EUR_USD", "units": units}
    if client_id:
        made["clientExtensions"] = {"id": client_id}  # type: ignore[assignment]
    fill = {"id": str(batch + 1), "batchID": id_, "type": "ORDER_FILL", "orderID": id_}
    return [made, fill]


def intent(verdict: str, id_: str = "kd-1", units: str = "-10000", *claimed: str) -> Journalled:
    body = {"instrument": "EUR_USD", "units": units}
    held = {"id": id_, "action": "create", "target": "", "body": body}
    return Journalled(held, verdict, frozenset(claimed))


def test_a_journal_that_says_what_the_ledger_says_agrees() -> None:
    for ledger in (order(5, "kd-1"), order(5)):
        found, count = disagreements({"kd-1": intent("done")}, ledger)
        assert (found, count["create"]) == ([], 1)
    assert disagreements({"kd-1": intent("rejected")}, [])[0] == []
    cancel = {"id": "6", "batchID": "5", "type": "ORDER_CANCEL", "orderID": "5", "reason": "FIFO"}
    cancelled = [order(5, "kd-1")[0], cancel]  # accepted and cancelled at once
    assert disagreements({"kd-1": intent("done")}, cancelled)[0] == []
    for verdict in ("open", "unconfirmed", "dismissed"):  # it may show up late
        assert disagreements({"kd-1": intent(verdict)}, order(5, "kd-1"))[0] == []


def test_each_difference_of_journal_and_ledger_is_found() -> None:
    one = {"kd-1": intent("done")}
    for journalled, ledger in (
        ({}, order(5, "kd-1")),
        ({}, order(5)),
        (one, order(5, "kd-1") + order(7, "kd-1")),
        (one, order(5) + order(7)),
        (one, order(5, "kd-1", "-20000")),
        (one, order(5, "", "-20000")),
        (one, []),
        ({"kd-1": intent("rejected")}, order(5, "kd-1")),
        ({"kd-1": intent("rejected")}, order(5)),
        ({"kd-1": intent("done", "kd-1", "-10000", "99")}, order(5, "kd-1")),
    ):
        assert disagreements(journalled, ledger)[0] != []


# What is done to orders and trades that exist: it carries no id, and is known by what it is about.


def stop_of_a_trade(batch: int, *, replaces: str = "", price: str = "1.08") -> list[dict[str, Any]]:
    """The stop of trade 5, set, or moved in place of another order."""
    id_, reason = str(batch), "REPLACEMENT" if replaces else "CLIENT_ORDER"
    made = {"id": id_, "batchID": id_, "type": "STOP_LOSS_ORDER", "reason": reason}
    made |= {"tradeID": "5", "price": price}
    if not replaces:
        return [made]
    made["replacesOrderID"] = replaces
    return [cancel_of(batch + 1, replaces, batch, "CLIENT_REQUEST_REPLACED"), made]


def cancel_of(id_: int, order_id: str, batch: int, reason: str = "CLIENT_REQUEST") -> Any:  # noqa: ANN401
    made = {"id": str(id_), "batchID": str(batch), "type": "ORDER_CANCEL"}
    return made | {"orderID": order_id, "reason": reason}


def closing(batch: int, **members: object) -> list[dict[str, Any]]:
    id_ = str(batch)
    made = {"id": id_, "batchID": id_, "type": "MARKET_ORDER", "instrument": "EUR_USD"}
    return [made | members]


def about(action: str, target: str, verdict: str = "done") -> Journalled:
    return Journalled({"id": f"kd-{action}", "action": action, "target": target}, verdict)


SET = stop_of_a_trade(9)
CASES = {  # what the journal says, and all that the ledger has of it
    "a stop is set": (about("set_dependent_orders", "5"), SET),
    "a stop is moved through its trade": (
        about("set_dependent_orders", "5"),
        stop_of_a_trade(20, replaces="9"),
    ),
    "a stop is moved by itself": (about("replace", "9"), stop_of_a_trade(20, replaces="9")),
    "a stop is cancelled": (about("cancel", "9"), [cancel_of(20, "9", 20)]),
    "an entry order is cancelled": (about("cancel", "8"), [cancel_of(20, "8", 20)]),
    "a trade is closed": (
        about("close_trade", "5"),
        closing(20, reason="TRADE_CLOSE", tradeClose={"tradeID": "5"}),
    ),
    "a position is closed": (
        about("close_position", "EUR_USD"),
        closing(20, reason="POSITION_CLOSEOUT"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_that_journal_and_ledger_have_agrees_and_is_counted_once(case: str) -> None:
    intent_, batch = CASES[case]
    for verdict in ("done", "open", "unconfirmed", "dismissed"):
        each = Journalled(intent_.intent, verdict)
        found, count = disagreements({"kd-1": each}, batch)
        assert (found, count.total()) == ([], 1)


def test_a_stop_taken_away_through_its_trade_agrees() -> None:
    set_and_gone = {"kd-1": about("set_dependent_orders", "5"), "kd-2": about("cancel", "8")}
    set_and_gone["kd-3"] = about("set_dependent_orders", "5")
    ledger = [*SET, cancel_of(20, "8", 20), cancel_of(30, "9", 30)]
    assert disagreements(set_and_gone, ledger)[0] == []
    del set_and_gone["kd-3"]
    [missing] = disagreements(set_and_gone, ledger)[0]
    assert missing.startswith("in the ledger and not in the journal: ")
    assert "'orderID': '9'" in missing


@pytest.mark.parametrize("case", CASES)
def test_a_change_that_is_missing_doubled_refused_or_another_one_is_found(case: str) -> None:
    intent_, batch = CASES[case]
    again = [each | {"id": f"9{each['id']}", "batchID": f"9{each['batchID']}"} for each in batch]
    other = Journalled({**intent_.intent, "target": "77"}, "done")
    refused = Journalled(intent_.intent, "rejected")
    done = f"Done in the journal, not in the ledger: ('{intent_.action}', "
    unasked = "in the ledger and not in the journal: "
    for journalled, ledger, starts in (
        ({"kd-1": intent_}, [], [done]),
        ({}, batch, [unasked]),
        ({"kd-1": intent_}, [*batch, *again], [unasked]),
        ({"kd-1": refused}, batch, [unasked]),
        ({"kd-1": other}, batch, [unasked, done]),
    ):
        found = disagreements(journalled, ledger)[0]
        assert [text[: len(start)] for text, start in zip(found, starts, strict=True)] == starts


def test_what_was_rejected_is_no_request() -> None:
    made, _ = order(5, "kd-1")
    refused = [made | {"type": "MARKET_ORDER_REJECT"}]
    assert disagreements({"kd-1": intent("rejected")}, refused) == ([], Counter())
