"""A real sshd for tests: on loopback, with its own keys and port in a folder of the test, gone when the test is over.

    def test_something(ssh: SshServer) -> None:      # fixture; skipped by name where OpenSSH is not installed
        with Terminal(ssh.command("keydesk --practice"), (120, 35), {}) as terminal: ...

Nothing of the machine's own sshd or of the user's ~/.ssh is read or written.
"""

import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from support.unread_keys import MARK

START_SECONDS = 20.0
PROGRAMS = ("sshd", "ssh", "ssh-keygen")


def _program(name: str) -> str | None:
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin:/sbin")


@dataclass
class SshServer:
    """A running sshd and the way in."""

    folder: Path
    port: int
    process: "subprocess.Popen[bytes]"
    environment: dict[str, str] = field(default_factory=dict)  # of the programs behind it

    def command(
        self,
        line: str,
        *options: str,
        env: Mapping[str, str] | None = None,
        port: int | None = None,
    ) -> list[str]:
        """Return the client's command line that runs a shell line in a terminal on the other side."""
        assigned = {**self.environment, **(env or {})}
        text = " ".join(f"{name}={shlex.quote(value)}" for name, value in assigned.items())
        return [
            *(str(_program("ssh")), "-tt", "-F", "/dev/null", "-p", str(port or self.port)),
            *("-i", str(self.folder / "user"), "-o", "IdentitiesOnly=yes"),
            *("-o", f"UserKnownHostsFile={self.folder / 'known'}"),
            *("-o", "StrictHostKeyChecking=accept-new", "-o", "LogLevel=ERROR"),
            *("-o", f"SendEnv={MARK}"),
            *options,
            "127.0.0.1",
            f"env {text} {line}",
        ]

    def keydesk(self, *arguments: str) -> str:
        """Return the shell line of the desk."""
        return shlex.join([sys.executable, "-m", "keydesk", *arguments])

    def sessions(self) -> list[int]:
        """Return the processes of sshd that serve a connection, the listening one not among them."""
        found = subprocess.run(
            ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True
        )
        children: dict[int, list[int]] = {}
        for pid, parent in (map(int, line.split()) for line in found.stdout.splitlines()):
            children.setdefault(parent, []).append(pid)
        first = children.get(self.process.pid, [])
        return [
            *first,
            *(each for pid in first for each in children.get(pid, []) if _is_sshd(each)),
        ]

    def kill_sessions(self) -> None:
        """Kill what serves the connections, as when the machine in between dies."""
        for pid in self.sessions():
            with contextlib.suppress(ProcessLookupError):  # it has ended since they were listed
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """End it, with every connection that is still open."""
        self.kill_sessions()
        self.process.terminate()
        self.process.wait(10)


def _is_sshd(pid: int) -> bool:
    try:
        return b"sshd" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def start(folder: Path) -> SshServer:
    """Start sshd in a folder that only its owner may enter."""
    for name in ("host", "user"):
        make = [str(_program("ssh-keygen")), "-q", "-t", "ed25519", "-N", ""]
        make += ["-f", str(folder / name)]
        subprocess.run(make, check=True, stdin=subprocess.DEVNULL)
    shutil.copy(folder / "user.pub", folder / "authorized")
    (folder / "authorized").chmod(0o600)
    port = _free_port()
    (folder / "config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/authorized\nStrictModes no\nUsePAM no\n"
        "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n"
        f"AcceptEnv {MARK}\n"
        "PermitUserEnvironment no\nPrintMotd no\nPrintLastLog no\n"
    )
    if (
        os.geteuid() == 0
    ):  # sshd separates privileges there, and its package makes the folder at boot
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    log = (folder / "log").open("wb")
    process = subprocess.Popen(
        [str(_program("sshd")), "-D", "-e", "-f", str(folder / "config")],
        stdin=subprocess.DEVNULL,
        stderr=log,
    )
    log.close()
    _wait_until_it_listens(process, port, folder / "log")
    return SshServer(folder, port, process)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_it_listens(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    until = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < until:
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    process.kill()
    process.wait()
    pytest.skip(f"sshd does not start here: {log.read_text(errors='replace').strip()[-200:]}")


@pytest.fixture
def ssh(practice_folder: Path) -> Iterator[SshServer]:
    """An sshd of the test's own, its programs in a Keydesk home of the test's own."""
    missing = [name for name in PROGRAMS if not _program(name)]
    if missing:
        pytest.skip(f"OpenSSH is not installed: no {', '.join(missing)}")
    folder = practice_folder / "ssh"
    folder.mkdir(mode=0o700)
    server = start(folder)
    server.environment = {
        "KEYDESK_HOME": str(practice_folder / "home"),
        "XDG_RUNTIME_DIR": str(practice_folder),
        "TMUX_TMPDIR": str(practice_folder),
        "SCREENDIR": str(practice_folder / "screen"),
        "PATH": os.environ["PATH"],
    }
    try:
        yield server
    finally:
        server.stop()
        end_programs_of(server.environment["KEYDESK_HOME"])


def end_programs_of(home: str) -> None:
    """End what still runs for a Keydesk home: the server of a multiplexer outlives its connection."""
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            with contextlib.suppress(OSError):
                if f"KEYDESK_HOME={home}".encode() in (process / "environ").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)
