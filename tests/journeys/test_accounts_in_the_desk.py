"""From an empty home to two brokers without leaving the desk: signing in, changing the account, a revoked token."""

from pathlib import Path

import pytest

from keydesk.config.settings import load_settings
from keydesk_client.orders.journal import FileJournal
from support.broker import PracticeServer, SharedPractice
from support.confirming import send
from support.proxies.gate_relay import gate_relay
from support.proxies.silent_relay import silent_relay
from support.signing_in import PASSPHRASE, Home
from support.terminal import Terminal, keydesk

SIZE = (120, 35)
WRONG = "wrong-" + "0123456789" * 3


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def other(shared_practice: SharedPractice) -> PracticeServer:
    """Another token of a broker, with accounts of its own."""
    return shared_practice.open_first_desk()


def command(terminal: Terminal, line: str) -> None:
    """Type a line of the command line."""
    terminal.press(":")
    terminal.see("Command  ")
    terminal.write(line.encode())
    terminal.see(line)
    terminal.press("Enter")


def fill(terminal: Terminal, title: str, text: str) -> None:
    """Paste a text into the field of a form, and take it."""
    terminal.see(title)
    terminal.pause()
    terminal.write(b"\x1b[200~" + text.encode() + b"\x1b[201~")
    terminal.pause()
    terminal.press("Enter")


def leave(terminal: Terminal) -> None:
    terminal.quit()
    assert terminal.wait_for_exit() == 0


def sign_in(terminal: Terminal, name: str, practice: PracticeServer, *, account: int = 0) -> None:
    """Sign in to a custom host of practice money, with the account of this row."""
    command(terminal, f"login {name}")
    terminal.see("never sent anywhere else")
    terminal.press("j", "j", "Enter")
    fill(terminal, "Address of the host", practice.rest_url)
    terminal.see("Address of its streams")
    terminal.press("Enter")
    terminal.see("What this host trades")
    terminal.press("j", "Enter")
    fill(terminal, f"Token for {name}", practice.token)
    terminal.see(f"Accounts of {name}")
    terminal.press(*["j"] * account, "Enter")


def test_a_new_trader_signs_in_to_two_brokers_from_inside_the_desk(
    home: Home, desk_of_my_own: PracticeServer, other: PracticeServer
) -> None:
    with Terminal(keydesk(), SIZE, home.env) as terminal:
        terminal.see("prices ok")
        command(terminal, "login lab")
        terminal.see("never sent anywhere else")
        terminal.press("j", "j", "Enter")
        fill(terminal, "Address of the host", desk_of_my_own.rest_url)
        terminal.see("Address of its streams")
        terminal.press("Enter")
        terminal.see("What this host trades")
        terminal.press("j", "Enter")
        terminal.see("kept in an encrypted file")
        fill(terminal, "Token for lab", WRONG)
        terminal.see("refuses the token (401)")
        fill(terminal, "Token for lab", desk_of_my_own.token)
        terminal.see(desk_of_my_own.hedging_id)
        terminal.press("j", "Enter")
        fill(terminal, "Choose a passphrase", PASSPHRASE)
        fill(terminal, "The same passphrase again", PASSPHRASE)
        terminal.see(f"Opened PRACTICE lab …{desk_of_my_own.hedging_id[-5:]}")
        terminal.see("prices ok")
        sign_in(terminal, "second", other)
        terminal.see(f"Opened PRACTICE second …{other.account_id[-5:]}")
        terminal.see("prices ok")
        leave(terminal)
        for secret in (desk_of_my_own.token, other.token, WRONG, PASSPHRASE):
            assert secret.encode() not in terminal.raw
    settings = load_settings(home.folder)
    assert settings.profiles["lab"].account_id == desk_of_my_own.hedging_id
    assert settings.last_profile == "second"
    for name, content in home.files().items():
        for secret in (desk_of_my_own.token, other.token, WRONG, PASSPHRASE):
            assert secret.encode() not in content, name


def test_an_order_under_way_is_told_on_the_other_account(
    home: Home, desk_of_my_own: PracticeServer, other: PracticeServer
) -> None:
    with gate_relay(desk_of_my_own.rest_url, desk_of_my_own.token) as relay:
        home.signed_in(
            "lab",
            desk_of_my_own,
            rest_url=relay.url,
            stream_url=desk_of_my_own.stream_url,
            practice_money=True,
        )
        home.signed_in("second", other, practice_money=True)
        desk = keydesk("--profile", "lab", *home.unlocked)
        with Terminal(desk, SIZE, home.env) as terminal:
            terminal.see("prices ok")
            relay.holds_orders = True
            send(terminal, "B")
            terminal.until(lambda: relay.orders == 1)
            command(terminal, "profile second")
            terminal.see("Opened PRACTICE second")
            terminal.see("its outcome will be told here")
            terminal.see("prices ok")
            terminal.see("exit only")
            command(terminal, "profile lab")
            terminal.see("an order of that account is still under way")
            relay.holds_orders = False
            terminal.see(f"PRACTICE lab …{desk_of_my_own.account_id[-5:]}: ")
            terminal.see("FILLED 10,000 EUR/USD")
            terminal.press("g", "t")
            terminal.see("No trades")
            terminal.press("Escape")
            command(terminal, "profile lab")
            terminal.see("Opened PRACTICE lab")
            terminal.see("LONG")
            leave(terminal)
    journal = home.folder / "orders" / f"lab.{desk_of_my_own.account_id}.journal"
    assert FileJournal(journal).open_intents() == ()
    assert not (home.folder / "orders" / f"second.{other.account_id}.journal").read_text()


def test_a_ticket_opened_while_the_account_changes_is_closed_with_its_desk(
    home: Home, desk_of_my_own: PracticeServer, other: PracticeServer
) -> None:
    home.signed_in("lab", desk_of_my_own, practice_money=True)
    with silent_relay(other.rest_url) as relay:
        home.signed_in(
            "second",
            other,
            rest_url=relay.url,
            stream_url=other.stream_url,
            practice_money=True,
        )
        desk = keydesk("--profile", "lab", *home.unlocked)
        with Terminal(desk, SIZE, home.env) as terminal:
            terminal.see("prices ok")
            relay.is_silent = True  # the other broker is asked for as long as the desk waits for it
            command(terminal, "profile second")
            terminal.press("B")
            terminal.see("y sends")
            relay.is_silent = False
            terminal.see("Opened PRACTICE second")
            terminal.see_no_more("y sends")
            terminal.see("prices ok")
            terminal.see("exit only")
            terminal.press("B")
            terminal.see("DISARMED is exit-only")
            terminal.press("Escape")
            leave(terminal)
    journal = home.folder / "orders" / f"lab.{desk_of_my_own.account_id}.journal"
    assert not journal.read_text()


def test_the_locked_vault_asks_for_its_passphrase_in_the_desk_until_it_is_right(
    home: Home, desk_of_my_own: PracticeServer
) -> None:
    home.signed_in("lab", desk_of_my_own, practice_money=True)
    with Terminal(keydesk("--practice"), SIZE, home.env) as terminal:
        terminal.see("prices ok")
        command(terminal, "accounts")
        terminal.see("the token vault is locked; :profile lab")
        terminal.press("Escape")
        command(terminal, "profile lab")
        fill(terminal, "Passphrase of the token vault", "not this one")
        terminal.see("That passphrase does not open the vault")
        fill(terminal, "Passphrase of the token vault", PASSPHRASE)
        terminal.see("Opened PRACTICE lab")
        command(terminal, "accounts")
        row = terminal.see(f"{desk_of_my_own.account_id[-5:]} Practice")
        assert "USD" in row
        terminal.press("Escape")
        leave(terminal)
        assert PASSPHRASE.encode() not in terminal.raw


def test_a_token_that_is_revoked_while_the_desk_is_open_is_replaced_by_login(
    home: Home, desk_of_my_own: PracticeServer
) -> None:
    fresh = "fresh-" + "0123456789abcdef" * 2
    with gate_relay(desk_of_my_own.rest_url, desk_of_my_own.token) as relay:
        home.signed_in(
            "lab", desk_of_my_own, rest_url=relay.url, stream_url=relay.url, practice_money=True
        )
        desk = keydesk("--profile", "lab", *home.unlocked)
        with Terminal(desk, SIZE, home.env) as terminal:
            terminal.see("prices ok")
            relay.accept(fresh)
            terminal.see(":login lab")
            command(terminal, "login lab")
            fill(terminal, "Token for lab", desk_of_my_own.token)
            terminal.see("refuses the token (401)")
            fill(terminal, "Token for lab", fresh)
            terminal.see("Opened PRACTICE lab")
            terminal.see("prices ok")
            leave(terminal)
            assert fresh.encode() not in terminal.raw
    again = home.run("profiles")
    assert "PRACTICE" in again.stdout


def test_the_first_sign_in_to_real_money_shows_the_page_of_safety_once(
    home: Home, desk_of_my_own: PracticeServer
) -> None:
    home.signed_in("lab", desk_of_my_own)
    with Terminal(keydesk("--profile", "lab", *home.unlocked), SIZE, home.env) as terminal:
        terminal.see("prices ok")
        for times in (1, 2):
            command(terminal, "login lab")
            fill(terminal, "Token for lab", desk_of_my_own.token)
            if times == 1:
                terminal.see("Before you trade real money")
                terminal.see("keydesk flatten --all")
                terminal.press("Enter")
            terminal.see("Opened LIVE lab")
            terminal.see("exit only")
            terminal.see("prices ok")
            terminal.press("Escape")
            terminal.see_no_more("Opened LIVE lab")
        leave(terminal)
