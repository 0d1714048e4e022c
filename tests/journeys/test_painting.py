"""What a form costs on the line, and that neither sizes nor a mouse end the desk, at a real terminal."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from support.terminal import KEYS, Terminal, keydesk

Size = tuple[int, int]
# Of the bytes that the same screen costs when it is drawn whole, whatever its figures are: a form stands on almost half of it, and
# the chart takes the scale that has the plan of the ticket. Drawn twice, it would be more.
MAX_OF_WHOLE = 1.0
PRICES = 2_500  # bytes of a beat of prices that falls into the same moment
SLOW_BEAT = ("--fps", "1")  # prices are not what is counted
FORMS = {
    "B": "BUY 10,000",
    "Z": "CANCEL",
    "X": "FLATTEN",
    "?": "Keys",
    "/": "Find an instrument",
    ":": "Command",
    "Enter": "Esc closes",
}


@contextmanager
def desk(folder: Path, size: Size, *arguments: str) -> Iterator[Terminal]:
    """Open the desk on the practice market and wait until it can trade."""
    env = {"KEYDESK_HOME": str(folder / "home"), "XDG_RUNTIME_DIR": str(folder)}
    with Terminal(keydesk("--practice", *arguments), size, env) as terminal:
        terminal.see("prices ok")
        terminal.see("No trades.")
        terminal.see("M5")
        terminal.pause(2)
        yield terminal


def send(terminal: Terminal, key: str) -> None:
    terminal.write(KEYS.get(key) or key.encode())


def bytes_until(terminal: Terminal, key: str, condition: Callable[[], bool]) -> bytes:
    """Press a key; returns what came until the screen is as wanted and nothing more comes."""
    start = len(terminal.raw)
    send(terminal, key)
    terminal.until(condition)
    read_all(terminal)
    return bytes(terminal.raw[start:])


def read_all(terminal: Terminal) -> None:
    """Read until nothing more comes."""
    seen = 0
    while seen != len(terminal.raw):
        seen = len(terminal.raw)
        terminal.pause(0.08)


def bytes_of_whole(terminal: Terminal, size: Size) -> int:
    """Return the bytes of the whole screen, which a change of the window's height has drawn anew."""
    columns, rows = size
    for height in (rows - 1, rows):
        start = len(terminal.raw)
        terminal.resize(columns, height)
        terminal.until(partial(_is_footer_drawn, terminal, start))
        read_all(terminal)
    return len(terminal.raw) - start


def _is_footer_drawn(terminal: Terminal, start: int) -> bool:
    return b"keys" in terminal.raw[start:]  # its last word


def has_form(text: str) -> bool:
    """Whether the ticket is shown and its levels on the chart, which is the next update."""
    return "BUY 10,000" in text and "new target" in text


def has_no_form(text: str) -> bool:
    return "BUY 10,000" not in text and "new target" not in text


@pytest.mark.parametrize("size", [(120, 35), pytest.param((200, 50), marks=pytest.mark.soak)])
def test_opening_and_leaving_a_form_cost_few_bytes_and_one_painting(
    size: Size, practice_folder: Path
) -> None:
    opened, left = [], []
    with desk(practice_folder, size, *SLOW_BEAT) as terminal:
        for _ in range(4):
            opened.append(bytes_until(terminal, "B", lambda: has_form(terminal.text)))
            left.append(bytes_until(terminal, "Escape", lambda: has_no_form(terminal.text)))
            terminal.pause(1)
        whole = bytes_of_whole(terminal, size)
    for sent in (opened, left):  # prices that move at that moment are in some of them
        assert min(map(len, sent)) <= MAX_OF_WHOLE * whole
        assert max(map(len, sent)) <= MAX_OF_WHOLE * whole + PRICES
    assert all(each.count(b"BUY ") == 1 for each in opened)
    assert all(each.count(b"Watch") <= 1 for each in left)


@pytest.mark.soak  # the usual run has it in `test_resizing`, and the real program in `test_resize_storm`
def test_every_form_outlives_every_size(practice_folder: Path) -> None:
    with desk(practice_folder, (120, 35)) as terminal:
        for key, text in FORMS.items():
            terminal.press(key)
            terminal.see(text)
            for size in ((120, 36), (120, 34), (79, 23), (1, 1), (200, 50), (120, 35)):
                terminal.resize(*size)
                terminal.pause(0.15)
            terminal.see(text)
            terminal.press("Escape")
            terminal.see_no_more(text)
        leave(terminal)


def leave(terminal: Terminal) -> None:
    terminal.quit()
    assert terminal.wait_for_exit() == 0


def keys_and_sizes_at_random(folder: Path, seed: int, steps: int) -> None:
    """Press keys and resize without a plan; the desk is there in the end and can be left."""
    rng = random.Random(seed)
    keys = [*"BSCOEPMTDXRZhjkgtopcwzmlv.,-0123456789?/+", *KEYS]
    with desk(folder, (120, 35)) as terminal:
        for _ in range(steps):
            if rng.random() < 0.4:
                terminal.resize(rng.randint(1, 210), rng.randint(1, 60))
            else:
                send(terminal, rng.choice(keys))
            terminal.pause(rng.choice((0.01, 0.1, 0.3)))
        terminal.resize(120, 35)
        for _ in range(4):
            terminal.press("Escape")
            terminal.pause(0.3)
        terminal.see("prices ok")
        leave(terminal)


@pytest.mark.soak  # the usual run has it in `test_resizing`, and the real program in `test_desk_soak`
def test_keys_and_sizes_at_random_end_no_desk(practice_folder: Path) -> None:
    keys_and_sizes_at_random(practice_folder, seed=1, steps=60)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(2, 7))
def test_many_keys_and_sizes_at_random_end_no_desk(seed: int, practice_folder: Path) -> None:
    keys_and_sizes_at_random(practice_folder, seed, steps=1_500)
