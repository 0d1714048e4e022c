"""What the documents show can be typed: every command, every settings file, every block of Python; those that can run, run."""

import argparse
import ast
import json
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyte
import pytest

from keydesk.cli.arguments.tree import GROUPS, whole_tree
from keydesk.config.settings_files import FILES
from keydesk_practice.control.command_line import whole_parser

ROOT = Path(__file__).parents[2]
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
    *(ROOT / "practice").glob("*.md"),
    *(ROOT / "client").rglob("*.md"),
    *(path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "adr"),
]
FENCED = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`(keydesk(?:-practice)? [^`]+)`")
PLACEHOLDER = re.compile(r"\[[^]]*\]|…|\.\.\.|\b[A-Z]{3,}\b(?!_)")  # [--data DIR], ACCOUNT
SETTINGS_OF = {"zoom": "keymap.toml", "sizes": "templates.toml", "alerts": "config.toml"}


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a document."""

    document: str
    language: str
    text: str

    def __str__(self) -> str:
        """Say the document and how the block begins."""
        return f"{self.document}: {self.text.splitlines()[0][:40]}"


def blocks(*languages: str) -> list[Block]:
    return [
        Block(str(path.relative_to(ROOT)), language, text)
        for path in DOCUMENTS
        for language, text in FENCED.findall(path.read_text(encoding="utf-8"))
        if language in languages
    ]


def typed_lines() -> Iterator[tuple[str, str]]:
    """Yield each command of ours in a block for the prompt, with its document."""
    for block in blocks("sh", "bash"):
        for line in block.text.replace("\\\n", " ").splitlines():
            for part in re.split(r"&& | &$|; ", line.partition(" #")[0]):
                if part.strip().startswith(("keydesk ", "keydesk-practice ")):
                    yield block.document, part.strip()


def mentions() -> Iterator[tuple[str, str]]:
    """Yield each command that a document names within its text."""
    for path in DOCUMENTS:
        text = FENCED.sub("", path.read_text(encoding="utf-8"))
        for command in INLINE.findall(text):
            yield str(path.relative_to(ROOT)), " ".join(command.split())


@cache
def parser_of(program: str) -> argparse.ArgumentParser:
    return whole_parser() if program == "keydesk-practice" else whole_tree(whole_parser())


@pytest.mark.parametrize(
    ("document", "command"),
    sorted({each for each in typed_lines() if not PLACEHOLDER.search(each[1])}),
)
def test_a_line_for_the_prompt_is_one_that_the_programs_take(
    document: str, command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tokens").write_text("a-token-of-the-documents\n", encoding="utf-8")
    Path("tokens").chmod(0o600)
    program, *words = shlex.split(command)
    assert parser_of(program).parse_args(words), document


@pytest.mark.parametrize(("document", "command"), sorted(set(mentions())))
def test_a_command_and_its_options_that_a_document_names_are_there(
    document: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program, *words = command.split()
    verb = [word for word in words[:2] if re.fullmatch("[a-z][a-z-]+", word)]
    if verb[:1] and verb[0] not in GROUPS:
        verb = verb[:1]
    with pytest.raises(SystemExit) as ended:
        parser_of(program).parse_args([*verb, "--help"])
    assert ended.value.code == 0, document
    helped = capsys.readouterr().out
    for option in re.findall(r"(?<!\S)--[a-z-]+", command):
        assert option in helped, f"{document}: {command}"


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_the_settings_in_a_document_are_taken(block: Block, tmp_path: Path) -> None:
    members = tomllib.loads(block.text)
    names = [name for key, name in SETTINGS_OF.items() if key in members]
    if not names:  # a file of another program's, or of the practice broker's faults
        return
    [name] = names
    (tmp_path / name).write_text(block.text, encoding="utf-8")
    assert FILES[name].trouble(tmp_path) == ""


@pytest.mark.parametrize("block", blocks("python"), ids=str)
def test_the_python_in_a_document_is_python(block: Block) -> None:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    compile(block.text, block.document, "exec", flags=flags)


BEGINNINGS = (
    "curl -H",
    "keydesk practice pause",
    "keydesk practice faults",
    "keydesk practice check",
)
STREAM = "curl -N"  # does not end by itself


@pytest.fixture(scope="module")
def typed_at(module_folder: Path) -> Iterator[dict[str, str]]:
    """The environment of a shell beside a practice broker that serves on a port, as the documents begin it."""
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(module_folder),
    }
    command = ["keydesk", "practice", "serve", "--port", "0", "--start", "2015-01-14T09:00Z"]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as broker:
        assert broker.stdout is not None
        said = json.loads(broker.stdout.readline())
        yield environment | {"TOKEN": said["token"], "URL": said["rest_url"]}
        broker.terminate()


@pytest.mark.e2e
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
@pytest.mark.parametrize("beginning", BEGINNINGS)
def test_a_block_for_the_prompt_runs_beside_the_practice_broker(
    beginning: str, typed_at: dict[str, str]
) -> None:
    [block] = [
        each
        for each in blocks("sh")
        if each.document == "practice/README.md" and each.text.startswith(beginning)
    ]
    lines = block.text.replace("http://127.0.0.1:8020", typed_at["URL"])
    lines = re.sub(r"^keydesk practice serve .*$", "", lines, flags=re.MULTILINE)
    lines = lines.replace(STREAM, "set +e; curl -N -m 3")
    done = _typed(lines, typed_at)
    if STREAM in block.text:
        assert '"type":"PRICE"' in done.stdout
    elif "check" in beginning:
        assert "in use" in done.stderr or "held" in done.stderr  # the broker runs
    else:
        assert done.returncode == 0, done.stderr


def _typed(lines: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-eu", "-c", lines],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.e2e
@pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
def test_the_broker_for_a_bot_in_any_language_starts_as_the_page_says(
    practice_folder: Path,
) -> None:
    [block] = [each for each in blocks("sh") if each.document == "docs/test-your-bot.md"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "HOME": str(practice_folder),
    }
    done = _typed(block.text.replace("8020", str(port)) + "\nkill $!; wait $! || true", environment)
    assert done.returncode == 0, done.stderr
    assert "2015-01-15T09:30" in done.stdout


@pytest.mark.e2e
def test_the_recording_of_the_first_trade_is_of_todays_tour_and_ends_with_the_trade_closed() -> (
    None
):
    head, *events = (ROOT / "screenshots" / "first-trade.cast").read_text("utf-8").splitlines()
    size = json.loads(head)
    screen = pyte.Screen(size["width"], size["height"])
    shown = pyte.Stream(screen)
    seen = ""
    for event in events:
        shown.feed(json.loads(event)[2])
        seen += "\n".join(screen.display)
    for step in range(1, 6):
        assert f"Tour {step}/5: " in seen
    assert "FILLED" in seen
    assert "Tour done" in screen.display[-3] + screen.display[-2] + screen.display[-1]
