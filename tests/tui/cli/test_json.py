"""What commands print with --json: documents that their schemas allow, and errors with a category."""

import asyncio
from decimal import Decimal

import pytest

from keydesk.cli.script_output import EXIT_CODES, Refusal, category_of
from keydesk_client.errors import (
    InvalidRequest,
    KeydeskClientError,
    NotFound,
    RateLimited,
    Refused,
    ServerFailed,
    TimedOut,
    Unauthorized,
    Unreachable,
    WrongPassphrase,
)
from support.broker import PracticeServer
from support.shell import Run

BUY = {
    "type": "MARKET",
    "instrument": "EUR_USD",
    "units": "1000",
    "stopLossOnFill": {"distance": "0.0100"},
}
HOSTILE = "\x1b]0;title\x07 <b> \u202e"


@pytest.fixture(scope="module")
def traded(shell_broker: PracticeServer) -> str:
    """An account with a closed trade, an open one with a stop, and an entry order; the id of the open trade."""

    async def trade() -> str:
        first = await shell_broker.send("POST", "{a}/orders", {"order": BUY})
        closed = first.json()["orderFillTransaction"]["tradeOpened"]["tradeID"]
        await shell_broker.send("PUT", f"{{a}}/trades/{closed}/close", {"units": "ALL"})
        extras = {"tradeClientExtensions": {"comment": HOSTILE}}
        second = await shell_broker.send("POST", "{a}/orders", {"order": BUY | extras})
        entry = {"type": "LIMIT", "instrument": "USD_JPY", "units": "-500", "price": "400.000"}
        await shell_broker.send("POST", "{a}/orders", {"order": entry})
        await shell_broker.http.aclose()
        shell_broker._http = None
        opened: str = second.json()["orderFillTransaction"]["tradeOpened"]["tradeID"]
        return opened

    return asyncio.run(trade())


def test_candles_for_a_size_stand_where_so_many_units_trade(run: Run) -> None:
    ask = ("candles", "EUR_USD", "--from", "2024-03-05", "--to", "2024-03-06")
    hours = ("--granularity", "H1", "--price", "A", "--json")
    first, deep = (run(*ask, *hours, *size).json["candles"] for size in ((), ("--units", "50m")))
    assert [each["time"] for each in first] == [each["time"] for each in deep]
    assert len(first) == 24
    assert all(
        Decimal(large["ask"]["c"]) > Decimal(small["ask"]["c"])
        for small, large in zip(first, deep, strict=True)
    )


def test_trades_orders_positions_and_the_account_are_as_their_schemas_say(
    traded: str, run: Run
) -> None:
    [trade] = run("trades", "--json").json["trades"]
    assert (trade["id"], trade["stopLossOrder"]["type"]) == (traded, "STOP_LOSS")
    assert trade["clientExtensions"]["comment"] == HOSTILE
    kinds = {order["type"] for order in run("orders", "--json").json["orders"]}
    assert kinds == {"LIMIT", "STOP_LOSS"}
    [entry] = run("orders", "usdjpy", "--json").json["orders"]
    assert Decimal(entry["price"]) == 400
    [position] = run("positions", "--json").json["positions"]
    assert position["long"]["tradeIDs"] == [traded]
    assert run("positions", "USD_JPY", "--json").json["positions"] == []
    status = run("status", "--json").json
    assert (status["schema_version"], status["environment"]) == (1, "PRACTICE")
    assert status["account"]["openTradeCount"] == 1
    [mine, _] = run("accounts", "--json").json["accounts"]
    assert mine["id"] == status["account_id"]


def test_nothing_that_the_broker_sends_reaches_the_terminal_as_a_control_sequence(
    traded: str, run: Run
) -> None:
    assert traded
    for words in (("trades",), ("orders",), ("transactions",), ("positions",), ("accounts",)):
        for more in ((), ("--json",)):
            out = run(*words, *more).out
            assert not set("\x1b\x07\u202e") & set(out)
            assert out.replace("\n", "").isprintable()


def test_transactions_are_the_newest_those_after_an_id_and_those_of_a_type(
    traded: str, run: Run
) -> None:
    newest = run("transactions", "--json").json["transactions"]
    last = int(newest[-1]["id"])
    assert [int(each["id"]) for each in newest] == list(range(1, last + 1))
    after = run("transactions", "--since", str(last - 1), "--json").json["transactions"]
    assert [each["id"] for each in after] == [str(last)]
    fills = run("transactions", "--type", "ORDER_FILL", "--json").json["transactions"]
    assert {each["type"] for each in fills} == {"ORDER_FILL"}
    assert traded in {each.get("tradeOpened", {}).get("tradeID") for each in fills}


def test_the_figures_of_the_journal_have_names_that_a_script_can_rely_on(
    traded: str, run: Run
) -> None:
    assert traded
    figures = run("journal", "stats", "--json").json["figures"]
    assert figures["trades"] == 1
    assert figures["win_rate"]["value"] in {"0", "1"}
    assert figures["win_rate"]["doubt"] == "n=1, under 20"
    [trade] = run("journal", "--json").json["trades"]
    assert trade["closed"]
    assert trade["setup"] is None
    [group] = run("journal", "stats", "--by", "side", "--json").json["groups"]
    assert (group["group"], group["figures"]["trades"]) == ("long", 1)
    assert run("journal", "report", "--json").json["kind"] == "journal-report"
    note = run("journal", "note", trade["id"], "--tags", "news", "--json").json
    assert (note["trade"], note["removed"]) == (trade["id"], False)
    assert run("journal", "what-if", "--stop", "1R", "--json").json["before"]["trades"] == 1
    [row] = run("export", "trades", "--json").json["rows"][:1]
    assert row["id"] == trade["id"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("prices EUR_USF", "EUR_USF is not an instrument of this account; did you mean EUR_USD?"),
        ("candles XXX_YYY", "XXX_YYY is not an instrument"),
        ("trades XXX_YYY", "XXX_YYY is not an instrument"),
        ("positions xxxyyy", "XXXYYY is not an instrument"),
        ("orders XXX_YYY", "XXX_YYY is not an instrument"),
        ("candles EUR_USD --units 20m", "--units goes with --price B, A or BA"),
        ("candles EUR_USD --units many --price A", "invalid size 'many': use 10k, 2.5m or 10000"),
        ("candles EUR_USD --to 2024-03-05", "--to goes with --from"),
        ("transactions --since x", "'x' is not a transaction id"),
        ("status --profile nobody", "nobody"),
        ("schema tradez", "did you mean trades?"),
    ],
)
def test_what_does_not_exist_is_an_error_of_the_category_invalid(
    words: str, said: str, run: Run
) -> None:
    done = run(*words.split(), *(() if words.startswith("schema") else ("--json",)))
    assert done.code == EXIT_CODES["invalid"], done.err
    if words.startswith("schema"):
        assert said in done.err
        return
    error = done.json
    assert (error["category"], error["retryable"], error["exit_code"]) == ("invalid", False, 2)
    assert said in error["message"]
    assert not done.err


@pytest.mark.parametrize(
    ("error", "category"),
    [
        (Unauthorized("no"), "auth"),
        (WrongPassphrase("no"), "auth"),
        (RateLimited("slow"), "rate"),
        (Unreachable("gone"), "network"),
        (TimedOut("late"), "network"),
        (ServerFailed("500"), "network"),
        (NotFound("no such"), "invalid"),
        (InvalidRequest("bad"), "invalid"),
        (Refused("no"), "rejected"),
        (Refusal("above your limit"), "refused"),
        (OSError("disk"), "local"),
        (KeydeskClientError("closed"), "local"),
    ],
)
def test_each_error_has_a_category(error: Exception, category: str) -> None:
    assert category_of(error) == category
