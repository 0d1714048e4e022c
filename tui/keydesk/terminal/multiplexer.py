"""What tmux says about the pane that the desk is in: who else types into it, and whether it shows UTF-8.

A client of tmux that was not told of UTF-8 shows `_` for every sign beyond ASCII, whatever the pane prints. The pane
itself cannot see that: only the tmux server knows.
"""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass

SECONDS = 0.5  # the server is on this machine and answers within 10 ms
SEPARATOR = "|"
PANE = SEPARATOR.join(("#{pane_synchronized}", "#{window_panes}"))
CLIENT = SEPARATOR.join(("#{client_utf8}", "#{client_readonly}"))


@dataclass(frozen=True, slots=True)
class Multiplexer:
    """The pane's surroundings; the defaults mean that there is nothing to warn of."""

    clients: int = 1  # that may type
    utf8: bool = True  # of every client that looks
    synchronized: bool = False  # what is typed in another pane is typed here, too

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a trader must know before the first key."""
        found = []
        if self.synchronized:
            found.append(
                "tmux synchronize-panes is on: keys typed in another pane reach this desk too. "
                "Turn it off: tmux setw synchronize-panes off"
            )
        if self.clients > 1:
            found.append(
                f"{self.clients} tmux clients show this desk and each can type into it. "
                "See who: tmux list-clients"
            )
        return tuple(found)


class MultiplexerQuery:
    """A question to tmux that is answered while the desk loads; None outside tmux."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    @classmethod
    def start(cls, environment: Mapping[str, str]) -> "MultiplexerQuery | None":
        """Ask the tmux server whose pane this is."""
        pane = environment.get("TMUX_PANE", "")
        if not environment.get("TMUX") or not pane.startswith("%"):
            return None
        display = ["display-message", "-p", "-t", pane, PANE]
        clients = ["list-clients", "-t", pane, "-F", CLIENT]
        try:
            process = subprocess.Popen(  # noqa: S603 - fixed words and a pane's number
                ["tmux", *display, ";", *clients],  # noqa: S607 - the tmux that the person uses
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, **environment},
            )
        except OSError:
            return None
        return cls(process)

    def answer(self, seconds: float = SECONDS) -> Multiplexer:
        """Return what it says; the defaults when it does not answer in time."""
        try:
            out, _ = self._process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            return Multiplexer()
        return parsed(out)


def parsed(out: str) -> Multiplexer:
    """Read the answer: a line of the pane, then one of each client."""
    pane, *clients = [line.split(SEPARATOR) for line in out.splitlines()] or [[""]]
    typing = [each for each in clients if each[1:] != ["1"]]
    return Multiplexer(
        clients=max(1, len(typing)),
        utf8=not any(each[0] == "0" for each in clients),
        synchronized=pane[0] == "1" and pane[1:] != ["1"],
    )
