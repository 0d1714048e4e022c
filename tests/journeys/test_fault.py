"""A fault of ours in a pane or a form: the terminal is whole again, and the person knows where the position is."""

from pathlib import Path

import pytest

from support.terminal import Terminal, keydesk

# The desk as it is, with a fault put into one place that a key reaches.
FAULTS = {
    "pane": (
        """
from keydesk.panes.deal import Deal as Broken
name = "_permission"
def fault(self, store, width):
    return 1 / 0 if store.arming.level == "DISARMED" else []
""",
        "A",
    ),
    "form": (
        """
from keydesk.forms.info_form import HelpForm as Broken
name = "lines"
def fault(self):
    return 1 / 0
""",
        "?",
    ),
}
RUN = """
setattr(Broken, name, fault)
from keydesk.__main__ import main
raise SystemExit(main([]))
"""


@pytest.mark.parametrize("place", ["pane", pytest.param("form", marks=pytest.mark.soak)])
def test_a_fault_leaves_a_whole_terminal_and_says_what_to_do(
    practice_folder: Path, place: str
) -> None:
    code, key = FAULTS[place]
    python = keydesk()[0]
    env = {"KEYDESK_HOME": str(practice_folder / "home")}
    with Terminal([python, "-c", code + RUN], (120, 35), env) as terminal:
        terminal.see("prices ok")
        terminal.until(lambda: "size" in terminal.text and "spread" in terminal.text)
        terminal.press(key)
        assert terminal.wait_for_exit() == 1
        said = " ".join(terminal.text.split())
    assert "ZeroDivisionError" in said
    assert "Positions, orders and stops stay at the broker" in said
    assert "Start keydesk again" in said
    raw = bytes(terminal.raw)
    assert raw.rfind(b"\x1b[?1049l") > raw.rfind(b"\x1b[?1049h")
    assert raw.rfind(b"\x1b[?25h") > raw.rfind(b"\x1b[?25l")
    assert raw.rfind(b"\x1b[?2004l") > raw.rfind(b"\x1b[?2004h")
    assert b"token" not in raw.lower()


# A thread of the desk that dies after a while: without its writer or reader the desk would only look alive.
THREADS = {
    "writer": """
from textual.drivers import linux_driver
class Broken(linux_driver.WriterThread):
    left = 40
    def write(self, text):
        super().write(text)
        self.left -= 1
        if self.left == 0:
            self._queue.put(0)  # the thread can write no number
linux_driver.WriterThread = Broken
""",
    "reader": """
from keydesk.terminal.driver import TerminalDriver
reads = TerminalDriver._read
def broken(self):
    return reads(self) and 1 / 0
TerminalDriver._read = broken
""",
}
START = """
from keydesk.__main__ import main
raise SystemExit(main([]))
"""


@pytest.mark.parametrize("thread", THREADS)
def test_a_thread_that_dies_ends_the_desk_in_words_and_not_as_a_success(
    practice_folder: Path, thread: str
) -> None:
    env = {"KEYDESK_HOME": str(practice_folder / "home")}
    with Terminal([keydesk()[0], "-c", THREADS[thread] + START], (120, 35), env) as terminal:
        if thread == "reader":
            terminal.see("prices ok")
            terminal.write(b"j")
        assert terminal.wait_for_exit() == 1
    raw = bytes(terminal.raw)
    assert b"Positions, orders and stops stay at the broker" in raw
    assert raw.rfind(b"\x1b[?1049l") > raw.rfind(b"\x1b[?1049h")
