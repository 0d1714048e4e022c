"""Hostile text in every member of every answer and stream line: the terminal gets the desk's own sequences only.

The bytes of a real pseudo-terminal are read by a strict list of what the desk sends. Default: some hundred values;
10,000 with `-m soak`.
"""

import asyncio
import csv
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from support.broker import PracticeServer
from support.proxies.poisoning_proxy import Poison, PoisoningProxy, poisoning_proxy
from support.signing_in import Home
from support.terminal import NeverSeen, Terminal, keydesk
from support.terminal_bytes import INVISIBLE, foreign_pieces

SIZE = (120, 35)
VALUES = 10_000
EXTENSIONS = {"id": "mine", "tag": "tag", "comment": "comment"}
# Every pane, form and list, each form dropped again; "Esc" is the key.
PANES = """
g t Enter Esc j C Esc O Esc E Esc M Esc T Esc P Esc
g p Enter Esc R Esc X a i Esc
g o Enter Esc j D Esc M Esc Z a i Esc
g l Enter Esc j Enter Esc g e Enter Esc
g b v g c f g w j Enter Esc v B o o Esc S Esc
"""
REFUSED = "g w g g B y Esc g t C y Esc"
LISTS = ": m e s s a g e s Enter Esc / e u Esc ? Esc : b Space 5 k Esc z Esc g t g l"
# New pages, tables and forms of alerts, plans and replays, each left again.
NEWER = """
g r Esc g i v Esc Esc g a Esc g x Esc g n Esc g u Esc g s Esc g l a Esc
g t v h l v w s w g w f e u Enter w e H Esc N Esc g w N Esc
"""
BELLS = 60  # at most; one in 2 s
COMMANDS = (
    ("status",),
    ("doctor", "--json"),
    ("chart", "EUR_USD", "--count", "5"),
    ("status", "--json"),
    ("doctor",),
)
TABLES = ("trades", "transactions", "equity")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


async def trade(practice: PracticeServer) -> None:
    """Trades, entry orders and orders that hang on trades, all with the trader's own words."""
    size = [("EUR_USD", "1000"), ("USD_JPY", "-2000"), ("EUR_USD", "300"), ("GBP_USD", "50")]
    for number, (instrument, units) in enumerate(size):
        order: dict[str, object] = {"type": "MARKET", "instrument": instrument, "units": units}
        order["tradeClientExtensions"] = EXTENSIONS | {"id": f"trade-{number}"}
        if number % 2:
            order["stopLossOnFill"] = {"distance": "1.0"}
        await order_at(practice, order)
    for price in ("0.9", "0.8"):
        order = {"type": "LIMIT", "instrument": "EUR_USD", "units": "100", "price": price}
        await order_at(practice, {**order, "clientExtensions": EXTENSIONS | {"id": price}})


async def order_at(practice: PracticeServer, order: dict[str, object]) -> None:
    answer = await practice.send("POST", "{a}/orders", {"order": order})
    assert answer.status_code == 201, answer.text


def signed_in(home: Home, practice: PracticeServer, proxy: PoisoningProxy) -> list[str]:
    """Keep a profile whose broker is the proxy; returns the words that open it."""
    home.signed_in("main", practice, rest_url=proxy.url, stream_url=proxy.url)
    return ["--profile", "main", *home.unlocked]


@pytest.fixture
def proxy(practice: PracticeServer) -> Iterator[PoisoningProxy]:
    with poisoning_proxy(practice, Poison(seed=8)) as proxy:
        yield proxy
        assert proxy.faults == []


def assert_own(terminal: Terminal, what: str) -> None:
    assert list(foreign_pieces(bytes(terminal.raw), SIZE, BELLS))[:5] == [], what
    assert b"Traceback" not in terminal.raw, what


def press(terminal: Terminal, keys: str) -> None:
    """Press keys, given by their names or characters."""
    names = {"Esc": "Escape", "Space": " "}
    terminal.press(*(names.get(key, key) for key in keys.split()))


def go_through_the_desk(
    home: Home, profile: list[str], proxy: PoisoningProxy, refuses: float = 1.0
) -> None:
    """Open the desk, look at everything there is, send orders that are refused, or done with answers that cannot be read, and leave.

    The broker holds trades then, of which the desk can read some: leaving asks.
    """
    with Terminal(keydesk(*profile), SIZE, home.env) as terminal:
        try:
            terminal.until(lambda: "Trades 4" in terminal.text)
            press(terminal, PANES)
            press(terminal, NEWER)
            press(terminal, "A 0 0 1")
            proxy.poison.refuses = refuses
            press(terminal, REFUSED)
            press(terminal, LISTS)
            terminal.resize(80, 24)
            press(terminal, "g t g l g o")
            terminal.quit()
            terminal.see("leaves anyway")
            terminal.pause(1)  # until it could be read
            terminal.press("Enter")
            assert terminal.wait_for_exit() == 0
        finally:
            assert_own(terminal, "the desk")


@pytest.mark.parametrize("refuses", [1.0, 0.0])
async def test_no_pane_form_or_message_passes_a_control_sequence_of_the_server_on(
    practice: PracticeServer, proxy: PoisoningProxy, home: Home, refuses: float
) -> None:
    await trade(practice)
    profile = signed_in(home, practice, proxy)
    proxy.poison = Poison(seed=1, active=True, names=0.3, ids=True, types=0.1)
    await asyncio.to_thread(go_through_the_desk, home, profile, proxy, refuses)
    assert proxy.poison.count > 100
    for path in (home.folder / "state").rglob("*.audit"):
        assert path.read_text().isascii()


async def test_no_command_passes_a_control_sequence_of_the_server_on(
    practice: PracticeServer, proxy: PoisoningProxy, home: Home, tmp_path: Path
) -> None:
    await trade(practice)
    profile = signed_in(home, practice, proxy)
    await asyncio.to_thread(run_every_command, home, profile, proxy, tmp_path, 2)
    assert proxy.poison.count > 50


def run_every_command(
    home: Home, profile: list[str], proxy: PoisoningProxy, folder: Path, few: int | None = None
) -> None:
    """Run each command at a terminal; or the first few of those that read and of those that write tables, two of them there."""
    proxy.poison = Poison(seed=2, active=True, often=0.9, names=0.5, ids=True, types=0.3)
    for words in COMMANDS[:few]:
        assert run(home, *words, *profile, in_terminal=few is None or words[0] == "status") in (
            0,
            1,
        )
    for what in TABLES[:few]:
        path = folder / f"{what}.csv"
        export = ("export", what, "--csv", str(path), "--force")
        assert run(home, *export, *profile, in_terminal=few is None) == 0
        assert_clean_table(path)
    run(home, "profiles", in_terminal=few is None)
    proxy.poison = Poison(seed=3, active=True, often=0.9, names=0.5)
    run(home, "cancel-all", "--yes", *profile, in_terminal=few is None)
    run(home, "flatten", "--yes", *profile)


def run(home: Home, *words: str, in_terminal: bool = True) -> int:
    if not in_terminal:
        done = home.run(*words)
        said = (done.stdout + done.stderr).encode("utf-8", errors="surrogateescape")
        assert list(foreign_pieces(said)) == [], words
        assert "Traceback" not in done.stderr, words
        return done.returncode
    with Terminal(keydesk(*words), SIZE, home.env) as terminal:
        code = terminal.wait_for_exit()
        assert_own(terminal, " ".join(words))
        return code


def assert_clean_table(path: Path) -> None:
    """No cell has a character that a terminal acts upon, or begins as a formula does, but for numbers."""
    text = path.read_text()
    assert {c for c in text if unicodedata.category(c) in INVISIBLE} <= {"\n"}
    for row in csv.reader(text.splitlines()):
        for cell in row:
            begins = cell.lstrip()[:1]
            assert begins not in "=@\uff1d" or not begins, cell
            assert begins not in ("+", "-") or cell.replace(".", "").lstrip("+-").isdecimal(), cell


async def test_status_names_an_order_of_a_type_that_it_does_not_know(
    practice: PracticeServer, proxy: PoisoningProxy, home: Home
) -> None:
    await trade(practice)
    profile = signed_in(home, practice, proxy)
    proxy.poison = Poison(seed=5, active=True, often=0.0, types=1.0)
    done = await asyncio.to_thread(home.run, "status", *profile)
    assert (done.returncode, done.stderr) == (0, "")
    assert sum("BUY 100 EUR/USD @ 0." in line for line in done.stdout.splitlines()) == 2
    whole = await asyncio.to_thread(home.run, "status", "--json", *profile)
    assert whole.stdout.isascii()
    assert len(json.loads(whole.stdout)["account"]["orders"]) == 4


@pytest.mark.soak
async def test_ten_thousand_hostile_values_leave_the_terminal_as_it_is(
    practice: PracticeServer, proxy: PoisoningProxy, home: Home, tmp_path: Path
) -> None:
    await trade(practice)
    profile = signed_in(home, practice, proxy)
    said = 0
    for seed in range(VALUES):
        kinds = {"names": 0.3 * (seed % 2), "types": 0.1 * (seed % 3), "ids": seed % 4 > 1}
        proxy.poison = Poison(seed=seed, active=True, **kinds)  # type: ignore[arg-type]  # by name
        try:
            await asyncio.to_thread(go_through_the_desk, home, profile, proxy)
        except (NeverSeen, httpx.HTTPError) as error:
            raise AssertionError(f"seed {seed}: {error}") from error
        said += proxy.poison.count - proxy.poison.said["status"] - proxy.poison.said["dayOfWeek"]
        if said >= VALUES:
            break
    await asyncio.to_thread(run_every_command, home, profile, proxy, tmp_path)
