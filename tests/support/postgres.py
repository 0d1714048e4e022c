"""A real PostgreSQL server for tests: of its own, on a unix socket in a temporary folder, without fsync.

    def test_something(postgres: PostgresServer) -> None:
        ledger = PostgresLedger.open(postgres.new_database())

The server is started once a process, and the test is skipped by name where Debian's postgresql (or another one on the
path) is not installed. PostgreSQL refuses to run as root, so root starts it as the user `postgres`, or as `nobody`.
"""

import contextlib
import glob
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

_START_SECONDS = 60.0
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "shared_buffers": "16MB",
    "max_connections": "80",
    "autovacuum": "off",
    "log_min_messages": "fatal",
}


def postgres_programs() -> Path | None:
    """Return the folder of initdb and postgres, None where they are not installed."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))  # noqa: PTH207 - absolute
    if found:
        return Path(found[-1]).parent
    on_path = shutil.which("postgres")
    return Path(on_path).resolve().parent if on_path and shutil.which("initdb") else None


def _user() -> pwd.struct_passwd | None:
    """Return the unprivileged user to run as, None when this process is not root's."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        with contextlib.suppress(KeyError):
            return pwd.getpwnam(name)
    raise AssertionError


class PostgresServer:
    """A server in a temporary folder."""

    def __init__(self, programs: Path, *, durable: bool = False) -> None:
        self._programs = programs
        user = _user()
        self._uid = None if user is None else user.pw_uid
        self._gid = None if user is None else user.pw_gid
        self.folder = Path(tempfile.mkdtemp(prefix="kd-pg-"))
        self._settings = {**_SETTINGS, "unix_socket_directories": str(self.folder)}
        if durable:  # as a server is set up in earnest
            for name in ("fsync", "synchronous_commit", "full_page_writes"):
                self._settings[name] = "on"
        self._numbers = itertools.count(1)
        self._process: subprocess.Popen[bytes] | None = None
        if user is not None:
            os.chown(self.folder, user.pw_uid, user.pw_gid)
        self._run(
            "initdb",
            "-D",
            str(self.data),
            "-A",
            "trust",
            "-U",
            "keydesk",
            "--no-sync",
            "-E",
            "UTF8",
        )
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        options = [
            part for name, value in self._settings.items() for part in ("-c", f"{name}={value}")
        ]
        self._process = subprocess.Popen(
            [str(self._programs / "postgres"), "-D", str(self.data), *options],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            user=self._uid,
            group=self._gid,
        )
        deadline = time.monotonic() + _START_SECONDS
        while self._query("postgres", "SELECT 1").returncode:
            assert time.monotonic() < deadline, "the PostgreSQL server did not start"
            time.sleep(0.02)

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT is a fast shutdown, SIGQUIT an immediate one."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(_START_SECONDS)

    def new_database(self) -> str:
        """Return the address of a new database."""
        name = f"test{next(self._numbers)}"
        made = self._query("postgres", f"CREATE DATABASE {name}")
        assert made.returncode == 0, made.stderr
        return f"postgresql://keydesk@/{name}?host={self.folder}"

    def remove(self) -> None:
        """Stop it at once, if it runs, and remove its folder."""
        if self._process is not None and self._process.poll() is None:
            self.stop(signal.SIGQUIT)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _query(self, database: str, text: str) -> subprocess.CompletedProcess[bytes]:
        arguments = ("-h", str(self.folder), "-U", "keydesk", "-d", database, "-c", text)
        return subprocess.run(
            [str(self._programs / "psql"), "-X", "-q", *arguments], capture_output=True, check=False
        )

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._programs / program), *arguments],
            check=True,
            capture_output=True,
            cwd=self.folder,
            user=self._uid,
            group=self._gid,
        )


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server, shared by the tests of this process; each takes a database of its own."""
    programs = postgres_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed: the tests of the ledger on a server are left out")
    pytest.importorskip("psycopg", reason="psycopg is not installed: `pip install '.[postgres]'`")
    server = PostgresServer(programs)
    yield server
    server.remove()
