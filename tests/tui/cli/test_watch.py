"""`keydesk watch --alerts --json`: a line of JSON for each event."""

import json
import os
import signal
import threading

import pytest

from keydesk.cli import watch
from support.shell import Run, validate


def test_each_event_is_a_line_of_json_until_a_signal_ends_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[object] = []

    def note(value: object) -> None:
        said.append(json.loads(json.dumps(value)))
        if value["event"] == "prices":  # type: ignore[index]  # a mapping
            threading.Timer(0, os.kill, (os.getpid(), signal.SIGTERM)).start()

    monkeypatch.setattr(watch, "say_json_line", note)
    assert run("watch", "--alerts", "--json").code == 0
    assert [line["event"] for line in said] == ["watching", "prices"]  # type: ignore[index]
    for line in said:
        validate(line)
