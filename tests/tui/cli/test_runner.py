import errno
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from keydesk.__main__ import main
from keydesk.cli.arguments.tree import VERBS
from keydesk.cli.runner import desk_options, report_error
from keydesk.config.folders import DeskOptions
from keydesk.config.settings_files import other_troubles
from keydesk.config.user_files import load_user_settings
from keydesk.settings.toml_text import BadSettings


def test_the_bare_command_leaves_everything_to_the_settings() -> None:
    assert desk_options([]) == DeskOptions()


def test_every_option_of_the_desk_is_read() -> None:
    text = "--practice --fps 4 --theme light --read-only --ascii --mouse --data /d --price-rate 20"
    assert desk_options(text.split()) == DeskOptions(
        None,
        practice=True,
        fps=4,
        theme="light",
        read_only=True,
        ascii=True,
        mouse=True,
        data="/d",
        price_rate=20,
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("--fps 0", "not a whole number from 1 to 30"),
        ("--fps x", "not a whole number from 1 to 30"),
        ("--price-rate 5", "--price-rate goes with --practice"),
        ("--practice --price-rate 1001", "not a whole number from 1 to 1000"),
        ("--practice --profile main", "not allowed with argument"),
        ("--prof main", "unrecognized arguments"),
        ("nonsense", "unrecognized arguments"),
    ],
)
def test_a_wrong_argument_ends_with_2_and_says_what_is_wrong(
    text: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        desk_options(text.split())
    assert left.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device"),
            "keydesk: No space left on device: the disk is full, make room and do it again\n",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "/a/file"),
            "keydesk: /a/file: Permission denied\n",
        ),
        (
            TimeoutError("another process holds the lock"),
            "keydesk: another process holds the lock\n",
        ),
    ],
)
def test_an_error_of_the_disk_names_the_file_and_the_remedy(
    error: OSError, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    report_error(error)
    assert capsys.readouterr().err == text


def test_a_dash_is_standard_output_for_the_journal_as_well() -> None:
    assert VERBS["journal"].parser().read(["--csv", "--out", "-"]).out is None


def test_a_value_that_begins_with_a_dash_is_taken_behind_the_sign_that_the_refusal_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = VERBS["journal"].parser()
    with pytest.raises(SystemExit):
        parser.read(["note", "5", "--note", "-x"])
    refusal = "argument --note: expected one argument; one that begins with - is given as --note=-x"
    assert refusal in capsys.readouterr().err
    assert parser.read(["note", "5", "--note=-x"]).note == "-x"


@pytest.mark.e2e
@pytest.mark.parametrize("words", ["profiles", "--help"])
def test_a_full_disk_under_the_output_ends_with_1_and_a_sentence(
    tmp_path: Path, words: str
) -> None:
    command = f"{sys.executable} -m keydesk {words} > /dev/full"
    buffered = {name: text for name, text in os.environ.items() if name != "PYTHONUNBUFFERED"}
    buffered["KEYDESK_HOME"] = str(tmp_path)
    done = subprocess.run(
        ["/bin/sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False, env=buffered
    )
    assert (done.returncode, done.stderr.splitlines()) == (
        1,
        ["keydesk: No space left on device: the disk is full, make room and do it again"],
    )


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("line", "code", "text"),
    [
        ("<&-", 1, "keydesk: the desk needs a terminal"),
        (">&-", 1, "keydesk: the desk needs a terminal"),
        ("login main --environment practice <&-", 3, "keydesk: no token was given"),
        ("profiles >&-", 0, ""),
        ("profiles <&- >&-", 0, ""),
        ("profiles nonsense 2>&-", 2, ""),
    ],
)
def test_a_closed_standard_stream_is_one_that_goes_nowhere(
    line: str, code: int, text: str, tmp_path: Path
) -> None:
    command = f"exec {sys.executable} -m keydesk {line}"
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KEYDESK_HOME": str(tmp_path / "home")},
    )
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert text in done.stderr


@pytest.mark.e2e
def test_the_doctor_says_why_the_journal_cannot_be_written(tmp_path: Path) -> None:
    home = tmp_path / "home"
    command = f"ulimit -f 0; exec {sys.executable} -m keydesk doctor --practice --data {home}"
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    (disk,) = [line for line in done.stdout.splitlines() if " disk " in line]
    assert f"File too large: {home}; make room there; without its journal" in disk


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("stauts", "keydesk: there is no command stauts; did you mean status? (known: accounts,"),
        ("templates lst", "there is no command templates lst; did you mean templates list?"),
        ("status --jsn", "unrecognized arguments: --jsn; did you mean --json?"),
        ("journal stts", "invalid choice: 'stts'"),
        ("journal stts", "; did you mean stats?"),
        ("chart EUR_USD --granularity H11", "; did you mean H1?"),
        ("login main --tokn secret-word", "error: too many arguments; the token is asked for"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_one(
    words: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words.split())
    text = capsys.readouterr().err
    assert (ended.value.code, said in text, "secret-word" in text) == (2, True, False), text


def test_a_system_that_cannot_lock_files_is_told_so_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)  # as on Windows
    assert main(["status"]) == 1
    assert "no module fcntl): use Linux or macOS; on Windows, WSL" in capsys.readouterr().err


def test_a_wrong_word_of_a_script_is_answered_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["status", "--json", "--wrong"], ["stauts", "--json"]):
        with pytest.raises(SystemExit) as ended:
            main(words)
        answer = json.loads(capsys.readouterr().out)
        assert (ended.value.code, answer["kind"], answer["category"]) == (2, "error", "invalid")


def wrong_uses() -> Iterator[tuple[str, ...]]:
    """Yield three wrong uses of each verb: an option that it lacks, a word too many, an option without its value."""
    for name, verb in VERBS.items():
        helped = verb.parser().format_help()
        words = tuple(name.split())
        yield *words, "--no-such-option"
        if "..." not in helped.partition("\n\n")[0]:  # it takes as many words as there are
            yield *words, *["word-too-many"] * 9
        valued = re.search(r"(--[a-z-]+) [A-Z]", helped)
        yield *words, valued[1] if valued else "--help=x"


@pytest.mark.parametrize("words", wrong_uses(), ids=" ".join)
def test_every_verb_refuses_a_wrong_use_with_2_in_words_and_in_json(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    printed = capsys.readouterr()
    assert ended.value.code == 2
    assert "error: " in printed.err or "keydesk" in printed.err
    assert printed.out == ""
    with pytest.raises(SystemExit) as ended:
        main([words[0], "--json", *words[1:]] if len(words) == 1 else [*words, "--json"])
    if out := capsys.readouterr().out:  # of a verb that has --json
        answer = json.loads(out)
        assert (answer["category"], answer["exit_code"]) == ("invalid", 2)
    assert ended.value.code == 2


def test_every_file_of_settings_that_cannot_be_used_is_named_on_a_line_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.toml").write_text("fps = 99\n")
    (tmp_path / "templates.toml").write_text("[limits]\nhard_unit = 5\n")
    (tmp_path / "watchlists.toml").write_text("lists = [\n")
    (tmp_path / "keymap.toml").write_text("")
    assert main(["status", "--data", str(tmp_path)]) == 2
    lines = capsys.readouterr().err.splitlines()
    names = [re.search(r"/(\w+\.toml)", line)[1] for line in lines]  # type: ignore[index]
    assert names == ["config.toml", "templates.toml", "watchlists.toml"]


def test_a_chosen_theme_that_is_missing_is_named_beside_a_wrong_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('theme = "sepia"\n')
    (tmp_path / "templates.toml").write_text("[limits]\nhard_unit = 5\n")
    with pytest.raises(BadSettings) as refused:
        load_user_settings(tmp_path)
    [theme] = other_troubles(refused.value, tmp_path)
    assert 'theme "sepia" is not known' in theme
