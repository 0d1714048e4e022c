"""Record the first trade, step by step as the tour leads through it, from the real desk: for `asciinema play`.

    python screenshots/cast.py                  # writes screenshots/first-trade.cast

Needs the test extra (`pip install -c constraints.txt -e '.[test]'`).
"""

import codecs
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "tests"))

from support.confirming import confirm  # noqa: E402
from support.terminal import Terminal, keydesk  # noqa: E402

FILE = HERE / "first-trade.cast"
SIZE = (120, 35)
FPS = "4"  # the recording stays small
LOOK = 2.5  # seconds for the eye between two steps


class Recorder(Terminal):
    """A terminal that notes what it is sent, with the time."""

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - the terminal's own
        self.began = time.monotonic()
        self.events: list[tuple[float, str, str]] = []
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        super().__init__(*arguments, **options)

    def _feed(self, data: bytes) -> None:
        text = self._decoder.decode(data)
        self.events.append((round(time.monotonic() - self.began, 3), "o", text))
        super()._feed(data)


def first_trade(desk: Recorder) -> None:
    """Follow the five steps of the tour."""
    desk.see("prices ok")
    desk.see("Tour 1/5")
    desk.pause(LOOK)
    desk.press("j")
    desk.see("Tour 2/5")
    desk.pause(LOOK)
    desk.press("0")
    desk.see("Tour 3/5")
    desk.pause(LOOK)
    desk.press("B")
    desk.see("at stop")
    desk.pause(2 * LOOK)
    confirm(desk)
    desk.see("FILLED")
    desk.see("Tour 5/5")
    desk.pause(2 * LOOK)
    desk.press("g", "t", "C")
    desk.pause(LOOK)
    confirm(desk)
    desk.see("Tour done")
    desk.pause(LOOK)


def main() -> None:
    """Record it in a fresh home and write the file, in version 2 of asciinema's format."""
    with (
        tempfile.TemporaryDirectory() as home,
        Recorder(keydesk("--fps", FPS), SIZE, {"KEYDESK_HOME": str(Path(home, "desk"))}) as desk,
    ):
        first_trade(desk)
        events = list(desk.events)
        desk.quit()
        desk.wait_for_exit()
    columns, rows = SIZE
    head = {"version": 2, "width": columns, "height": rows, "title": "Keydesk: the first trade"}
    lines = [head, *events]
    FILE.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
