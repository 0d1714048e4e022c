"""`keydesk` in this process against one running practice broker, which the commands find as that of an open desk."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from keydesk.__main__ import main
from keydesk.app.practice_broker import TOKEN, PracticeAddress, write_address
from support.broker import PracticeServer, SharedPractice

SCHEMAS = Path(__file__).parents[2] / "tui" / "keydesk" / "shell" / "schemas"


@dataclass
class Printed:
    """What a command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        """The one document that it printed, which its schema allows."""
        document = json.loads(self.out)
        validate(document)
        return document


def validate(document: Any) -> None:  # noqa: ANN401 - JSON
    """Fail unless the schema of the document's kind, as it is shipped, allows it."""
    schema = json.loads((SCHEMAS / f"{document['kind']}.json").read_text())
    jsonschema.validate(document, schema)


Run = Callable[..., Printed]


@pytest.fixture(scope="module")
def shell_broker(shared_practice: SharedPractice, module_folder: Path) -> Iterator[PracticeServer]:
    """Two fresh accounts at the practice broker of the run, noted in a home as by an open desk."""
    home = module_folder / "home"
    data = home / "practice"
    home.mkdir(mode=0o700)
    data.mkdir(mode=0o700)
    server = shared_practice.open_first_desk()
    (data / TOKEN).write_text(server.token)
    ids = tuple(account.id for account in server.accounts)
    write_address(data, PracticeAddress(server.rest_url, server.stream_url, server.token, ids))
    yield server
    asyncio.run(server.close())


@pytest.fixture
def run(
    shell_broker: PracticeServer,
    module_folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    """Run a command as a script does, in an empty folder; neither a slow machine nor the hour of the day makes an order ask."""
    assert shell_broker.token
    monkeypatch.setattr("keydesk.calc.orders.checks._moment_warnings", lambda *_: [])
    monkeypatch.setitem(os.environ, "KEYDESK_HOME", str(module_folder / "home"))
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Printed:
        capsys.readouterr()
        try:
            code = main(list(words))
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capsys.readouterr()
        return Printed(code, out, err)

    return run
