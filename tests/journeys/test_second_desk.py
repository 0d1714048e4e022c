"""A second desk on the same practice market refuses before it draws anything; one after a crash opens."""

import signal
from pathlib import Path

from keydesk.app import practice_broker
from support.broker import PracticeServer
from support.confirming import send
from support.signing_in import Home
from support.terminal import Terminal, keydesk

SIZE = (100, 30)


def test_a_second_desk_on_the_same_market_refuses_and_one_after_a_killed_one_opens_at_once(
    practice_folder: Path,
) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as first:
        first.see("prices ok")
        with Terminal(keydesk("--practice"), SIZE, env) as second:
            assert second.wait_for_exit() == 1
            said = "".join(second.rows)
            assert "keydesk: the practice market in " in said
            assert "is open already, in another desk or broker" in said
            assert "--data DIR" in said
            assert b"\x1b" not in second.raw, "nothing was drawn"
        first.press("B")
        first.see("BUY 10,000")
        assert practice_broker.is_ledger_locked(practice_folder / "home" / "practice")
        first.signal(signal.SIGKILL)
    with Terminal(keydesk("--practice"), SIZE, env) as again:
        again.see("prices ok")


def test_two_desks_on_one_account_each_say_so(
    desk_of_my_own: PracticeServer, tmp_path: Path
) -> None:
    home = Home(tmp_path / "home")
    home.signed_in("main", desk_of_my_own)
    command = keydesk("--profile", "main", *home.unlocked)
    with Terminal(command, SIZE, home.env) as first:
        first.see("prices ok")
        with Terminal(command, SIZE, home.env) as second:
            second.see("ANOTHER DESK has this account open")
            assert f"process {first.pid}" in second.text
            first.see("ANOTHER DESK has this account open")
            assert f"process {second.pid}" in first.text
            second.quit()
            assert second.wait_for_exit() == 0
        first.see("The other desk on this account was closed")


def test_a_fill_that_nobody_saw_is_told_at_the_next_start_and_only_there(
    practice_folder: Path,
) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    orders = practice_folder / "home" / "orders"
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        terminal.see("prices ok")
        send(terminal, "B")
        terminal.until(lambda: b'"as":"done"' in journal_in(orders), what="a journalled fill")
        terminal.hang_up()
        assert terminal.wait_for_exit(reading=False) in (129, -signal.SIGHUP)
    with Terminal(keydesk("--practice"), SIZE, env) as again:
        again.see("NOT SEEN BEFORE")
        again.see("FILLED 10,000 EUR/USD")
        again.pause(READ_FOR)
        again.press("Escape")
        again.quit()
        assert again.wait_for_exit() == 0
    assert list(orders.glob("*.desk")) == []
    with Terminal(keydesk("--practice"), SIZE, env) as later:
        later.see("Trades 1")
        later.see("prices ok")
        assert "NOT SEEN BEFORE" not in later.text


READ_FOR = 1.5  # seconds


def journal_in(folder: Path) -> bytes:
    """What the order journal of the only account holds."""
    return b"".join(path.read_bytes() for path in folder.glob("*.journal"))


def test_a_ledger_that_nobody_holds_is_free(tmp_path: Path) -> None:
    assert not practice_broker.is_ledger_locked(tmp_path)
    (tmp_path / practice_broker.LEDGER).write_bytes(b"")
    assert not practice_broker.is_ledger_locked(tmp_path)
