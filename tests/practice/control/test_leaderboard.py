"""The instructor's page: who trades, what each account is worth, the best result first; reset and pause for all."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from rich.cells import cell_len

from keydesk_practice.__main__ import main
from keydesk_practice.control import leaderboard
from keydesk_practice.control.client import ControlClient
from keydesk_practice.control.command_line import _parser
from keydesk_practice.errors import ControlFailed
from support.broker import practice_server

STATE = {"time": "2024-05-16T12:00:00.000000000Z", "running": True, "speed": "60"}


def account(number: int, nav: str, paid_in: str = "100000", **members: object) -> dict[str, Any]:
    return {
        "id": f"101-001-1-{number:03}",
        "currency": "USD",
        "nav": nav,
        "paidIn": paid_in,
        "openTrades": 0,
        "pendingOrders": 0,
        **members,
    }


def state(*accounts: dict[str, Any], **members: object) -> dict[str, Any]:
    return {**STATE, "accounts": list(accounts), **members}


class FakeClient:
    """Answers each call with the same state, and notes it."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self.calls: list[tuple[str, str, object]] = []

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        self.calls.append((method, path, body))
        return self.answer


def run(client: FakeClient, text: str, wait: Callable[[float], None] = lambda _: None) -> int:
    options = _parser().parse_args(["room", *text.split()])
    return leaderboard.run_room(cast(ControlClient, client), options, wait)


def test_accounts_are_ranked_by_the_result_of_what_was_paid_in() -> None:
    ranked = leaderboard.standings(
        state(account(1, "101000"), account(2, "550", "500"), account(3, "99000"))
    )
    assert [(one.account[-1], one.profit, one.result) for one in ranked] == [
        ("2", "50.00", "0.1000"),
        ("1", "1000.00", "0.0100"),
        ("3", "-1000.00", "-0.0100"),
    ]


def test_a_line_says_who_trades_and_since_when_not() -> None:
    fill = "2024-05-16T11:45:00.000000000Z"
    busy = account(1, "101000", openTrades=2, pendingOrders=1, lastFill=fill, alias="Ann")
    lines = leaderboard.room_lines(state(busy, account(2, "100000"), running=False))
    assert lines[0] == "2024-05-16T12:00:00Z  paused  2 accounts, 1 with trades or orders"
    assert lines[2].split() == [
        "1", "101-001-1-001", "Ann", "USD", "101,000.00", "+1,000.00", "+1.00%", "2", "1", "15", "min",
    ]  # fmt: skip
    assert lines[3].endswith("never")


def test_a_hostile_name_reaches_no_terminal() -> None:
    lines = leaderboard.room_lines(
        state(account(1, "1", alias="\x1b[2J\u202eliame\r\n\x07" + "x" * 90))
    )
    assert all(one.isprintable() for one in lines)


@pytest.mark.parametrize(
    "name", ["口座の名前がとても長いひと" * 3, "Z" + "\u0335" * 90, "Ann", "e\u0301ric"]
)
def test_columns_stand_under_each_other_whatever_a_name_is_made_of(name: str) -> None:
    lines = leaderboard.room_lines(
        state(account(1, "1", alias=name), account(2, "1", alias="Bo")), 200
    )
    assert cell_len(lines[2].partition("USD")[0]) == cell_len(lines[3].partition("USD")[0])
    assert cell_len(lines[2].partition("USD")[0]) < 60
    assert lines[2].count("\u0335") <= 3
    narrow = leaderboard.room_lines(state(account(1, "1", alias=name)), 30)
    assert all(cell_len(one) <= 30 for one in narrow)


@pytest.mark.parametrize(("width", "height"), [(100, None), (40, 12), (80, 24), (1, 1), (200, 50)])
def test_no_line_is_longer_than_the_window_and_the_rest_is_counted(
    width: int, height: int | None
) -> None:
    lines = leaderboard.room_lines(state(*(account(n, "100000") for n in range(60))), width, height)
    assert all(len(one) <= width for one in lines)
    if height is not None and height > 3:
        assert len(lines) <= height
        assert width < 60 or "more" in lines[-1] or len(lines) > 60


def test_nothing_paid_in_is_no_result() -> None:
    assert leaderboard.standings(state(account(1, "0", "0")))[0].result == "0.0000"
    assert leaderboard.room_lines(state())[0].endswith("0 accounts, 0 with trades or orders")


def test_a_reset_of_all_needs_a_yes(capsys: pytest.CaptureFixture[str]) -> None:
    client = FakeClient(state(account(1, "1"), account(2, "1")))
    with pytest.raises(SystemExit, match="all 2 accounts"):
        run(client, "reset")
    run(client, "reset --yes --balance 500")
    resets = [call for call in client.calls if call[0] == "POST"]
    assert resets == [
        ("POST", "/accounts/101-001-1-001/reset", {"balance": "500"}),
        ("POST", "/accounts/101-001-1-002/reset", {"balance": "500"}),
    ]
    client.calls.clear()
    run(client, "reset 101-001-1-002")
    assert [path for method, path, _ in client.calls if method == "POST"] == [
        "/accounts/101-001-1-002/reset"
    ]
    assert "2 accounts" in capsys.readouterr().out


def test_with_an_unknown_account_among_them_none_is_reset() -> None:
    client = FakeClient(state(account(1, "1"), account(2, "1")))
    with pytest.raises(ControlFailed, match=r"no account \.\./clock: nothing is reset"):
        run(client, "reset 101-001-1-001 ../clock")
    assert [method for method, _, _ in client.calls] == ["GET"]


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("pause 101-001-1-001", "ACCOUNT goes with room reset"),
        ("show 101-001-1-001", "ACCOUNT goes with room reset"),
        ("play --balance 5", "--balance goes with room reset"),
        ("pause --yes", "--yes goes with room reset"),
        ("--refresh -1", "use 0.1 to 86400"),
        ("--refresh nan", "use 0.1 to 86400"),
        ("--refresh inf", "use 0.1 to 86400"),
        ("--refresh 0", "use 0.1 to 86400"),
    ],
)
def test_what_would_not_be_done_as_written_is_refused(
    text: str, refusal: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["room", *text.split(), "--data", str(tmp_path)])
    assert ended.value.code == 2
    assert refusal in capsys.readouterr().err


def test_pausing_all_answers_in_json_as_well(capsys: pytest.CaptureFixture[str]) -> None:
    run(FakeClient(state(account(1, "1"))), "pause --json")
    assert json.loads(capsys.readouterr().out)["accounts"][0]["rank"] == 1


def test_pause_and_play_are_for_all() -> None:
    client = FakeClient(state())
    run(client, "pause")
    run(client, "play")
    assert [path for method, path, _ in client.calls if method == "POST"] == [
        "/clock/pause",
        "/clock/play",
    ]


def test_on_a_terminal_the_table_is_painted_again_until_interrupted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    waits: list[float] = []

    def wait(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 3:
            raise KeyboardInterrupt

    client = FakeClient(state(account(1, "100000")))
    assert run(client, "--refresh 0.5", wait=wait) == 130
    assert waits == [0.5, 0.5, 0.5]
    assert capsys.readouterr().out.count("\x1b[H\x1b[2J") == 3


@pytest.mark.e2e
async def test_the_room_of_a_running_broker(
    practice_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with practice_server(practice_folder, "--paused") as broker:
        order = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}
        await broker.send("POST", "{a}/orders", {"order": order})
        client = ControlClient.of_data_folder(broker.data)
        deposit = f"/accounts/{broker.hedging_id}/transfer"
        await asyncio.to_thread(client.call, "POST", deposit, {"amount": "500"})
        words = ["room", "--json", "--data", str(broker.data)]
        assert await asyncio.to_thread(main, words) == 0
    found = json.loads(capsys.readouterr().out)
    traded, untouched = sorted(found["accounts"], key=lambda one: one["account"])
    assert traded["open_trades"] == 1
    assert traded["seconds_since_fill"] == 0
    assert traded["profit"].startswith("-")  # the spread
    assert (untouched["equity"], untouched["profit"]) == ("100500.00", "0.00")
