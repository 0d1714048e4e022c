"""What an open desk and the commands have loaded.

Each module takes memory and time: of the desk, what few traders open waits until they do; a command loads nothing of a screen.
"""

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from keydesk.cli.arguments.tree import VERBS
from support.terminal import Terminal

LIST_MODULES = """
import sys
from pathlib import Path
from keydesk.__main__ import main
code = main(sys.argv[2:])
Path(sys.argv[1]).write_text(" ".join(sys.modules))
sys.exit(code)
"""
LIBRARIES = {  # of charts, files and keyrings, and of the practice broker, which is a process of its own
    "click",
    "cryptography",
    "currency_converter",
    "keydesk_practice",
    "keyring",
    "markdown_it",
    "numpy",
    "plotext",
    "psycopg",
    "sqlite3",
    "starlette",
    "tomlkit",
    "uvicorn",
}
DRAWN = ("keydesk.forms", "keydesk.panes", "keydesk.screens", "keydesk.widgets")
PAGES = (  # 0.5 to 1 MB each with what only they use
    "keydesk.calc.trade_journal.rebuild",
    "keydesk.forms.account.configure",
    "keydesk.forms.account.exposure",
    "keydesk.forms.account.limits",
    "keydesk.forms.account.order_history",
    "keydesk.forms.account.orders_by_state",
    "keydesk.forms.account.transaction",
    "keydesk.forms.journal",
    "keydesk.forms.market",
    "keydesk.forms.statistics",
    "keydesk.trade_journal.live",
    "keydesk_client.following.state",
    "keydesk_client.sync",
)


@dataclass(frozen=True)
class Loaded:
    """The modules that programs had loaded when they ended."""

    desk: frozenset[str]
    flatten: frozenset[str]


@pytest.fixture(scope="module")
def loaded(module_folder: Path) -> Loaded:
    """Open a desk, flatten its account from another login, and leave the desk."""
    env = {"KEYDESK_HOME": str(module_folder / "home")}
    of_desk, of_flatten = module_folder / "desk", module_folder / "flatten"
    listing = [sys.executable, "-c", LIST_MODULES]
    with Terminal([*listing, str(of_desk), "--practice"], (120, 35), env) as desk:
        desk.see("prices ok")
        desk.see("No trades.")
        flatten = [*listing, str(of_flatten), "flatten", "--practice", "--yes"]
        said = subprocess.run(flatten, env=os.environ | env, check=True, capture_output=True)
        assert b"FLAT: " in said.stdout
        desk.quit()
        assert desk.wait_for_exit() == 0
    modules = (frozenset(path.read_text().split()) for path in (of_desk, of_flatten))
    return Loaded(*modules)


def packages(modules: Iterable[str]) -> set[str]:
    return {name.partition(".")[0] for name in modules}


def test_an_open_desk_has_not_loaded_what_is_seldom_used(loaded: Loaded) -> None:
    assert "keydesk.forms.ticket.ticket_form" in loaded.desk  # the first ticket opens at once
    records = {"sqlite3"}  # the loss lock and the exit plans must be known before an entry
    assert not (LIBRARIES - records) & packages(loaded.desk)
    assert not [name for name in loaded.desk if name.startswith(PAGES)]


def test_flatten_from_a_second_login_has_loaded_nothing_of_a_screen(loaded: Loaded) -> None:
    assert "keydesk_client.orders.sender" in loaded.flatten
    assert "keydesk.store.store" not in loaded.flatten
    assert not (LIBRARIES | {"textual"}) & packages(loaded.flatten)
    assert not [name for name in loaded.flatten if name.startswith(DRAWN)]


def test_no_command_loads_what_draws_the_desk() -> None:
    modules = sorted({f"keydesk.cli.{verb.run.partition(':')[0]}" for verb in VERBS.values()})
    code = "import sys\nfor name in sys.argv[1:]: __import__(name)\nprint(*sys.modules)"
    command = [sys.executable, "-c", code, *modules]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "keydesk.cli.journal.command" in names
    assert "rich.console" not in names  # a client loads it later, by the command line of httpx
    own = {"plotext", "sqlite3"}  # of the chart and of the journal
    assert not (LIBRARIES - own | {"textual"}) & packages(names)
    assert not [name for name in names if name.startswith(DRAWN)]


def test_help_and_wrong_words_load_nothing_of_a_client() -> None:
    code = "import sys\nfrom keydesk.__main__ import main\ntry: main(sys.argv[1:])\nexcept SystemExit: print(*sys.modules)"
    command = [sys.executable, "-c", code, "journal", "stats", "--wrong"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert "keydesk.cli.arguments.tree" in names
    assert not {"asyncio", "httpx", "pydantic", "textual"} & set(names)
