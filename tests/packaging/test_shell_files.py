"""Completions, man page and schemas are as their script writes them now."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from keydesk.cli.shell_files import COMPLETIONS, FOLDER

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


def test_what_is_made_from_the_commands_is_not_stale() -> None:
    check = [sys.executable, str(ROOT / "docs" / "build_shell_files.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_bash_completes_a_command_and_its_options() -> None:
    script = (
        f'source "{FOLDER / COMPLETIONS["bash"]}"; complete_for() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); '
        "$(complete -p keydesk | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo \"${COMPREPLY[@]}\"; }; "
        "complete_for keydesk sta; complete_for keydesk trades --sta; complete_for keydesk templates ex"
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["status", "--state", "export"]


def test_bash_completes_profiles_and_schemas(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(
        "".join(
            f'[profiles.{name}]\nenvironment = "live"\naccount = "1"\ntoken_store = "vault"\n'
            for name in ("main", "margin", "other")
        )
    )
    words = ("status --profile ma", "logout o", "--profile mar", "schema trad", "login ma")
    script = (
        f'source "{FOLDER / COMPLETIONS["bash"]}"; complete_for() {{ COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); COMPREPLY=(); '
        "$(complete -p keydesk | sed 's/.*-F \\([^ ]*\\).*/\\1/'); echo \"${COMPREPLY[@]}\"; }; "
        + "; ".join(f"complete_for keydesk {each}" for each in words)
    )
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "KEYDESK_HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, check=True, env=env
    )
    assert done.stdout.splitlines() == ["main margin", "other", "margin", "trades", "main margin"]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_the_completions_of_other_shells_are_read_without_a_fault(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    file = FOLDER / COMPLETIONS[shell]
    lines = {
        "zsh": f'autoload -U compinit; compinit -u -D; eval "$(<{file})"; print $+functions[_shtab_keydesk]',
        "fish": f'source "{file}"; complete -C "keydesk sta"',
    }
    options = {"zsh": ["-f", "-c"], "fish": ["--no-config", "-c"]}
    done = subprocess.run(
        [shell, *options[shell], lines[shell]], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith({"zsh": "1", "fish": "status"}[shell])
