"""`keydesk watch --alerts --json`: a line of JSON for each event."""

import json
import os
import signal
import threading
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest

from keydesk.cli import watch
from keydesk.cli.account_access import open_account
from keydesk.settings.values import AlertSettings
from keydesk.store.state import Health
from support.broker import PracticeServer
from support.shell import Run, validate


def test_each_event_is_a_line_of_json_until_a_signal_ends_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[object] = []

    def note(value: object) -> None:
        said.append(json.loads(json.dumps(value)))
        if value["event"] == "prices":  # type: ignore[index]  # a mapping
            threading.Timer(0, os.kill, (os.getpid(), signal.SIGTERM)).start()

    monkeypatch.setattr(watch, "print_json_line", note)
    assert run("watch", "--alerts", "--json").code == 0
    assert [line["event"] for line in said] == ["watching", "prices"]  # type: ignore[index]
    for line in said:
        validate(line)


async def test_a_connection_that_is_lost_and_back_is_an_event_each_time(
    shell_broker: PracticeServer, module_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shell_broker
    said: list[dict[str, Any]] = []
    monkeypatch.setattr(watch, "print_json_line", said.append)
    chosen = Namespace(
        data=str(module_folder / "home"),
        profile=None,
        practice=True,
        passphrase_fd=None,
        passphrase_file=None,
    )
    async with open_account(chosen) as account:
        watcher = watch.Watcher(account, AlertSettings(), as_json=True)
        for second, state in enumerate(("OK", "STALE", "DOWN", "OK")):
            watcher.store.health = Health(prices="OK", events=state)  # type: ignore[arg-type]
            watcher._events.check(float(second))
    assert [line["event"] for line in said] == ["disconnect", "reconnect"]
    for line in said:
        validate(line)
