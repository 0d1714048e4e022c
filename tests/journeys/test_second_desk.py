"""A second desk on the same practice market refuses before it draws anything; one after a crash opens."""

import signal
from pathlib import Path

from keydesk.app import practice_broker
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


def test_a_ledger_that_nobody_holds_is_free(tmp_path: Path) -> None:
    assert not practice_broker.is_ledger_locked(tmp_path)
    (tmp_path / practice_broker.LEDGER).write_bytes(b"")
    assert not practice_broker.is_ledger_locked(tmp_path)
