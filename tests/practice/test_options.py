"""The arguments of `practice serve` mean what the command line's contract says."""

import os
from pathlib import Path

import pytest

from keydesk_practice.options import default_data, read_arguments


def test_nothing_given_serves_on_the_usual_port() -> None:
    options = read_arguments(["serve"], {"KEYDESK_HOME": "/k"})
    assert (options.command, options.host, options.port, options.uds) == (
        "serve",
        "127.0.0.1",
        8020,
        None,
    )
    assert (options.price_rate, options.rate_limit, options.hours) == (4.0, 120, "always")
    assert options.data == Path("/k/practice")


def test_the_word_serve_may_be_left_out() -> None:
    assert read_arguments(["--port", "0"], {}).port == 0


def test_a_start_is_read_to_the_nanosecond() -> None:
    options = read_arguments(["serve", "--start", "2015-01-15T08:00Z", "--speed", "60"], {})
    assert options.start == 1_421_308_800_000_000_000
    assert options.speed == 60


def test_several_tokens_and_candle_files_are_kept_in_order() -> None:
    words = ["--token", "the-first", "--token", "the-second", "--candles", "XAU_USD=/x/gold.csv"]
    options = read_arguments(words, {})
    assert options.tokens == ("the-first", "the-second")
    assert options.candles == (("XAU_USD", Path("/x/gold.csv")),)


@pytest.mark.parametrize("host", ["", "\u202eabc", "\udcff", "a\nb"])
def test_a_host_that_is_none_is_refused(host: str, capsys: pytest.CaptureFixture[str]) -> None:
    """An empty one, as of a variable that is not set, would listen on every address."""
    with pytest.raises(SystemExit) as ended:
        read_arguments(["serve", "--host", host])
    assert ended.value.code == 2
    assert "use a name or an address such as 127.0.0.1" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--port", "70000"],
        ["--speed", "0"],
        ["--start", "tomorrow"],
        ["--candles", "EUR_USD"],
        ["--token", "two words"],
        ["--rate-limit", "0"],
        ["--port", "1", "--uds", "/x"],
        ["--hours", "sometimes"],
        ["--workers", "2"],
    ],
)
def test_nonsense_is_a_usage_error(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        read_arguments(["serve", *words], {})
    assert left.value.code == 2
    assert "error:" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--port", "x"], "invalid port 'x': use 0 to 65535"),
        (["--speed", "abc"], "invalid number 'abc': use one above 0"),
        (["--rate-limit", "many"], "invalid number 'many': use a whole number, 1 or more"),
        (["--seed", "1.5"], "invalid number '1.5': use a whole number such as 5"),
    ],
)
def test_a_number_that_cannot_be_read_is_named_in_plain_words(
    words: list[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read_arguments(["serve", *words], {})
    assert text in capsys.readouterr().err


def test_a_token_that_no_store_keeps_is_refused_with_the_remedy(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as left:
        read_arguments(["serve", "--token", "tok"], {})
    assert left.value.code == 2
    told = capsys.readouterr().err
    assert "use 8 to 1024" in told
    assert "omit --token for a random one" in told


def test_the_ledger_lies_in_the_state_folder() -> None:
    assert default_data({"XDG_STATE_HOME": "/s"}) == Path("/s/keydesk/practice")
    assert default_data({"XDG_STATE_HOME": "relative"}).parts[-2:] == ("keydesk", "practice")


def test_tokens_come_from_files_and_descriptors_too(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text("# the class of 2026\nanna-1234\n\n  bert-1234  \n")
    reading, writing = os.pipe()
    os.write(writing, b"carla-1234\n")
    os.close(writing)
    words = ["--token", "teacher-1", "--token-file", str(tmp_path / "tokens"), "--token-fd"]
    options = read_arguments([*words, str(reading)], {})
    assert options.tokens == ("teacher-1", "anna-1234", "bert-1234", "carla-1234")


@pytest.mark.parametrize("content", ["", "# none yet\n", "short\n", "two words here\n"])
def test_a_file_without_a_usable_token_is_refused(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tokens").write_text(content)
    with pytest.raises(SystemExit):
        read_arguments(["--token-file", str(tmp_path / "tokens")], {})
    assert "token" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--token-file", "/nowhere/tokens"], ["--token-fd", "987"]])
def test_a_source_of_tokens_that_cannot_be_read_is_named(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read_arguments(words, {})
    assert words[1] in capsys.readouterr().err


def test_a_token_given_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        read_arguments(["--token", "same-token", "--token", "same-token"], {})
    assert "given twice" in capsys.readouterr().err


def test_a_ledger_on_a_server_needs_the_tokens_of_its_clients(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        read_arguments(["serve", "--ledger", "postgresql://keydesk@host/db"])
    assert "--token-file" in capsys.readouterr().err
    options = read_arguments(["serve", "--ledger", "@/etc/ledger", "--token", "a-token-of-one"])
    assert options.ledger == "@/etc/ledger"
    assert "etc" not in repr(options)


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://keydesk:hunter22@host/db",
        "postgresql://keydesk:hunter22@[::1/db",
        "postgresql://host/db?password=hunter22",
        "host=db password=hunter22",
        "host=db PASSWORD = hunter22",
        "mysql://host/db",
    ],
)
def test_a_password_among_the_arguments_is_refused_and_not_repeated(
    address: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        read_arguments(["serve", "--ledger", address, "--token", "a-token-of-one"])
    assert "hunter22" not in capsys.readouterr().err
