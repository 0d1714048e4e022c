"""A second desk on the same practice market refuses before it draws anything; one after a crash opens."""

import signal
from pathlib import Path

from keydesk import open_broker
from support.terminal import Terminal, keydesk

SIZE = (100, 30)


def test_a_second_desk_on_the_same_market_refuses_in_plain_words(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as first:
        first.see("prices ok")
        with Terminal(keydesk("--practice"), SIZE, env) as second:
            assert second.wait_for_exit() == 1
            said = "".join(second.screen.display)
            assert "keydesk: the practice market in " in said
            assert "is open already, in another desk or broker" in said
            assert "--data DIR" in said
            assert b"\x1b" not in second.raw, "nothing was drawn"
        first.press("B")
        first.see("BUY 10,000")


def test_a_desk_opens_at_once_after_one_that_was_killed(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as first:
        first.see("prices ok")
        assert open_broker.is_held(practice_folder / "home" / "practice")
        first.signal(signal.SIGKILL)
    with Terminal(keydesk("--practice"), SIZE, env) as again:
        again.see("prices ok")


def test_a_ledger_that_nobody_holds_is_free(tmp_path: Path) -> None:
    assert not open_broker.is_held(tmp_path)
    (tmp_path / open_broker.LEDGER).write_bytes(b"")
    assert not open_broker.is_held(tmp_path)
