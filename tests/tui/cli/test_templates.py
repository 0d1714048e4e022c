"""`keydesk templates`: list, export and import the templates of new tickets, from one installation to another."""

import os
import tomllib
from pathlib import Path

import pytest

from keydesk.__main__ import main
from support.signing_in import Home

SCALP = """
[templates.scalp]
stop = "8p"
target = "1.5r"

[templates.swing]
stop = "2a"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The settings of an installation with two templates, of which one is an instrument's."""
    monkeypatch.delitem(os.environ, "KEYDESK_HOME", raising=False)
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    (folder / "templates.toml").write_text(f'{SCALP}\n[instruments]\nEUR_USD = "scalp"\n')
    return folder


def test_each_template_is_listed_with_the_instruments_that_begin_with_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["templates", "list", "--data", str(folder)]) == 0
    assert capsys.readouterr().out.splitlines() == ["standard", "scalp  EUR_USD", "swing"]


def test_what_is_exported_can_be_imported_elsewhere(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["templates", "export", "scalp", "--data", str(folder)]) == 0
    exported = capsys.readouterr().out
    assert tomllib.loads(exported) == {"templates": {"scalp": {"stop": "8p", "target": "1.5r"}}}
    file, other = tmp_path / "scalp.toml", tmp_path / "other"
    file.write_text(exported)
    other.mkdir(mode=0o700)
    assert main(["templates", "import", str(file), "--data", str(other)]) == 0
    assert "Imported: scalp. A desk that is open" in capsys.readouterr().out
    assert main(["templates", "list", "--data", str(other)]) == 0
    assert capsys.readouterr().out.splitlines() == ["standard", "scalp"]


@pytest.mark.e2e
def test_a_control_sequence_in_a_file_is_refused_and_does_not_reach_the_terminal(
    folder: Path,
) -> None:
    (folder / "templates.toml").write_text('[templates."odd\\u001b[31m"]\nstop = "9p"\n')
    home = Home(folder)
    for done in (home.run_program("templates", "list"), home.run("templates", "export")):
        assert done.returncode == 2
        assert "templates.odd" in done.stderr
        assert "a name has up to 20 small letters" in done.stderr
        assert "\x1b" not in done.stdout + done.stderr
