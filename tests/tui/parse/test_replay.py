"""What follows `:replay` is read, completed, and refused in words."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keydesk.calc.market.market_state import ControlledMarket, MarketState, Replay, Scenario
from keydesk.parse.commands import complete, parse_command
from keydesk.parse.parsed_commands import ShowMessage
from keydesk.parse.replay import (
    STATUS,
    VERBS,
    ReplayCommand,
    ReplaySyntaxError,
    parse_replay,
    toggled_pause,
)

FRANC = Scenario("franc", 1_421_312_400_000_000_000, "EUR_CHF", "the floor goes")
NOON = 1_421_323_200_000_000_000  # 2015-01-15 12:00
MARKET = ControlledMarket(
    MarketState(NOON, running=False, speed=60.0, replay=Replay(scenario="franc")),
    (FRANC, Scenario("Two Words", NOON, "EUR_USD", "")),
    ("before", "Mixed-Case"),
)


def read(line: str) -> ReplayCommand:
    return parse_replay(line.split(), MARKET)


@pytest.mark.parametrize(
    ("line", "method", "path", "body"),
    [
        ("pause", "POST", "/clock/pause", {}),
        ("play", "POST", "/clock/play", {}),
        ("play x30", "POST", "/clock/play", {"speed": 30.0}),
        ("speed 2.5", "POST", "/clock/speed", {"speed": 2.5}),
        ("faster", "POST", "/clock/speed", {"speed": 120.0}),
        ("slower", "POST", "/clock/speed", {"speed": 30.0}),
        ("step", "POST", "/clock/step", {"candles": 1, "granularity": "M1"}),
        ("step 5 h1", "POST", "/clock/step", {"candles": 5, "granularity": "H1"}),
        ("jump 2015-01-15 13:00", "POST", "/clock/jump", {"time": "2015-01-15T13:00:00Z"}),
        ("jump 2015-01-15t13:00:05z", "POST", "/clock/jump", {"time": "2015-01-15T13:00:05Z"}),
        ("jump +4h", "POST", "/clock/jump", {"time": "2015-01-15T16:00:00Z"}),
        ("jump +1w", "POST", "/clock/jump", {"time": "2015-01-22T12:00:00Z"}),
        ("finish", "POST", "/replay/finish", {}),
        ("shock none", "DELETE", "/shocks", {}),
        (
            "shock gap eurusd -1% 30s",
            "POST",
            "/shocks",
            {"kind": "gap", "instrument": "EUR_USD", "size": "-0.01", "seconds": 30},
        ),
        ("shock halt", "POST", "/shocks", {"kind": "halt"}),
        ("shock halt 5m", "POST", "/shocks", {"kind": "halt", "seconds": 300}),
        ("faults bad-day", "PUT", "/faults", {"name": "bad-day"}),
        ("faults off", "DELETE", "/faults", {}),
        ("deposit 5,000", "POST", "/accounts/{account}/transfer", {"amount": "5000"}),
        ("withdraw 12.50", "POST", "/accounts/{account}/transfer", {"amount": "-12.50"}),
        ("save", "POST", "/checkpoints", {"name": "checkpoint"}),
    ],
)
def test_a_command_is_one_request(
    line: str, method: str, path: str, body: dict[str, object]
) -> None:
    command = read(line)
    assert (command.method, command.path, command.body) == (method, path, body)
    assert command.text
    assert not command.begins_anew


@pytest.mark.parametrize(
    ("line", "path", "body"),
    [
        ("random", "/replay", {"random": True}),
        ("blind", "/replay", {"random": True, "blind": True}),
        ("blind franc", "/replay", {"scenario": "franc", "blind": True}),
        ("franc", "/replay", {"scenario": "franc"}),
        ("scenario two words", "/replay", {"scenario": "Two Words"}),
        ("start 2019-06-05", "/replay", {"start": "2019-06-05T00:00:00Z"}),
        ("present", "/replay", {"present": True}),
        ("restore mixed-case", "/checkpoints/restore", {"name": "Mixed-Case"}),
    ],
)
def test_what_replaces_the_ledger_says_so(line: str, path: str, body: dict[str, object]) -> None:
    command = read(line)
    assert (command.path, command.body, command.begins_anew) == (path, body, True)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("frobnicate", "'frobnicate' is not a command; use one of pause play"),
        ("speed", "write a number above 0"),
        ("speed -3", "write a number above 0"),
        ("speed nan", "write a number above 0"),
        ("speed inf", "write a number above 0"),
        ("step 0", "1 to 5000 candles"),
        ("step soon", "'soon' is neither a count nor a timeframe"),
        ("jump tomorrow", "write a time of UTC"),
        ("jump +999999w", "write a time of UTC"),
        ("scenario nothing", "choose one of franc"),
        ("shock", "write one of spike gap"),
        ("shock spike", "a spike needs an instrument"),
        ("shock gap eurusd lots", "'lots' not understood"),
        ("shock", "the size of a spike or gap is a fraction of the price (0.01 is 1 %)"),
        (
            "shock spike eurusd 60",
            "a spike cannot have the size 60; write -0.5 to 1, a fraction of the price (0.01 is 1 %)",
        ),
        ("shock gap eurusd -51%", "a gap cannot have the size -51%; write -0.5 to 1, a fraction"),
        ("shock gap eurusd 0", "0 is no gap"),
        ("shock spread 0.05", "write 0.1 to 1000, a factor of the spread"),
        ("shock depth 101", "write 0.0001 to 100, a factor of the depth"),
        ("shock halt 60", "a halt has no size; leave 60 out; write how long it lasts as 60s"),
        ("shock halt 0s", "it cannot last 0s; write 1s to 604800s"),
        ("faults sunday", "write one of bad-line"),
        ("deposit -5", "write an amount above 0"),
        ("deposit 1e9", "write an amount above 0"),
        ("deposit", "write an amount above 0"),
        ("save ../../etc", "letters, digits, dot and hyphen"),
        ("restore unknown", "choose one of before"),
        ("pause now", "'now' is not expected"),
    ],
)
def test_a_refusal_names_the_word_and_the_remedy(line: str, said: str) -> None:
    with pytest.raises(ReplaySyntaxError) as refused:
        read(line)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("spike eurusd 1%", "makes a spike of EUR_USD by 0.01 of the price (1 %) now"),
        ("gap eurusd -0.005", "makes a gap of EUR_USD by -0.005 of the price (-0.5 %) now"),
        ("spread eurusd 8", "makes a spread of EUR_USD by a factor of 8 now"),
        ("halt", "makes a halt now"),
    ],
)
def test_a_shock_names_the_unit_of_its_size(line: str, text: str) -> None:
    assert read(f"shock {line}").text == text


def test_nothing_can_be_finished_where_nothing_is_replayed() -> None:
    with pytest.raises(ReplaySyntaxError, match="nothing is replayed"):
        parse_replay(["finish"], ControlledMarket())


def test_one_key_pauses_and_plays() -> None:
    assert toggled_pause(MARKET).path == "/clock/play"
    assert toggled_pause(ControlledMarket()).path == "/clock/pause"


@given(st.sampled_from(VERBS), st.lists(st.text(max_size=12), max_size=3))
def test_any_line_is_a_command_or_is_refused(verb: str, more: list[str]) -> None:
    words = " ".join((verb, *more)).lower().split()
    with contextlib.suppress(ReplaySyntaxError):
        assert parse_replay(words, MARKET, 5.0).text


def test_without_a_market_to_control_the_command_line_says_so() -> None:
    said = parse_command("replay pause", (), "EUR_USD")
    assert isinstance(said, ShowMessage)
    assert "practice market" in said.text
    assert parse_command("replay", (), "EUR_USD", MARKET) == STATUS


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        ("repl", "replay "),
        ("replay fra", "replay franc "),
        ("replay jum", "replay jump "),
        ("replay shock spi", "replay shock spike "),
        ("replay shock spike eurus", "replay shock spike eurusd "),
        ("replay faults bad-d", "replay faults bad-day "),
        ("replay restore bef", "replay restore before "),
        ("replay ran", "replay random "),
    ],
)
def test_tab_completes_commands_scenarios_and_names(line: str, whole: str) -> None:
    assert complete(line, ("EUR_USD", "USD_JPY"), MARKET) == whole
