"""What an open desk has loaded: each module takes memory, so that what few traders open waits until they do."""

import sys
from pathlib import Path

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
PAGES = (  # 0.5 to 1 MB each with what only they use
    "keydesk.calc.trade_journal.rebuild",
    "keydesk.forms.account.configure",
    "keydesk.forms.account.exposure",
    "keydesk.forms.account.limits",
    "keydesk.forms.account.order_life",
    "keydesk.forms.account.transaction",
    "keydesk.forms.journal",
    "keydesk.forms.market",
    "keydesk.forms.statistics",
    "keydesk.trade_journal.live",
    "keydesk_client.following",
    "keydesk_client.sync",
)


def test_an_open_desk_has_not_loaded_what_is_seldom_used(practice_folder: Path) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home")}
    listed = practice_folder / "modules"
    command = [sys.executable, "-c", LIST_MODULES, str(listed), "--practice"]
    with Terminal(command, (120, 35), env) as desk:
        desk.see("prices ok")
        desk.see("No trades.")
        desk.quit()
        assert desk.wait_for_exit() == 0
    loaded = listed.read_text().split()
    assert "keydesk.forms.ticket.form" in loaded  # the first ticket opens at once
    assert not LIBRARIES.intersection(name.partition(".")[0] for name in loaded)
    assert not [name for name in loaded if name.startswith(PAGES)]
