"""`keydesk practice ...`: each command is one request to the broker that runs on the data folder."""

import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from keydesk_practice.__main__ import main, replace_unknown_characters
from keydesk_practice.control.client import CONTROL_TOKEN_FILE, write_address
from keydesk_practice.control.clock_operations import MAX_SPEED
from keydesk_practice.control.command_line import COMMANDS, FASTEST, _parser, request_of
from support.broker import practice_server

ID = "101-001-1000001-001"


@pytest.mark.parametrize(
    ("text", "method", "path", "body"),
    [
        ("status", "GET", "/state", None),
        ("pause", "POST", "/clock/pause", {}),
        ("play", "POST", "/clock/play", {}),
        ("play --speed 60", "POST", "/clock/play", {"speed": 60.0}),
        ("speed 5", "POST", "/clock/speed", {"speed": 5.0}),
        ("step", "POST", "/clock/step", {"candles": 1, "granularity": "M1"}),
        ("step 4 --granularity H1", "POST", "/clock/step", {"candles": 4, "granularity": "H1"}),
        ("jump 2015-01-15T09:30Z", "POST", "/clock/jump", {"time": "2015-01-15T09:30Z"}),
        ("replay franc --balance 500", "POST", "/replay", {"scenario": "franc", "balance": "500"}),
        ("replay --random --blind --play", "POST", "/replay",
         {"random": True, "blind": True, "running": True}),
        ("finish", "POST", "/replay/finish", {}),
        ("shock gap EUR_USD --size -0.01", "POST", "/shocks",
         {"kind": "gap", "instrument": "EUR_USD", "size": "-0.01"}),
        ("shock none", "DELETE", "/shocks", None),
        ("checkpoint save noon", "POST", "/checkpoints", {"name": "noon"}),
        ("checkpoint restore noon", "POST", "/checkpoints/restore", {"name": "noon"}),
        ("checkpoint list", "GET", "/checkpoints", None),
        ("account add --currency EUR --hedging", "POST", "/accounts",
         {"currency": "EUR", "hedging": True}),
        (f"account withdraw {ID} 100", "POST", f"/accounts/{ID}/transfer", {"amount": "-100"}),
        (f"account deposit {ID} 100", "POST", f"/accounts/{ID}/transfer", {"amount": "100"}),
        (f"account reset {ID} --no-hedging", "POST", f"/accounts/{ID}/reset", {"hedging": False}),
        (f"account clone {ID}", "POST", f"/accounts/{ID}/clone", {}),
        (f"account margin {ID} 0.05", "POST", f"/accounts/{ID}/margin", {"marginRate": "0.05"}),
        ("token add", "POST", "/tokens", {}),
    ],
)  # fmt: skip
def test_a_command_is_one_request(
    text: str, method: str, path: str, body: dict[str, Any] | None
) -> None:
    assert request_of(_parser().parse_args(text.split())) == (method, path, body)


@pytest.mark.parametrize("verb", ["deposit", "withdraw"])
@pytest.mark.parametrize("amount", ["-5000", "+5", "1_000", "\u0663", "1e3", "", "five"])
def test_an_amount_is_a_plain_positive_number(
    verb: str, amount: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A deposit of -5000 would take money out."""
    with pytest.raises(SystemExit) as ended:
        _parser().parse_args(["account", verb, ID, amount])
    assert ended.value.code == 2
    assert "use a number above 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("speed abc", "invalid speed 'abc': use a number above 0, at most 100000, such as 60"),
        ("speed nan", "invalid speed 'nan': use a number above 0"),
        ("play --speed 0", "invalid speed '0': use a number above 0"),
        ("replay franc --speed 1e6", "invalid speed '1e6': use a number above 0"),
        ("step many", "invalid number 'many': use a whole number such as 5"),
        ("shock halt --seconds 1.5", "invalid number '1.5': use a whole number"),
    ],
)
def test_a_number_that_cannot_be_used_is_named_with_what_is_expected(
    line: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        _parser().parse_args(line.split())
    assert ended.value.code == 2
    assert text in capsys.readouterr().err


def test_the_prompt_takes_the_speeds_that_the_broker_takes() -> None:
    assert FASTEST == MAX_SPEED


def test_an_account_in_an_unknown_encoding_is_part_of_the_path() -> None:
    options = _parser().parse_args(["account", "clone", "../\udcff/\xe9"])
    assert request_of(options)[1] == "/accounts/..%2F%3F%2F%C3%A9/clone"


def test_a_token_file_that_is_not_there_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_address(tmp_path, "http+unix:///nowhere")
    (tmp_path / CONTROL_TOKEN_FILE).write_text("token")
    missing = str(tmp_path / "\x1b[31mmissing")
    assert main(["token", "add", "--token-file", missing, "--data", str(tmp_path)]) == 1
    said = capsys.readouterr().err
    assert "?[31mmissing: No such file or directory" in said
    assert "\x1b" not in said


def test_a_path_that_cannot_be_used_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", "--data", str(tmp_path / ("x" * 300))]) == 1
    assert "File name too long" in capsys.readouterr().err


def _run_into(target: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = f"{sys.executable} -m keydesk_practice.__main__ --help {target}"
    return subprocess.run(
        ["/bin/sh", "-c", command],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


@pytest.mark.e2e
def test_a_full_disk_under_the_output_is_told_in_a_sentence() -> None:
    done = _run_into("> /dev/full")
    assert done.returncode == 1
    assert done.stderr == "keydesk practice: No space left on device\n"


@pytest.mark.e2e
def test_a_reader_that_has_ended_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "keydesk_practice.__main__", "--help"],
        stdout=writing,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_a_name_beyond_the_encoding_of_the_output_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = io.BytesIO()
    output = io.TextIOWrapper(buffer, encoding="ascii")
    monkeypatch.setattr("sys.stdout", output)
    replace_unknown_characters()
    output.write("\u65e5\u672c Ann")
    output.flush()
    assert buffer.getvalue() == b"?? Ann"


def test_without_a_broker_the_remedy_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pause", "--data", str(tmp_path)]) == 1
    assert "keydesk practice serve" in capsys.readouterr().err


@pytest.mark.e2e
async def test_commands_reach_the_running_broker(
    practice_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with practice_server(practice_folder, "--paused", "--start", "2015-01-15T09:00Z") as one:
        data = str(one.data)
        assert await asyncio.to_thread(main, ["step", "2", "--data", data]) == 0
        assert "2015-01-15T09:02:00Z  paused" in capsys.readouterr().out
        assert await asyncio.to_thread(main, ["status", "--json", "--data", data]) == 0
        assert json.loads(capsys.readouterr().out)["time"].startswith("2015-01-15T09:02:00")
        assert await asyncio.to_thread(main, ["jump", "2014-01-01", "--data", data]) == 1
        assert "does not go back" in capsys.readouterr().err
    assert not (one.data / "control.json").exists()


def test_help_lists_the_commands_of_the_server_and_of_the_control_interface(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"    {name}" in said for name in ("serve", "reset", "check", *COMMANDS))
