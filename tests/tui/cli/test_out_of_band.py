"""Flatten, cancel-all and lock from a shell, on an account with trades and orders."""

import asyncio
import json
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from keydesk.cli.account_access import _settings, wait_for_outcomes
from keydesk.config.folders import find_folders
from keydesk.config.settings import save_last_profile
from keydesk.settings.toml_text import BadSettings
from keydesk.settings.values import Settings
from keydesk.trading.desk_session import DeskLock
from keydesk_client.orders.journal import FileJournal
from keydesk_client.orders.outcome import Action, Intent
from support.broker import PracticeServer
from support.proxies.poisoning_proxy import Poison, poisoning_proxy
from support.shell import validate
from support.signing_in import Home
from support.terminal import Terminal, keydesk

BUY = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}
STOP = {"stopLossOnFill": {"distance": "0.0100"}}
LIMIT = {"type": "LIMIT", "instrument": "EUR_USD", "units": "-500", "price": "9.00000"}


@pytest.fixture
async def home(tmp_path: Path, desk_of_my_own: PracticeServer) -> Home:
    """Signed in as `main` to an account with two trades, one of them protected, and an entry order."""
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    for order in (BUY | STOP, BUY | {"instrument": "USD_JPY", "units": "-2000"}, LIMIT):
        assert (
            await desk_of_my_own.send("POST", "{a}/orders", {"order": order})
        ).status_code == 201
    return home


async def open_things(practice: PracticeServer) -> tuple[int, list[str]]:
    """How many trades are open, and the types of the pending orders."""
    account = (await practice.get("{a}")).json()["account"]
    return len(account["trades"]), [order["type"] for order in account["orders"]]


@pytest.mark.e2e
async def test_flatten_closes_trades_and_cancels_entry_orders(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    done = home.run_program("flatten", "--profile", "main", "--yes", *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert "close 2 trades, cancel 1 entry order" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("FLAT: LIVE main account")
    assert await open_things(desk_of_my_own) == (0, [])
    again = home.run("flatten", "--profile", "main", "--yes", *home.unlocked)
    assert (again.returncode, again.stdout.startswith("FLAT")) == (0, True)


@pytest.mark.e2e
async def test_after_a_replay_flatten_says_closed_and_cancelled_of_what_it_closed_and_cancelled(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    path = home.folder / "orders" / f"main.{desk_of_my_own.account_id}.journal"
    journal, earlier = (
        FileJournal(path),
        Intent("kd-of-a-replay", Action.CANCEL, 0, 0, None, "", {}),
    )
    journal.write(earlier)
    journal.settle(earlier, "done", [str(number) for number in range(1, 100)])
    done = home.run("flatten", "--profile", "main", "--yes", *home.unlocked)
    assert done.returncode == 0, done.stderr
    words = done.stdout.splitlines()[1:-1]
    assert sorted(each.split()[0] for each in words) == ["CLOSED", "CLOSED", "DONE"]
    assert all("@" in each and "realized" in each for each in words if each.startswith("CLOSED"))


@pytest.mark.e2e
async def test_for_a_script_flatten_says_its_words_on_stderr_and_the_accounts_as_json(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    words = ("--profile", "main", "--json", *home.unlocked)
    asked = home.run("flatten", *words)
    assert asked.returncode == 2
    assert "--yes is required with --json" in asked.stderr + asked.stdout
    done = home.run("flatten", *words, "--yes")
    document = json.loads(done.stdout)
    validate(document)
    assert done.returncode == 0
    assert [one["account_id"] for one in document["accounts"]] == [desk_of_my_own.account_id]
    assert "close 2 trades, cancel 1 entry order" in done.stderr
    assert await open_things(desk_of_my_own) == (0, [])
    cancelled = json.loads(home.run("cancel-all", *words, "--yes").stdout)
    validate(cancelled)
    locked = json.loads(home.run("lock", "--profile", "main", "--yes", "--json").stdout)
    validate(locked)
    assert locked["locked"] is True


@pytest.mark.e2e
async def test_what_was_sent_is_settled_in_the_desk_s_journal_and_in_its_audit_log(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    home.run("flatten", "--profile", "main", "--yes", *home.unlocked)
    stem = home.folder / "orders" / f"main.{desk_of_my_own.account_id}"
    journal = Path(f"{stem}.journal")
    assert FileJournal(journal).open_intents() == ()
    assert journal.read_text().count('"intent"') == 3
    entries = [json.loads(line) for line in Path(f"{stem}.audit").read_text().splitlines()]
    assert [entry["what"] for entry in entries] == ["flatten", *["outcome"] * 3, "flatten"]
    assert entries[-1]["words"] == "left: nothing"


@pytest.mark.e2e
async def test_cancel_all_leaves_trades_and_what_protects_them(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    done = home.run_program("cancel-all", "--profile", "main", "--yes", *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert await open_things(desk_of_my_own) == (2, ["STOP_LOSS"])


@pytest.mark.e2e
@pytest.mark.parametrize("command", ["flatten", "cancel-all"])
async def test_without_a_terminal_and_without_yes_nothing_is_sent(
    desk_of_my_own: PracticeServer, home: Home, command: str
) -> None:
    done = home.run(command, "--profile", "main", *home.unlocked)
    assert (done.returncode, "--yes" in done.stderr) == (1, True)
    assert await open_things(desk_of_my_own) == (2, ["STOP_LOSS", "LIMIT"])


@pytest.mark.e2e
async def test_a_person_types_the_letter_that_is_shown(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    words = keydesk("flatten", "--profile", "main", *home.unlocked)
    with Terminal(words, (160, 24), home.env) as terminal:
        terminal.see("to flatten; anything else")
        terminal.press("n", "Enter")
        assert terminal.wait_for_exit() == 1
        terminal.see("nothing was sent")
    assert await open_things(desk_of_my_own) == (2, ["STOP_LOSS", "LIMIT"])
    with Terminal(words, (160, 24), home.env) as terminal:
        question = terminal.see("to flatten; anything else")
        terminal.press(question.split()[1], "Enter")
        assert terminal.wait_for_exit() == 0
        terminal.see("FLAT: LIVE main")
    assert await open_things(desk_of_my_own) == (0, [])


@pytest.mark.e2e
def test_a_script_must_name_the_account(home: Home) -> None:
    for command in ("flatten", "cancel-all", "lock"):
        done = home.run(command, "--yes")
        assert (done.returncode, "--profile --practice is required" in done.stderr) == (2, True)


@pytest.mark.e2e
async def test_a_person_who_names_no_account_is_asked_about_the_last_one(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    save_last_profile(home.folder, "main")
    with Terminal(keydesk("flatten", *home.unlocked), (160, 24), home.env) as terminal:
        question = terminal.see("to flatten; anything else")
        assert "FLATTEN LIVE main account" in terminal.text
        terminal.press(question.split()[1], "Enter")
        assert terminal.wait_for_exit() == 0
    assert await open_things(desk_of_my_own) == (0, [])
    with Terminal(keydesk("lock"), (160, 24), home.env) as terminal:
        terminal.see("to lock main; anything else")
        terminal.press("y", "Enter")
        assert terminal.wait_for_exit() == 0
        terminal.see("keydesk lock --profile main --release")


@pytest.mark.e2e
@pytest.mark.parametrize("command", ["flatten", "cancel-all", "lock"])
def test_a_last_account_that_is_gone_is_said_with_those_that_are_there(
    home: Home, command: str
) -> None:
    save_last_profile(home.folder, "gone")
    done = home.run(command, *([] if command == "lock" else home.unlocked))
    assert (done.returncode, "no profile 'gone' (known: main)" in done.stderr) == (2, True)


@pytest.mark.e2e
def test_a_lock_stays_until_it_is_taken_off_and_needs_no_token(home: Home) -> None:
    lock = DeskLock.of(home.folder / "orders", "main")
    assert home.run_program("lock", "--profile", "main", "--yes").returncode == 0
    assert lock.check(0.0)
    assert home.run("lock", "--profile", "main", "--release", "--yes").returncode == 0
    assert lock.check(0.5)  # the disk is asked once a second
    assert not lock.check(1.0)


def open_to_others(home: Home, mode: int = 0o055) -> None:
    """Let others read everything of the person, as after a copy by `cp -r`."""
    for path in (home.folder, *home.folder.rglob("*"), home.passphrase_file):
        path.chmod(path.stat().st_mode | (mode if path.is_dir() else mode & 0o066))


@pytest.mark.e2e
async def test_an_exit_goes_on_with_a_warning_where_others_can_read_the_folder(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    open_to_others(home)
    done = home.run("flatten", "--profile", "main", "--yes", *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert await open_things(desk_of_my_own) == (0, [])
    warned = [
        line for line in done.stderr.splitlines() if "because it only closes or cancels" in line
    ]
    named = (home.folder, home.folder / "tokens", "tokens.vault", home.passphrase_file)
    for path in named:
        assert any(f"{path} is " in line for line in warned), done.stderr


@pytest.mark.e2e
def test_a_lock_is_put_on_in_a_folder_that_others_can_read_and_not_taken_off(home: Home) -> None:
    open_to_others(home)
    done = home.run("lock", "--profile", "main", "--yes")
    assert (done.returncode, "because it only closes or cancels" in done.stderr) == (0, True)
    assert DeskLock.of(home.folder / "orders", "main").check(0.0)
    released = home.run("lock", "--profile", "main", "--release", "--yes")
    assert (released.returncode, "is open to others" in released.stderr) == (1, True)


@pytest.mark.e2e
async def test_flatten_gets_out_without_a_journal(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    (home.folder / "orders").write_text("a file in the folder's place")
    done = home.run("flatten", "--profile", "main", "--yes", *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert await open_things(desk_of_my_own) == (0, [])


@pytest.mark.e2e
async def test_flatten_names_an_order_without_a_known_outcome_beside_flat(
    desk_of_my_own: PracticeServer, home: Home
) -> None:
    """The broker may take it later: an account that is flat now need not stay so."""
    path = home.folder / "orders" / f"main.{desk_of_my_own.account_id}.journal"
    FileJournal(path).write(Intent("kd-lost", Action.CREATE, 0, 0, None, "", BUY))
    for _ in range(2):  # what closes, and what finds nothing to close
        done = home.run("flatten", "--profile", "main", "--yes", *home.unlocked)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1].startswith("FLAT: LIVE main account")
        assert "NOT KNOWN LIVE main account" in done.stderr
        assert "BUY 1,000 EUR/USD" in done.stderr
        assert "may still take effect" in done.stderr


class ChangingProxy(Poison):
    """Changes the JSON objects of answers as a test tells it."""

    def __init__(self, change: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(active=True)
        self.change = change

    def answer(self, value: Any, member: str = "") -> object:  # noqa: ANN401, ARG002 - any JSON
        """Return the answer changed."""
        self.change(value)
        return value


def test_a_settings_file_that_is_wrong_refuses_no_exit_on_the_practice_market(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = find_folders(str(tmp_path / "home"), {})
    folders.config.mkdir(parents=True, exist_ok=True)
    (folders.config / "config.toml").write_text("theme = [broken\n")
    practice, other = Namespace(practice=True), Namespace(practice=False)
    assert _settings(practice, folders, for_exit=True).theme == Settings().theme
    assert "is not valid TOML" in capsys.readouterr().err
    for options, for_exit in ((practice, False), (other, True)):
        with pytest.raises(BadSettings):
            _settings(options, folders, for_exit=for_exit)


def first_without(members: str, of: str) -> Callable[[dict[str, Any]], None]:
    """Leave a member out of the first record of a list, as long as the list has another one."""

    def change(answer: dict[str, Any]) -> None:
        if "account" not in answer and len(answer.get(of, ())) > 1:
            answer[of][0].pop(members)

    return change


async def run_past(
    change: Callable[[dict[str, Any]], None], practice: PracticeServer, folder: Path, command: str
) -> "tuple[int, str]":
    """Run a command through a proxy that changes the broker's answers; returns its exit code and what it said."""
    with poisoning_proxy(practice, ChangingProxy(change)) as proxy:
        (folder / "past").mkdir()
        home = Home(folder / "past" / "home")
        home.signed_in("main", practice, rest_url=proxy.url, stream_url=proxy.url)
        done = await asyncio.to_thread(
            home.run_here, command, "--profile", "main", "--yes", *home.unlocked
        )
        assert proxy.faults == []
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("member", ["instrument", "id"])
@pytest.mark.usefixtures("home")
async def test_flatten_closes_the_other_trades_when_one_cannot_be_read(
    desk_of_my_own: PracticeServer, tmp_path: Path, member: str
) -> None:
    change = first_without(member, "trades")
    code, said = await run_past(change, desk_of_my_own, tmp_path, "flatten")
    assert code == 0, said
    assert said.splitlines()[-1].startswith("FLAT: LIVE main account")
    assert await open_things(desk_of_my_own) == (0, [])


@pytest.mark.usefixtures("home")
async def test_flatten_never_calls_an_account_flat_whose_trades_cannot_be_read(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    def change(answer: dict[str, Any]) -> None:
        for trade in answer.get("trades", ()):
            del trade["id"]

    code, said = await run_past(change, desk_of_my_own, tmp_path, "flatten")
    assert code == 1
    assert "NOT FLAT, still there: 2 trades that cannot be read" in said
    assert (await open_things(desk_of_my_own))[0] == 2


@pytest.mark.parametrize("member", ["id", "type", "instrument"])
@pytest.mark.usefixtures("home")
async def test_cancel_all_cancels_the_other_orders_when_one_cannot_be_read(
    desk_of_my_own: PracticeServer, tmp_path: Path, member: str
) -> None:
    await desk_of_my_own.send("POST", "{a}/orders", {"order": LIMIT})
    change = first_without(member, "orders")
    code, said = await run_past(change, desk_of_my_own, tmp_path, "cancel-all")
    left = (await open_things(desk_of_my_own))[1]
    assert left.count("LIMIT") == (0 if member == "instrument" else 1)
    assert ("1 order that cannot be read" in said) == (member != "instrument")
    assert code == (0 if member == "instrument" else 1)


@pytest.mark.usefixtures("home")
async def test_flatten_needs_no_summary_of_the_account(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    def change(answer: dict[str, Any]) -> None:
        if "account" in answer:
            answer.clear()

    code, said = await run_past(change, desk_of_my_own, tmp_path, "flatten")
    assert code == 0, said
    assert await open_things(desk_of_my_own) == (0, [])


@pytest.mark.e2e
@pytest.mark.parametrize("command", ["flatten", "cancel-all"])
def test_of_a_broker_that_is_away_it_says_that_nothing_was_sent(
    home: Home, desk_of_my_own: PracticeServer, command: str
) -> None:
    home.signed_in("away", desk_of_my_own, rest_url="http://127.0.0.1:9")
    done = home.run(command, "--profile", "away", "--yes", *home.unlocked)
    assert done.returncode == 1
    assert "NOTHING WAS SENT: LIVE away account" in done.stderr
    assert f"again: keydesk {command}" in done.stderr


async def test_while_outcomes_are_awaited_it_says_how_many(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answered = asyncio.Event()
    said: list[str] = []

    async def answer_once_it_was_said() -> None:
        while "no outcome of 2 of 2 requests" not in "".join(said):
            await asyncio.sleep(0)
            said.append(capsys.readouterr().err)
        answered.set()

    async def sent() -> None:
        await answered.wait()

    helper = asyncio.create_task(answer_once_it_was_said())
    await wait_for_outcomes([sent(), sent()], say_every=0.0)
    await helper
    assert "Ctrl-C leaves: what was sent may still be carried out" in "".join(said)


async def test_interrupted_it_says_what_has_no_outcome(capsys: pytest.CaptureFixture[str]) -> None:
    begun = asyncio.Event()

    async def silent() -> None:
        begun.set()
        await asyncio.Event().wait()

    async def answered() -> None:
        return

    waiting = asyncio.create_task(wait_for_outcomes([answered(), silent()]))
    await begun.wait()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert "LEFT: 1 of 2 requests had no outcome" in capsys.readouterr().err
