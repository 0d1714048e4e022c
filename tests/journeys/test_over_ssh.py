"""The desk at the other end of a real sshd: odd bytes, odd terminals, multiplexers, kills, a line that dies."""

import contextlib
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from support.processor_time import seconds_waited
from support.ssh_server import SshServer
from support.terminal import NeverSeen, Terminal

SIZE = (120, 35)
MAX_WAITED = 2.0  # seconds
TRIES = 5
MODES_OFF = (b"1049", b"2004", b"1004", b"1000", b"1003")


def needs(program: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")


def desks(home: str) -> list[int]:
    """The processes of desks of one home: found by their environment, which only their owner can read."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                words = (process / "cmdline").read_bytes().split(b"\0")
                own = f"KEYDESK_HOME={home}".encode() in (process / "environ").read_bytes()
            except OSError:
                continue
            if own and words[1:3] == [b"-m", b"keydesk"]:
                found.append(int(process.name))
    return found


def broker_of(desk: int) -> int:
    out = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
    )
    pairs = [tuple(map(int, line.split())) for line in out.stdout.splitlines()]
    (broker,) = [pid for pid, parent in pairs if parent == desk]
    return broker


def has_intent(home: Path) -> bool:
    return any('"intent"' in journal.read_text() for journal in home.rglob("*.journal"))


# `env -u` because the harness may have a locale, which the ssh client does not forward but the shell may set.
BARE = "env -u LANG -u LC_ALL -u LC_CTYPE"


@pytest.mark.parametrize(
    ("multiplexer", "remedy"),
    [
        pytest.param("tmux -f /dev/null new-session", "tmux -u", marks=needs("tmux")),
        pytest.param("screen -c /dev/null", "screen -U", marks=needs("screen")),
    ],
)
def test_a_multiplexer_without_utf8_gets_ascii_and_is_told_the_remedy(
    ssh: SshServer, multiplexer: str, remedy: str
) -> None:
    Path(ssh.environment["SCREENDIR"]).mkdir(mode=0o700)
    line = f"{BARE} {multiplexer} {ssh.keydesk('--practice')}"
    with Terminal(ssh.command(line), SIZE, {}) as terminal:
        terminal.see("prices ok")
        terminal.see(remedy)
        assert terminal.text.isascii()
        assert "R\x1b" not in terminal.text
        assert "Keys dropped" not in terminal.text  # no reply of the terminal became a key
        terminal.press("B")
        terminal.see("Esc drops")
        assert terminal.text.isascii()
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")  # the multiplexer waits for what may follow an Esc
        terminal.quit()
        terminal.wait_for_exit()


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGKILL,
        pytest.param(signal.SIGSEGV, marks=pytest.mark.soak),
        pytest.param(signal.SIGABRT, marks=pytest.mark.soak),
        pytest.param(signal.SIGQUIT, marks=pytest.mark.soak),
    ],
)
def test_a_killed_desk_leaves_a_terminal_that_can_be_reset(
    ssh: SshServer, number: signal.Signals
) -> None:
    line = f"sh -c '{ssh.keydesk('--practice')}; echo ENDED; {ssh.keydesk('reset-terminal')}; stty -a; sleep 1'"
    with Terminal(ssh.command(line), SIZE, {}) as terminal:
        terminal.see("prices ok")
        (desk,) = desks(ssh.environment["KEYDESK_HOME"])
        os.kill(desk, number)
        terminal.see("extproc")  # the last word of stty
        said = terminal.text
        terminal.wait_for_exit()
    assert {"icanon", "echo", "isig", "iexten", "icrnl", "opost"} <= set(said.split())
    raw = bytes(terminal.raw)
    for mode in MODES_OFF:
        assert raw.rfind(b"\x1b[?" + mode + b"l") > raw.rfind(b"\x1b[?" + mode + b"h")
    assert raw.rfind(b"\x1b[?25h") > raw.rfind(b"\x1b[?25l")
    assert raw.count(b"\x1b[<u") >= raw.count(b"\x1b[>")
    assert raw.rfind(b"\x1b[23;2t") > raw.rfind(b"\x1b[22;2t")


def test_the_next_start_repairs_what_a_killed_desk_left(ssh: SshServer) -> None:
    desk = ssh.keydesk("--practice")
    line = f"sh -c '{desk} --mouse; echo ENDED; {desk}; stty -a; sleep 1'"
    with Terminal(ssh.command(line), SIZE, {}) as terminal:
        terminal.see("prices ok")
        (first,) = desks(ssh.environment["KEYDESK_HOME"])
        os.kill(first, signal.SIGKILL)
        terminal.until(lambda: b"ENDED" in terminal.raw, what="the end of the first desk")
        terminal.until(lambda: first not in desks(ssh.environment["KEYDESK_HOME"]))
        terminal.until(lambda: terminal.raw.count(b"\x1b[?1049h") == 2, what="the second desk")
        terminal.see("prices ok")
        terminal.quit()
        terminal.see("extproc")  # the last word of stty
        said = terminal.text
        terminal.wait_for_exit()
    assert {"icanon", "echo", "isig", "icrnl"} <= set(said.split())
    raw = bytes(terminal.raw)
    for mode in MODES_OFF:
        assert raw.rfind(b"\x1b[?" + mode + b"l") > raw.rfind(b"\x1b[?" + mode + b"h")


def send_unanswered(terminal: Terminal, home: Path, broker: int) -> None:
    """Send an order to a stopped broker; again where a busy machine's late prices made the form ask for a letter."""
    for _ in range(TRIES):
        terminal.press("B")
        terminal.see("y sends")
        terminal.pause()
        os.kill(broker, signal.SIGSTOP)  # it takes the order and does not answer
        terminal.press("y")
        with contextlib.suppress(NeverSeen):
            return terminal.until(lambda: has_intent(home), 5.0, "an order in flight")
        os.kill(broker, signal.SIGCONT)
        terminal.press("Escape")
        terminal.see_no_more("Esc drops")
        terminal.see("prices ok")
    raise NeverSeen(terminal.text)


@pytest.mark.parametrize("end", ["sshd", pytest.param("terminal", marks=pytest.mark.soak)])
def test_a_line_that_dies_with_an_order_in_flight_ends_the_desk_within_two_seconds(
    ssh: SshServer, end: str
) -> None:
    home = Path(ssh.environment["KEYDESK_HOME"])
    with Terminal(ssh.command(ssh.keydesk("--practice")), SIZE, {}) as terminal:
        terminal.see("prices ok")
        (desk,) = desks(ssh.environment["KEYDESK_HOME"])
        broker = broker_of(desk)
        send_unanswered(terminal, home, broker)
        if end == "sshd":
            ssh.kill_sessions()
        else:
            terminal.hang_up()
        assert seconds_waited([desk, broker]) < MAX_WAITED
    assert has_intent(home)


@pytest.mark.soak  # the usual run has it without ssh: `test_painting`
def test_opening_a_form_sends_few_bytes_over_the_line(ssh: SshServer) -> None:
    with Terminal(ssh.command(ssh.keydesk("--practice", "--fps", "1")), SIZE, {}) as terminal:
        terminal.see("No trades.")
        terminal.see("prices ok")
        costs = []
        for _ in range(4):
            terminal.pause(1)
            start = len(terminal.raw)
            terminal.write(b"B")
            terminal.see("BUY 10,000")
            terminal.pause(0.1)
            costs.append(len(terminal.raw) - start)
            terminal.press("Escape")
            terminal.see_no_more("BUY 10,000")
        assert min(costs) <= 5_600  # prices that move at that moment are in some of them
        terminal.quit()
        assert terminal.wait_for_exit() == 0
