"""`keydesk order`: a dry run first, the ticket's checks and limits, and an exit code for each outcome."""

import asyncio
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from keydesk.cli.order.sending import not_sent_category, result_of
from keydesk.cli.script_output import EXIT_CODES, EXIT_STATUS
from keydesk.cli.shell_files import FOLDER
from keydesk_client.orders.outcome import (
    Action,
    Done,
    Intent,
    NotSent,
    OrderResult,
    Outcome,
    Rejected,
    Unconfirmed,
)
from support.broker import PracticeServer, plain_client
from support.shell import Run

INTENT = Intent("id", Action.CREATE, 1, 2, None, "", {})


@pytest.fixture
def limits(module_folder: Path, shell_broker: PracticeServer) -> Iterator[Path]:
    """The trader's limits, gone after the test, with the lock that they led to."""
    assert shell_broker
    path = module_folder / "home" / "templates.toml"
    yield path
    for each in (path, *module_folder.rglob("orders/*.sqlite")):
        each.unlink(missing_ok=True)


def trades(run: Run) -> list[str]:
    return [each["id"] for each in run("trades", "--json").json["trades"]]


def test_an_order_is_shown_sent_protected_closed_in_part_and_closed(run: Run) -> None:
    line = ("order", "buy", "eurusd", "1000", "sl", "20p", "tp", "2r", "--json")
    shown = run(*line).json
    assert (shown["outcome"], shown["client_id"], trades(run)) == ("dry-run", None, [])
    assert Decimal(shown["request"]["units"]) == 1000
    assert shown["figures"]["risk"]

    done = run(*line, "--yes").json
    assert (done["outcome"], done["result"], done["exit_code"]) == ("done", "filled", 0)
    [trade] = trades(run)
    [stop] = [
        each for each in run("orders", "--json").json["orders"] if each["type"] == "STOP_LOSS"
    ]

    tighter = str(Decimal(stop["price"]) + Decimal("0.0005"))
    edit = ("order", "protect", trade, "--stop", tighter, "--target", "none", "--json")
    assert run(*edit).json["request"] == {"trade": trade, "stop": tighter, "target": None}
    assert run(*edit, "--yes").json["result"] == "applied"
    [now] = run("trades", "--json").json["trades"]
    assert Decimal(now["stopLossOrder"]["price"]) == Decimal(tighter)
    assert "takeProfitOrder" not in now

    assert run("order", "close", trade, "400", "--yes", "--json").json["outcome"] == "done"
    assert run("order", "close", "EUR_USD", "--yes", "--json").json["outcome"] == "done"
    assert trades(run) == []
    nothing = run("order", "close", "EUR_USD", "--yes", "--json")
    assert (nothing.code, nothing.json["category"]) == (2, "invalid")


def test_a_pending_order_at_a_named_level_rests_and_is_cancelled(run: Run, limits: Path) -> None:
    line = ("order", "buy", "EUR_USD", "1000", "@0.5", "sl", "20p")
    refused = run(*line, "--yes", "--json")
    assert (refused.code, refused.json["category"]) == (1, "refused"), refused.out
    assert "5 %" in refused.json["message"]

    ask = Decimal(run("prices", "EUR_USD", "--json").json["prices"][0]["asks"][0]["price"])
    price = str(ask - Decimal("0.01"))
    (limits.parent / "levels.toml").write_text(
        f'[[levels]]\ninstrument = "EUR_USD"\nname = "low"\nprice = "{price}"\n'
    )
    near = ("order", "buy", "eurusd", "1000", "@low", "sl", "20p")
    rests = run(*near, "--yes", "--json").json
    assert (rests.get("outcome"), rests.get("result")) == ("done", "resting"), rests
    assert rests["request"]["price"] == price
    gone = run("order", "cancel", rests["order_id"], "--yes", "--json").json
    assert gone["outcome"] == "done"
    again = run("order", "cancel", rests["order_id"], "--yes", "--json")
    assert (again.code, again.json["outcome"]) == (6, "rejected")


def test_what_the_ticket_warns_of_is_sent_only_when_that_is_accepted(run: Run) -> None:
    line = ("order", "sell", "EUR_USD", "1000", "nostop")
    shown = run(*line)
    assert "warning: No stop: the loss has no limit" in shown.out
    assert "the same with --yes --despite-warnings" in shown.out
    refused = run(*line, "--yes")
    assert (refused.code, "No stop" in refused.err, trades(run)) == (1, True, [])
    assert run(*line, "--yes", "--despite-warnings").code == 0
    assert run("order", "close", "EUR_USD", "--yes").code == 0


def test_limits_and_locks_refuse_an_entry_and_no_exit(run: Run, limits: Path) -> None:
    entry = ("order", "buy", "EUR_USD", "1000", "sl", "20p")
    assert run(*entry, "--yes").code == 0
    limits.write_text("[limits]\nhard_units = 500\n")
    refused = run(*entry, "--json")
    assert (refused.code, refused.json["category"]) == (1, "refused"), refused.out
    assert run("lock", "--practice", "--yes").code == 0
    limits.unlink()
    assert "locked" in run(*entry, "--json").json["message"]
    [trade] = trades(run)
    wider = run("order", "protect", trade, "--stop", "none", "--yes")
    assert (wider.code, "may only be tightened" in wider.err) == (1, True)
    limits.write_text("[limits]\nhard_units = 500\n")
    assert run("order", "close", trade, "--yes").code == 0
    assert run("lock", "--practice", "--release", "--yes").code == 0


def test_a_level_that_is_moved_keeps_the_time_in_force_of_the_one_before(
    run: Run, shell_broker: PracticeServer
) -> None:
    assert run("order", "buy", "EUR_USD", "1000", "sl", "50p", "--yes").code == 0
    [trade] = trades(run)
    stop = run("trades", "--json").json["trades"][0]["stopLossOrder"]["price"]
    path = f"/v3/accounts/{shell_broker.account_id}/trades/{trade}"

    async def with_an_end_of_day() -> None:
        async with plain_client(shell_broker.rest_url, shell_broker.token) as http:
            body = {"stopLoss": {"price": stop, "timeInForce": "GFD"}}
            assert (await http.put(f"{path}/orders", json=body)).status_code == 200

    asyncio.run(with_an_end_of_day())
    tighter = str(Decimal(stop) + Decimal("0.0010"))
    assert run("order", "protect", trade, "--stop", tighter, "--yes").code == 0
    [kept] = run("trades", "--json").json["trades"]
    assert Decimal(kept["stopLossOrder"]["price"]) == Decimal(tighter)
    assert kept["stopLossOrder"]["timeInForce"] == "GFD"
    assert run("order", "close", trade, "--yes").code == 0


def test_the_daily_loss_lock_refuses_an_entry_and_no_exit(
    run: Run, limits: Path, module_folder: Path
) -> None:
    entry = ("order", "buy", "EUR_USD", "1000", "sl", "50p")
    assert run(*entry, "--yes").code == 0  # it has lost the spread at once
    limits.write_text("[limits]\ndaily_loss = 0.01\n")
    refused = run(*entry, "--json")
    assert (refused.code, refused.json["category"]) == (1, "refused"), refused.out
    [kept] = module_folder.rglob("orders/*.sqlite")
    assert b'"is_on":true' in kept.read_bytes()  # also for a desk that is opened later
    [trade] = trades(run)
    wider = run("order", "protect", trade, "--stop", "none", "--yes")
    assert (wider.code, "may only be tightened" in wider.err) == (1, True), wider.err
    assert run("order", "close", trade, "--yes").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("order buy EUR_USD 10k tp", "target"),
        ("order buy EUR_USD wat", "wat is not a field"),
        ("order buy XXX_YYY 10k", "XXX_YYY is not an instrument"),
        ("order close 999999", "no trade 999999"),
        ("order protect 999999 --stop 1", "no trade 999999"),
        ("order cancel 999999", "no order 999999"),
        ("order close 5 wat", "use 10k, 2.5m or 10000"),
        ("order protect 5", "name what to change"),
        ("order protect 5 --stop -1", "is not a number above 0"),
        ("order cancel x", "'x' is not an id"),
        ("order bye EUR_USD 1k", "did you mean order buy?"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_sent(
    words: str, said: str, run: Run
) -> None:
    done = run(*words.split(), "--yes", "--json")
    assert (done.code, done.json["category"]) == (EXIT_CODES["invalid"], "invalid"), done.out
    assert said in done.json["message"]
    in_words = run(*words.split(), "--yes")
    assert (in_words.code, in_words.out) == (done.code, "")


def test_a_part_of_a_trade_is_typed_as_the_size_of_an_order_is(run: Run) -> None:
    assert run("order", "buy", "EUR_USD", "3k", "sl", "20p", "--yes").code == 0
    [trade] = trades(run)
    closed = run("order", "close", trade, "1k", "--yes", "--json").json
    assert (closed["outcome"], closed["request"]["units"]) == ("done", "1000")
    assert run("order", "close", "EUR_USD", "--yes").code == 0


@pytest.mark.parametrize(
    ("outcome", "category"),
    [
        (NotSent(INTENT, "refused", field="units"), "invalid"),
        (NotSent(INTENT, "429", retry_after=1.0), "rate"),
        (NotSent(INTENT, "no route to it"), "network"),
    ],
)
def test_an_order_that_was_not_sent_says_why_by_its_exit_code(
    outcome: NotSent, category: str
) -> None:
    assert not_sent_category(outcome) == category


def test_each_exit_code_has_a_meaning_in_the_man_page() -> None:
    page = (FOLDER / "keydesk.1").read_text(encoding="utf-8")
    for code in (0, *EXIT_CODES.values()):
        assert f".TP\n.B {code}\n{EXIT_STATUS[code]}" in page


@pytest.mark.parametrize(
    ("outcome", "result"),
    [
        (Done(INTENT, OrderResult.FILLED), "done"),
        (Done(INTENT, OrderResult.CANCELLED), "rejected"),
        (Rejected(INTENT, "no"), "rejected"),
        (NotSent(INTENT, "no line"), "not-sent"),
        (Unconfirmed(INTENT, "lost"), "unknown"),
    ],
)
def test_each_outcome_has_a_result(outcome: Outcome, result: str) -> None:
    assert result_of(outcome) == result
