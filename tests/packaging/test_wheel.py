"""The wheel that a user installs: three packages, all themes, nothing else."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from support.terminal import Terminal, keydesk

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
PACKAGES = {"keydesk", "keydesk_client", "keydesk_practice"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    out = tmp_path_factory.mktemp("dist")
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(out),
        str(ROOT),
    ]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return zipfile.ZipFile(next(out.glob("*.whl")))


def test_the_wheel_holds_the_three_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    tops = {name.split("/")[0] for name in wheel.namelist()}
    assert {top for top in tops if not top.endswith((".dist-info", ".data"))} == PACKAGES


def test_every_source_file_is_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    for folder, package in (
        ("client", "keydesk_client"),
        ("practice", "keydesk_practice"),
        ("tui", "keydesk"),
    ):
        sources = {
            path.relative_to(ROOT / folder).as_posix()
            for path in (ROOT / folder / package).rglob("*")
            if path.is_file() and "__pycache__" not in path.parts
        }
        assert sources <= set(wheel.namelist())
        assert f"{package}/py.typed" in wheel.namelist()


def test_all_themes_are_in_the_wheel(wheel: zipfile.ZipFile) -> None:
    themes = {
        f"keydesk/themes/{path.name}"
        for path in (ROOT / "themes").glob("*.t*")
        if path.suffix != ".py"
    }
    assert themes
    assert themes <= set(wheel.namelist())


def test_no_test_cache_or_secret_slips_in(wheel: zipfile.ZipFile) -> None:
    for name in wheel.namelist():
        assert not name.split("/")[-1].lower().startswith(("test", "conftest")), name
        assert "__pycache__" not in name


def test_the_desk_runs_from_the_wheel_in_another_folder(
    wheel: zipfile.ZipFile, practice_folder: Path
) -> None:
    site = practice_folder / "site"
    wheel.extractall(site)
    env = {"PYTHONPATH": str(site), "KEYDESK_HOME": str(practice_folder / "home")}
    asked = [
        sys.executable,
        "-c",
        "import keydesk, keydesk_practice, keydesk_client as c; print(keydesk.__file__)",
    ]
    found = subprocess.run(asked, env=env, cwd="/", capture_output=True, text=True, check=True)
    assert Path(found.stdout.strip()).is_relative_to(site)
    with Terminal(keydesk(), (120, 35), env, cwd="/") as terminal:
        terminal.see("EUR/USD")
        terminal.see("prices ok")
        terminal.quit()
        assert terminal.wait_for_exit() == 0
