"""However the desk is left, nothing stays behind: no process, no socket, no broken terminal."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from keydesk.app import practice_broker
from support.processor_time import LOOK, seconds_waited
from support.terminal import Terminal, keydesk

SIZE = (120, 35)
ENDS_WITHIN = 3.0  # seconds


def by_command(terminal: Terminal) -> None:
    """Type ahead: the command line opens behind the first key, and takes the others."""
    terminal.write(b":q\r")


def by_two_ctrl_c(terminal: Terminal) -> None:
    terminal.write(b"\x03")
    terminal.see("Ctrl-C again")
    terminal.write(b"\x03")


def by(number: signal.Signals) -> Callable[[Terminal], None]:
    return lambda terminal: terminal.signal(number)


WAYS = {
    "quit": (by_command, 0),
    "ctrl-c": (by_two_ctrl_c, 130),
    "SIGINT": (by(signal.SIGINT), 130),
    "SIGTERM": (by(signal.SIGTERM), 143),
    "SIGHUP": (by(signal.SIGHUP), 129),
    "SIGQUIT": (by(signal.SIGQUIT), 131),
    "SIGUSR1": (by(signal.SIGUSR1), 138),
    "SIGUSR2": (by(signal.SIGUSR2), 140),
    "SIGALRM": (by(signal.SIGALRM), 142),
}


def children_of(pid: int) -> list[int]:
    found = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    pairs = [line.split() for line in found.stdout.splitlines()]
    return [int(child) for child, parent in pairs if int(parent) == pid]


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def sockets_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_socket()]


# A closed terminal sends SIGHUP: it has a test of its own.
# `quit` and `ctrl-c` are ways in the two journeys below.
RARE = ("quit", "ctrl-c", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGALRM")


@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=[pytest.mark.soak] if way in RARE else []) for way in WAYS],
)
def test_leaving_leaves_nothing_behind(way: str, practice_folder: Path) -> None:
    leave, code = WAYS[way]
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk(), SIZE, env) as terminal:
        terminal.see("prices ok")
        children = children_of(terminal.pid)
        assert len(children) == 1
        assert sockets_in(practice_folder)
        leave(terminal)
        assert terminal.wait_for_exit() == code
        see_nothing_left(terminal, children, practice_folder)


def see_nothing_left(terminal: Terminal, children: list[int], folder: Path) -> None:
    terminal.until_beside(
        lambda: not any(alive(child) for child in children), what="no child process"
    )
    assert sockets_in(folder) == []
    assert_restored(terminal)


def assert_restored(terminal: Terminal) -> None:
    """The alternate screen, hidden cursor, mouse and bracketed paste are all switched off again."""
    raw = bytes(terminal.raw)
    for mode in (b"1049", b"2004"):
        assert raw.rfind(b"\x1b[?" + mode + b"l") > raw.rfind(b"\x1b[?" + mode + b"h")
    assert raw.rfind(b"\x1b[?25h") > raw.rfind(b"\x1b[?25l")
    assert b"\x1b[?1003h" not in raw  # the mouse was never asked for


def test_a_closed_terminal_ends_the_desk_and_its_broker(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk(), SIZE, env) as terminal:
        terminal.see("prices ok")
        children = children_of(terminal.pid)
        terminal.hang_up()
        assert terminal.wait_for_exit() in (129, -signal.SIGHUP)
        terminal.until_beside(
            lambda: not any(alive(child) for child in children), what="no child process"
        )
        assert sockets_in(practice_folder) == []


def test_a_terminal_that_nobody_reads_any_more_cannot_hold_the_desk(practice_folder: Path) -> None:
    """A frozen link: the terminal's buffer is full, and writing to it waits for ever."""
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice", "--price-rate", "20"), SIZE, env) as terminal:
        terminal.see("prices ok")
        children = children_of(terminal.pid)
        terminal.freeze()
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_for_exit(reading=False) == 143
        terminal.until_beside(
            lambda: not any(alive(child) for child in children), what="no child process"
        )
        assert sockets_in(practice_folder) == []
        assert_restored(terminal)  # for whoever reads it again


def test_a_terminal_full_of_frames_is_restored_for_whoever_reads_it_again(
    practice_folder: Path,
) -> None:
    """The thread that draws hangs in its write and holds the terminal."""
    with Terminal(keydesk("--practice"), SIZE, {"KEYDESK_HOME": str(practice_folder)}) as terminal:
        terminal.see("prices ok")
        for rows in (34, 36) * 30:  # each a whole screen; nothing is read meanwhile
            terminal.resize(120, rows)
            terminal.freeze(0.02)
        terminal.freeze()
        terminal.signal(signal.SIGTERM)
        assert terminal.wait_for_exit(reading=False) == 143
        assert_restored(terminal)


STOPPED = {"quit": (by_command, 0), "SIGTERM": (by(signal.SIGTERM), 143)}


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=() if way == "quit" else pytest.mark.soak) for way in STOPPED]
)
def test_a_stopped_broker_neither_delays_the_end_nor_outlives_it(
    way: str, practice_folder: Path
) -> None:
    leave, code = STOPPED[way]
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    with Terminal(keydesk("--practice"), SIZE, env) as terminal:
        terminal.see("prices ok")
        (child,) = children_of(terminal.pid)
        os.kill(child, signal.SIGSTOP)
        leave(terminal)
        waited = seconds_waited([terminal.pid], partial(terminal.pause, LOOK))
        assert terminal.wait_for_exit() == code
        assert waited < ENDS_WITHIN
        terminal.until_beside(lambda: not alive(child), what="no child process")
        assert sockets_in(practice_folder) == []
        assert not practice_broker.is_ledger_locked(practice_folder / "home" / "practice")


NOHUP = "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"


def test_a_terminal_that_goes_without_a_word_ends_the_desk_too(practice_folder: Path) -> None:
    """The desk as the child of a shell: only the shell hears of the hang-up."""
    env = {"KEYDESK_HOME": str(practice_folder / "home"), "XDG_RUNTIME_DIR": str(practice_folder)}
    shell = ["sh", "-c", '"$@"; exit $?', "sh", *keydesk()]
    with Terminal([sys.executable, "-c", NOHUP, "/bin/sh", *shell[1:]], SIZE, env) as terminal:
        terminal.see("prices ok")
        (desk,) = children_of(terminal.pid)
        children = [desk, *children_of(desk)]
        terminal.hang_up()
        terminal.until_beside(
            lambda: not any(alive(child) for child in children), what="no process"
        )
        assert sockets_in(practice_folder) == []


def test_a_program_hears_of_its_terminals_end_however_the_tests_were_started() -> None:
    """`nohup pytest` ignores SIGHUP; an ssh that inherits this keeps its connection, and the desk, when its window closes."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        terminal = Terminal(["sh", "-c", "echo started; exec sleep 1000"], SIZE, {})
    finally:
        signal.signal(signal.SIGHUP, before)
    with terminal:
        terminal.see("started")
        terminal.signal(signal.SIGHUP)
        assert terminal.wait_for_exit() == -signal.SIGHUP
