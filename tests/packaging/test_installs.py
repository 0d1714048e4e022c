"""Each of the three distributions installs into a fresh environment by itself and works there.

The environments are made with pip and the package index and without `constraints.txt`, so that a new release of a
dependency that breaks something is noticed: `pytest -m install`.
"""

import json
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from support.terminal import Terminal

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.install


def fresh_environment(folder: Path, project: Path) -> Path:
    """Make a virtual environment with one project installed in it; returns its `bin` folder."""
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    done = subprocess.run([*install, str(project)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return python.parent


def installed(binaries: Path) -> set[str]:
    command = [str(binaries / "python"), "-m", "pip", "list", "--format", "json"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    return {entry["name"].lower().replace("_", "-") for entry in json.loads(listed.stdout)}


def output_of(binaries: Path, code: str) -> str:
    command = [str(binaries / "python"), "-W", "error", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd="/").stdout


def test_the_client_alone_brings_neither_textual_nor_numpy_nor_a_server(tmp_path: Path) -> None:
    binaries = fresh_environment(tmp_path / "venv", ROOT / "client")
    assert "keydesk-client" in installed(binaries)
    assert not {"textual", "numpy", "msgspec", "uvicorn", "starlette", "plotext"} & installed(
        binaries
    )
    code = """
import importlib, pkgutil, keydesk_client
for module in pkgutil.walk_packages(keydesk_client.__path__, "keydesk_client."):
    importlib.import_module(module.name)
from keydesk_client import Client, FileJournal, Sender, sync
from keydesk_client.models import MarketOrderRequest
print(keydesk_client.__version__, MarketOrderRequest(instrument="EUR_USD", units=1).to_wire()["units"])
"""
    version, units = output_of(binaries, code).split()
    assert (
        version
        == output_of(
            binaries, "import importlib.metadata as m; print(m.version('keydesk-client'))"
        ).strip()
    )
    assert units == "1"


def test_the_practice_broker_alone_serves_without_textual(tmp_path: Path) -> None:
    binaries = fresh_environment(tmp_path / "venv", ROOT / "practice")
    assert not {"textual", "pydantic", "plotext"} & installed(binaries)
    command = [str(binaries / "keydesk-practice"), "serve", "--port", "0"]
    command += ["--data", str(tmp_path / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as broker:
        try:
            assert broker.stdout is not None
            place = json.loads(broker.stdout.readline())
            asking = f"""
import json, urllib.request
url = {place["rest_url"]!r} + "/v3/accounts"
request = urllib.request.Request(url, headers={{"Authorization": "Bearer " + {place["token"]!r}}})
print(len(json.load(urllib.request.urlopen(request))["accounts"]))
"""
            assert int(output_of(binaries, asking)) == len(place["accounts"])
        finally:
            broker.terminate()


def test_the_whole_project_installs_without_constraints_and_opens_the_desk(tmp_path: Path) -> None:
    binaries = fresh_environment(tmp_path / "venv", ROOT)
    env = {"KEYDESK_HOME": str(tmp_path / "home")}
    desk = [str(binaries / "python"), "-m", "keydesk"]
    with Terminal(desk, (120, 35), env, cwd="/") as terminal:
        terminal.see("EUR/USD")
        terminal.see("prices ok")
        terminal.press("?")
        terminal.see("UPPER CASE opens a form")
        terminal.press("Escape")
        terminal.quit()
        assert terminal.wait_for_exit() == 0


def test_the_three_versions_are_one() -> None:
    code = (
        "import keydesk, keydesk_client; print(keydesk.__version__ == keydesk_client.__version__)"
    )
    assert output_of(Path(sys.executable).parent, code).strip() == "True"
