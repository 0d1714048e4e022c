"""Which tests this machine can run: a desktop's token store can only be tested where one is installed."""

import shutil

import pytest

NEEDED = ("gnome-keyring-daemon", "dbus-run-session")
MISSING = [program for program in NEEDED if shutil.which(program) is None]

collect_ignore = ["auth/test_token_store_native.py"] if MISSING else []


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say plainly what was not tested."""
    if MISSING:
        terminalreporter.write_line(
            f"not tested here, for want of {' and '.join(MISSING)}: the desktop's token store"
            " (tests/client/auth/test_token_store_native.py)"
        )
