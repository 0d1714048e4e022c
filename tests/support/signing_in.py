"""A person's or a script's way through `keydesk login`, against a practice broker under a custom address."""

import io
import os
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from keydesk.__main__ import main
from keydesk.config.settings import save_profile
from keydesk_client.auth.profiles import Profile
from keydesk_client.auth.token_store import TokenStore
from keydesk_client.auth.vault import ALLOWED_WORK, VaultKeyring
from support.broker import PracticeServer
from support.forked import is_coverage_measured, run_forked
from support.terminal import keydesk

PASSPHRASE = "correct horse battery"
NO_DESKTOP = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent/bus"}
"""No test writes into the token store of the desktop that it runs on."""
READ_LATER = frozenset(
    ("HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE")
)  # by a request, not by an import


@dataclass(frozen=True)
class Home:
    """A person's folder for Keydesk, and the file with the vault's passphrase that scripts use."""

    folder: Path
    passphrase_file: Path = field(init=False)

    def __post_init__(self) -> None:
        path = self.folder.parent / "passphrase"
        path.write_text(PASSPHRASE + "\n")
        path.chmod(0o600)
        object.__setattr__(self, "passphrase_file", path)

    @property
    def env(self) -> dict[str, str]:
        return {"KEYDESK_HOME": str(self.folder), **NO_DESKTOP}

    @property
    def unlocked(self) -> list[str]:
        return ["--passphrase-file", str(self.passphrase_file)]

    def run(
        self, *words: str, stdin: str = "", **more_env: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command of `keydesk` without a terminal, in a process that is ready; Python itself reads more environment."""
        if more_env.keys() - READ_LATER or is_coverage_measured():
            return self.run_program(*words, stdin=stdin, **more_env)
        return run_forked(words, {**os.environ, **self.env, **more_env}, stdin)

    def run_here(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command in this process, for tests of what it does with the broker's answers."""
        out, err, before = io.StringIO(), io.StringIO(), dict(os.environ)
        os.environ.update(self.env)
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = main(list(words))
        finally:
            os.environ.clear()
            os.environ.update(before)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def run_program(
        self, *words: str, stdin: str = "", **more_env: str
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command as a shell does, with the start of Python: once for each command, in one of its tests."""
        return subprocess.run(
            keydesk(*words),
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
            env={**os.environ, **self.env, **more_env},
            start_new_session=True,  # no terminal to fall back on, wherever the tests run
        )

    def sign_in(self, name: str, practice: PracticeServer, *more: str) -> None:
        """Sign in to the broker's first account."""
        done = self.run(
            *login_text(name, practice), *self.unlocked, *more, stdin=practice.token + "\n"
        )
        assert done.returncode == 0, done.stderr

    def signed_in(
        self,
        name: str,
        practice: PracticeServer,
        *,
        rest_url: str = "",
        stream_url: str = "",
        practice_money: bool = False,
    ) -> None:
        """Keep profile and token as `sign_in` does, in this process; the vault's key takes the least work that is allowed."""
        self.folder.mkdir(mode=0o700, exist_ok=True)
        vault = VaultKeyring(
            self.folder / "tokens" / "tokens.vault", lambda: PASSPHRASE, work=min(ALLOWED_WORK)
        )
        TokenStore(vault, "vault").store(name, "custom", practice.token)
        urls = (rest_url or practice.rest_url, stream_url or practice.stream_url)
        profile = Profile(name, "custom", practice.account_id, *urls, practice_money=practice_money)
        save_profile(self.folder, profile)

    def files(self) -> dict[str, bytes]:
        """Every file under the folder, by its path there."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file()
        }


def login_text(name: str, practice: PracticeServer) -> list[str]:
    """The arguments that sign in to the broker's first account."""
    account = ["--account", practice.account_id]
    return ["login", name, *address_text(practice.rest_url), *account]


def address_text(url: str) -> list[str]:
    """The arguments that name a custom host."""
    return ["--environment", "custom", "--rest-url", url, "--stream-url", url]
