"""`status --all` and `flatten --all`: every account of every profile, and why one cannot be read."""

import json
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest

from keydesk.config.settings import save_profile
from keydesk_client.auth.profiles import Profile
from support.broker import PracticeServer, SharedPractice
from support.shell import validate
from support.signing_in import PASSPHRASE, Home
from support.terminal import Terminal, keydesk

BUY: dict[str, object] = {"type": "MARKET", "instrument": "EUR_USD", "units": "1000"}
STOP: dict[str, object] = {"stopLossOnFill": {"distance": "0.0100"}}
LIMIT = {"type": "LIMIT", "instrument": "EUR_USD", "units": "-500", "price": "9.00000"}


@pytest.fixture
async def other(shared_practice: SharedPractice) -> AsyncIterator[PracticeServer]:
    """A second token, with two accounts of its own."""
    desk = shared_practice.open_first_desk()
    yield desk
    await desk.close()


async def send(practice: PracticeServer, account_id: str, order: Mapping[str, object]) -> None:
    path = f"/v3/accounts/{account_id}/orders"
    assert (await practice.send("POST", path, {"order": order})).status_code == 201


@pytest.fixture
async def home(tmp_path: Path, desk_of_my_own: PracticeServer, other: PracticeServer) -> Home:
    """Two profiles with two accounts each: trades on the first account of the one and the second of the other."""
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    home.signed_in("second", other)
    await send(desk_of_my_own, desk_of_my_own.account_id, BUY | STOP)
    await send(desk_of_my_own, desk_of_my_own.account_id, LIMIT)
    await send(other, other.hedging_id, BUY)
    return home


@pytest.mark.e2e
def test_every_account_of_every_profile_is_shown_with_its_risk(
    home: Home, desk_of_my_own: PracticeServer, other: PracticeServer
) -> None:
    done = home.run("status", "--all", *home.unlocked)
    assert done.returncode == 0, done.stderr
    for account in (*desk_of_my_own.accounts, *other.accounts):
        assert account.id in done.stdout
    assert "1 trade, 1 entry order, open risk 10." in done.stdout
    assert "UNLIMITED: 1 without a stop" in done.stdout
    assert "LIVE  main" in done.stdout


@pytest.mark.e2e
def test_the_document_has_exact_figures_and_no_token(
    home: Home, desk_of_my_own: PracticeServer, other: PracticeServer
) -> None:
    done = home.run("status", "--all", "--json", *home.unlocked)
    document = json.loads(done.stdout)
    validate(document)
    main, second = document["profiles"]
    assert [each["account_id"] for each in main["accounts"]] == [
        each.id for each in desk_of_my_own.accounts
    ]
    assert main["accounts"][0]["trades"] == 1
    assert main["accounts"][0]["open_risk"].startswith("10.")
    assert second["accounts"][1]["open_risk"] is None
    assert second["accounts"][1]["trades_without_stop"] == 1
    for each in (desk_of_my_own, other):
        assert each.token not in done.stdout + done.stderr


@pytest.mark.e2e
def test_a_profile_that_cannot_be_read_says_why_and_the_others_are_shown(
    home: Home, desk_of_my_own: PracticeServer
) -> None:
    gone = Profile("gone", "custom", "1", "http://127.0.0.1:1", "http://127.0.0.1:1")
    save_profile(home.folder, gone)
    done = home.run("status", "--all", *home.unlocked)
    assert done.returncode == 1
    assert "gone  CANNOT BE READ: no token is stored for profile gone" in done.stdout
    assert desk_of_my_own.account_id in done.stdout
    document = json.loads(home.run("status", "--all", "--json", *home.unlocked).stdout)
    validate(document)
    assert "no token" in document["profiles"][2]["error"]


@pytest.mark.e2e
def test_a_locked_vault_is_the_reason_of_each_of_its_profiles(home: Home) -> None:
    done = home.run("status", "--all")
    assert done.returncode == 1
    assert done.stdout.count("CANNOT BE READ: the token vault needs its passphrase") == 2


@pytest.mark.e2e
def test_an_account_of_two_profiles_is_shown_and_flattened_once(
    home: Home, desk_of_my_own: PracticeServer
) -> None:
    home.signed_in("third", desk_of_my_own)
    done = home.run("status", "--all", *home.unlocked)
    assert f"{desk_of_my_own.account_id} (see main)" in done.stdout
    flat = home.run("flatten", "--all", "--yes", *home.unlocked)
    assert flat.returncode == 0, flat.stderr
    assert flat.stdout.count(f"FLATTEN LIVE main account {desk_of_my_own.account_id}") == 1


@pytest.mark.e2e
async def test_one_letter_flattens_all_after_each_account_was_named(
    home: Home, desk_of_my_own: PracticeServer, other: PracticeServer
) -> None:
    command = keydesk("flatten", "--all", *home.unlocked)
    with Terminal(command, (160, 40), home.env) as terminal:
        terminal.see(f"FLATTEN LIVE main account {desk_of_my_own.account_id}: close 1 trade")
        terminal.see(f"FLATTEN LIVE second account {other.hedging_id}: close 1 trade")
        terminal.see(f"FLAT: LIVE main account {desk_of_my_own.hedging_id}")
        row = terminal.see("to flatten these 2 accounts")
        terminal.write(row.split("Type ")[1][:1].encode() + b"\n")
        terminal.see("ALL FLAT")
        assert terminal.wait_for_exit() == 0
    for practice in (desk_of_my_own, other):
        for account in practice.accounts:
            path = f"/v3/accounts/{account.id}"
            held = (await practice.get(path)).json()["account"]
            assert (held["trades"], held["orders"]) == ([], [])
    journals = {path.name for path in (home.folder / "orders").glob("*.journal")}
    assert f"main.{desk_of_my_own.account_id}.journal" in journals
    assert f"second.{other.hedging_id}.journal" in journals


@pytest.mark.e2e
async def test_another_answer_sends_nothing(home: Home, desk_of_my_own: PracticeServer) -> None:
    command = keydesk("flatten", "--all", *home.unlocked)
    with Terminal(command, (160, 40), home.env) as terminal:
        terminal.see("to flatten these 2 accounts")
        terminal.write(b"\n")
        terminal.see("nothing was sent")
        assert terminal.wait_for_exit() == 1
    assert len((await desk_of_my_own.get("{a}")).json()["account"]["trades"]) == 1


@pytest.mark.e2e
def test_what_is_unread_is_named_and_the_rest_is_flattened(
    home: Home, desk_of_my_own: PracticeServer
) -> None:
    text = (home.folder / "config.toml").read_text()
    (home.folder / "config.toml").write_text(
        text + '\n[profiles.gone]\nenvironment = "live"\naccount = "1"\ntoken_store = "vault"\n'
    )
    done = home.run("flatten", "--all", "--yes", *home.unlocked)
    assert done.returncode == 1
    assert "NOT ALL FLAT: gone: no token is stored" in done.stderr
    assert f"FLAT: LIVE main account {desk_of_my_own.account_id} has no position" in done.stdout


@pytest.mark.parametrize("command", [["status", "--all"], ["flatten", "--all", "--yes"]])
def test_without_a_profile_it_says_how_to_sign_in(tmp_path: Path, command: list[str]) -> None:
    done = Home(tmp_path / "home").run_here(*command)
    assert (done.returncode, "keydesk login NAME" in done.stderr) == (1, True)


@pytest.mark.e2e
def test_a_script_changes_the_passphrase_of_the_vault(home: Home, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.write_text("another long passphrase\n")
    new.chmod(0o600)
    words = ["vault", "passphrase", "--new-passphrase-file", str(new)]
    done = home.run_program(*words, *home.unlocked)
    assert done.returncode == 0, done.stderr
    assert "does not open" in home.run("status", "--profile", "main", *home.unlocked).stderr
    opened = home.run("status", "--profile", "main", "--passphrase-file", str(new))
    assert opened.returncode == 0, opened.stderr
    for name, content in home.files().items():
        assert PASSPHRASE.encode() not in content, name
        assert b"another long passphrase" not in content, name


@pytest.mark.e2e
def test_a_short_new_passphrase_or_no_terminal_leaves_the_vault(home: Home, tmp_path: Path) -> None:
    new = tmp_path / "new"
    new.write_text("short\n")
    new.chmod(0o600)
    words = ["vault", "passphrase", "--new-passphrase-file", str(new)]
    assert "8 characters or more" in home.run(*words, *home.unlocked).stderr
    assert "--new-passphrase-file PATH" in home.run("vault", "passphrase", *home.unlocked).stderr
    assert home.run("status", "--profile", "main", *home.unlocked).returncode == 0


@pytest.mark.e2e
def test_a_person_changes_the_passphrase_unseen(home: Home) -> None:
    with Terminal(keydesk("vault", "passphrase"), (120, 24), home.env) as terminal:
        terminal.see("Present passphrase")
        terminal.write(b"mistyped\n")
        terminal.see("does not open the vault")
        terminal.until(lambda: terminal.text.count("Present passphrase") == 2)
        terminal.write(PASSPHRASE.encode() + b"\n")
        terminal.see("New passphrase: ")
        terminal.write(b"another long passphrase\n")
        terminal.see("The same passphrase again")
        terminal.write(b"another long passphrase\n")
        terminal.see("The vault has the new passphrase")
        assert terminal.wait_for_exit() == 0
        assert b"another long" not in terminal.raw
        assert PASSPHRASE.encode() not in terminal.raw
